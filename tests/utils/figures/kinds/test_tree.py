"""A tree shows what a search keeps and what it has dropped, with the way to the best hypothesis."""

import re

import pytest
from pictures import WIDTHS, marks, texts

from utils.figures import Tree

GREEDY = [[("a", 0.5)], [("a b", 0.3)], [("a b <eos>", 0.2)]]
#: The best after two steps continues what was second, and in the third step what has ended comes first.
BEAM = [
    [("a", 0.5), ("c", 0.4), ("d", 0.002)],
    [("c <eos>", 0.36), ("a b", 0.3), ("c e", 0.04)],
    [("c <eos>", 0.36), ("a b <eos>", 0.2), ("a b f", 0.1)],
    [("c <eos>", 0.36), ("a b <eos>", 0.2), ("a b f <eos>", 0.05)],
]


def split(steps: list) -> list:
    return [[(words.split(), share) for words, share in kept] for kept in steps]


def small(searches: dict | None = None, **changes) -> Tree:
    options = {"right": "c", "name": "small", "alt": "A tree.", "start": {"beam_width": 3, "step": 4}}
    return Tree({1: split(GREEDY), 3: split(BEAM)} if searches is None else searches, **(options | changes))


def places(drawn: str, style: str, axis: int) -> list[int]:
    """How many different places the lines of a style end at, along an axis of the picture."""
    ends = [re.findall(r"-?[\d.]+", path.get("d"))[-2:] for path in marks(drawn, "path", "branch", style)]
    return [round(float(end[axis])) for end in ends]


def test_each_step_has_the_last_words_of_what_is_kept() -> None:
    drawn = small().draw(step=2)
    assert [text for text in texts(drawn, "middle") if not text.isdigit()] == [
        *("a", "50%", "c", "40%", "d", "<1%"),
        *("(end)", "36%", "b", "30%", "e", "4%"),
    ]


def test_the_best_way_is_thick_and_what_was_dropped_is_pale() -> None:
    drawn = small().draw(step=2)
    assert texts(drawn, "middle", "name") == ["c", "(end)", "2"]
    assert texts(drawn, "pale") == ["d"]
    assert [len(marks(drawn, "path", "branch", style)) for style in ("done", "way", "grid")] == [2, 3, 1]
    # In the third step "c e" is dropped, and the best is "c", which has ended.
    drawn = small().draw(step=3)
    assert texts(drawn, "pale") == ["d", "e"]
    assert texts(drawn, "middle", "name") == ["c", "(end)", "(end)", "3"]


@pytest.mark.parametrize(("width", "along"), list(zip(WIDTHS, (0, 1), strict=True)))
def test_the_tree_grows_to_the_right_on_a_desk_and_down_on_a_phone(width, along) -> None:
    drawn = small().draw(width)
    best = places(drawn, "done", along)
    assert best == sorted({*best})
    assert len({*places(drawn, "done", 1 - along)}) == 2  # the ranks: second, then first
    assert len(marks(small().draw(width, step=1), "path", "branch")) == 3


def test_a_search_that_is_over_stays_as_it_was() -> None:
    over, later = (small().draw(beam_width=1, step=step) for step in (3, 4))
    without = [re.sub(r'class="(middle )?(name|quiet)">\d<', "<", drawn) for drawn in (over, later)]
    assert without[0] == without[1]
    assert over != small().draw(beam_width=1, step=2)


def test_the_sentence_says_what_is_in_front_and_whether_it_is_right() -> None:
    figure = small(write="-".join)
    assert figure.sentence(beam_width=1, step=2) == "Step 2: “a-b” is in front (30%)."
    assert figure.sentence(beam_width=1, step=4) == "The search ends with “a-b” (20%), which is not right."
    assert figure.sentence(beam_width=3, step=2) == "Step 2: “c” is in front (36%)."
    assert figure.sentence() == "The search ends with “c” (36%), which is right."
    assert small(right="").sentence() == "The search ends with “c” (36%)."


def test_a_tree_of_something_else_has_its_own_sentences() -> None:
    figure = small(say=["{step}: {front|texts}", "over: {front|texts}"])
    assert [figure.sentence(beam_width=1, step=step) for step in (2, 3)] == ["2: a b", "over: a b"]


@pytest.mark.parametrize(
    ("searches", "message"),
    [
        ({}, "searches must have at least one step each"),
        ({3: [[]]}, "at least one hypothesis"),
        (
            {3: split([[("a", 0.5)], [("b c", 0.1)]])},
            r"\['b', 'c'\] continues no hypothesis of the step before",
        ),
        ({3: split([[("a", 1.5)]])}, "share"),
    ],
)
def test_what_is_no_search_is_refused(searches, message) -> None:
    with pytest.raises(ValueError, match=message):
        small(searches, start={})
