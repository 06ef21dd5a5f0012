"""Checkpoints: a training that is killed, cut short or out of disk goes on to the very same weights."""

import math
import os
import resource
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny import TRANSFORMER, model, sentences, weights_of

from utils.corpus.batches import Batch, ShuffledBatches
from utils.fast_training import fast_loss
from utils.seq2seq import EncoderDecoder
from utils.training import History
from utils.translator.checkpoints import Checkpoints, digest, write_atomically
from utils.translator.loop import Schedule, train

pytestmark = pytest.mark.trains

NUM_STEPS = 12


class At(Checkpoints):
    """Checkpoints after every step. Before the checkpoint of one step, ``action`` is called."""

    def __init__(self, folder: Path, step: int, action: Callable[[], object]):
        super().__init__(folder, seconds=0)
        self._step, self._action, self.steps = step, action, 0

    @property
    def due(self) -> bool:
        self.steps += 1
        if self.steps == self._step:
            self._action()
        return True


def trained(
    checkpoints: Checkpoints | None, *, seed: int = 5, epochs: int = 3, lr: float = 0.02, **changes: object
) -> tuple[torch.Tensor, History]:
    """A training whose order of sentences, dropout, optimizers and choice of the best weights all have a state."""
    some_model = model(**changes)
    history = train(
        some_model,
        ShuffledBatches(sentences(29), sentences(29, seed=1), batch_size=8),
        Schedule(epochs=epochs, lr=lr, patience=epochs),
        valid=(sentences(13, seed=2), sentences(13, seed=3)),
        seed=seed,
        checkpoints=checkpoints,
    )
    return weights_of(some_model), history


def every_step(folder: Path) -> Checkpoints:
    return Checkpoints(folder, seconds=0)


@pytest.fixture(scope="module")
def undisturbed() -> tuple[torch.Tensor, History]:
    return trained(None)


def is_that(resumed: tuple[torch.Tensor, History], undisturbed: tuple[torch.Tensor, History]) -> bool:
    """Whether two trainings ended with the same numbers, to the last bit."""
    (weights, history), (expected, whole) = resumed, undisturbed
    numbers = ("losses", "tokens", "valid_losses")
    return weights.equal(expected) and all(getattr(history, n) == getattr(whole, n) for n in numbers)


def throw(error: BaseException) -> None:
    raise error


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory) -> Path:
    """The folder of a training that ended in its second epoch."""
    folder = tmp_path_factory.mktemp("interrupted")
    with pytest.raises(InterruptedError):
        trained(At(folder, 7, lambda: throw(InterruptedError())))
    return folder


@pytest.fixture
def checkpoints(interrupted, tmp_path) -> Checkpoints:
    """A copy of what it left, for one test."""
    return every_step(shutil.copytree(interrupted, tmp_path / "copy"))


# Trainings that die


class Killed(BaseException):
    """No code catches this exception, as no code can catch the end of a process."""


@contextmanager
def dying_at_change(number: int) -> Iterator[None]:
    """Within this block the process dies in place of one change of a file, the one with this number."""
    changes = 0

    def counting(change: Callable) -> Callable:
        def count(*arguments: object) -> object:
            nonlocal changes
            changes += 1
            return throw(Killed()) if changes == number else change(*arguments)

        return count

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", counting(os.fsync))
        patch.setattr(Path, "replace", counting(Path.replace))
        yield


def test_death_at_every_step_changes_no_weight(tmp_path, undisturbed):
    """Each training goes on by one step, and dies at the next.

    A checkpoint is three changes: the new file reaches the disk, the last file (if there is one) becomes the previous
    one, the new file takes its place. With each step another one of them fails.
    """
    paths = every_step(tmp_path).paths
    for step in range(1, NUM_STEPS):
        first_checkpoint = 2 + paths[0].exists()
        with dying_at_change(first_checkpoint + 1 + step % 3), pytest.raises(Killed):
            trained(every_step(tmp_path))
        last = paths[0] if paths[0].exists() else paths[1]
        assert len(load_file(last)["losses"]) == step
    assert is_that(trained(every_step(tmp_path)), undisturbed)


