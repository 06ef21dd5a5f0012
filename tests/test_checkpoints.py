"""Checkpoints: a training that is killed, cut short or out of disk goes on to the very same weights."""

import dataclasses
import multiprocessing
import os
import random
import resource
import signal
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from test_training import TINY, model, sentences, weights_of

from utils.training import History, fit
from utils.translator.checkpoints import Checkpoints, digest, write_atomically

NUM_KILLS = 20
FORK = multiprocessing.get_context("fork")


def train(folder: Path | None, *, seed: int = 5, epochs: int = 12, **options) -> tuple[torch.Tensor, History]:
    """A training whose order of sentences, dropout and choice of the best weights all have a state."""
    some_model = model()
    history = fit(
        some_model,
        sentences(),
        sentences(),
        epochs=epochs,
        valid=(sentences(13, seed=1), sentences(13, seed=1)),
        patience=11,
        batch_size=16,
        seed=seed,
        checkpoints=None if folder is None else Checkpoints(folder, seconds=0),
        **options,
    )
    return weights_of(some_model), history


@pytest.fixture(scope="module")
def undisturbed() -> tuple[torch.Tensor, History]:
    return train(None)


def train_and_keep(folder: Path) -> None:
    """The work of a process that may be killed: trains, and leaves the weights in a file."""
    torch.set_num_threads(1)
    weights, _ = train(folder)
    save_file({"weights": weights}, folder / "done.safetensors")


def out_of_disk(folder: Path) -> None:
    """The same where no file may grow beyond what half a checkpoint needs."""
    size = Checkpoints(folder).paths[0].stat().st_size // 2
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        train_and_keep(folder)
    except OSError:
        os._exit(3)
    os._exit(0)


def test_a_training_that_is_killed_twenty_times_ends_with_the_same_weights(tmp_path, undisturbed):
    moments = random.Random(0)
    started = 0
    for _ in range(NUM_KILLS):
        process = FORK.Process(target=train_and_keep, args=(tmp_path,))
        process.start()
        time.sleep(moments.uniform(0.02, 0.25))
        process.kill()
        process.join()
        started += Checkpoints(tmp_path).kept
    assert started > NUM_KILLS / 2  # most kills fell into a training that had something to lose
    process = FORK.Process(target=train_and_keep, args=(tmp_path,))
    process.start()
    process.join(120)
    assert process.exitcode == 0
    expected, whole = undisturbed
    torch.testing.assert_close(load_file(tmp_path / "done.safetensors")["weights"], expected, rtol=0, atol=0)
    weights, history = train(tmp_path)  # once more, from the last state of a training that was not cut short
    torch.testing.assert_close(weights, expected, rtol=0, atol=0)
    assert history.losses == whole.losses
    assert history.tokens == whole.tokens
    assert history.valid_losses == whole.valid_losses


def test_a_full_disk_ends_the_training_and_leaves_the_last_state(tmp_path, undisturbed):
    interrupted = FORK.Process(target=train_and_keep, args=(tmp_path,))
    interrupted.start()
    while not all(path.exists() for path in Checkpoints(tmp_path).paths):
        time.sleep(0.01)
    interrupted.kill()
    interrupted.join()
    before = {path: path.read_bytes() for path in tmp_path.glob("checkpoint*.safetensors")}
    full = FORK.Process(target=out_of_disk, args=(tmp_path,))
    full.start()
    full.join(60)
    assert full.exitcode == 3
    assert {path: path.read_bytes() for path in tmp_path.glob("checkpoint*.safetensors")} == before
    assert train(tmp_path)[0].equal(undisturbed[0])


@pytest.fixture
def kept(tmp_path) -> Checkpoints:
    """Two states of a training that was not finished."""
    process = FORK.Process(target=train_and_keep, args=(tmp_path,))
    process.start()
    checkpoints = Checkpoints(tmp_path)
    while not all(path.exists() for path in checkpoints.paths):
        time.sleep(0.01)
    process.kill()
    process.join()
    return checkpoints


