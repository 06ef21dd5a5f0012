"""Keys and a query in the plane: weights as dots and numbers, the score as the ground."""

import numpy as np
import pytest
import torch
from example_figures import ENGLISH, PLACES
from example_figures import plane as example
from matplotlib.path import Path as Outline
from pictures import WIDTHS, Picture, check_legible, overlap, picture, read_picture, stretches

from utils.attention import additive_scores
from utils.explorables import Plane
from utils.explorables.still import Stage

SCORES = ("dot", "cosine", "additive")


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


def moved(figure: Plane, name: str, places: dict[int, tuple[float, float]]) -> dict:
    return {
        "place": {"score": SCORES.index(name)},
        "moved": {str(i): list(place) for i, place in places.items()},
    }


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("places", [{}, {3: (-1.0, 0.7), 8: (0.3, -0.9)}], ids=["opening", "moved"])
def test_the_page_computes_what_the_course_does(name: str, places: dict) -> None:
    figure = example()
    stage, state = Stage(figure.spec), moved(figure, name, places)
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


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("places", [{}, {0: (0.0, 0.0), 3: (-1.5, 1.7)}], ids=["opening", "moved"])
def test_the_rubber_band_goes_round_the_keys_that_are_farthest_in_some_direction(
    places: dict, width: int
) -> None:
    figure = example()
    drawn = read_picture(Stage(figure.spec).picture(moved(figure, "dot", places), width))
    (band,) = drawn.of("path", "around")
    angles = np.linspace(0, 2 * np.pi, 3600)
    keys = np.array([places.get(i, place) for i, place in enumerate(PLACES)])
    farthest = {int(k) for k in (keys @ np.stack([np.cos(angles), np.sin(angles)])).argmax(axis=0)}
    rings = np.array([ring.middle for ring in drawn.of("circle", "ring")])
    corners = band.corners()
    assert corners[0].tolist() == corners[-1].tolist()
    nearest = [int(np.abs(rings - corner).sum(axis=1).argmin()) for corner in corners[:-1]]
    assert len(nearest) == len(set(nearest))
    assert set(nearest) == farthest
    assert corners[:-1] == pytest.approx(rings[nearest], abs=0.02)
    # No corner is passed over: the outline is the one that holds all keys.
    assert (
        Outline(corners).contains_points(rings, radius=0.5).all()
        or Outline(corners).contains_points(rings, radius=-0.5).all()
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCORES)
def test_a_key_stands_in_its_place_and_is_as_large_as_its_weight(name: str, width: int) -> None:
    figure = example()
    drawn = read_picture(Stage(figure.spec).picture(moved(figure, name, {2: (1.0, -1.0)}), width))
    keys = [(1.0, -1.0) if i == 2 else place for i, place in enumerate(PLACES)]
    x, y = scales(drawn, figure)
    dots = drawn.of("circle", "key")
    assert [(x(dot["cx"]), y(dot["cy"])) for dot in dots] == [pytest.approx(key, abs=0.01) for key in keys]
    weights = torch.softmax(score(figure, name, figure.query, keys), dim=0)
    smallest = 4  # of a weight of 0
    grown = np.array([dot["r"] for dot in dots]) - smallest
    assert grown == pytest.approx(grown.max() * (weights / weights.max()).sqrt().numpy(), abs=0.02)
    named = [mark.text for mark in drawn.of("text", "halo") if mark.text != "query"]
    # Where there is room the weights are listed beside the plane.
    assert named == [
        word if weight < 0.005 or width == 720 else f"{word} {weight:.2f}"
        for word, weight in zip([*ENGLISH[:-1], "full stop"], weights, strict=True)
    ]
    pulls = drawn.of("circle", "pull")
    assert [(pull["cx"], pull["cy"]) for pull in pulls[:-1]] == [(dot["cx"], dot["cy"]) for dot in dots]
    (query,) = drawn.of("path", "query")
    assert (x(query.middle[0]), y(query.middle[1])) == pytest.approx(tuple(figure.query), abs=0.01)
    assert tuple(query.middle) == pytest.approx((pulls[-1]["cx"], pulls[-1]["cy"]), abs=0.02)
    assert all(pull["r"] >= 12 for pull in pulls)


