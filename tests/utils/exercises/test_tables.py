"""Every check that is a table: each wrong program and each wrong number gets its own message, and no other."""

import importlib
from pathlib import Path

import pytest

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
