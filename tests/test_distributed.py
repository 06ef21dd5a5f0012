"""Several processes: their shares make up the batch, their gradients that of one process, and they survive a kill."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from bench_scaling import counted, training_flops
from hypothesis import given
from hypothesis import strategies as st
from test_training import TINY, model, sentences
from tiny import trained_run, weights_of, write_pairs

from utils.corpus.batches import make_batch
from utils.corpus.vocabulary import PAD
from utils.training import batch_loss, fit
from utils.translator.checkpoints import Checkpoints
from utils.translator.devices import Device, choose_device, fastest_products
from utils.translator.distributed import Processes, SharedLoss, processes_of_torchrun
from utils.translator.runs import load_run, save_run
from utils.translator.translating import translate

CPU = torch.device("cpu")
STEADY = replace(TINY, dropout=0.0)
ROOT = Path(__file__).parents[1]


@given(st.lists(st.integers(1, 7), min_size=1, max_size=23), st.integers(1, 9))
def test_the_shares_of_a_batch_hold_each_row_once(lengths, world):
    batch = make_batch([[4 + row] for row in range(len(lengths))], [[5] * length for length in lengths])
    shares = [Processes(rank, world).share(batch) for rank in range(world)]
    kept = [rows for rows, share in shares if share]
    assert sorted(row for rows in kept for row in rows.src[:, 0].tolist()) == batch.src[:, 0].tolist()
    assert max(len(rows.src) for rows in kept) - min(len(rows.src) for rows in kept) <= 1
    assert sum(share for _, share in shares) == pytest.approx(1)
    for rows, share in shares:
        assert len(rows.src) >= 1
        if share:
            assert share == pytest.approx(
                (rows.tgt_out != PAD).sum().item() / sum(length + 1 for length in lengths)
            )


def gradient(processes: Processes, *, num: int, fast: bool) -> tuple[float, torch.Tensor]:
    """Loss and gradient of one batch."""
    some_model = model(STEADY)
    shared_loss = SharedLoss(some_model, partial(batch_loss, fast=fast), processes)
    share = shared_loss(make_batch(sentences(num), sentences(num, seed=1)))
    share.backward()
    return shared_loss.of_batch(share), torch.cat([p.grad.flatten() for p in some_model.parameters()])


def trained(
    processes: Processes, folder: Path | None = None
) -> tuple[torch.Tensor, list[float], list[float]]:
    """Weights and losses of a training whose last batch has one row."""
    some_model = model(STEADY)
    history = fit(
        some_model,
        sentences(),
        sentences(),
        epochs=3,
        valid=(sentences(13, seed=1), sentences(13, seed=1)),
        batch_size=16,
        checkpoints=None if folder is None else Checkpoints(folder, seconds=0),
        processes=processes,
    )
    return weights_of(some_model), history.losses, history.valid_losses


def disagree(processes: Processes) -> str:
    processes.agree_on("the same")
    try:
        processes.agree_on(f"text {processes.rank}")
    except ValueError as error:
        return str(error)
    return ""


def work_together(rank: int, world: int, port: int, folder: Path) -> None:
    """What one of several processes does for the tests below."""
    torch.set_num_threads(1)
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(world)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    with processes_of_torchrun(CPU) as processes:
        done = {case: gradient(processes, num=case[0], fast=case[1]) for case in GRADIENTS}
        done |= {"trained": trained(processes, folder), "disagree": disagree(processes)}
    torch.save(done, folder / f"{rank}.pt")


#: Rows of a batch, the fewest of which leave a process without any, and the form of the decoder.
GRADIENTS = [(13, False), (13, True), (1, True)]


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> tuple[list[dict], Path]:
    """What two connected processes found, and the folder with their checkpoints."""
    folder = tmp_path_factory.mktemp("processes")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(work_together, (2, port, folder), nprocs=2)
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)], folder


@pytest.mark.parametrize("case", GRADIENTS)
def test_the_gradient_is_that_of_one_process(two, case):
    loss, expected = gradient(Processes(), num=case[0], fast=case[1])
    for found in two[0]:
        assert found[case][0] == pytest.approx(loss, rel=1e-6)
        torch.testing.assert_close(found[case][1], expected, rtol=0, atol=1e-6)


def test_a_training_in_two_processes_is_one_training(two):
    weights, losses, valid_losses = trained(Processes())
    (first, second), folder = [found["trained"] for found in two[0]], two[1]
    assert torch.equal(first[0], second[0])
    assert first[1:] == second[1:]
    assert first[1] == pytest.approx(losses, rel=1e-4)
    assert first[2] == pytest.approx(valid_losses, rel=1e-4)
    torch.testing.assert_close(first[0], weights, rtol=1e-3, atol=1e-4)
    assert len(list(folder.glob("checkpoint*"))) == 2


def test_processes_with_other_sentences_are_told(two):
    assert [found["disagree"] for found in two[0]] == [
        "",
        "process 1 has other sentences or settings than the first: give all the same file",
    ]


def torchrun(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", *map(str, arguments)]


def train_arguments(folder: Path, minutes: float) -> list[object]:
    pairs, out = write_pairs(folder / "pairs.txt"), folder / "run"
    small = ["--vocabulary-size", 360, "--width", 13, "--test-groups", 7, "--valid-groups", 5]
    return [
        *("train", "--pairs", pairs, "--src", "en", "--tgt", "fr", "--out", out),
        *("--minutes", minutes, "--device", "cpu", *small),
    ]


def test_the_command_trains_in_two_processes_and_speaks_once(tmp_path):
    command = torchrun("--nproc-per-node=2", "-m", "utils", *train_arguments(tmp_path, 0.03))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows, steps, loss = done.stdout.splitlines()
    assert rows.endswith(" to train on")
    assert re.search(r"\d+ steps, \d+ target tokens a second", steps)
    assert loss.startswith("held-out loss")
    assert len(load_run(tmp_path / "run").test) == 7


#: The command line, but a state is kept after every step, and what happens is told in files.
WATCHED = """
import os, sys
from pathlib import Path
import utils.translator.runs
from utils.translator.commands import app
from utils.translator.checkpoints import Checkpoints

