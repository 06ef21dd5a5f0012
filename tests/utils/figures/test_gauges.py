"""Gauges above a picture: how a share goes while the figure plays, and where it is now."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
import torch
from pictures import marks, texts

from utils.figures import Weights

KEPT = {0: 1.0, 3: 0.25, 9: 0.5, 27: 0.0}


def figure(compute: Callable | None = None, axes: dict | None = None, **changes) -> Weights:
    options = {"play": "step", "gauges": ("shares of the words", {"kept": "right words", "lost": "lost"})}
    return Weights(
        compute
        or (lambda step, head: {"weights": torch.eye(2), "kept": KEPT[step], "lost": (1 - KEPT[step]) / head}),
        axes or {"step": list(KEPT), "head": [1, 2]},
        queries="ab", keys="xy", name="f", alt="", say="", **(options | changes),
    )  # fmt: skip


def points(path: ET.Element) -> list[tuple[float, ...]]:
    return [tuple(map(float, at)) for at in re.findall(r"[ML](-?[\d.]+),(-?[\d.]+)", path.get("d"))]


@pytest.mark.parametrize("width", [720, 328])
def test_a_curve_is_strong_up_to_now(width: int) -> None:
    whole = points(curves(figure().draw(width, step=27))[0])
    (_, full), (_, quarter), (_, half), (_, none) = whole
    assert [(none - y) / (none - full) for y in (quarter, half)] == pytest.approx([0.25, 0.5], abs=1e-3)
    for at, step in enumerate(KEPT):
        svg = figure().draw(width, step=step)
        assert points(curves(svg)[0]) == whole[: at + 1]
        # The first dot is drawn last, above the others.
        dot = marks(svg, "circle", "outlined")[-1]
        assert (float(dot.get("cx")), float(dot.get("cy"))) == whole[at]


def curves(svg: str) -> list[ET.Element]:
    """The strong curves, without the pieces before their names."""
    return [path for path in marks(svg, "path", "course", "done") if "h22" not in path.get("d")]


def test_each_curve_has_its_name_and_its_number() -> None:
    for head, step in ((1, 3), (2, 3), (2, 9)):
        written = set(texts(figure().draw(head=head, step=step)))
        assert {f"right words {KEPT[step]:.0%}", f"lost {(1 - KEPT[step]) / head + 1e-9:.0%}"} <= written
        assert f"step {step}" in written  # on the grip
