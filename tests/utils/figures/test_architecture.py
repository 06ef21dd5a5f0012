"""The drawing of encoder, attention and decoder: its parts and its weights."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch
from playwright.sync_api import Browser

from utils.figures.architecture import PARTS, architecture

#: The words and the query of the first chapters: a number for things and one for qualities.
VECTORS = {
    "Mary": (0.9, -0.3),
    "found": (-0.6, -0.5),
    "the": (-0.2, 0.1),
    "small": (0.2, 1.2),
    "white": (0.4, 1.4),
    "flower": (1.5, 0.5),
    "yesterday": (-0.8, 0.2),
    ".": (-0.5, -0.7),
}
QUERY = (1.5, 0.8)


def groups(lit) -> list[ET.Element]:
    return ET.fromstring(architecture(lit).svg()).findall("{*}g")


@pytest.mark.parametrize("part", PARTS)
def test_the_chosen_part_alone_is_lit(part: str) -> None:
    states = [group.get("class").split() for group in groups(part)]
    assert {state[-1] for state in states} == {"on", "off"}
    assert all((part in parts) == (state == "on") for *parts, state in states)
    assert part in architecture(part).alt.rsplit(".", 2)[1]


def test_the_weights_are_those_of_the_chapters() -> None:
    weights = torch.softmax(torch.tensor(list(VECTORS.values())) @ torch.tensor(QUERY), dim=0)
    drawn = architecture().svg()
    for style, expected in (("fill-opacity", weights), ("stroke-width", 0.8 + 9 * weights)):
        numbers = torch.tensor([float(number) for number in re.findall(rf'style="{style}:([\d.]+)"', drawn)])
        torch.testing.assert_close(numbers, expected, atol=0.006, rtol=0)


#: The shapes that reach out of their panel, or are less than a pixel away from a box.
MISPLACED = """svg => {
    const places = what => [...svg.querySelectorAll(what)].map(each => each.getBoundingClientRect());
    const panels = places(".band"), boxes = places("rect.box");
    return [...svg.querySelectorAll(".shape")].filter(text => {
        const { left, right, top, bottom } = text.getBoundingClientRect(), middle = (top + bottom) / 2;
        const inside = panels.some(p => p.left < left && right < p.right && p.top < middle && middle < p.bottom);
        return !inside || boxes.some(
            b => b.left < right + 1 && left < b.right + 1 && b.top < bottom + 1 && top < b.bottom + 1);
    }).map(text => text.textContent);
}"""


@pytest.mark.browser
def test_each_shape_lies_in_one_panel_and_beside_the_boxes(browser: Browser) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.set_content(architecture()._repr_html_())
        assert page.locator("svg").evaluate(MISPLACED) == []
