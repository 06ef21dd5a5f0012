"""Keys and a query in the plane: weights as dots and numbers, the score as the ground."""

import numpy as np
import pytest
import torch
from example_figures import ENGLISH, PLACES
from example_figures import plane as example
from pictures import WIDTHS, Mark, Picture, picture, read_picture, stretches

from utils.attention import additive_scores
from utils.figures import Plane
from utils.figures.still import Stage

SCORES = ("dot", "cosine", "additive")
WORDS = [*ENGLISH[:-1], "full stop"]
both_widths = pytest.mark.parametrize("width", WIDTHS)
every_score = pytest.mark.parametrize("name", SCORES)


def score(figure: Plane, name: str, query, keys) -> torch.Tensor:
    """The scores of a query and keys by torch, with the matrices that the page has."""
    scorer = figure.scorers[name]
    query, keys = (torch.tensor(np.atleast_2d(x), dtype=torch.float64) for x in (query, keys))
    if scorer["one"]:
        query, keys = (torch.nn.functional.pad(x, (0, 1), value=1.0) for x in (query, keys))
    w_q, w_k = (torch.tensor(scorer[matrix], dtype=torch.float64) for matrix in ("w_q", "w_k"))
    q, k = query @ w_q.T, keys @ w_k.T
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


def scales(drawn: Picture):
    """From places in the picture to those of the plane."""
    left, top, right, bottom = drawn.of("rect", "grid")[0].box
    x0, x1, y0, y1 = example().box
    return lambda at: np.array(
        [x0 + (at[0] - left) / (right - left) * (x1 - x0), y0 + (bottom - at[1]) / (bottom - top) * (y1 - y0)]
    )


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


@both_widths
@every_score
def test_keys_stand_in_place_as_large_as_weights(name: str, width: int) -> None:
    figure = example()
    drawn = read_picture(Stage(figure.spec).picture(moved(name, {2: (1.0, -1.0)}), width))
    keys = [(1.0, -1.0) if i == 2 else place for i, place in enumerate(PLACES)]
    place = scales(drawn)
    dots = drawn.of("circle", "key")
    assert np.array([place(dot.middle) for dot in dots]) == pytest.approx(np.array(keys), abs=0.01)
    assert place(drawn.of("path", "query")[0].middle) == pytest.approx(figure.query, abs=0.01)
    # Each can be pulled where it stands.
    pulled = [place(pull.middle) for pull in drawn.of("circle", "pull")]
    assert np.array(pulled) == pytest.approx(np.array([*keys, figure.query]), abs=0.01)
    weights = torch.softmax(score(figure, name, figure.query, keys), dim=0).numpy()
    radii, roots = np.array([dot["r"] for dot in dots]), np.sqrt(weights)
    slope, smallest = np.polyfit(roots, radii, 1)  # a weight of 0 can be seen too
    assert radii == pytest.approx(smallest + slope * roots, abs=0.03)
    assert slope > smallest > 0
    assert [mark.text for mark in drawn.of("text", "halo")] == WORDS


@both_widths
def test_names_stay_in_the_frame(width: int) -> None:
    corners = {i: (x, y) for i, (x, y) in enumerate([(2.0, 1.8), (2.0, -1.1), (-1.6, 1.8), (-1.6, -1.1)])}
    state = moved("dot", corners | {8: (2.0, 1.8)})
    drawn = read_picture(Stage(example().spec).picture(state, width))
    frame = drawn.of("rect", "grid")[0]
    for mark in [*drawn.of("text", "halo"), *drawn.of("rect", "query")]:
        left, _, right, _ = mark.box
        assert frame.box[0] - 1 <= left < right <= frame.box[2] + 1, mark.text


class Outlines:
    """The rectangles of a path."""

    def __init__(self, path: Mark) -> None:
        self.boxes = [(*part.min(axis=0), *part.max(axis=0)) for part in stretches(path.attributes["d"])]

    def holds(self, place: np.ndarray) -> bool:
        x, y = place
        return any(left <= x <= right and top <= y <= bottom for left, top, right, bottom in self.boxes)


@every_score
def test_the_higher_the_score_the_darker_the_ground(name: str) -> None:
    figure = example()
    drawn = picture(figure, 328, score=name)
    frame = drawn.of("rect", "grid")[0]
    layers = [(m["fill-opacity"], Outlines(m)) for m in drawn.of("path", "score")]
    places = np.random.default_rng(3).uniform(frame.box[:2], frame.box[2:], (97, 2))
    depths = np.array([[shade for shade, layer in layers if layer.holds(at)] for at in places])[:, 0]
    corners = [(x, y) for x in figure.box[:2] for y in figure.box[2:]]
    scores = score(figure, name, figure.query, [*map(scales(drawn), places), *corners]).numpy()
    # In ten shades of equal steps, which the corners and the places at random nearly reach.
    assert len(layers) == 10
    expected = (scores - scores.min()) / np.ptp(scores)
    assert np.abs(depths / 0.36 * 0.9 + 0.05 - expected[:97]).max() < 0.12


@every_score
def test_scores_are_listed_where_there_is_room(name: str) -> None:
    figure = example()
    numbers = score(figure, name, figure.query, PLACES)
    weights = torch.softmax(numbers, dim=0)
    drawn = picture(figure, 720, score=name, key=7)
    listed = [m for m in drawn.of("text", "end", without=("quiet", "halo")) if m.text != "thing →"]
    values = np.array([float(mark.text.replace("−", "-")) for mark in listed]).reshape(-1, 2)
    assert values == pytest.approx(np.c_[numbers, weights], abs=0.0051)
    lengths = np.array([bar["width"] for bar in drawn.of("rect", "weight")])
    assert lengths == pytest.approx(lengths.sum() * weights.numpy(), abs=0.05)
    # The chosen word has a ring in the plane and a frame in the list.
    (ring,), (row,) = drawn.of("circle", "chosen"), drawn.of("rect", "chosen")
    assert ring.middle == pytest.approx(drawn.of("circle", "ring")[7].middle, abs=0.02)
    assert row.box[1] < listed[2 * 7].middle[1] < row.box[3]


DOT = {"form": "dot", "w_q": torch.eye(2), "w_k": torch.eye(2)}


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("there are 2 points and 3 labels", {"keys": "abc"}),
        (r"the point \(1.0, 2.0\) lies outside of the box \(0, 1, 0, 1\)", {"points": [(0, 0), (1, 2)]}),
        (r"the point \(0.0, -1.0\) lies outside", {"query": (0, -1)}),
        ("the sentence names 'worst'", {"say": "{worst}"}),
    ],
)
def test_what_does_not_fit_is_refused(message: str, changes: dict) -> None:
    options = {
        "scorers": {"dot": DOT}, "keys": "ab", "points": [(0, 0), (1, 1)], "query": (0, 0), "box": (0, 1, 0, 1),
        "axes_labels": ("x", "y"),
        "name": "f", "alt": "", "say": "{score}",
    } | changes  # fmt: skip
    with pytest.raises(ValueError, match=message):
        Plane(options.pop("scorers"), **options)
