"""Two sentences: bands as broad as weights, bars over the words, and known links."""

import numpy as np
import pytest
import torch
from example_figures import alignment as example
from example_figures import chinese
from pictures import WIDTHS, Picture, check_legible, picture

from utils.explorables import Alignment

#: How far the middle of a text, which is estimated, may lie from the place that it marks.
WORD = 1.5
WEIGHTS = torch.tensor([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]])


def small(**changes) -> Alignment:
    options = {
        "source": ["red", "car", "."], "target": ["voiture", "rouge"], "gold": [(0, 1), (1, 0)],
        "name": "f", "alt": "Two sentences.", "say": "{word}",
    }  # fmt: skip
    options |= changes
    weights = torch.zeros(2, len(options["source"]))
    weights[:, :3] = WEIGHTS[:, : weights.shape[1]]
    return Alignment(lambda gold_links: {"weights": weights}, {"gold_links": ["hidden", "shown"]}, **options)


def bands(drawn: Picture, *classes: str) -> list[tuple[float, float, float]]:
    """Of each band its source end, its target end, both along the words, and its breadth."""
    along = 0 if in_lines(drawn) else 1
    ends = [path.corners()[[0, -1], along] for path in drawn.of("path", "band", *classes)]
    breadths = [path["stroke-width"] for path in drawn.of("path", "band", *classes)]
    return [(*end, breadth) for end, breadth in zip(ends, breadths, strict=True)]


def in_lines(drawn: Picture) -> bool:
    return bool(drawn.of("text", "word"))


def places(drawn: Picture, words: list[str]) -> list[float]:
    """Where the words stand, along the line or the column that they stand in."""
    middles = [drawn.text(word).middle for word in words]
    if in_lines(drawn):
        assert len({round(float(y), 2) for _, y in middles}) == 1
    return [float(middle[0 if in_lines(drawn) else 1]) for middle in middles]


def test_on_a_desk_sentences_are_lines_and_on_a_phone_columns_if_they_are_too_long() -> None:
    assert in_lines(picture(example(), 720))
    assert not in_lines(picture(example(), 328))
    assert in_lines(picture(chinese(), 328))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_word_that_is_written_in_place_of_another_stands_beside_it_with_a_cross(width: int) -> None:
    weights = torch.zeros(2, len(LONG))
    figure = Alignment(
        lambda step: {"weights": weights, "written": torch.tensor([2 * (step > 1), 1 + (step > 0)])},
        {"step": [0, 1, 2]}, source=LONG, target=["voiture", "rouge"], name="f", alt="Two sentences.", say="{word}",
        labels={"written": ["voiture", "rouge", "verte"]},
    )  # fmt: skip
    assert [len(picture(figure, width, step=step).of("path", "sign")) for step in (0, 1, 2)] == [0, 1, 2]
    drawn = picture(figure, width, step=1)
    (sign,), word, written = drawn.of("path", "sign"), drawn.text("rouge"), drawn.text("verte")
    assert sign.middle[1] == pytest.approx(written.middle[1], abs=4)
    assert 0 <= sign.box[0] < sign.box[2] < written.box[0] < written.box[2] <= width
    if in_lines(drawn):
        assert written.middle[0] == pytest.approx(word.middle[0], abs=1)
    else:
        assert word.box[2] < sign.box[0]
    check_legible(drawn, width)
    with pytest.raises(ValueError, match=r"'written' of shape \(2,\), got \(3,\)"):
        Alignment(
            lambda step: {"weights": weights, "written": torch.zeros(3)}, {"step": [0]}, source=LONG,
            target=["voiture", "rouge"], labels={"written": ["voiture"]}, name="f", alt="", say="",
        )  # fmt: skip


LONG = ["red", "automobile", "international", "extraordinary", "transportation", "."]


def both_forms() -> list[Picture]:
    """The small example in lines, and with words that are too long for a phone in columns."""
    weights = torch.zeros(2, 6)
    weights[:, :3] = WEIGHTS
    columns = Alignment(
        lambda step: {"weights": weights}, {"step": [0]}, source=LONG, target=["voiture", "rouge"],
        name="f", alt="Two sentences.", say="{word}",
    )  # fmt: skip
    return [(picture(small(), 720), ["red", "car", "."]), (picture(columns, 328), LONG)]


def test_bands_are_as_broad_as_weights_join_their_words_and_stand_side_by_side() -> None:
    for drawn, source in both_forms():
        red, car, *_ = places(drawn, source)
        voiture, rouge = places(drawn, ["voiture", "rouge"])
        full = 14 if in_lines(drawn) else 10
        # At "red" end a quarter and a whole, at "voiture" a quarter and three quarters.
        expected = [
            (red - full / 2, voiture - 3 / 8 * full, full / 4),
            (car, voiture + full / 8, 0.75 * full),
            (red + full / 8, rouge, full),
        ]
        # A weight of 0 has no band.
        for group, wanted in ((("weight", "link"), expected[:2]), (("trace",), expected[2:])):
            for found, band in zip(bands(drawn, *group), wanted, strict=True):
                assert found[:2] == pytest.approx(band[:2], abs=WORD)
                assert found[2] == pytest.approx(band[2], abs=0.03)