def scales(drawn: Picture, figure: Plane):
    """From places in the picture to those of the plane."""
    (frame,) = drawn.of("rect", "grid")
    left, top, right, bottom = frame.box
    x0, x1, y0, y1 = figure.box
    return (
        lambda at: x0 + (at - left) / (right - left) * (x1 - x0),
        lambda at: y0 + (bottom - at) / (bottom - top) * (y1 - y0),
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCORES)
def test_the_higher_the_score_the_darker_the_ground(name: str, width: int) -> None:
    figure = example()
    drawn = picture(figure, width, score=name)
    x, y = scales(drawn, figure)
    # Layers of one shade lie on one another, each where the score is above its level.
    layers = [[Outline(points) for points in stretches(m.attributes["d"])] for m in drawn.of("path", "score")]
    (frame,) = drawn.of("rect", "grid")
    across, down = np.random.default_rng(3).random((2, 211))
    places = np.c_[frame.box[0] + across * frame["width"], frame.box[1] + down * frame["height"]]
    depth = [sum(any(part.contains_point(place) for part in layer) for layer in layers) for place in places]
    scores = score(figure, name, figure.query, np.c_[x(places[:, 0]), y(places[:, 1])]).numpy()
    corners = score(
        figure, name, figure.query, [(a, b) for a in figure.box[:2] for b in figure.box[2:]]
    ).numpy()
    low, high = min(scores.min(), corners.min()), max(scores.max(), corners.max())
    expected = (len(layers) + 1) * (scores - low) / (high - low)
    # The corners and the places at random miss a little of the range.
    assert np.abs(np.array(depth) + 0.5 - expected).max() < 1.2
    assert set(depth) == set(range(len(layers) + 1))
    # The key has the shades of none of these layers, of 3, of 6 and of all: n of them let pass 0.95 to the n.
    key = [mark["opacity"] for mark in drawn.of("rect", "score")]
    assert key == pytest.approx([1 - 0.95**count for count in (0, 3, 6, len(layers))], abs=0.005)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("query", [(1.4, -0.8), (-0.5, 0.3)])
def test_the_dark_area_is_where_a_query_gives_the_winner_the_most_weight(
    name: str, query: tuple[float, float], width: int
) -> None:
    figure = example()
    state = moved(figure, name, {8: query})
    state["place"]["background"] = 1
    drawn = read_picture(Stage(figure.spec).picture(state, width))
    x, y = scales(drawn, figure)
    winner = int(score(figure, name, query, PLACES).argmax())
    (area,) = drawn.of("path", "area")
    parts = [Outline(part) for part in stretches(area.attributes["d"])]
    (frame,) = drawn.of("rect", "grid")
    across, down = np.random.default_rng(5).random((2, 211))
    places = np.c_[frame.box[0] + across * frame["width"], frame.box[1] + down * frame["height"]]
    clear = 0
    for place in places:
        first, second = score(figure, name, (x(place[0]), y(place[1])), PLACES).topk(2)[1].tolist()
        inside = any(part.contains_point(place) for part in parts)
        # Between the corners of a square, where two keys are nearly even, an edge is a little off.
        assert inside in ((first == winner), (second == winner))
        clear += inside == (first == winner)
    assert clear > 0.95 * len(places)
    # Where areas meet, the two best keys are about even.
    (borders,) = drawn.of("path", "border")
    for at in np.concatenate(stretches(borders.attributes["d"])):
        place = (x(at[0]), y(at[1]))
        best, second = score(figure, name, place, PLACES).topk(2)[0].tolist()
        assert best - second < 0.25 or np.hypot(*place) < 0.1  # the cosine jumps at the origin
    check_legible(drawn, width)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCORES)
def test_the_areas_have_their_names_on_the_frame(name: str, width: int) -> None:
    figure = example()
    drawn = picture(figure, width, score=name, background="who wins")
    x, y = scales(drawn, figure)
    (frame,) = drawn.of("rect", "grid")
    left, top, right, bottom = frame.box
    winner = int(score(figure, name, figure.query, PLACES).argmax())
    tags = [*drawn.of("rect", "tip"), *drawn.of("rect", "key")[1:]]  # the first is the ground
    names = [text for text in drawn.of("text", "middle") if text.text != "query"]
    words = [*ENGLISH[:-1], "full stop"]
    assert len(tags) == len(names) >= 3
    for tag in tags:
        (text,) = [text for text in names if overlap(text.corners(), tag.corners())]
        # A tag lies on one side of the frame, and a query behind its middle chooses the word.
        sides = [
            abs(tag.box[0] - left),
            abs(tag.box[1] - top),
            abs(tag.box[2] - right),
            abs(tag.box[3] - bottom),
        ]
        assert min(sides) < 0.02
        chosen = int(score(figure, name, (x(tag.middle[0]), y(tag.middle[1])), PLACES).argmax())
        assert text.text == words[chosen]
        assert ("key" in tag.classes) == (chosen == winner)
    assert picture(figure, width, score=name).of("rect", "tip") == []


