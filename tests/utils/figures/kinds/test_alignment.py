"""Two sentences: bands as broad as weights, and what is chosen, said and refused."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from example_figures import alignment as example
from example_figures import chinese
from pictures import WIDTHS, Picture, picture

from utils.figures import Alignment

WEIGHTS = torch.tensor([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]])
SHORT = ["red", "car", "."]
both_widths = pytest.mark.parametrize("width", WIDTHS)


def small(compute: Callable | None = None, axes: dict | None = None, **changes) -> Alignment:
    options = {
        "source": SHORT, "target": ["voiture", "rouge"], "gold": [(0, 1), (1, 0)],
        "name": "f", "alt": "Two sentences.", "say": "{word}",
    } | changes  # fmt: skip
    return Alignment(
        compute or (lambda gold_links: {"weights": WEIGHTS}),
        axes or {"gold_links": ["hidden", "shown"]},
        **options,
    )


def in_lines(drawn: Picture) -> bool:
    return bool(drawn.of("text", "word"))


def breadths(drawn: Picture, *classes: str) -> list[float]:
    return [path["stroke-width"] for path in drawn.of("path", "band", *classes)]


def test_long_sentences_are_columns_on_a_phone() -> None:
    assert in_lines(picture(example(), 720))
    assert not in_lines(picture(example(), 328))
    assert in_lines(picture(chinese(), 328))


def test_bands_are_as_broad_as_their_weights() -> None:
    weights = torch.tensor([[0.1, 0.1, 0.8], [0.3, 0.14, 0.56], [0.12, 0.08, 0.0]])
    figure = small(lambda d: {"weights": weights}, {"d": [1]}, target=["a", "b", "c"], gold=())
    drawn = picture(figure, 720, word="a")
    chosen = breadths(drawn, "link")
    assert np.array(chosen) / chosen[2] == pytest.approx([1 / 8, 1 / 8, 1], abs=1e-3)
    # The largest of each word, however small, and others that are large.
    others = np.array(sorted(breadths(drawn, "trace"))) / chosen[2]
    assert others == pytest.approx(np.array([0.12, 0.3, 0.56]) / 0.8, abs=1e-3)


@both_widths
def test_a_curve_says_where_its_word_looks_right(width: int) -> None:
    rows = torch.tensor([[[0.25, 0.75, 0.0], [0.2, 0.5, 0.3]], [[0.75, 0.25, 0.0], [0.2, 0.5, 0.3]]])
    figure = small(
        lambda step, gold_links: {"weights": rows[step], "own": rows[step][:, 1], "share": rows[step].mean()},
        {"step": [0, 1], "gold_links": ["hidden", "shown"]}, gold=[(0, 1)],
        gauges=("weight", {"own": "", "share": "all"}), play="step",
    )  # fmt: skip
    # At step 0 the word looks at its gold link, where its curve has a dot. At step 1 it does not: a cross.
    for step, share in ((0, "voiture 75%"), (1, "voiture 25%")):
        drawn = picture(figure, width, word="voiture", step=step)
        assert {share, "all 33%"} <= set(drawn.texts())
        first, last = drawn.of("path", "course", without=("done",))[0].corners()
        (dot,) = drawn.of("circle", "weight", without=("outlined",))
        assert dot.middle == pytest.approx(first, abs=0.1)
        assert any(sign.middle == pytest.approx(last, abs=4) for sign in drawn.of("path", "sign"))
    # A word without a gold link has no curve.
    texts = picture(figure, width, word="rouge").texts()
    assert [text for text in texts if text.endswith("%") and " " in text] == ["all 33%"]


@both_widths
def test_a_click_chooses_a_target_word(width: int) -> None:
    for figure in (example(), chinese()):
        drawn = picture(figure, width)
        source, target = figure.labels["source"], figure.labels["target"]
        # A source word chooses the target word that looks most at it.
        best = figure.array("weights").argmax(axis=0)
        words = [*zip(source, best, strict=True), *zip(target, range(len(target)), strict=True)]
        for ((at,), area), (word, chosen) in zip(drawn.picks("word"), words, strict=True):
            assert at == chosen
            left, top, right, bottom = area.box
            named = [mark.middle for mark in drawn.of("text") if mark.text == word]
            assert any(left <= x <= right and top <= y <= bottom for x, y in named)


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
