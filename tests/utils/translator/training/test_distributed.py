"""Several processes: their shares make up the batch, their gradients that of one process, and one may be killed."""

import multiprocessing
import os
import sys
from multiprocessing.connection import wait
from pathlib import Path

import pytest
import torch
from processes import run_script
from tiny import TRANSFORMER, model, sentences, weights_of
from torch.distributed import TCPStore

from utils.corpus.batches import ShuffledBatches, make_batch
from utils.corpus.vocabulary import Vocabulary
from utils.errors import CourseError
from utils.fast_training import fast_loss
from utils.training import batch_loss
from utils.translator.devices import CPU
from utils.translator.training.distributed import Processes, processes_of_torchrun
from utils.translator.training.loop import Schedule, train_model

pytestmark = pytest.mark.trains

ROOT = Path(__file__).parents[3]


# Two processes and one. In float64 they differ by the rounding of sums that are taken in another order.


#: Rows of a batch, the fewest of which leave a process without any, and the form of the model.
GRADIENTS = [(13, "plain"), (13, "fast"), (1, "fast"), (13, "transformer")]


#: A text with what a vocabulary of subwords must keep when it is sent to another process.
TEXT = "dogs <eos> ▁"


def gradient(processes: Processes, num: int, form: str) -> tuple[float, torch.Tensor]:
    """Loss and gradient of one batch."""
    some_model = model(dropout=0.0, **(TRANSFORMER if form == "transformer" else {})).double()
    loss_of = processes.loss_of(some_model, batch_loss if form == "plain" else fast_loss)
    loss = loss_of(some_model, make_batch(sentences(num), sentences(num, seed=1)))
    loss.backward()
    return loss.item(), torch.cat([p.grad.flatten() for p in some_model.parameters()])


def trained(processes: Processes) -> tuple[torch.Tensor, list[float], list[float]]:
    """Weights and losses of a training in which one batch has a single row."""
    some_model = model(dropout=0.0).double()
    history = train_model(
        some_model,
        ShuffledBatches(sentences(33), sentences(33, seed=1), batch_size=16),
        Schedule(epochs=2, batch_size=5),
        valid=(sentences(13, seed=2), sentences(13, seed=3)),
        processes=processes,
    )
    return weights_of(some_model), history.losses, history.valid_losses


def work_together(rank: int, port: int, folder: Path) -> None:
    """What one of two processes does for the tests below, in an environment like that of torchrun."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    os.environ |= {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}
    with processes_of_torchrun(CPU) as processes:
        results = {case: gradient(processes, *case) for case in GRADIENTS}
        results["trained"] = trained(processes)
        first = processes.of_first(
            {"rank": rank, "vocabulary": Vocabulary.bpe([TEXT] if rank == 0 else ["?"], 300)}
        )
        results["of first"] = first["rank"], first["vocabulary"].encode([TEXT])
    torch.save(results, folder / f"{rank}.pt")


def start_two(folder: Path) -> None:
    """Fork two connected processes and wait for them. The process that forks must not have trained itself: with a GPU
    autograd refuses to work in a fork of one that has."""

    context = multiprocessing.get_context("fork")
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    pair = [
        context.Process(target=work_together, args=(rank, store.port, folder), daemon=True)
        for rank in range(2)
    ]
    for process in pair:
        process.start()
    waiting = {process.sentinel: process for process in pair}
    while waiting:
        for sentinel in wait(list(waiting)):
            ended = waiting.pop(sentinel)
            ended.join()
            if ended.exitcode != 0:  # or the other one would wait for it
                sys.exit(f"process {pair.index(ended)} ended with status {ended.exitcode}")


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> list[dict]:
    """The results of two connected processes."""
    folder = tmp_path_factory.mktemp("processes")
    run_script(__file__, folder)
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


@pytest.mark.parametrize("case", GRADIENTS)
def test_the_gradient_is_that_of_one_process(two, case):
    loss, expected = gradient(Processes(), *case)
    for results in two:
        assert results[case][0] == pytest.approx(loss, rel=1e-12)
        torch.testing.assert_close(results[case][1], expected, rtol=0, atol=1e-12)


def test_a_training_in_two_processes_is_one_training(two):
    weights, losses, valid_losses = trained(Processes())
    first, second = (results["trained"] for results in two)
    assert torch.equal(first[0], second[0])
    assert first[1:] == second[1:]
    assert first[1] == pytest.approx(losses, rel=1e-9)
    assert first[2] == pytest.approx(valid_losses, rel=1e-9)
    # Adam's step changes by lr / eps = 3e5 times as much as a gradient, at the most.
    torch.testing.assert_close(first[0], weights, rtol=0, atol=1e-9)


def test_all_have_what_the_first_has(two):
    expected = 0, Vocabulary.bpe([TEXT], 300).encode([TEXT])
    assert [results["of first"] for results in two] == [expected, expected]


def test_apple_gpus_train_in_one_process(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="several processes train on cpu or cuda, not on mps"):
        processes_of_torchrun(torch.device("mps")).__enter__()


# torchrun


@pytest.mark.parametrize("left", [{"WORLD_SIZE": "1"}, {"RANK": "3", "LOCAL_RANK": "3"}, {"WORLD_SIZE": ""}])
def test_variables_that_were_left_are_one_process(monkeypatch, left):
    for name, value in left.items():
        monkeypatch.setenv(name, value)
    with processes_of_torchrun(CPU) as processes:
        assert processes == Processes()


@pytest.mark.parametrize(
    ("left", "message"),
    [
        (
            {"WORLD_SIZE": "2"},
            "WORLD_SIZE is 2, but RANK is not set: start the command with torchrun, or unset",
        ),
        ({"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "localhost"}, "but MASTER_PORT is not set"),
        (
            {"WORLD_SIZE": "two"},
            "WORLD_SIZE must be a whole number of at least 1, .* got 'two': unset WORLD_SIZE",
        ),
        ({"WORLD_SIZE": "0"}, "got '0'"),
        (
            {"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "localhost", "MASTER_PORT": "door"},
            "the other processes of this training cannot be reached .*: start the command with torchrun",
        ),
    ],
)
def test_variables_that_lead_nowhere_are_named(monkeypatch, left, message):
    for name, value in left.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CourseError, match=message):
        processes_of_torchrun(CPU).__enter__()


if __name__ == "__main__":
    start_two(Path(sys.argv[1]))
