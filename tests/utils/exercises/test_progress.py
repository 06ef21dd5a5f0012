"""The line of progress, and the file behind it, which stops no check whatever it holds."""

import json
from pathlib import Path
from types import ModuleType

import pytest
import torch

from utils.exercises import masked_softmax
from utils.exercises.progress import FILE, VARIABLE, numbers_of, progress
from utils.exercises.report import exercise


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
    assert str(progress(masked_softmax)) == "Checked exercises done: 0 of 2   (1 –   2 –)"
    answer_exercise_2()
    assert repr(progress(masked_softmax)) == "Checked exercises done: 1 of 2   (1 –   2 ✓)"
    stored = json.loads(kept.read_text("utf-8"))["masked_softmax"]
    assert {number: status for number, (status, _) in stored.items()} == {"1": "wrong", "2": "right"}


def test_progress_counts_all_chapters_after_the_first(kept: Path) -> None:
    others = {
        "nadaraya_watson": {"1": ["right", ""], "2": ["wrong", ""]},
        "encoder_decoder": {"1": ["right", ""], "2": ["right", ""]},
    }
    kept.write_text(json.dumps(others), "utf-8")
    answer_exercise_2()
    line, whole = progress(masked_softmax).splitlines()
    assert line == "Checked exercises done: 1 of 2   (1 –   2 ✓)"
    assert whole == "In all chapters: 4"


def test_exercises_that_are_gone_do_not_count(kept: Path) -> None:
    gone = {"gpt": {"1": ["right", ""], "99": ["right", ""]}, "gone": {"1": ["right", ""]}, "a/b": {}}
    kept.write_text(json.dumps(gone | {"masked_softmax": {"98": ["right", ""]}}), "utf-8")
    assert progress(masked_softmax).splitlines()[1] == "In all chapters: 1"
    answer_exercise_2()
    assert progress(masked_softmax).splitlines()[1] == "In all chapters: 2"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"masked_softmax": {"2": "ok"}}', '{"masked_softmax": {"2": ["right", 3]}}']
)
def test_a_file_that_cannot_be_read_is_kept(kept: Path, text: str) -> None:
    kept.write_text(text, "utf-8")
    with pytest.warns(UserWarning, match="this result is not stored"):
        answer_exercise_2()
    assert "0 of 2" in progress(masked_softmax)
    assert "\nEarlier results cannot be read: " in progress(masked_softmax)
    assert kept.read_text("utf-8") == text


def test_a_chapter_has_the_exercises_whose_checks_it_defines() -> None:
    chapter = ModuleType("some.chapter")
    vars(chapter).update(exercise=exercise, again=masked_softmax.my_softmax)
    exec("for number in (5, 2, 3): exercise(number)(lambda answer: iter(()))", vars(chapter))
    assert numbers_of(chapter) == [2, 3, 5]
    assert str(progress(chapter)) == "Checked exercises done: 0 of 3   (2 –   3 –   5 –)"


def test_progress_can_be_turned_off(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    answer_exercise_2()
    assert not list(kept.parent.iterdir())
    assert "0 of 2" in progress(masked_softmax)
