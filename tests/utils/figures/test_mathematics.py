"""The mathematics that a page computes itself, in V8, against torch and the course's own functions."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from utils.attention import additive_scores
from utils.figures.still import engine

#: The scores of a query for several keys.
SCORES = "(scorer, keys, query) => scoresOf(scorer, keys)(query)"


def computed(function: str, *arguments) -> np.ndarray:
    """The result of a function of `script/mathematics.js`."""
    written = ",".join(json.dumps(argument) for argument in arguments)
    return np.array(json.loads(engine().eval(f"JSON.stringify(({function})({written}))")), dtype=float)


def draw(seed: int, *shape: int, scale: float = 1.0) -> torch.Tensor:
    return scale * torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=13))
def test_softmax(scores: list[float]) -> None:
    expected = torch.softmax(torch.tensor(scores, dtype=torch.float64), dim=0)
    np.testing.assert_allclose(computed("softmax", scores), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(("d", "h"), [(1, 1), (2, 5), (3, 7), (11, 2)])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_scores(d: int, h: int, scale: float) -> None:
    """Of projected vectors: the product, the cosine, and the additive score."""
    query, key, v = draw(1, d, scale=scale), draw(2, d, scale=scale), draw(3, h)
    w_q, w_k = draw(4, h, d), draw(5, h, d)
    q, k = w_q @ query, w_k @ key
    scorer = {"w_q": w_q.tolist(), "w_k": w_k.tolist(), "w_v": v.tolist(), "scale": 0.7}
    expected = {
        "dot": 0.7 * torch.nn.functional.linear(q, k),
        "cosine": 0.7 * torch.nn.functional.cosine_similarity(q, k, dim=0),
        "additive": additive_scores(q[None], k[None], v)[0, 0],
    }
    for form, score in expected.items():
        # Twice the key, with another one between.
        keys = [key.tolist(), query.tolist(), key.tolist()]
        got = computed(SCORES, scorer | {"form": form}, keys, query.tolist())
        np.testing.assert_allclose(got[[0, 2]], score.expand(2), rtol=1e-9, atol=1e-12, err_msg=form)


def test_the_cosine_with_zeros_is_0() -> None:
    eye = torch.eye(2).tolist()
    scorer = {"form": "cosine", "w_q": eye, "w_k": eye, "scale": 3}
    for query, key in (([0, 0], [1, 2]), ([1, 2], [0, 0]), ([0, 0], [0, 0])):
        assert computed(SCORES, scorer, [key], query) == 0
        assert (
            torch.nn.functional.cosine_similarity(*torch.tensor([query, key], dtype=torch.float64), dim=0)
            == 0
        )
