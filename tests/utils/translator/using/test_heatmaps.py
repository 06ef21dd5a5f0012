"""The attention of one translation as a picture."""

from xml.etree import ElementTree

import pytest
import torch

from utils.translator.using.heatmaps import save_heatmap
from utils.translator.using.translating import Translation


@pytest.fixture
def translation():
    weights = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6], [0.0, 0.1, 0.9]])
    return Translation(
        "trois clés.", ["▁three", "▁keys", "."], ["▁trois", "▁clés", ".", "<eos>"], weights, True
    )


def test_the_suffix_decides_the_format(tmp_path, translation):
    for name, first_bytes in (("map.PNG", b"\x89PNG"), ("map.pdf", b"%PDF"), ("map.svg", b"<?xml")):
        save_heatmap(translation, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(first_bytes)
    picture = ElementTree.parse(tmp_path / "map.svg").getroot()
    assert picture.tag.endswith("svg")
    assert "target token" in (tmp_path / "map.svg").read_text(encoding="utf-8")


def test_chinese_arabic_and_signs_of_mathematics_are_drawn(tmp_path):
    tokens = ["▁我", "مرحبا", "$x$"]
    save_heatmap(
        Translation("x", tokens, ["▁$5", "<eos>"], torch.full((2, 3), 0.5), True), tmp_path / "map.png"
    )
    assert (tmp_path / "map.png").stat().st_size > 1000
