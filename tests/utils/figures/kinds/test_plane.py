"""Keys and a query in the plane: what the page computes from where they stand."""

import re

import numpy as np
import pytest
import torch
from example_figures import ENGLISH, PLACES
from example_figures import plane as example

from utils.attention import additive_scores
from utils.figures import Plane
from utils.figures.still import Stage

SCORES = ("distance", "dot", "cosine", "additive")
every_score = pytest.mark.parametrize("name", SCORES)


def score(figure: Plane, name: str, query, keys) -> torch.Tensor:
    """The scores of a query and keys by torch, with the matrices that the page has."""
    scorer = figure.scorers[name]
    query, keys = (torch.tensor(np.atleast_2d(x), dtype=torch.float64) for x in (query, keys))
    if scorer["one"]:
        query, keys = (torch.nn.functional.pad(x, (0, 1), value=1.0) for x in (query, keys))
    w_q, w_k = (torch.tensor(scorer[matrix], dtype=torch.float64) for matrix in ("w_q", "w_k"))
    q, k = query @ w_q.T, keys @ w_k.T
    if scorer["form"] == "distance":
        return -0.5 * scorer["scale"] * torch.cdist(q, k)[0] ** 2
    if scorer["form"] == "dot":
        return scorer["scale"] * (q @ k.T)[0]
    if scorer["form"] == "cosine":
        return scorer["scale"] * torch.nn.functional.cosine_similarity(q, k)
    return additive_scores(q, k, torch.tensor(scorer["w_v"], dtype=torch.float64))[0]


def moved(name: str, places: dict[int, tuple[float, float]]) -> dict:
    return {
        "place": {"score": SCORES.index(name)},
        "moved": {str(i): list(place) for i, place in places.items()},
    }


@every_score
@pytest.mark.parametrize("places", [{}, {3: (-1.0, 0.7), 8: (0.3, -0.9)}], ids=["opening", "moved"])
def test_the_page_computes_what_torch_does(name: str, places: dict) -> None:
    figure = example()
    stage, state = Stage(figure.spec), moved(name, places)
    keys = [places.get(i, place) for i, place in enumerate(PLACES)]
    query = places.get(8, figure.query)
    scores = score(figure, name, query, keys)
    weights = torch.softmax(scores, dim=0)
    np.testing.assert_allclose(stage.numbers(state, "scores"), scores, atol=1e-12)
    np.testing.assert_allclose(stage.numbers(state, "weights"), weights, atol=1e-12)
    best = int(weights.argmax())
    nearest = int(torch.tensor(keys).sub(torch.tensor(query)).norm(dim=1).argmin())
    assert stage.sentence(state) == (
        f"{name}: most weight goes to {ENGLISH[best]}, {weights[best]:.0%}. The nearest key is {ENGLISH[nearest]}."
    )


def with_lines(name: str = "lines", **scorer) -> Plane:
    identity = {"w_q": torch.eye(2), "w_k": torch.eye(2)}
    return Plane(
        {"distance": {"form": "distance"} | identity, "dot": {"form": "dot"} | identity | scorer},
        points=[(1.0, 1.0), (-2.0, 0.0), (0.0, 3.0)],
        keys=["a", "b", "c"],
        query=(2.0, 0.0),
        box=(-4, 4, -2, 4),
        axes_labels=("x", "y"),
        lines=True,
        name=name,
        alt="Three keys and a query.",
        say="{best|points}",
        invite="Drag.",
    )


def drawn(score: str, marks: str) -> list[list[float]]:
    """The numbers of these marks, in units of the plane."""
    figure = with_lines()
    svg = Stage(figure.spec).picture({"place": {"score": ["distance", "dot"].index(score)}, "moved": {}}, 720)
    names = {"line": ("x1", "y1", "x2", "y2"), "circle": ("cx", "cy")}
    tag, style = marks.split(".")
    found = [mark for mark in re.findall(rf"<{tag} [^>]*>", svg) if f'class="{style}"' in mark]
    left, unit, bottom = 1, (720 - 4 - 214 - 1) / 8, 22 + 6 * (720 - 4 - 214 - 1) / 8
    places = [[float(re.search(rf'\b{name}="(.*?)"', mark)[1]) for name in names[tag]] for mark in found]
    return [
        [(x - left) / unit - 4 if i % 2 == 0 else (bottom - x) / unit - 2 for i, x in enumerate(place)]
        for place in places
    ]


def test_lines_show_what_the_score_measures() -> None:
    feet = [(1, 0), (-2, 0), (0, 0)]
    np.testing.assert_allclose(drawn("dot", "circle.handle"), feet, atol=0.01)
    ways = [(1, 1, 1, 0), (-2, 0, -2, 0), (0, 3, 0, 0)]
    np.testing.assert_allclose(drawn("dot", "line.edge"), ways, atol=0.01)
    distances = [(2, 0, 1, 1), (2, 0, -2, 0), (2, 0, 0, 3)]
    np.testing.assert_allclose(drawn("distance", "line.edge"), distances, atol=0.01)


@pytest.mark.parametrize("scorer", [{"w_k": 2 * torch.eye(2)}, {"form": "cosine"}], ids=["matrix", "cosine"])
def test_lines_are_refused_where_they_would_mislead(scorer: dict) -> None:
    with pytest.raises(ValueError, match="without matrices"):
        with_lines(**scorer)
