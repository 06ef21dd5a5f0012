"""Arrows end where the numbers say, on one scale, and below them stand their products and the score."""

import pytest
import torch
from pictures import WIDTHS, marks, sizes, texts

from utils.figures import Arrows

QUERY = torch.tensor([[3.0, 4.0], [0.0, 2.0], [1.0, 0.0]])


def small(**changes) -> Arrows:
    """Three planes: the query stays, and the key grows along the first axis."""

    def compute(t):
        key = torch.tensor([[1.0 * t, 0.0]] * 3)
        products = (QUERY * key).sum(dim=1)
        return {"query": QUERY, "key": key, "products": products, "score": products.sum()}

    options = {
        "planes": ["a", "b", "c"], "name": "small", "alt": "Arrows.", "say": "{score:2}", "start": {"t": 1},
    }  # fmt: skip
    return Arrows(compute, {"t": [1, 2]}, **(options | changes))


@pytest.mark.parametrize("width", WIDTHS)
def test_an_arrow_points_to_its_numbers_on_the_scale_of_the_longest(width) -> None:
    drawn = small().draw(width)
    radius = sizes(marks(drawn, "circle", "grid"), "r")[0]
    for side, tips in (("query", QUERY.tolist()), ("key", [[1.0, 0.0]] * 3)):
        rays = marks(drawn, "line", side, "ray")
        for ray, (right, up) in zip(rays, tips, strict=True):
            x1, y1, x2, y2 = (float(ray.get(name)) for name in ("x1", "y1", "x2", "y2"))
            length = (right**2 + up**2) ** 0.5
            shaft = length * radius / 5 - 11  # the rest is the arrow's head
            assert [x2 - x1, y1 - y2] == pytest.approx(
                [shaft * right / length, shaft * up / length], abs=0.02
            )


def test_below_stand_the_products_and_their_sum() -> None:
    written = texts(small().draw(t=2))
    assert [written[i] for i in range(len(written)) if "." in written[i]] == [
        "6.00",
        "0.00",
        "2.00",
        "score: 8.00",
    ]
    assert written.count("+") == 2


def test_both_arrows_have_a_row_for_each_plane() -> None:
    with pytest.raises(ValueError, match="query"):
        small(planes=["a", "b"])
