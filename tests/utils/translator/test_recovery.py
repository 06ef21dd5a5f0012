"""Signals that are obeyed or held, states of trainings, and folders in which a run is made."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from utils.translator.recovery import (
    STATE,
    Interrupted,
    hold_signals,
    load_state,
    made_whole,
    obey_signals,
    save_state,
    training_folder,
)

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


# Signals


@pytest.mark.parametrize("number", STATUS)
def test_signals_are_obeyed_or_held_and_handlers_put_back(number):
    before = [signal.getsignal(other) for other in STATUS]
    with hold_signals() as held:
        signal.raise_signal(number)
        signal.raise_signal(signal.SIGTERM)
    assert held == [number, signal.SIGTERM]
    with pytest.raises(Interrupted) as interrupt, obey_signals():
        signal.raise_signal(number)
    assert interrupt.value.status == STATUS[number]
    assert [signal.getsignal(other) for other in STATUS] == before


def test_a_signal_that_is_ignored_stays_ignored():
    """``nohup`` ignores SIGHUP, and a shell ignores Ctrl-C for what it starts in the background."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with obey_signals(), hold_signals() as held:
            signal.raise_signal(signal.SIGHUP)
        assert held == []
    finally:
        signal.signal(signal.SIGHUP, before)


# States


class Code:
    """An object that would run code when it is loaded."""

    def __reduce__(self):
        return os.mkdir, ("made_by_code",)


@pytest.mark.parametrize("damage", ["empty", "half", "code"])
def test_a_damaged_state_is_named(tmp_path, monkeypatch, damage):
    monkeypatch.chdir(tmp_path)
    save_state(tmp_path, {"model": Code() if damage == "code" else torch.zeros(1000)})
    content = (tmp_path / STATE).read_bytes()
    if damage != "code":
        (tmp_path / STATE).write_bytes(content[: len(content) // 2 if damage == "half" else 0])
    with pytest.raises(ValueError, match=r"state\.pt is damaged: remove .* and train again"):
        load_state(tmp_path)
    assert not Path("made_by_code").exists()


# Folders


def test_a_run_appears_whole_in_its_place(tmp_path):
    place = tmp_path / "deep" / "run"
    with made_whole(place) as folder:
        assert folder == training_folder(place) == tmp_path / "deep" / "run.training"
        (folder / "x").write_text("x")
        (folder / STATE).touch()
        assert not place.exists()
        with pytest.raises(FileExistsError, match="another process is training into"), made_whole(place):
            pass
    assert [path.name for path in place.iterdir()] == ["x"]
    assert not folder.exists()


@pytest.mark.parametrize("has_state", [True, False])
def test_only_a_state_is_left_of_what_failed(tmp_path, has_state):
    folder = training_folder(tmp_path / "run")

    def fail() -> None:
        if has_state:
            (folder / STATE).touch()
        raise InterruptedError

    with pytest.raises(InterruptedError), made_whole(tmp_path / "run"):
        fail()
    assert folder.exists() == has_state
    if has_state:
        with pytest.raises(FileExistsError, match="was interrupted: continue it with --resume, or remove"):
            made_whole(tmp_path / "run").__enter__()
    with made_whole(tmp_path / "run", resume=True):
        assert (folder / STATE).exists() == has_state
    assert list((tmp_path / "run").iterdir()) == []


def test_what_is_in_the_place_stays(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    monkeypatch.chdir(tmp_path)
    for place in ("file", ".", tmp_path, "/"):
        with pytest.raises(FileExistsError, match="exists already: name a new folder"):
            made_whole(place).__enter__()
    monkeypatch.chdir(tmp_path / "empty")
    for place in (".", "", tmp_path / "link"):
        with pytest.raises(FileExistsError, match="exists already: name a new folder"):
            made_whole(place).__enter__()
    monkeypatch.chdir(tmp_path)
    with made_whole("link") as folder:
        (folder / "x").touch()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "empty" / "x").exists()
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["notes.txt", "weights.safetensors", "folder/notes.txt"])
def test_a_folder_beside_the_place_that_is_not_of_a_training_stays(tmp_path, name):
    mine = training_folder(tmp_path / "run") / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    for resume in (False, True, False):
        with pytest.raises(FileExistsError, match=r"run\.training, which holds something else: rename"):
            made_whole(tmp_path / "run", resume=resume).__enter__()
    assert mine.read_text() == "mine"


KILLED = """
import os, signal, sys
from utils.corpus.whole_files import open_whole
from utils.translator.recovery import made_whole

with made_whole(sys.argv[1]) as folder, open_whole(folder / "x") as file:
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("has_state", [True, False])
def test_nothing_of_a_killed_training_is_in_the_run(tmp_path, has_state):
    result = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "run"], check=False)
    assert result.returncode == -signal.SIGKILL
    folder = training_folder(tmp_path / "run")
    assert [path.suffix for path in folder.iterdir()].count(".part") == 1
    if has_state:
        (folder / STATE).touch()
    with made_whole(tmp_path / "run", resume=has_state):
        (folder / "x").touch()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["x"]