def test_the_chosen_words_weights_are_bars_with_their_numbers_at_the_source_words() -> None:
    for drawn, source in both_forms():
        bars = drawn.of("rect", "weight")
        long = 1 if in_lines(drawn) else 0
        sizes = [bar.box[2 + long] - bar.box[long] for bar in bars]
        assert sizes[2:] == [0] * (len(source) - 2)
        assert sizes[1] == pytest.approx(3 * sizes[0], abs=0.02)
        assert [bar.middle[1 - long] for bar in bars] == pytest.approx(places(drawn, source), abs=WORD)
        numbers = [mark.text for mark in drawn.of("text") if mark.text[:1].isdigit()]
        assert numbers == ["0.25", "0.75"]  # not those that are 0
        (frame,) = drawn.of("rect", "query", "frame")
        word = drawn.text("voiture").box
        assert frame.box[0] < word[0] < word[2] < frame.box[2]
        assert frame.box[1] < word[1] < word[3] < frame.box[3]


def test_gold_links_join_their_words_those_of_the_chosen_word_or_all() -> None:
    of_word, shown = (picture(small(), gold_links=value, word=1) for value in ("hidden", "shown"))
    (link,) = of_word.of("path", "gold")
    assert np.ptp(link.corners()[:, 0] - shown.of("path", "gold")[1].corners()[:, 0]) == 0
    assert {"of this word", "of all words"} == set(small().labels["gold_links"])
    ends = [link.corners()[[0, -1], 0] for link in shown.of("path", "gold")]
    red, car, _ = places(shown, ["red", "car", "."])
    voiture, rouge = places(shown, ["voiture", "rouge"])
    # In its band, which lies at most half the breadth of a weight of 1 from the middle of a word.
    assert np.array(ends) == pytest.approx(np.array([[car, voiture], [red, rouge]]), abs=7)
    assert link.attributes["d"] in [band.attributes["d"] for band in of_word.of("path", "band", "link")]
    links = picture(example(), 328, gold_links="shown").of("path", "gold")
    assert len(links) == 2
    assert links[1].corners()[-1, 1] == pytest.approx(
        picture(example(), 328).text("fleur").middle[1], abs=5 + WORD
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_a_curve_says_at_each_value_whether_its_word_looks_at_a_gold_link(width: int) -> None:
    rows = torch.tensor([[[0.25, 0.75, 0.0], [0.2, 0.5, 0.3]], [[0.75, 0.25, 0.0], [0.2, 0.5, 0.3]]])
    figure = Alignment(
        lambda step, gold_links: {"weights": rows[step], "own": rows[step][:, 1], "share": rows[step].mean()},
        {"step": [0, 1], "gold_links": ["hidden", "shown"]}, source=["red", "car", "."], target=["voiture", "rouge"],
        gold=[(0, 1)], gauges=("weight", {"own": "", "share": "all"}), play="step", name="f", alt="", say="{word}",
    )  # fmt: skip
    drawn = picture(figure, width, word="voiture")
    names = [text for text in drawn.texts() if text.endswith("%") and " " in text]
    assert sorted(names) == ["all 33%", "voiture 75%"]
    course = drawn.of("path", "course", without=("done",))[0].corners()
    (right,) = drawn.of("circle", "weight", without=("outlined",))  # at step 0, and at step 1 it is wrong
    (wrong, *_) = drawn.of("path", "sign")
    assert right.middle == pytest.approx(course[0], abs=0.02)
    assert wrong.middle == pytest.approx(course[1], abs=3.1)
    # Where the figure is now, there is a dot or a larger cross.
    for step, crosses in ((0, 0), (1, 1)):
        drawn = picture(figure, width, word="voiture", step=step)
        at = pytest.approx(drawn.of("path", "course", without=("done",))[0].corners()[step], abs=4.1)
        large = [m for m in drawn.of("path", "sign") if "l8,8" in m.attributes["d"] and m.middle == at]
        assert len(large) == crosses
        assert [dot.middle == at for dot in drawn.of("circle", "weight", "outlined")] == [True] * (
            1 - crosses
        )
    # A word without a gold link has no curve.
    drawn = picture(figure, width, word="rouge")
    assert [text for text in drawn.texts() if text.endswith("%") and " " in text] == ["all 33%"]


def test_of_the_other_words_only_large_weights_and_the_largest_have_bands() -> None:
    weights = torch.tensor([[0.1, 0.1, 0.8], [0.3, 0.14, 0.56], [0.12, 0.08, 0.0]])
    figure = Alignment(
        lambda d: {"weights": weights}, {"d": [1]}, source=["red", "car", "."], target=["a", "b", "c"],
        name="f", alt="", say="{word}", start={"word": "a"},
    )  # fmt: skip
    breadths = sorted(breadth / 14 for *_, breadth in bands(picture(figure, 720), "trace"))
    assert breadths == pytest.approx([0.12, 0.3, 0.56], abs=1e-3)
    assert len(bands(picture(figure, 720), "link")) == 3


def test_pale_bands_show_where_the_chosen_word_looks_at_another_value() -> None:
    figure = Alignment(
        lambda step: {"weights": WEIGHTS if step else WEIGHTS.flip(1)}, {"step": [0, 1]},
        source=["red", "car", "."], target=["voiture", "rouge"], compare=("step", 0), name="f", alt="", say="",
    )  # fmt: skip
    drawn = picture(figure, 720, step=1)
    _, car, stop = places(drawn, ["red", "car", "."])
    (voiture,) = places(drawn, ["voiture"])
    for found, wanted in zip(
        bands(drawn, "before"), [(car, voiture, 0.75), (stop, voiture, 0.25)], strict=True
    ):
        assert found == pytest.approx((*wanted[:2], 14 * wanted[2]), abs=WORD)
    for width in WIDTHS:
        assert "pale blue band: step 0" in picture(figure, width, step=1).texts()
        check_legible(picture(figure, width, step=1), width)
    assert picture(figure, 720, step=0).of("path", "before") == []
    with pytest.raises(ValueError, match="compare must name an axis and one of its values"):
        small(compare=("step", 0))


@pytest.mark.parametrize("width", WIDTHS)
def test_target_words_have_their_translations_beside_them(width: int) -> None:
    drawn = picture(small(labels={"gloss": ["auto", "rot"]}), width)
    for word, gloss in (("voiture", "auto"), ("rouge", "rot")):
        assert drawn.text(gloss).middle[0] == pytest.approx(drawn.text(word).middle[0], abs=WORD)
        assert drawn.text(gloss).box[1] > drawn.text(word).box[3]
    check_legible(drawn, width)
    columns = picture(small(source=LONG, labels={"gloss": ["auto", "rot"]}, gold=[]), 328)
    for word, gloss in (("voiture", "auto"), ("rouge", "rot")):
        assert columns.text(gloss).middle[1] == pytest.approx(columns.text(word).middle[1], abs=WORD)


@pytest.mark.parametrize("width", WIDTHS)
def test_each_target_word_can_be_clicked(width: int) -> None:
    for figure in (example(), chinese()):
        drawn = picture(figure, width)
        source, target = figure.labels["source"], figure.labels["target"]
        above, areas = (
            drawn.of("rect", "pick")[part] for part in (slice(len(source)), slice(len(source), None))
        )
        assert [area.attributes["data-pick"] for area in areas] == [
            f'{{"word":{i}}}' for i in range(len(target))
        ]
        # A source word chooses the target word that looks most at it.
        best = figure.array("weights").argmax(axis=0)
        assert [area.attributes["data-pick"] for area in above] == [f'{{"word":{i}}}' for i in best]
        for area, word in zip(above, source, strict=True):
            left, top, right, bottom = area.box
            named = [mark.middle for mark in drawn.of("text") if mark.text == word]
            assert any(left <= x <= right and top <= y <= bottom for x, y in named)
            assert min(right - left, bottom - top) >= 24
        words = [mark for mark in drawn.of("text") if mark.text in target][-len(target) :]
        for area, word in zip(areas, words, strict=True):
            left, top, right, bottom = area.box
            assert left <= word.middle[0] <= right
            assert top <= word.middle[1] <= bottom
            assert min(right - left, bottom - top) >= 24


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_and_no_texts_touch(width: int) -> None:
    for figure in (example(), chinese(), small()):
        for word in range(len(figure.labels["target"])):
            check_legible(picture(figure, width, word=word), width)


def test_long_sentences_make_the_picture_higher_and_not_wider() -> None:
    heights = []
    for length in (12, 24):
        words = ["restaurant", "in", "Washington", *"abcdefghijklmnopqrstuvwxyz"][:length]
        figure = Alignment(
            lambda step, n=length: {"weights": torch.eye(n) * step}, {"step": [0, 1]},
            source=words, target=words[::-1], name="f", alt="", say="",
        )  # fmt: skip
        drawn = picture(figure, 328, step=1)
        check_legible(drawn, 328)
        heights.append(drawn.height)
    assert heights[1] == 2 * heights[0]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match='axis "gold_links"'):
        Alignment(lambda d: {}, {"d": [1]}, source="ab", target="xy", gold=[(0, 0)], name="f", alt="", say="")
    with pytest.raises(ValueError, match=r"\(2, 0\) does not fit 2 target and 3 source"):
        small(gold=[(2, 0)])
    with pytest.raises(ValueError, match=r"'weights' of shape \(1, 3\), got \(2, 3\)"):
        small(target=["rouge"], gold=[])
