"""The colours of the figures: far enough from their ground, and from each other for every kind of colour vision."""

import itertools

import numpy as np
import pytest

from utils.figures.colours import COLOURS

#: What people see who lack one kind of cone (Machado, Oliveira and Fernandes 2009, severity 1), in linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
ROLES = ("query", "key", "value", "weight")
MODELS = ("one-vector", "looks-back", "transformer", "grey", "ink")
CURVES = ("brown", "violet")
INKS = [name for name in COLOURS if name not in ("faint", "paper")]


def linear(colour):
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    """By the definition of WCAG 2.2."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def lab(values):
    """CIE L*a*b* of linear RGB."""
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    t = matrix @ np.clip(values, 0, 1) / matrix.sum(axis=1)
    x, y, z = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_the_measures_by_hand():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert lab(linear("#ffffff")) == pytest.approx([100, 0, 0], abs=0.1)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", INKS)
def test_every_colour_stands_out_from_its_ground(name, dark):
    assert contrast(COLOURS[name][dark], COLOURS["paper"][dark]) >= (4.5 if name == "ink" else 3)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("group", [ROLES, MODELS, CURVES])
def test_roles_differ_in_any_colour_vision(group, vision, dark):
    for one, other in itertools.combinations(group, 2):
        seen = [lab(VISION[vision] @ linear(COLOURS[name][dark])) for name in (one, other)]
        assert np.linalg.norm(seen[0] - seen[1]) > 10, f"{one} and {other}"
