"""The look of the figures: what a heat map shows, which errors it names, and that every glyph is there."""

import importlib.util
import inspect
import itertools
import sys
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib import font_manager

from utils import plotting

CHINESE = "我们昨天在图书馆里没看见那只小猫，因为它不喜欢书。"
CJK = "Noto Sans CJK JP"


@pytest.fixture(autouse=True)
def _own_figures():
    """Style and figures of a test end with the test."""
    mpl.use("Agg")
    with mpl.rc_context():
        mpl.rcdefaults()
        yield
    plt.close("all")


def drawn(figure=None):
    """Render as a notebook would, with a missing glyph or a layout that fails turned into an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (figure or plt.gcf()).canvas.draw()


def weights(*shape):
    return torch.softmax(torch.randn(shape, generator=torch.Generator().manual_seed(0)), dim=-1)


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


# ---------------------------------------------------------------------------------------------- the style


def test_style_sets_size_colours_and_map():
    plotting.use_style()
    assert tuple(mpl.rcParams["figure.figsize"]) == (6.4, 3.6)
    assert mpl.rcParams["figure.dpi"] == mpl.rcParams["savefig.dpi"] == 100
    assert mpl.rcParams["image.cmap"] == "Blues"
    assert not mpl.rcParams["axes.spines.top"]
    assert not mpl.rcParams["axes.spines.right"]
    assert mpl.rcParams["figure.constrained_layout.use"]
    assert mpl.rcParams["font.family"] == ["DejaVu Sans", CJK]


def test_style_draws_each_line_with_its_own_colour_and_its_own_dash():
    plotting.use_style()
    cycle = mpl.rcParams["axes.prop_cycle"].by_key()
    assert (
        len(set(cycle["color"])) == len(set(cycle["linestyle"])) == len(mpl.rcParams["axes.prop_cycle"]) == 5
    )


def test_style_is_the_same_when_set_twice():
    plotting.use_style()
    first = dict(mpl.rcParams)
    plotting.use_style()
    assert dict(mpl.rcParams) == first


def test_style_asks_for_chinese_forms_where_matplotlib_can():
    plotting.use_style()
    if "text.language" not in mpl.rcParams:
        pytest.skip(f"matplotlib {mpl.__version__} has no text.language")
    assert mpl.rcParams["text.language"] == "zh-Hans"


def test_roles_have_three_colours_of_the_palette():
    roles = {plotting.QUERY, plotting.KEY, plotting.VALUE}
    assert len(roles) == 3
    assert roles <= {plotting.BLUE, plotting.VERMILION, plotting.GREEN}


# ---------------------------------------------------------------------------------------------- the glyphs


def test_chinese_words_are_drawn_without_a_missing_glyph():
    plotting.use_style()
    plotting.heatmap(weights(2, len(CHINESE)), queries=["été", "Noël"], keys=list(CHINESE))
    drawn()


def test_a_missing_glyph_would_be_noticed():
    """The test above can fail: matplotlib's own fonts have no Chinese."""
    mpl.rcParams["font.family"] = ["DejaVu Sans"]
    _, ax = plt.subplots()
    ax.set_xlabel("猫")
    with pytest.raises(UserWarning, match="Glyph"):
        drawn()


def test_the_font_has_the_letters_of_all_three_languages():
    plotting.use_style()
    fonts = [
        font_manager.get_font(font_manager.findfont(family, fallback_to_default=False))
        for family in mpl.rcParams["font.family"]
    ]
    for letter in set(CHINESE) | set("àâçéèêëîïôùûüœÀÉ’«»αβθλσ√·→←≤≥"):
        assert any(font.get_char_index(ord(letter)) for font in fonts), letter


def test_font_is_registered_once(monkeypatch):
    fonts = [font for font in font_manager.fontManager.ttflist if font.name != CJK]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", fonts)
    plotting.use_style()
    plotting.use_style()
    assert [font.name for font in fonts].count(CJK) == 1


