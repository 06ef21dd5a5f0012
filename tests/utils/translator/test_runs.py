"""Runs: trained from a pair file, kept safely in a folder, read again or refused by name."""

import dataclasses
import errno
import json
import math
import os
from functools import partial
from pathlib import Path

import pytest
import torch
from tiny import (
    SETTINGS,
    tiny_data,
    train_tiny,
    trained_run,
    weights_of,
    write_pairs,
)

from utils.corpus.whole_files import write_whole
from utils.translator.models import build_model
from utils.translator.runs import load_run, save_run, train_run
from utils.translator.training.distributed import Processes
from utils.translator.training.loop import STATE, Schedule, load_state, save_state

ONE_EPOCH = Schedule(epochs=1)


def test_settings_and_seed_alone_decide_the_model():
    torch.manual_seed(0)
    first = weights_of(build_model(SETTINGS, 5, 7))
    torch.manual_seed(1)
    assert torch.equal(weights_of(build_model(SETTINGS, 5, 7)), first)
    assert not torch.equal(weights_of(build_model(dataclasses.replace(SETTINGS, seed=1), 5, 7)), first)
    deep = build_model(dataclasses.replace(SETTINGS, num_layers=2), 7, 19)
    assert deep.encoder.embedding.weight.shape == (7, 11)
    assert deep.decoder.output.weight.shape == (19, 13)
    assert len(deep.decoder.cells) == 2


def test_a_training_gives_the_run_in_its_folder(tmp_path):
    run, history = train_tiny(tmp_path, epochs=2)
    stored = load_run(tmp_path / "run")
    assert stored.settings == run.settings == SETTINGS
    assert stored.test == run.test
    assert torch.equal(weights_of(stored.model), weights_of(run.model))
    assert not stored.model.training
    assert history.losses[-1] < history.losses[0]
    assert len(history.valid_losses) == 2


@pytest.fixture
def saved(tmp_path):
    save_run(dataclasses.replace(trained_run(), record={"data": "some file and its digest"}), tmp_path)
    return tmp_path


def test_a_missing_run_and_missing_or_cut_off_weights_are_named(saved, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere holds no trained run: settings\.json is missing"):
        load_run(tmp_path / "nowhere")
    weights = saved / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"weights\.safetensors is damaged"):
        load_run(saved)
    weights.unlink()
    with pytest.raises(FileNotFoundError, match=r"weights\.safetensors is missing"):
        load_run(saved)


@pytest.mark.parametrize(
    "name",
    [
        *("run.json", "settings.json", "src.vocabulary.json", "tgt.vocabulary.json", "test.json"),
        "weights.safetensors",
    ],
)
def test_one_changed_byte_is_noticed(saved, name):
    content = bytearray((saved / name).read_bytes())
    content[-20] ^= 1
    (saved / name).write_bytes(content)
    with pytest.raises(ValueError, match=r"are damaged or not of one run"):
        load_run(saved)


# Trainings that end early


