"""Two sentences: bands as broad as weights, bars over the words, and known links."""

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
LONG = ["red", "automobile", "international", "extraordinary", "transportation", "."]
both_widths = pytest.mark.parametrize("width", WIDTHS)


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


def in_lines(drawn: Picture) -> bool:
    return bool(drawn.of("text", "word"))


def bands(drawn: Picture, *classes: str) -> list[tuple[float, float, float]]:
    """Of each band its source end, its target end, both along the words, and its breadth."""
    along = 0 if in_lines(drawn) else 1
    paths = drawn.of("path", "band", *classes)
    return [(*path.corners()[[0, -1], along], path["stroke-width"]) for path in paths]


def places(drawn: Picture, words: list[str]) -> list[float]:
    """Where the words stand, along the line or the column that they stand in."""
    return [float(drawn.text(word).middle[0 if in_lines(drawn) else 1]) for word in words]


#: The small example in lines, and with words that are too long for a phone in columns.
both_forms = pytest.mark.parametrize(("source", "width"), [(SHORT, 720), (LONG, 328)])


def test_long_sentences_are_columns_on_a_phone() -> None:
    assert in_lines(picture(example(), 720))
    assert not in_lines(picture(example(), 328))
    assert in_lines(picture(chinese(), 328))


@both_forms
def test_bands_are_as_broad_as_their_weights(source: list[str], width: int) -> None:
    drawn = picture(small(source=source), width)
    at = dict(zip([*source, "voiture", "rouge"], places(drawn, [*source, "voiture", "rouge"]), strict=True))
    # A weight of 0 has no band; those of the chosen word are strong and the other's pale.
    quarter, most = bands(drawn, "weight", "link")
    (whole,) = bands(drawn, "trace")
    assert np.array([quarter[2], most[2]]) / whole[2] == pytest.approx([0.25, 0.75], abs=0.01)
    # Bands that meet at a word stand side by side, at most half of the whole breadth from its middle.
    slack = whole[2] / 2 + 2
    for (start, end, _), (one, other) in zip(
        (quarter, most, whole), ((source[0], "voiture"), (source[1], "voiture"), (source[0], "rouge")), strict=True
    ):  # fmt: skip
        assert (start, end) == pytest.approx((at[one], at[other]), abs=slack)
    assert abs(quarter[1] - most[1]) == pytest.approx(whole[2] / 2, abs=0.1)


@both_forms
def test_the_chosen_words_weights_are_bars(source: list[str], width: int) -> None:
    drawn = picture(small(source=source), width)
    bars = drawn.of("rect", "weight")
    long = 1 if in_lines(drawn) else 0
    sizes = [bar.box[2 + long] - bar.box[long] for bar in bars]
    assert sizes[2:] == [0] * (len(source) - 2)
    assert sizes[1] == pytest.approx(3 * sizes[0], abs=0.02)
    assert [bar.middle[1 - long] for bar in bars] == pytest.approx(places(drawn, source), abs=1.5)
    assert [text for text in drawn.texts() if text[:1].isdigit()] == ["0.25", "0.75"]  # not those that are 0
    (frame,) = drawn.of("rect", "query", "frame")
    x, y = drawn.text("voiture").middle
    assert frame.box[0] < x < frame.box[2]
    assert frame.box[1] < y < frame.box[3]


def test_gold_links_join_their_words() -> None:
    drawn = picture(small(), 720, gold_links="shown")
    red, car, _ = places(drawn, SHORT)
    voiture, rouge = places(drawn, ["voiture", "rouge"])
    ends = np.array([link.corners()[[0, -1], 0] for link in drawn.of("path", "gold")])
    # In its band, which lies at most half the breadth of a weight of 1 from the middle of a word.
    assert ends == pytest.approx(np.array([[car, voiture], [red, rouge]]), abs=7)
    # Otherwise those of the chosen word alone.
    (link,) = picture(small(), 720, gold_links="hidden", word=1).of("path", "gold")
    assert link.corners()[[0, -1], 0] == pytest.approx(ends[1])


def test_of_other_words_only_large_weights_have_bands() -> None:
    weights = torch.tensor([[0.1, 0.1, 0.8], [0.3, 0.14, 0.56], [0.12, 0.08, 0.0]])
    figure = small(lambda d: {"weights": weights}, {"d": [1]}, target=["a", "b", "c"], gold=())
    drawn = picture(figure, 720, word="a")
    full = max(breadth for *_, breadth in bands(drawn, "link")) / 0.8
    breadths = sorted(breadth / full for *_, breadth in bands(drawn, "trace"))
    # The largest of each word, however small, and others that are large.
    assert breadths == pytest.approx([0.12, 0.3, 0.56], abs=1e-3)
    assert len(bands(drawn, "link")) == 3


@both_widths
def test_pale_bands_show_an_earlier_step(width: int) -> None:
    figure = small(
        lambda step: {"weights": WEIGHTS if step else WEIGHTS.flip(1)}, {"step": [0, 1]}, compare=("step", 0), gold=()
    )  # fmt: skip
    drawn = picture(figure, width, step=1)
    breadths = [breadth for *_, breadth in bands(drawn, "before")]
    assert breadths[0] / breadths[1] == pytest.approx(3, abs=0.01)
    starts = [start for start, *_ in bands(drawn, "before")]
    assert starts == pytest.approx(places(drawn, SHORT[1:]), abs=8)
    assert "pale blue band: step 0" in drawn.texts()
    assert picture(figure, width, step=0).of("path", "before") == []


@both_widths
def test_a_wrong_word_has_the_written_one_beside(width: int) -> None:
    figure = small(
        lambda step: {"weights": torch.zeros(2, 6), "written": torch.tensor([2 * (step > 1), 1 + (step > 0)])},
        {"step": [0, 1, 2]}, source=LONG, gold=(), labels={"written": ["voiture", "rouge", "verte"]},
    )  # fmt: skip
    assert [len(picture(figure, width, step=step).of("path", "sign")) for step in (0, 1, 2)] == [0, 1, 2]
    drawn = picture(figure, width, step=1)
    (sign,), written = drawn.of("path", "sign"), drawn.text("verte")
    assert sign.middle[1] == pytest.approx(written.middle[1], abs=4)
    along = 0 if in_lines(drawn) else 1
    assert written.middle[along] == pytest.approx(drawn.text("rouge").middle[along], abs=1.5)


@both_forms
def test_target_words_have_their_translations(source: list[str], width: int) -> None:
    drawn = picture(small(source=source, labels={"gloss": ["auto", "rot"]}, gold=()), width)
    assert places(drawn, ["auto", "rot"]) == pytest.approx(places(drawn, ["voiture", "rouge"]), abs=1.5)


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