def test_a_missing_font_package_is_named(monkeypatch):
    monkeypatch.setattr(plotting, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install notojp-matplotlib"):
        plotting.use_style()


def test_the_font_package_is_never_imported(monkeypatch):
    """Importing it would put a Japanese font before ours in every figure."""
    assert importlib.util.find_spec("notojp_matplotlib") is not None
    monkeypatch.setitem(sys.modules, "notojp_matplotlib", None)  # an import would raise
    monkeypatch.setattr(plotting, "find_spec", importlib.machinery.PathFinder.find_spec)
    plotting.use_style()
    assert mpl.rcParams["font.family"][0] == "DejaVu Sans"


# ---------------------------------------------------------------------------------------------- panels


def test_panels_stand_side_by_side_and_share_what_is_asked():
    figure, axes = plotting.panels(3, width=9.0, height=2.0, sharey=True)
    assert len(axes) == len(figure.axes) == 3
    assert tuple(figure.get_size_inches()) == (9, 2)
    axes[0].set_ylim(-5, 7)
    assert axes[2].get_ylim() == (-5, 7)


def test_panels_are_of_the_usual_size_unless_told():
    figure, axes = plotting.panels(1)
    assert tuple(figure.get_size_inches()) == (6.4, 3.6)
    assert isinstance(axes, list)


# ---------------------------------------------------------------------------------------------- heat maps


def test_heatmap_draws_one_row_per_query_and_one_column_per_key():
    w = weights(2, 3)
    ax = plotting.heatmap(w)
    np.testing.assert_array_equal(ax.images[0].get_array(), w.numpy())
    assert labels(ax.xaxis) == ["0", "1", "2"]
    assert labels(ax.yaxis) == ["0", "1"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("keys", "queries")
    assert ax.get_ylim() == (1.5, -0.5), "the first query is on top"


@pytest.mark.parametrize("w", [torch.full((2, 3), 1 / 3), torch.zeros(2, 3), torch.eye(3)])
def test_heatmap_colours_mean_the_same_weight_in_every_figure(w):
    ax = plotting.heatmap(w)
    assert ax.images[0].get_clim() == (0, 1)
    light, dark = ax.images[0].cmap(0.0), ax.images[0].cmap(1.0)
    assert light == (1, 1, 1, 1)
    assert dark == mpl.colors.to_rgba(plotting.BLUE)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_heatmap_takes_any_float_and_leaves_gradients_alone(dtype):
    w = weights(2, 3).to(dtype).requires_grad_()
    ax = plotting.heatmap(w)
    np.testing.assert_array_equal(ax.images[0].get_array(), w.detach().float().numpy())
    assert w.requires_grad


def test_heatmap_names_its_rows_and_columns():
    ax = plotting.heatmap(
        weights(2, 3),
        queries=["我", "看"],
        keys=["I", "see", 7],
        xlabel="source",
        ylabel="target",
    )
    assert labels(ax.yaxis) == ["我", "看"]
    assert labels(ax.xaxis) == ["I", "see", "7"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("source", "target")


@pytest.mark.parametrize(("word", "turn"), [("see", 0), ("seen", 60)])
def test_heatmap_turns_long_labels(word, turn):
    ax = plotting.heatmap(weights(2, 3), keys=["I", word, "it"])
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {turn}


def test_long_labels_of_neighbours_do_not_overlap():
    plotting.use_style()
    ax = plotting.heatmap(weights(2, 7), keys=["understanding"] * 7)
    drawn()
    starts = [label.get_transform().transform(label.get_position())[0] for label in ax.get_xticklabels()]
    height = ax.get_xticklabels()[0].get_fontsize() * ax.figure.dpi / 72
    for left, right in itertools.pairwise(starts):
        assert (right - left) * np.sin(np.radians(60)) > height


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"queries": ["a", "b", "c"]}, "queries must have 2 labels, got 3"),
        ({"keys": ["a", "b"]}, "keys must have 3 labels, got 2"),
        ({"keys": []}, "keys must have 3 labels, got 0"),
    ],
)
def test_heatmap_counts_labels(wrong, message):
    with pytest.raises(ValueError, match=message):
        plotting.heatmap(weights(2, 3), **wrong)
    assert not plt.get_fignums(), "nothing is drawn when the labels are wrong"


