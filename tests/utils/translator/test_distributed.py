"""Several processes: their shares make up the batch, their gradients that of one process, and they survive a kill."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from processes import ENDS_WITH_ITS_TEST, run_script
from safetensors.torch import load_file
from tiny import STORED_RUN, TRANSFORMER, model, sentences, trained_run, weights_of, write_pairs
from torch.distributed import TCPStore

from utils.corpus.batches import ShuffledBatches, make_batch
from utils.corpus.vocabulary import PAD
from utils.training import batch_loss
from utils.translator.checkpoints import Checkpoints
from utils.translator.devices import CPU, Device, choose_device
from utils.translator.distributed import Processes, SharedLoss, processes_of_torchrun
from utils.translator.fast import fast_loss
from utils.translator.loop import Schedule, train
from utils.translator.runs import load_run
from utils.translator.translating import translate_sentences

pytestmark = pytest.mark.trains

ROOT = Path(__file__).parents[3]


@given(st.lists(st.integers(1, 7), min_size=1, max_size=23), st.integers(1, 9))
def test_shards_hold_each_row_once(lengths, world):
    batch = make_batch([[4 + row] for row in range(len(lengths))], [[5] * length for length in lengths])
    shards = [Processes(rank, world).shard(batch) for rank in range(world)]
    counted_in = [rows for rows, share in shards if share]
    assert sorted(row for rows in counted_in for row in rows.src[:, 0].tolist()) == batch.src[:, 0].tolist()
    assert max(len(rows.src) for rows in counted_in) - min(len(rows.src) for rows in counted_in) <= 1
    assert sum(share for _, share in shards) == pytest.approx(1)
    for rows, share in shards:
        assert len(rows.src) >= 1
        if share:
            real = (rows.tgt_out != PAD).sum().item()
            assert share == pytest.approx(real / sum(length + 1 for length in lengths))


# Two processes and one. In float64 they differ by the rounding of sums that are taken in another order.


#: Rows of a batch, the fewest of which leave a process without any, and the form of the model.
GRADIENTS = [(13, "plain"), (13, "fast"), (1, "fast"), (13, "transformer")]


def gradient(processes: Processes, num: int, form: str) -> tuple[float, torch.Tensor]:
    """Loss and gradient of one batch."""
    some_model = model(dropout=0.0, **(TRANSFORMER if form == "transformer" else {})).double()
    shared_loss = SharedLoss(some_model, batch_loss if form == "plain" else fast_loss, processes)
    of_process = shared_loss(make_batch(sentences(num), sentences(num, seed=1)))
    of_process.backward()
    return shared_loss.of_batch(of_process), torch.cat([p.grad.flatten() for p in some_model.parameters()])


def trained(processes: Processes, folder: Path) -> tuple[torch.Tensor, list[float], list[float]]:
    """Weights and losses of a training in which one batch has a single row."""
    some_model = model(dropout=0.0).double()
    history = train(
        some_model,
        ShuffledBatches(sentences(33), sentences(33, seed=1), batch_size=16),
        Schedule(epochs=2, batch_size=5),
        valid=(sentences(13, seed=2), sentences(13, seed=3)),
        checkpoints=Checkpoints(folder / "trained", seconds=0),
        processes=processes,
    )
    return weights_of(some_model), history.losses, history.valid_losses


def disagree(processes: Processes) -> str:
    processes.check_same("the same")
    try:
        processes.check_same(f"text {processes.rank}")
    except ValueError as error:
        return str(error)
    return ""


class InterruptsTheSecond(ShuffledBatches):
    """Batches of a process in which Ctrl-C is pressed at the third step, if it is the second of the two."""

    rank = 0

    def epoch(self, generator):
        for number, batch in enumerate(super().epoch(generator), 1):
            if number == 3 and self.rank == 1:
                signal.raise_signal(signal.SIGINT)
            yield batch


def interrupted(processes: Processes, folder: Path) -> bool:
    """Whether Ctrl-C in the second process ends the training in this one."""
    batches = InterruptsTheSecond(sentences(33), sentences(33), batch_size=8)
    batches.rank = processes.rank
    checkpoints = Checkpoints(folder / "interrupted")
    try:
        train(model(), batches, Schedule(epochs=1), checkpoints=checkpoints, processes=processes)
    except KeyboardInterrupt:
        return True
    return False


def work_together(rank: int, port: int, folder: Path) -> None:
    """What one of two processes does for the tests below, in an environment like that of torchrun."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    os.environ |= {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}
    with processes_of_torchrun(CPU) as processes:
        results = {case: gradient(processes, *case) for case in GRADIENTS}
        results |= {"trained": trained(processes, folder), "disagree": disagree(processes)}
        results["interrupted"] = interrupted(processes, folder)
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
def two(tmp_path_factory) -> tuple[list[dict], Path]:
    """The results of two connected processes, and the folder with their checkpoints."""
    folder = tmp_path_factory.mktemp("processes")
    run_script(__file__, folder)
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)], folder


@pytest.mark.parametrize("case", GRADIENTS)
def test_the_gradient_is_that_of_one_process(two, case):
    loss, expected = gradient(Processes(), *case)
    for results in two[0]:
        assert results[case][0] == pytest.approx(loss, rel=1e-12)
        torch.testing.assert_close(results[case][1], expected, rtol=0, atol=1e-12)


