"""Keys and a query as points of a plane, over the landscape of a score.

Explained in book/explorables.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import torch
from torch import Tensor

from utils.figures.figure import Figure

#: The scores that the page can compute, and the matrices of each.
FORMS = {
    "distance": ("w_q", "w_k"),
    "dot": ("w_q", "w_k"),
    "cosine": ("w_q", "w_k"),
    "additive": ("w_q", "w_k", "w_v"),
}


class Plane(Figure):
    """Keys and a query, which readers drag in the plane; the page computes the scores and their softmax.

    The stronger the grey of the ground, the higher the score that a key would have there. The larger a key's dot, the
    larger its weight; the pick ``key`` has a ring. The sentence may name ``best``, the number of the key with the
    largest weight, ``top``, that weight, and ``nearest``, the number of the key nearest to the query; also ``scores``
    and ``weights``.

    Args:
        scorers: the values of the axis ``score``. Each is a mapping of ``form``, one of :data:`FORMS`, and its
            matrices as lists or tensors, of shapes (h, d) and ``w_v`` (h,); ``scale`` multiplies a score that is not
            additive, and with ``one`` each point is followed by a constant 1. The form ``distance`` is the score of a
            Gaussian kernel, minus half the squared distance.
        points: places of the keys, (keys, 2).
        keys: their labels.
        query: the place of the query when the figure opens, (2,).
        box: left, right, bottom and top of the plane.
        axes_labels: labels of the x and the y axis.
        lines: whether lines show what a score measures: by ``distance`` the way from the query to each key, by ``dot``
            the projection of each key on the query. The scores then have no matrices.
        options: as for :class:`utils.figures.figure.Figure`.
    """

    kind = "plane"
    picks: ClassVar = {"key": "points"}

    def __init__(
        self,
        scorers: Mapping[str, Mapping],
        *,
        points: Tensor | Sequence[Sequence[float]],
        keys: Sequence[object],
        query: Sequence[float],
        box: tuple[float, float, float, float],
        axes_labels: tuple[str, str],
        lines: bool = False,
        **options,
    ):
        self.scorers = {name: _scorer(scorer) for name, scorer in scorers.items()}
        self.places = [[round(float(x), 4) for x in point] for point in points]
        self.query, self.box, self.axes_labels = [float(x) for x in query], list(box), axes_labels
        self.lines = lines
        if lines and not all(map(_is_measured, self.scorers.values())):
            raise ValueError(
                "lines show a distance or a dot product of the points themselves, without matrices"
            )
        if len(self.places) != len(keys):
            raise ValueError(f"there are {len(self.places)} points and {len(keys)} labels")
        for x, y in [*self.places, self.query]:
            if not (box[0] <= x <= box[1] and box[2] <= y <= box[3]):
                raise ValueError(f"the point ({x}, {y}) lies outside of the box {tuple(box)}")
        labels = {"points": keys} | options.pop("labels", {})
        super().__init__(lambda score: {}, {"score": list(scorers)}, labels=labels, **options)

    @property
    def options(self) -> dict:
        """The scorers, the keys, the query and the plane."""
        return {
            "scorers": self.scorers,
            "points": self.places,
            "query": self.query,
            "box": self.box,
            "x_label": self.axes_labels[0],
            "y_label": self.axes_labels[1],
            "lines": self.lines,
        }

    @property
    def movable(self) -> dict:
        """All keys, and the query after them."""
        left, right, bottom, top = self.box
        return {
            "labels": [*self.labels["points"], "query"],
            "places": [*self.places, self.query],
            "names": list(self.axes_labels),
            "bounds": [[left, right], [bottom, top]],
        }


def _scorer(scorer: Mapping) -> dict:
    """A scorer with plain numbers."""
    numbers = {"scale": 1.0} | {
        key: scorer[key] for key in ("scale", *FORMS[scorer["form"]]) if key in scorer
    }
    plain = {key: _rounded(value) for key, value in numbers.items()}
    return {"form": scorer["form"], "one": bool(scorer.get("one", False))} | plain


def _is_measured(scorer: Mapping) -> bool:
    """Whether lines in the plane can show the score: it is that of the points themselves."""
    unit = [[1, 0], [0, 1]]
    return scorer["form"] in {"distance", "dot"} and scorer["w_q"] == scorer["w_k"] == unit


def _rounded(numbers: Tensor | Sequence | float) -> list | float:
    """A number, or the numbers of a tensor or of lists in lists, with four decimals."""
    return torch.as_tensor(numbers, dtype=torch.float64).detach().round(decimals=4).tolist()
