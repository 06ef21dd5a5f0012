"""Each kind is drawn as in the pictures that were looked at, in `pictures/`.

After a change of a drawing write them anew with `ATTENTION_PICTURES=write pytest tests/utils/figures/kinds`, look at
each that `git diff` names, in a browser, and commit them.
"""

import os
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from example_figures import ENGLISH, FRENCH, alignment, bars, chinese, curve, decoding, examples, plane
from pictures import WIDTHS

from utils.figures import Alignment, Bars, Figure
from utils.figures.colours import css_variables

PICTURES = Path(__file__).parent / "pictures"
#: What gives a stored picture its look in a browser, which has its own tests.
LOOK = '<?xml-stylesheet href="../../../../../utils/figures/picture.css"?>\n'
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
#: What takes clicks and drags, which nobody sees, and the look.
UNSEEN = re.compile(r'<(rect|circle)[^>]* class="(?:pick|drag|pull)[^>]*></\1>|<style>.*?</style>', re.DOTALL)


def compared() -> Alignment:
    """With an earlier step, words that are written in place of others, and translations."""
    written = torch.tensor([[0, 1, 2], [0, 3, 2]])
    return Alignment(
        lambda step: {
            "weights": torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.05, 0.05, 0.9]]).roll(step, dims=0),
            "written": written[step],
        },
        {"step": [0, 1]},
        source=ENGLISH[3:6],
        target=["petite", "blanche", "fleur"],
        compare=("step", 0),
        labels={"written": ["petite", "blanche", "fleur", "rouge"], "gloss": ["small", "white", "flower"]},
        play="step",
        start={"step": 1},
        name="compared",
        alt="",
        say="",
    )


def masked() -> Bars:
    """With scores, what stands in place of the forbidden ones, and one row that could not be computed."""
    return Bars(
        lambda n: {
            "p": torch.tensor([0.9, 0.1, 0.0, 0.0]) if n else torch.zeros(4),
            "q": torch.tensor([0.5, 0.25, 0.25, 0.0]) if n else torch.zeros(4),
            "verdict": torch.tensor([0, 1]),
            "given": torch.tensor([-4194304.0, -4194304.0, -32768.0, 0.5]),
            "written": torch.tensor([1, 0]),
        },
        {"n": range(5)},
        panels={"p": "first", "q": "second"},
        bars="vwxy",
        edge="n",
        labels={"verdicts": ["right", "wrong"], "written": ["", "−10⁶"], "sides": ["read", "not yet"]},
        name="masked",
        alt="",
        say="",
    )


def next_words() -> Bars:
    """One row, of probabilities of words."""
    return Bars(
        lambda top_p: {
            "p": torch.tensor([0.4, 0.3, 0.2, 0.1]) if top_p == 1 else torch.tensor([0.57, 0.43, 0, 0])
        },
        {"top_p": [1, 0.6]},
        panels={"p": "probability"},
        bars=["wet", "dry", "hot", "others"],
        chances=True,
        name="next-words",
        alt="",
        say="",
    )


#: Settings of figures, by the name of the picture.
SETTINGS: dict[str, tuple[Figure, dict]] = {name: (figure, {}) for name, figure in examples().items()} | {
    "gold-shown": (alignment(), {"gold_links": "shown", "step": 5, "word": FRENCH[0]}),
    "chinese-later": (chinese(), {"step": 3, "word": "red"}),
    "compared": (compared(), {}),
    "next-words": (next_words(), {"top_p": 0.6}),
    "masked": (masked(), {"n": 2}),
    "masked-all": (masked(), {"n": 0}),
    "bars-all": (bars(), {"valid_length": 8}),
    "boxcar": (curve(), {"kernel": "boxcar", "bandwidth": 0.25, "query": 3.0}),
    "decoding-word": (decoding(), {"stage": "word", "word": "rouge"}),
    "additive": (plane(), {"score": "additive", "key": 4}),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_picture_is_as_it_was_looked_at(name: str, width: int) -> None:
    figure, point = SETTINGS[name]
    drawn = UNSEEN.sub("", figure.draw(width, **point)).replace(
        "<svg", f'<svg style="{css_variables(dark=False)}"', 1
    )
    path = PICTURES / f"{name}-{width}.svg"
    if os.environ.get("ATTENTION_PICTURES") == "write":
        path.write_text(LOOK + drawn.replace("><", ">\n<") + "\n", encoding="utf-8")
    stored = path.read_text(encoding="utf-8").removeprefix(LOOK).replace(">\n<", "><").rstrip()
    assert NUMBER.sub("#", drawn) == NUMBER.sub("#", stored)
    # Another processor may round the last digit otherwise.
    numbers = [np.array(NUMBER.findall(text), dtype=float) for text in (drawn, stored)]
    np.testing.assert_allclose(*numbers, atol=0.03)


def test_no_picture_is_left_over() -> None:
    names = {f"{name}-{width}" for name in SETTINGS for width in WIDTHS}
    assert {path.stem for path in PICTURES.iterdir()} == names
