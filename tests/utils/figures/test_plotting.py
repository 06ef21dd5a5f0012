"""The look of the figures: what a heat map shows, which errors it names, and that every glyph is there."""

import warnings
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import select_figure_formats

from utils.figures import plotting

CHINESE = "我们昨天在图书馆里没看见那只小猫，因为它不喜欢书。"


@pytest.fixture(autouse=True)
def _own_figures():
    """Style and figures of a test end with the test."""
    mpl.use("Agg")
    with mpl.rc_context():
        mpl.rcdefaults()
        yield
    plt.close("all")


@pytest.fixture
def style():
    """The look of the book, in which a missing glyph and a layout that fails are errors."""
    plotting.use_style()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


def weights(*shape):
    return torch.softmax(torch.randn(shape, generator=torch.Generator().manual_seed(0)), dim=-1)


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_the_fonts_have_the_letters_of_all_languages(style):
    plotting.heatmap(
        weights(2, len(CHINESE)), queries=["été", "àâçèêëîïôùûüœÀÉ’«»αβθλσ√·→←≤≥"], keys=list(CHINESE)
    )
    plt.gcf().canvas.draw()


# -- heat maps ------------------------------------------------------------------------------------------------


def test_heatmap_has_a_row_per_query():
    w = weights(2, 3)
    ax = plotting.heatmap(w)
    (cells,) = ax.collections
    np.testing.assert_array_equal(cells.get_array(), w.numpy())
    assert cells.get_clim() == (0, 1)
    assert cells.cmap(0.0)[3] == 0, "the background shows through"
    assert cells.cmap(1.0) == mpl.colors.to_rgba(plotting.WEIGHT)
    assert (labels(ax.yaxis), labels(ax.xaxis)) == (["0", "1"], ["0", "1", "2"])
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("queries", "keys")
    assert ax.get_ylim() == (1.5, -0.5), "the first query is on top"


@pytest.mark.parametrize("number", [1.5, -0.5, float("nan")])
def test_heatmap_refuses_what_is_not_from_0_to_1(number):
    wrong = weights(2, 3)
    wrong[1, 2] = number
    with pytest.raises(ValueError, match=f"'weights' must be numbers from 0 to 1, got {number}"):
        plotting.heatmap(wrong)


def test_heatmap_has_the_names_that_it_is_given():
    ax = plotting.heatmap(
        weights(2, 3), queries=["我", "看"], keys=["I", "see", 7], xlabel="source", ylabel="target"
    )
    assert (labels(ax.yaxis), labels(ax.xaxis)) == (["我", "看"], ["I", "see", "7"])
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("target", "source")


def test_a_dollar_sign_in_a_label_is_text(style):
    given = {
        "queries": ["$5", "$$"],
        "keys": ["$x$", "a$b$c", r"\frac$"],
        "xlabel": "in $ and $",
        "ylabel": "$$",
    }
    shown = "".join(drawing(plotting.heatmap(weights(2, 3), **given).figure).itertext())
    for text in [*given["queries"], *given["keys"], given["xlabel"], given["ylabel"]]:
        assert text in shown


def test_heatmap_hatches_masked_cells():
    ax = plotting.heatmap(weights(2, 3), mask=torch.tensor([[True, True, False], [True, False, False]]))
    assert [cell.get_xy() for cell in ax.patches] == [(1.5, -0.5), (0.5, 0.5), (1.5, 0.5)]
    assert all(cell.get_hatch() and not cell.get_fill() for cell in ax.patches)
    assert not plotting.heatmap(weights(2, 3), mask=torch.ones(2, 3, dtype=torch.bool)).patches


# -- drawings as SVG ------------------------------------------------------------------------------------------


def example():
    """Curves with markers, a hatched bar, text in French and Chinese, a heat map with its colour bar."""
    figure, (left, right) = plotting.panels(2)
    left.plot([1, 2], [1, 3], "o--", label="été", color=plotting.QUERY)
    left.bar([1, 2], [1, 2], color=plotting.VIOLET, edgecolor=plotting.PAPER, hatch="//")
    left.set(title="猫 & <chat>", xlabel="k")
    left.legend()
    plotting.heatmap(weights(2, 3), ax=right)
    return figure


def drawing(figure=None):
    return ElementTree.fromstring(plotting.svg(figure or example()))


def named(root, kind):
    return root.iter(f"{{http://www.w3.org/2000/svg}}{kind}")


def test_letters_are_text_in_the_pages_font(style):
    root = drawing()
    words = {text.text for text in named(root, "text")}
    assert {"猫 & <chat>", "été", "k", "keys", "weight", "0.5"} <= words
    assert all("font-family" not in text.get("style") for text in named(root, "text"))


def test_a_drawing_brings_its_chinese_letters_only(style):
    assert "@font-face" in next(named(drawing(), "style")).text
    _, ax = plt.subplots()
    ax.set_title("cat")
    assert "@font-face" not in next(named(drawing(ax.figure), "style")).text


def test_a_notebook_stores_the_drawing_and_no_picture_of_pixels():
    shell = InteractiveShell.instance()
    try:
        select_figure_formats(shell, {"png"})  # as the backend of notebooks does
        plotting.use_style()
        stored, _ = shell.display_formatter.format(example())
    finally:
        InteractiveShell.clear_instance()
    assert stored.keys() == {"text/plain", "image/svg+xml"}
    assert ElementTree.fromstring(stored["image/svg+xml"]).get("class") == "chart"


def test_a_shared_run_counts_as_often_as_the_other_text_has_it() -> None:
    others = ["a", "b", "c", "d", "e", "a", "b"]
    assert plotting.longest_runs(["a", "b", "x", "c", "d", "e"], others) == [2, 2, 0, 3, 3, 3]
    assert plotting.longest_runs(["a", "b", "c", "d", "e", "a"], others) == [4, 4, 4, 4, 4, 4]
    assert plotting.longest_runs(["c", "y", "c"], others) == [1, 0, 0]


def test_words_in_boxes_go_on_in_a_new_line() -> None:
    axes = plotting.page_of_boxes(100)
    before = len(axes.texts)
    words = ["extraordinaire"] * 7
    assert plotting.words_in_boxes(axes, 2, -40, words, [0, 1, 2, 3, 4, 0, 4]) == -63
    assert [text.get_text() for text in axes.texts[before:]] == words
    assert [text.get_position()[1] for text in axes.texts[before:]] == [-40] * 4 + [-63] * 3
    plotting.plt.close(axes.figure)
