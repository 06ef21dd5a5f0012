"""The attention of one translation as a picture or a page."""

import re
import warnings
from xml.etree import ElementTree

import pytest
import torch

from utils.translator.heatmaps import check_heatmap_path, save_heatmap
from utils.translator.translating import Translation


@pytest.fixture
def translation():
    weights = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6], [0.0, 0.1, 0.9]])
    return Translation(
        "trois clés.", ["▁three", "▁keys", "."], ["▁trois", "▁clés", ".", "<eos>"], weights, True
    )


def test_the_suffix_decides_the_kind_of_picture(tmp_path, translation):
    save_heatmap(translation, tmp_path / "map.PNG")
    assert (tmp_path / "map.PNG").read_bytes().startswith(b"\x89PNG")
    save_heatmap(translation, tmp_path / "map.svg")
    picture = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert "target token" in picture
    save_heatmap(translation, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == picture


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_one_warning_names_the_scripts_without_font(tmp_path, suffix):
    path = tmp_path / f"map{suffix}"
    weights = torch.full((2, 3), 0.5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save_heatmap(Translation("नमस्ते", ["▁नमस्ते", "สวัสดี", "$$"], ["hello", "<eos>"], weights, True), path)
    assert [str(warning.message) for warning in caught] == [
        f"the fonts of a picture lack letters of this text (Devanagari, Thai), so map{suffix} has boxes in their "
        "place; a file whose name ends in .html shows them"
    ]
    assert path.stat().st_size > 1000


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("suffix", [".png", ".html"])
def test_what_can_be_shown_gives_no_warning(tmp_path, suffix):
    tokens = ["▁我", "مرحبا", "$x$"] if suffix == ".png" else ["नमस्ते", "สวัสดี", "$$"]
    weights = torch.full((2, 3), 0.5)
    save_heatmap(Translation("x", tokens, ["▁$5", "<eos>"], weights, True), tmp_path / f"map{suffix}")
    assert (tmp_path / f"map{suffix}").stat().st_size > 1000


def test_a_page_needs_no_other_file(tmp_path, translation):
    path = tmp_path / "map.html"
    save_heatmap(translation, path)
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)
    assert "figure.xp" in page  # the script and the style are in it
    for token in [*translation.src_tokens, translation.tgt_tokens[0]]:
        assert token in page
    assert re.search(r"\(70 ?%\)", page)  # the largest weight of the first token


def test_what_cannot_be_drawn_is_refused(tmp_path, translation):
    with pytest.raises(ValueError, match=r"must end in \.png, \.svg, \.html, got 'map.gif'"):
        check_heatmap_path(tmp_path / "map.gif")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        check_heatmap_path(tmp_path / "nowhere" / "map.png")
    with pytest.raises(ValueError, match="no attention weights"):
        save_heatmap(translation._replace(weights=None), tmp_path / "map.png")
    assert list(tmp_path.iterdir()) == []


def test_tokens_cannot_close_an_element(tmp_path):
    path = tmp_path / "map.html"
    save_heatmap(Translation("</title><b>", ["</script>", "<b>"], ["<b>", "&"], torch.eye(2), True), path)
    page = path.read_text(encoding="utf-8")
    assert "<b>" not in page
    assert page.count("</script>") == page.count("<script")
