"""Every check that is a table: each wrong program and each wrong number gets its own message, and no other."""

import importlib
import itertools
from functools import partial
from pathlib import Path

import pytest
import torch

import utils.exercises
from utils.exercises.tables import Case, Row, against, numbers

CHAPTERS = sorted(path.stem for path in Path("chapters").glob("*.ipynb"))
CHECKS = {
    f"{chapter}.{name}": check
    for chapter in CHAPTERS
    for name, check in vars(importlib.import_module(f"{utils.exercises.__name__}.{chapter}")).items()
    if hasattr(check, "wrong_answers")
}
PROGRAMS = {name: check for name, check in CHECKS.items() if hasattr(check, "program")}
WRONG = [(name, says) for name, check in CHECKS.items() for says in check.wrong_answers]


@pytest.mark.parametrize(("name", "says"), WRONG, ids=[": ".join(pair) for pair in WRONG])
def test_wrong_answer_gets_its_own_message(name, says):
    check = CHECKS[name]
    report = check(*check.wrong_answers[says], record=False)
    what, _, hint = says.partition(" | ")
    assert report.status == "wrong", str(report)
    assert f": {what}." in report.wrong, str(report)
    assert report.hints == (hint,), str(report)


@pytest.mark.trains  # all pairs take seconds
@pytest.mark.parametrize("name", PROGRAMS)
def test_two_mistakes_at_once_get_the_message_of_no_third(name):
    # The numbers of a case must tell them apart: with a bandwidth of 2, d² / (2 · 2) is d² / 2².
    check = CHECKS[name]
    options = {
        says: wrong.keywords
        for says, (wrong,) in check.wrong_answers.items()
        if isinstance(wrong, partial) and wrong.func is check.program
    }
    for (says, one), (also, other) in itertools.combinations(options.items(), 2):
        if one.keys() & other.keys():
            continue  # both are mistakes in one place
        both = one | other
        report = check(partial(check.program, **both), record=False)
        told = {text for text in check.wrong_answers if f": {text.partition(' | ')[0]}." in report.wrong}
        of_both = {text for text in options if options[text].keys() == both.keys()}
        third = [text.partition(" | ")[0] for text in told - {says, also} - of_both]
        assert not third, str(report)


@against(
    1,
    "of the exercise",
    cases=[Case("for 3", (3.0,), hint="of the case")],
    mistakes={"tripled": lambda x: 3 * x, "halved | Double it.": lambda x: x / 2},
    parts=["the double"],
)
def double(x):
    return x + x


@numbers(2, "of the exercise")
def half():
    return [Row({"p": 0.5}, "p is a half", {"this is a third": 1 / 3, "this is per cent | Divide it.": 50})]


@pytest.mark.parametrize(
    ("check", "answer", "says", "hint"),
    [
        (double, lambda x: 3 * x, "for 3, the double is 9: tripled. Expected 6.", "of the exercise"),
        (double, lambda x: x / 2, "for 3, the double is 1.5: halved. Expected 6.", "Double it."),
        (double, lambda x: x + 1, "for 3, the double is 4; expected 6.", "of the case"),
        (double, lambda x: x.dubble(), "raised AttributeError", "Call your function on these inputs"),
        (double, lambda x: (2 * x, x, x), "for 3, the function returns 3 things; expected the double alone.",
         "End it with `return double` and nothing else."),
        (half, 1 / 3, "p is 0.3333: this is a third.", "of the exercise"),
        (half, 50, "p is 50: this is per cent.", "Divide it."),
    ],
)  # fmt: skip
def test_the_hint_that_knows_most_comes_first(check, answer, says, hint):
    report = check(answer, record=False)
    assert says in report.wrong
    assert len(report.hints) == 1
    assert report.hints[0].startswith(hint)


def test_parts_in_another_order_are_named():
    @against(1, cases=[Case("for 5", (5,))], mistakes={}, parts=["the sum", "the list", "the half"])
    def several(x):
        return torch.tensor(x + 2.0), [x, x], torch.tensor(x / 2)

    def turned(x):
        total, both, half = several.program(x)
        return both, half, total

    report = several(turned, record=False)
    assert report.wrong == "for 5, the function returns the list, the half, the sum, in this order."
    assert report.hints == ("End it with `return sum, list, half`.",)
    assert several(several.program, record=False)


def plain(result: object) -> object:
    """Lists in the place of tensors, and of the tuple of a function that returns several things."""
    if isinstance(result, tuple):
        return [plain(part) for part in result]
    return result.tolist() if isinstance(result, torch.Tensor) else result


@pytest.mark.parametrize("name", PROGRAMS)
def test_lists_are_right_and_other_shapes_are_told(name):
    check, right = PROGRAMS[name], PROGRAMS[name].program
    for form in (right, lambda *inputs: plain(right(*inputs))):
        report = check(form, record=False)
        assert report.status == "right", str(report)
        assert report.right
    report = check(lambda *inputs: (right(*inputs),) * 7, record=False)
    assert report.status == "wrong", str(report)
    assert "the function returns 7 things; expected " in report.wrong, str(report)