def test_a_training_in_two_processes_is_one_training(two, tmp_path):
    weights, losses, valid_losses = trained(Processes(), tmp_path)
    (first, second), folder = [results["trained"] for results in two[0]], two[1]
    assert torch.equal(first[0], second[0])
    assert first[1:] == second[1:]
    assert first[1] == pytest.approx(losses, rel=1e-9)
    assert first[2] == pytest.approx(valid_losses, rel=1e-9)
    # Adam's step changes by lr / eps = 3e5 times as much as a gradient, at the most.
    torch.testing.assert_close(first[0], weights, rtol=0, atol=1e-9)
    assert len(list((folder / "trained").iterdir())) == 2


def test_processes_with_other_sentences_are_told(two):
    assert [results["disagree"] for results in two[0]] == [
        "",
        "process 1 has other sentences or settings than process 0: give all of them the same",
    ]


def test_ctrl_c_in_one_process_ends_all(two):
    results, folder = two
    assert [result["interrupted"] for result in results] == [True, True]
    assert len(load_file(folder / "interrupted" / "checkpoint.safetensors")["losses"]) == 3


def test_apple_gpus_train_in_one_process(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="several processes train on cpu or cuda, not on mps"):
        processes_of_torchrun(torch.device("mps")).__enter__()


# torchrun


#: The command line with a clock that ticks when it is read, so that the steps do not depend on the machine's speed.
#: At the fifth step of the first start the second process kills itself.
WATCHED = """
import os, signal, sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace

from utils.translator import loop, runs
from utils.translator.checkpoints import Checkpoints
from utils.translator.commands import app
from utils.translator.fast import fast_loss

folder, start, rank = Path(sys.argv.pop(1)), os.environ["TORCHELASTIC_RESTART_COUNT"], os.environ["RANK"]
steps = 0

class AlwaysDue(Checkpoints):
    due = True

    def load(self, *, fingerprint):
        saved = super().load(fingerprint=fingerprint)
        (folder / f"steps-{start}-{rank}").write_text(str(0 if saved is None else len(saved["losses"])))
        return saved

def faulty_loss(model, batch, **options):
    global steps
    steps += model.training
    if (start, rank, steps) == ("0", "1", 5):
        os.kill(os.getpid(), signal.SIGKILL)
    return fast_loss(model, batch, **options)

ticks = count()
loop.time = SimpleNamespace(perf_counter=lambda: next(ticks))
loop.fast_loss = faulty_loss
runs.Checkpoints = AlwaysDue
app(prog_name="attention-course")
"""


@contextmanager
def torchrun(folder: Path) -> Iterator[subprocess.Popen]:
    """Two processes that train for a minute of their clock."""
    script = folder / "watched.py"
    script.write_text(ENDS_WITH_ITS_TEST + WATCHED)
    small = ["--vocabulary-size", 360, "--width", 13, "--test-groups", 7, "--valid-groups", 5]
    pairs, out = write_pairs(folder / "pairs.txt"), folder / "run"
    arguments = [
        *("--standalone", "--nproc-per-node=2", "--max-restarts=1", script, folder),
        *("train", "--pairs", pairs, "--src", "en", "--tgt", "fr", "--out", out),
        *("--minutes", 1, "--device", "cpu", *small),
    ]
    command = [sys.executable, "-m", "torch.distributed.run", *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.stdin.close()
            process.terminate()


@pytest.mark.slow
def test_torchrun_resumes_after_a_killed_worker(tmp_path):
    with torchrun(tmp_path) as process:
        # This reads until all writers have ended. communicate() would close the pipe that they watch.
        stdout, status = process.stdout.read(), process.wait()
        assert status == 0, process.stderr.read()
    steps = {path.name: path.read_text() for path in tmp_path.glob("steps-*")}
    assert steps == {"steps-0-0": "0", "steps-0-1": "0", "steps-1-0": "4", "steps-1-1": "4"}
    *_, rows, speed, loss = stdout.splitlines()
    assert rows.endswith(" to train on")
    assert stdout.count("tokens per second") == 1
    assert re.search(r"\d+ steps, \d+ target tokens per second", speed)
    assert loss.startswith("held-out loss")
    assert len(load_run(tmp_path / "run").test) == 7
    assert not list((tmp_path / "run").glob("checkpoint*"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_a_run_lives_on_a_gpu(tmp_path):
    run, on_gpu = trained_run(), load_run(STORED_RUN, device=choose_device(Device.CUDA))
    texts = [example.source for example in run.test]
    assert [t.text for t in translate_sentences(on_gpu, texts)] == [
        t.text for t in translate_sentences(run, texts)
    ]
    losses = []
    for checkpoints in (None, Checkpoints(tmp_path, seconds=0), Checkpoints(tmp_path, seconds=0)):
        history = train(
            model(dropout=0.0).to("cuda"),
            ShuffledBatches(sentences(), sentences(), batch_size=16),
            Schedule(epochs=3),
            checkpoints=checkpoints,
            processes=Processes(device=torch.device("cuda")),
        )
        losses.append(history.losses)
    assert losses[1] == losses[2] == pytest.approx(losses[0], rel=1e-3)


if __name__ == "__main__":
    start_two(Path(sys.argv[1]))
