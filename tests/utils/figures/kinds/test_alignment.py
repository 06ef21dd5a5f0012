"""Two sentences: bands as broad as weights, bars over the words, and known links."""

import json
from collections.abc import Callable

import numpy as np
import pytest
import torch
from example_figures import alignment as example
from pictures import marks, sizes, texts

from utils.figures import Alignment

WEIGHTS = torch.tensor([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]])
SHORT = ["red", "car", "."]


def small(compute: Callable | None = None, axes: dict | None = None, **changes) -> Alignment:
    options = {
        "source": SHORT, "target": ["voiture", "rouge"], "gold": [(0, 1), (1, 0)],
        "name": "f", "alt": "Two sentences.", "say": "{word}",
    } | changes  # fmt: skip
    weights = torch.zeros(2, len(options["source"]))
    weights[:, :3] = WEIGHTS
    return Alignment(
        compute or (lambda gold_links: {"weights": weights}),
        axes or {"gold_links": ["hidden", "shown"]},
        **options,
    )


def breadths(svg: str, *classes: str) -> list[float]:
    return sizes(marks(svg, "path", "band", *classes), "stroke-width")


def test_bands_and_bars_are_as_large_as_their_weights() -> None:
    for width in (720, 328):
        drawn = small().draw(width)
        # A weight of 0 has no band; those of the chosen word are strong and the other's pale.
        quarter, most = breadths(drawn, "weight", "link")
        (whole,) = breadths(drawn, "trace")
        assert [quarter / whole, most / whole] == pytest.approx([0.25, 0.75], abs=0.01)
        first, second, third = sizes(marks(drawn, "rect", "weight"), "height")
        assert (second, third) == pytest.approx((3 * first, 0), abs=0.02)
        assert texts(drawn, "number") == ["0.25", "0.75"]  # not those that are 0


def test_a_source_word_chooses_the_word_that_looks_most_at_it() -> None:
    figure = example()
    picks = [json.loads(area.get("data-pick"))["word"] for area in marks(figure.draw(), "rect", "pick")]
    best = figure.array("weights").argmax(axis=0).tolist()
    assert picks == [*best, *range(len(figure.labels["target"]))]


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ('axis "gold_links"', lambda: small(lambda d: {}, {"d": [1]})),
        (r"\(2, 0\) does not fit 2 target and 3 source", lambda: small(gold=[(2, 0)])),
        (r"'weights' of shape \(1, 3\), got \(2, 3\)", lambda: small(target=["rouge"], gold=[])),
        ("compare must name an axis and one of its values", lambda: small(compare=("step", 0))),
        (
            r"'written' of shape \(2,\), got \(3,\)",
            lambda: small(
                lambda step: {"weights": WEIGHTS, "written": torch.zeros(3)},
                {"step": [0]},
                gold=(),
                labels={"written": ["voiture"]},
            ),
        ),
    ],
)
def test_what_does_not_fit_is_refused(message: str, make: Callable) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("message", "links"),
    [
        ("links must hold at least one gold link, got none", []),
        (r"gold link \(1, 3\) does not fit 2 target and 3 source words", [(0, 0), (3, 1)]),
        (r"gold link \(-1, 0\) does not fit", [(0, -1)]),
    ],
)
def test_during_training_refuses_links_that_are_not_there(message: str, links: list) -> None:
    with pytest.raises(ValueError, match=message):
        Alignment.during_training(
            lambda step: WEIGHTS,
            [0],
            source=SHORT,
            target=["voiture", "rouge"],
            links=links,
            first_step=0,
            word="rouge",
            name="f",
            invite="",
        )


def test_the_value_to_compare_with_may_have_a_rounding_error() -> None:
    figure = small(lambda t: {"weights": WEIGHTS}, {"t": [0.1, 0.3]}, gold=(), compare=("t", 0.1 + 0.2))
    assert figure.options["compare"] == ("t", 0.3)


def test_during_training_counts_the_weight_on_gold_links() -> None:
    kept = {0: [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]], 7: [[0.75, 0.0, 0.25], [0.25, 0.0, 0.75]]}
    figure = Alignment.during_training(
        lambda step: torch.tensor(kept[step]),
        list(kept),
        source=["the", "cat", "sleeps"],
        target=["dort", "là"],
        links={(2, 0)},
        first_step=7,
        word="dort",
        name="trained",
        invite="Press play.",
    )
    assert figure.sentence() == "At step 7, “dort” looks most at “the” (75%), but no gold link joins them."
    assert figure.sentence(word="là").endswith("“sleeps” (75%), and has no gold link.")
    assert figure.array("own") == pytest.approx(np.array([0.25, 0.0]), abs=1e-4)
    assert figure.array("share", step=0) == pytest.approx(0.125, abs=1e-4)
