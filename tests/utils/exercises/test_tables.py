"""Every check that is a table: each wrong program and each wrong number gets its own message, and no other."""

import importlib
import re
from pathlib import Path

import pytest
import torch

import utils.exercises

CHAPTERS = sorted(path.stem for path in Path("chapters").glob("*.ipynb"))
CHECKS = {
    f"{chapter}.{name}": check
    for chapter in CHAPTERS
    for name, check in vars(importlib.import_module(f"{utils.exercises.__name__}.{chapter}")).items()
    if hasattr(check, "wrong_answers")
}
WRONG = [(name, says) for name, check in CHECKS.items() for says in check.wrong_answers]


@pytest.mark.parametrize(("name", "says"), WRONG, ids=[": ".join(pair) for pair in WRONG])
def test_wrong_answer_gets_its_own_message(name, says):
    check = CHECKS[name]
    report = check(*check.wrong_answers[says], record=False)
    what, _, hint = says.partition(" | ")
    assert report.status == "wrong", str(report)
    assert f": {what}." in report.wrong, str(report)
    assert report.hints == (hint,) if hint else report.hints, str(report)


def plain(result: object) -> object:
    """Lists in the place of tensors, and of the tuple of a function that returns several things."""
    if isinstance(result, tuple):
        return [plain(part) for part in result]
    return result.tolist() if isinstance(result, torch.Tensor) else result


PROGRAMS = {name: check for name, check in CHECKS.items() if hasattr(check, "program")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_lists_are_right_and_other_shapes_are_told(name):
    check, right = PROGRAMS[name], PROGRAMS[name].program
    for form in (right, lambda *inputs: plain(right(*inputs))):
        report = check(form, record=False)
        assert report.status == "right", str(report)
        assert report.right
    report = check(lambda *inputs: (right(*inputs),) * 7, record=False)
    assert report.status == "wrong", str(report)
    assert re.search("shape|returns 7 things|; expected", report.wrong), str(report)