def test_an_interrupted_transformer_goes_on_with_its_heads(tmp_path):
    with pytest.raises(InterruptedError):
        trained(At(tmp_path, 7, lambda: throw(InterruptedError())), **TRANSFORMER)
    with pytest.raises(ValueError, match="belongs to another training"):  # weights of the same shapes
        trained(every_step(tmp_path), **TRANSFORMER | {"num_heads": 2})
    assert is_that(trained(every_step(tmp_path), **TRANSFORMER), trained(None, **TRANSFORMER))


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Within this block the system refuses to make a file larger than this, as if the disk were full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_the_last_state(checkpoints, undisturbed):
    before = {path: path.read_bytes() for path in checkpoints.folder.iterdir()}
    with largest_file(checkpoints.paths[0].stat().st_size // 2), pytest.raises(OSError, match=r"\.part'$"):
        trained(checkpoints)
    assert {path: path.read_bytes() for path in checkpoints.folder.iterdir()} == before
    assert is_that(trained(checkpoints), undisturbed)


def test_ctrl_c_keeps_the_state_between_two_steps(tmp_path, undisturbed):
    class NeverDue(At):
        due = property(lambda self: At.due.fget(self) and False)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        trained(NeverDue(tmp_path, 10, lambda: signal.raise_signal(signal.SIGINT)))
    assert signal.getsignal(signal.SIGINT) is before
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.safetensors"]
    assert is_that(trained(every_step(tmp_path)), undisturbed)


def test_an_infinite_loss_names_the_last_state(tmp_path, undisturbed, monkeypatch):
    calls = 0

    def not_finite_at_the_sixth_step(model: EncoderDecoder, batch: Batch, **options: float) -> torch.Tensor:
        nonlocal calls
        calls += model.training
        return fast_loss(model, batch, **options) * (math.nan if calls == 6 else 1)

    with monkeypatch.context() as patch:
        patch.setattr("utils.translator.loop.fast_loss", not_finite_at_the_sixth_step)
        with pytest.raises(
            FloatingPointError,
            match=r"step 6: loss nan .*the last state before is in .*checkpoint.safetensors$",
        ):
            trained(every_step(tmp_path))
    assert is_that(trained(every_step(tmp_path)), undisturbed)


# Files that are not what they were


@pytest.mark.parametrize("damage", ["cut", "empty", "one byte", "no digest"])
def test_a_damaged_checkpoint_gives_way_to_the_previous(checkpoints, undisturbed, damage):
    current, _ = checkpoints.paths
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
    with pytest.warns(UserWarning, match=r"checkpoint\.safetensors is damaged.*continuing from .*previous"):
        resumed = trained(checkpoints)
    assert is_that(resumed, undisturbed)


def test_damaged_checkpoints_do_not_begin_anew(checkpoints):
    for path in checkpoints.paths:
        path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ValueError, match=r"(?s)checkpoint\.safetensors is damaged.*previous.*remove them"):
        trained(checkpoints)


@pytest.mark.parametrize("options", [{"seed": 6}, {"epochs": 6}, {"lr": 1e-3}, {"d_hidden": 13}])
def test_a_checkpoint_of_another_training_is_refused(checkpoints, options):
    with pytest.raises(ValueError, match="belongs to another training"):
        trained(checkpoints, **options)


def test_a_state_is_due_once_per_minute(tmp_path, monkeypatch):
    now = 1000.0
    monkeypatch.setattr("utils.translator.checkpoints.time.monotonic", lambda: now)
    checkpoints = Checkpoints(tmp_path)
    for _ in range(2):
        assert not checkpoints.due
        now += 59
        assert not checkpoints.due
        now += 1
        assert checkpoints.due
        checkpoints.save({"x": torch.ones(3)}, fingerprint="this one")


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    write_atomically(tmp_path / "x", b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: .*x\.part"):
        write_atomically(tmp_path / "x", b"new")
    assert (tmp_path / "x").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_digest_depends_on_all_content():
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3], dtype=torch.int64)
    assert digest([], {"a": a, "b": b}) == digest([], {"b": b, "a": a})
    assert digest([], {"a": a, "b": b}) != digest([], {"a": a, "b": b + 1})
    assert digest([b"text"], {"a": a}) != digest([b"texts"], {"a": a})
