"""The line of progress, and the file behind it, which stops no check whatever it holds."""

import json
from pathlib import Path

import pytest
import torch

from utils.exercises import masked_softmax
from utils.exercises.progress import FILE, VARIABLE, progress


def smaller_of_both(valid_lens, num_queries):
    return torch.minimum(torch.arange(1, num_queries + 1), valid_lens[:, None])


def answer_exercise_2(**options: bool) -> None:
    assert masked_softmax.causal_lens(smaller_of_both, **options)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / FILE


def test_progress_tells_what_is_done(kept: Path) -> None:
    answer_exercise_2(record=False)  # a solution of the chapter is not the reader's work
    masked_softmax.my_softmax(lambda scores, mask: scores)
    assert str(progress(masked_softmax)) == "Checked exercises done: 0 of 3   (1 –   2 –   3 –)"
    answer_exercise_2()
    assert repr(progress(masked_softmax)) == "Checked exercises done: 1 of 3   (1 –   2 ✓   3 –)"
    stored = json.loads(kept.read_text("utf-8"))["masked_softmax"]
    assert {number: status for number, (status, _) in stored.items()} == {"1": "wrong", "2": "right"}


@pytest.mark.parametrize(
    "text", ["", "{", "\0", "[]", "null", '{"masked_softmax": 3}', '{"masked_softmax": {"2": "right"}}']
)
def test_a_broken_file_is_begun_anew(kept: Path, text: str) -> None:
    kept.write_text(text, "utf-8")
    assert "0 of 3" in progress(masked_softmax)
    answer_exercise_2()
    assert "1 of 3" in progress(masked_softmax)


def test_a_folder_that_cannot_be_written_stops_nothing(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(kept.parent / "missing" / FILE))
    answer_exercise_2()
    assert "0 of 3" in progress(masked_softmax)


def test_progress_can_be_turned_off(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    answer_exercise_2()
    assert not list(kept.parent.iterdir())
    assert "0 of 3" in progress(masked_softmax)