folder = Path(sys.argv.pop(1))
name = f"{os.environ['TORCHELASTIC_RESTART_COUNT']}-{os.environ['RANK']}"

class Watched(Checkpoints):
    def __init__(self, path):
        super().__init__(path, seconds=0)

    def load(self, *, training):
        kept = super().load(training=training)
        (folder / f"steps{name}").write_text(str(0 if kept is None else len(kept["losses"])))
        return kept

utils.translator.runs.Checkpoints = Watched
(folder / f"pid{name}").write_text(str(os.getpid()))
app(prog_name="python -m utils")
"""


def test_after_a_worker_is_killed_torchrun_goes_on_from_the_checkpoint(tmp_path):
    script = tmp_path / "watched.py"
    script.write_text(WATCHED)
    arguments = (script, tmp_path, *train_arguments(tmp_path, 0.15))
    process = subprocess.Popen(torchrun("--nproc-per-node=2", "--max-restarts=1", *arguments), cwd=ROOT)
    try:
        until = time.monotonic() + 100
        while not (tmp_path / "run" / "checkpoint.previous.safetensors").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        os.kill(int((tmp_path / "pid0-1").read_text()), signal.SIGKILL)
        assert process.wait(100) == 0
    finally:
        process.kill()
    assert (tmp_path / "steps0-0").read_text() == "0"
    resumed = {(tmp_path / f"steps1-{rank}").read_text() for rank in (0, 1)}
    assert len(resumed) == 1
    assert int(resumed.pop()) >= 2
    assert len(load_run(tmp_path / "run").test) == 7
    assert not list((tmp_path / "run").glob("checkpoint*"))


def test_the_formula_of_the_page_counts_the_operations_that_torch_counts():
    n, h = 7, 17
    size = {"d_embed": 11, "d_hidden": h, "vocab": 41}
    first_states = 6 * h * h - 2 * 6 * h * h  # s_0 is a product; nothing goes back into the encoder's zeros
    scores = 6 * n * n * h  # matrix by vector, which torch does not count
    assert counted(n, **size) == training_flops(n, n, **size) + first_states - scores


# Devices


def there(monkeypatch, *, cuda: bool = False, mps: bool = False) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: cuda)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 4 * cuda)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: mps)


def test_auto_takes_the_fastest_device_that_is_there(monkeypatch):
    there(monkeypatch, cuda=True, mps=True)
    assert choose_device() == torch.device("cuda", 0)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert choose_device() == torch.device("cuda", 3)
    monkeypatch.setenv("LOCAL_RANK", "4")
    with pytest.raises(ValueError, match="process 4 of this machine finds 4 CUDA GPUs"):
        choose_device()
    assert choose_device(Device.CPU) == CPU
    there(monkeypatch, mps=True)
    assert choose_device() == torch.device("mps")
    there(monkeypatch)
    assert choose_device() == CPU


@pytest.mark.parametrize("name", [Device.CUDA, Device.MPS])
def test_a_device_that_is_not_there_is_named(monkeypatch, name):
    there(monkeypatch)
    with pytest.raises(ValueError, match=f"device {name} is not there"):
        choose_device(name)


def test_products_are_coarse_where_the_device_gains_from_it(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda including_emulation: True)
    monkeypatch.setattr("torch.cpu._is_avx512_bf16_supported", lambda: False)
    assert fastest_products(torch.device("cuda")) == torch.bfloat16
    assert fastest_products(CPU) == fastest_products(torch.device("mps")) == torch.float32


def test_several_processes_do_not_train_on_apple_s_gpu(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="several processes train on cpu or cuda, not on mps"):
        processes_of_torchrun(torch.device("mps")).__enter__()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_a_run_is_trained_resumed_and_read_on_a_gpu(tmp_path):
    run = trained_run()
    save_run(run, tmp_path / "run")
    on_gpu = load_run(tmp_path / "run", device=choose_device(Device.CUDA))
    texts = [example.source for example in run.test]
    assert [t.text for t in translate(on_gpu, texts)] == [t.text for t in translate(run, texts)]
    losses = []
    for folder in (None, tmp_path, tmp_path):
        some_model = model(STEADY).to("cuda")
        history = fit(
            some_model,
            sentences(),
            sentences(),
            epochs=3,
            fast=True,
            checkpoints=None if folder is None else Checkpoints(folder, seconds=0),
            processes=Processes(device=torch.device("cuda")),
        )
        losses.append(history.losses)
    assert losses[1] == losses[2] == pytest.approx(losses[0], rel=1e-3)
