"""The drawing of encoder, attention and decoder: its parts and its weights."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch

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