@pytest.mark.parametrize("damage", ["cut", "empty", "one byte", "no digest"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_is_used(kept, undisturbed, damage):
    current, _ = kept.paths
    content = bytearray(current.read_bytes())
    if damage == "cut":
        current.write_bytes(content[: len(content) // 2])
    elif damage == "empty":
        current.write_bytes(b"")
    elif damage == "one byte":
        content[-100] ^= 1
        current.write_bytes(content)
    else:
        save_file({"x": torch.ones(3)}, current)
    with pytest.warns(UserWarning, match=r"checkpoint\.safetensors is damaged.*going on from .*previous"):
        weights, _ = train(kept.folder)
    assert weights.equal(undisturbed[0])


def test_where_all_are_damaged_it_says_so_and_does_not_begin_anew(kept):
    for path in kept.paths:
        path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ValueError, match=r"(?s)checkpoint\.safetensors is damaged.*previous.*remove them"):
        train(kept.folder)


@pytest.mark.parametrize("options", [{"seed": 6}, {"epochs": 13}, {"lr": 1e-3}])
def test_a_checkpoint_of_another_training_is_refused(kept, options):
    with pytest.raises(ValueError, match="belongs to another training"):
        train(kept.folder, **options)


def test_a_checkpoint_of_another_shape_is_refused(kept):
    other = model(dataclasses.replace(TINY, d_hidden=13))
    with pytest.raises(ValueError, match="belongs to another training"):
        fit(other, sentences(), sentences(), epochs=12, checkpoints=Checkpoints(kept.folder))


def test_a_loss_that_is_not_finite_names_the_step_and_the_last_state_before(tmp_path):
    checkpoints = Checkpoints(tmp_path, seconds=0)
    with pytest.raises(
        FloatingPointError, match=r"step \d+: loss .*checkpoint.safetensors holds the last state"
    ) as stopped:
        fit(model(), sentences(), sentences(), epochs=50, lr=1e38, checkpoints=checkpoints)
    step = int(str(stopped.value).split()[1].removesuffix(":"))
    kept = load_file(checkpoints.paths[0])
    assert len(kept["losses"]) == step - 1
    assert all(value.isfinite().all() for name, value in kept.items() if name.startswith("model."))


def test_ctrl_c_keeps_the_state_between_two_steps(tmp_path, undisturbed):
    class AtTheTenthStep(Checkpoints):
        steps = 0

        @property
        def due(self) -> bool:
            self.steps += 1
            if self.steps == 10:
                signal.raise_signal(signal.SIGINT)
            return False

    some_model = model()
    options = {"epochs": 12, "patience": 11, "batch_size": 16, "seed": 5}
    valid = (sentences(13, seed=1), sentences(13, seed=1))
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        fit(
            some_model, sentences(), sentences(), valid=valid, checkpoints=AtTheTenthStep(tmp_path), **options
        )
    assert signal.getsignal(signal.SIGINT) is before
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.safetensors"]
    weights, history = train(tmp_path)
    assert weights.equal(undisturbed[0])
    assert history.losses == undisturbed[1].losses


def test_nothing_is_kept_before_it_is_due(tmp_path):
    checkpoints = Checkpoints(tmp_path, seconds=3600)
    fit(model(), sentences(), sentences(), epochs=2, checkpoints=checkpoints)
    assert not checkpoints.kept


def test_a_write_leaves_nothing_behind_that_was_not_there(tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    write_atomically(tmp_path / "x", b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "x", b"new")
    assert (tmp_path / "x").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_the_digest_knows_names_apart_only_by_their_order_and_content_always():
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3], dtype=torch.int64)
    assert digest([], {"a": a, "b": b}) == digest([], {"b": b, "a": a})
    assert digest([], {"a": a, "b": b}) != digest([], {"a": a, "b": b + 1})
    assert digest([b"text"], {"a": a}) != digest([b"texts"], {"a": a})