def test_the_word_that_was_chosen_has_a_ring_and_a_frame_in_the_list() -> None:
    figure = example()
    for key in (0, 7):
        drawn = picture(figure, 720, key=key)
        (ring,) = drawn.of("circle", "chosen")
        assert tuple(ring.middle) == pytest.approx(tuple(drawn.of("circle", "ring")[key].middle), abs=0.02)
        (row,) = drawn.of("rect", "chosen")
        word = [*ENGLISH[:-1], "full stop"][key]
        assert next(text.text for text in drawn.of("text") if overlap(text.corners(), row.corners())) == word
        assert len(picture(figure, 328, key=key).of("circle", "chosen")) == 1


def test_where_there_is_room_the_scores_are_listed() -> None:
    figure = example()
    for name in SCORES:
        numbers = score(figure, name, figure.query, PLACES)
        weights = torch.softmax(numbers, dim=0)
        drawn = picture(figure, 720, score=name)
        listed = [
            mark for mark in drawn.of("text", "end", without=("quiet", "halo")) if mark.text != "thing →"
        ]
        assert [float(mark.text.replace("−", "-")) for mark in listed[::2]] == pytest.approx(
            numbers.tolist(), abs=0.0051
        )
        assert [float(mark.text) for mark in listed[1::2]] == pytest.approx(weights.tolist(), abs=0.0051)
        # The word with the largest weight stands first.
        heights = [mark.middle[1] for mark in listed[1::2]]
        assert np.argsort(heights).tolist() == weights.argsort(descending=True).tolist()
        lengths = np.array([bar["width"] for bar in drawn.of("rect", "weight")])
        assert lengths == pytest.approx(lengths.sum() * weights.numpy(), abs=0.05)
        best = int(weights.argmax())
        strong = [mark.text for mark in drawn.of("text", "name", without=("halo", "inverse"))]
        assert strong == [ENGLISH[best], listed[2 * best].text, listed[2 * best + 1].text]
        assert picture(figure, 328, score=name).of("rect", "weight") == []


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_and_no_texts_touch(width: int) -> None:
    for name in SCORES:
        check_legible(picture(example(), width, score=name), width)
    # At the edges of the plane, too, words stay inside.
    figure = example()
    corners = {i: (x, y) for i, (x, y) in enumerate([(-1.6, -1.1), (2.0, -1.1), (-1.6, 1.8), (2.0, 1.8)])}
    drawn = read_picture(Stage(figure.spec).picture(moved(figure, "dot", corners), width))
    assert all(mark.box[0] >= -1 and mark.box[2] <= width + 1 for mark in drawn.of("text"))
    (frame,) = drawn.of("rect", "grid")
    for corner in corners.values():
        drawn = read_picture(Stage(figure.spec).picture(moved(figure, "dot", {8: corner}), width))
        (tag,) = drawn.of("rect", "query")
        left, top, right, bottom = tag.box
        assert frame.box[0] <= left < right <= frame.box[2]
        assert frame.box[1] <= top < bottom <= frame.box[3]
        assert not overlap(tag.corners(), drawn.of("path", "query")[0].corners(), slack=3)


def test_what_does_not_fit_is_refused() -> None:
    options = {
        "keys": "ab",
        "points": [(0, 0), (1, 1)],
        "query": (0, 0),
        "box": (0, 1, 0, 1),
        "name": "f",
        "alt": "",
    }
    dot = {"form": "dot", "w_q": torch.eye(2), "w_k": torch.eye(2)}

    def refused(message: str, scorers: dict | None = None, **changes) -> None:
        with pytest.raises(ValueError, match=message):
            Plane(scorers or {"dot": dot}, **(options | {"say": "{score}"} | changes))

    refused("there are 2 points and 3 labels", keys="abc")
    refused(r"the point \(1.0, 2.0\) lies outside of the box \(0, 1, 0, 1\)", points=[(0, 0), (1, 2)])
    refused(r"the point \(0.0, -1.0\) lies outside", query=(0, -1))
    refused("'dot' must have a form, one of .*, got 'cubic'", {"dot": dot | {"form": "cubic"}})
    refused("'dot' must have a form, one of .*, got None", {"dot": {}})
    refused("the score 'dot' needs 'w_v'", {"dot": dot | {"form": "additive"}})
    refused("the sentence names 'worst'", say="{worst}")