def test_heatmap_wants_one_matrix():
    with pytest.raises(ValueError, match="unpack"):
        inspect.unwrap(plotting.heatmap)(weights(2, 3, 5))


def test_heatmap_draws_on_the_axes_it_is_given():
    figure, (left, right) = plotting.panels(2)
    assert plotting.heatmap(weights(2, 3), ax=right, colorbar=False) is right
    assert not left.images
    assert plt.get_fignums() == [figure.number]


# ---------------------------------------------------------------------------------------------- colour bars


def test_a_heat_map_of_its_own_has_one_colour_bar_from_0_to_1():
    ax = plotting.heatmap(weights(2, 3))
    (bar,) = [other for other in ax.figure.axes if other is not ax]
    assert bar.get_ylabel() == "weight"
    assert bar.get_ylim() == (0, 1)
    assert labels(bar.yaxis) == ["0.0", "0.5", "1.0"]


def test_panels_share_one_colour_bar():
    plotting.use_style()
    figure, axes = plotting.panels(3)
    for ax in axes:
        plotting.heatmap(weights(2, 3), ax=ax, colorbar=False)
    assert len(figure.axes) == 3
    plotting.colorbar_for(axes)
    assert len(figure.axes) == 4
    drawn()
    bar = figure.axes[-1].get_position()
    assert all(ax.get_position().x1 < bar.x0 for ax in axes), "the bar stands right of every panel"


def test_colour_bar_can_belong_to_another_image():
    _, axes = plotting.panels(2)
    plotting.heatmap(weights(2, 3), ax=axes[0], colorbar=False)
    plotting.heatmap(weights(2, 5), ax=axes[1], colorbar=False)
    plotting.colorbar_for(axes, axes[1].images[0])
    assert axes[1].images[0].colorbar is not None
    assert axes[0].images[0].colorbar is None


# ---------------------------------------------------------------------------------------------- shapes


BLOCKS = [
    ("Q", (3, 5), plotting.QUERY, "@"),
    ("Kᵀ", (5, 7), plotting.KEY, "softmax"),
    ("A", (3, 7), "0.5", ""),
]


def test_shape_diagram_draws_rectangles_in_proportion_and_names_their_shapes():
    plotting.use_style()
    ax = plotting.shape_diagram(BLOCKS)
    drawn()
    assert [(box.get_height(), box.get_width()) for box in ax.patches] == [(3, 5), (5, 7), (3, 7)]
    assert [text.get_text() for text in ax.texts] == [
        "Q", "3 × 5", "@", "Kᵀ", "5 × 7", "softmax", "A", "3 × 7", "",
    ]  # fmt: skip
    assert ax.get_aspect() == 1, "a unit is as long upwards as sideways"


def test_nothing_in_a_shape_diagram_overlaps():
    plotting.use_style()
    ax = plotting.shape_diagram(BLOCKS)
    drawn()
    extents = [
        artist.get_window_extent() for artist in [*ax.patches, *ax.texts] if artist not in ax.texts[8:]
    ]
    for first, second in itertools.combinations(extents, 2):
        assert not first.overlaps(second)
    assert all(ax.figure.bbox.containsx(box.x0) and ax.figure.bbox.containsx(box.x1) for box in extents)


def test_shape_diagram_draws_on_the_axes_it_is_given():
    figure, (_, right) = plotting.panels(2)
    assert plotting.shape_diagram(BLOCKS, ax=right) is right
    assert plt.get_fignums() == [figure.number]
