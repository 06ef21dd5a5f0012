"""From the chosen dot, lines as broad as its weights lead to the row at which it looks."""

import re

import pytest
import torch
from pictures import WIDTHS, marks, sizes, texts

from utils.figures import Layers

ROWS = [("read", ["a", "b", "c"]), ("L0", 0), ("written", ["u", "v"]), ("self", 2), ("cross", 1)]
#: Of each dot: three in L0, two in self, two in cross.
DOTS = torch.tensor(
    [
        [1, 0, 0],
        [0.25, 0.75, 0],
        [0.5, 0.25, 0.25],
        [1, 0, 0],
        [0.25, 0.75, 0],
        [0, 0.5, 0.5],
        [0.75, 0, 0.25],
    ]
)


def small(**changes) -> Layers:
    options = {"rows": ROWS, "name": "small", "alt": "Rows.", "say": "{dot}", "start": {"dot": "v, cross"}}
    return Layers(lambda n: {"weights": DOTS}, {"n": [1]}, **(options | changes))


def lines(drawn: str) -> list[list[float]]:
    """Where each line of the chosen dot begins and ends, and how broad it is."""
    found = marks(drawn, "path", "link")
    ends = ([float(number) for number in re.findall(r"[\d.]+", path.get("d"))] for path in found)
    return [[*each, float(path.get("stroke-width"))] for each, path in zip(ends, found, strict=True)]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("dot", "seen"), [("b, L0", (0, 1)), ("u, cross", (1, 2)), ("v, cross", (0, 2))])
def test_lines_lead_from_the_chosen_dot_to_the_words_that_it_looks_at(width, dot, seen) -> None:
    drawn = small().draw(width, dot=dot)
    (chosen,) = marks(drawn, "circle", "query")
    found = lines(drawn)
    assert all(line[:2] == [float(chosen.get("cx")), float(chosen.get("cy"))] for line in found)
    weights = DOTS[small().labels["dots"].index(dot)]
    broad = [line[4] for line in found]
    assert [each / sum(broad) for each in broad] == pytest.approx([weights[k].item() for k in seen], abs=1e-3)
    if "cross" in dot:  # the dots of L0, and not those of the row below
        places = sizes(marks(drawn, "circle", "key"), "cx")
        assert [line[2] for line in found] == [places[k] for k in seen]


def test_the_larger_weights_are_written_as_numbers() -> None:
    assert texts(small().draw(dot="c, L0"), "number") == ["0.50", "0.25", "0.25"]


def test_every_dot_can_be_chosen_and_words_choose_the_dot_above_them() -> None:
    picked = [each.get("data-pick") for each in marks(small().draw(), "rect", "pick")]
    assert picked == [f'{{"dot":{dot}}}' for dot in (0, 1, 2, 0, 1, 2, 3, 4, 3, 4, 5, 6)]


def test_what_is_written_next_stands_above() -> None:
    drawn = small(above=("next", ["v", "w"])).draw()
    assert texts(drawn, "middle") == ["a", "b", "c", "u", "v", "v", "w", "0.75", "0.25"]
    assert "next" in texts(drawn, "name")


#: Two heads below, of which the upper one is off, and one above them.
HEADS = [("read", ["a", "b", "c"]), ("L0H0", 0), ("L0H1", 0), ("L1", 2)]
SHARES = torch.zeros(9, 3)
SHARES[:3] = torch.tensor([[1, 0, 0], [1, 0, 0], [0.5, 0.5, 0]])
SHARES[8] = torch.tensor([0, 0.25, 0.75])


def heads(**changes) -> Layers:
    options = {"rows": HEADS, "name": "heads", "alt": "Rows.", "say": "{dot}", "start": {"dot": "c, L1"}}
    return Layers(
        lambda n: {"weights": SHARES, "written": torch.tensor([0, 1, 1])}, {"n": [1]}, **(options | changes)
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_lines_lead_on_from_where_the_chosen_dot_looks(width: int) -> None:
    drawn = heads(follow=True).draw(width)
    xs = sizes(marks(drawn, "circle"), "cx")[:3]
    found = sorted((xs.index(from_x), xs.index(to_x), broad) for from_x, _, to_x, _, broad in lines(drawn))
    # From c to b and c with 0.25 and 0.75; from b to a with all of 0.25; from c to a and b with half of 0.75 each.
    assert found == [(1, 0, 3.0), (2, 0, 4.5), (2, 1, 3.0), (2, 1, 4.5), (2, 2, 9.0)]
    assert [line for line in lines(heads().draw(width)) if line[4] in (3, 9)] == lines(heads().draw(width))


def test_a_dot_without_weights_is_a_ring() -> None:
    drawn = heads(start={"dot": "b, L0H1"}).draw()
    assert len(marks(drawn, "circle", "chosen")) == 4  # two of L0H1 that are not asking, two of L1
    assert len(marks(drawn, "circle", "frame")) == 1


@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_written_stands_above_with_a_cross_where_it_is_wrong(width: int) -> None:
    drawn = heads(above=("writes", ["x", "x", "y"]), labels={"written": ["x", "y"]}).draw(width)
    assert texts(drawn, "middle")[3:6] == ["x", "y", "y"]
    (cross,) = marks(drawn, "path", "sign")
    x = sizes(marks(drawn, "circle"), "cx")[1]
    assert cross.get("d").startswith(f"M{x - 4:g},")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": ROWS[1:]}, "rows must begin with a list of words"),
        ({"rows": [*ROWS[:4], ("cross", 4)]}, "row 4 must look at a row from 0 to 3, got 4"),
        ({"rows": ROWS[:4], "start": {}}, r"'weights' of shape \(5, 3\), got \(7, 3\)"),
        ({"above": ("next", ["v"])}, "above must have 2 words, got 1"),
        ({"labels": {"written": ["v"]}}, "labels 'written' need words above"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message) -> None:
    with pytest.raises(ValueError, match=message):
        small(**changes)