@pytest.mark.parametrize("name", ["settings.json", "weights.safetensors"])
def test_a_full_disk_keeps_the_training(tmp_path, monkeypatch, name):
    def full_for_one(path: Path, content: bytes) -> None:
        if path.name == name:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_whole(path, content)

    train = partial(train_run, tiny_data(tmp_path), SETTINGS, ONE_EPOCH, out=tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr("utils.translator.runs.write_whole", full_for_one)
        with pytest.raises(OSError, match="No space left"):
            train()
    with pytest.raises(FileNotFoundError, match="holds no trained run"):
        load_run(tmp_path / "run")
    with pytest.raises(FileExistsError, match="was interrupted: continue it with --resume"):
        train()
    run, history, _ = train(resume=True)
    assert len(history.losses) == 3  # the training was complete and is not done again
    assert torch.equal(weights_of(load_run(tmp_path / "run").model), weights_of(run.model))
    assert not (tmp_path / "run" / STATE).exists()


@pytest.fixture
def interrupted(tmp_path, monkeypatch) -> Path:
    """A training of one epoch that ended before its run was saved."""
    with monkeypatch.context() as patch:
        patch.setattr("utils.translator.runs.save_run", raise_interrupted)
        with pytest.raises(InterruptedError):
            train_run(tiny_data(tmp_path), SETTINGS, ONE_EPOCH, out=tmp_path / "run")
    return tmp_path / "run"


def raise_interrupted(*_: object) -> None:
    raise InterruptedError


def test_only_the_same_training_is_resumed(tmp_path, interrupted):
    data, resume = tiny_data(tmp_path), partial(train_run, out=interrupted, resume=True)
    other = dataclasses.replace(SETTINGS, dropout=0.3, seed=1)
    with pytest.raises(ValueError, match=r"other options: dropout was 0\.0, now 0\.3; seed was 0, now 1"):
        resume(data, other, ONE_EPOCH)
    with pytest.raises(ValueError, match="epochs was 1, now 2"):
        resume(data, SETTINGS, Schedule(epochs=2))
    moved = data.pairs.rename(tmp_path / "moved.txt")
    moved.write_text(moved.read_text("utf-8") + "One more.\tEncore une.\n", "utf-8")
    with pytest.raises(
        ValueError, match=r"the text of .*moved\.txt is not the one that .* began with: restore it"
    ):
        resume(dataclasses.replace(data, pairs=moved), SETTINGS, ONE_EPOCH)
    write_pairs(moved)
    run, _, _ = resume(dataclasses.replace(data, pairs=moved), SETTINGS, ONE_EPOCH)
    assert run.record["machine"]["processes"] == 1
    assert len(run.record["resumed"]) == 1


def test_a_training_is_resumed_in_as_many_processes(tmp_path, interrupted):
    data = tiny_data(tmp_path)
    message = "processes .* were 1, now 3: start it without torchrun"
    with pytest.raises(
        ValueError, match=message
    ):  # whatever else differs, as the number of pairs in a step does
        train_run(
            data, SETTINGS, Schedule(epochs=2), out=interrupted, resume=True, processes=Processes(world=3)
        )
    state = load_state(interrupted)
    record = json.loads(state["record"])
    record["machine"]["processes"] = 3
    save_state(interrupted, state | {"record": json.dumps(record)})
    with pytest.raises(ValueError, match="were 3, now 1: start it with torchrun in 3 processes"):
        train_run(data, SETTINGS, ONE_EPOCH, out=interrupted, resume=True)


class Code:
    """An object that would run code when it is loaded."""

    def __reduce__(self):
        return os.mkdir, ("made_by_code",)


@pytest.mark.parametrize("damage", ["empty", "half", "code", "another"])
def test_a_damaged_state_is_named(tmp_path, monkeypatch, interrupted, damage):
    monkeypatch.chdir(tmp_path)
    content = (interrupted / STATE).read_bytes()
    if damage in ("empty", "half"):
        (interrupted / STATE).write_bytes(content[: len(content) // 2 if damage == "half" else 0])
    else:
        torch.save({"model": Code() if damage == "code" else 5}, interrupted / STATE)
    with pytest.raises(ValueError, match=r"state\.pt is damaged, or no state of a training: remove it"):
        train_run(tiny_data(tmp_path), SETTINGS, ONE_EPOCH, out=interrupted, resume=True)
    assert not Path("made_by_code").exists()


@pytest.mark.parametrize("resume", [False, True])
def test_what_is_in_the_place_stays(tmp_path, monkeypatch, resume):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes").write_text("mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    monkeypatch.chdir(tmp_path / "folder")
    for place in (tmp_path / "file", ".", "", tmp_path / "folder", "/"):
        with pytest.raises(FileExistsError, match="exists already: name a new folder"):
            train_run(tiny_data(tmp_path), SETTINGS, ONE_EPOCH, out=place, resume=resume)
    assert [(tmp_path / "file").read_text(), Path("notes").read_text()] == ["mine", "mine"]
    assert [path.name for path in Path().iterdir()] == ["notes"]
    train_run(tiny_data(tmp_path), SETTINGS, ONE_EPOCH, out=tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    load_run(tmp_path / "empty")


# Numbers that are not finite, sentences that are too long


def test_infinite_parameters_are_neither_saved_nor_loaded(tmp_path, monkeypatch):
    run = trained_run()
    weights = {name: tensor.clone() for name, tensor in run.model.state_dict().items()}
    weights["decoder.output.bias"][3] = math.nan
    broken = build_model(SETTINGS, len(run.src_vocabulary), len(run.tgt_vocabulary))
    broken.load_state_dict(weights)
    broken_run = dataclasses.replace(run, model=broken)
    message = r"decoder\.output\.bias has numbers that are not finite"
    with pytest.raises(FloatingPointError, match=message):
        save_run(broken_run, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with monkeypatch.context() as patch:
        patch.setattr("utils.translator.runs.check_weights", lambda *_: None)
        save_run(broken_run, tmp_path / "run")
    with pytest.raises(FloatingPointError, match=message):
        load_run(tmp_path / "run")
