"""The mathematics that a page computes itself, in V8, against torch and the course's own functions."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import utils.kernels
from utils.attention import additive_scores
from utils.figures.still import engine
from utils.kernels import nadaraya_watson

#: The scores of a query for several keys.
SCORES = "(scorer, keys, query) => scoresOf(scorer, keys)(query)"
KERNELS = ("gaussian", "boxcar", "triangular", "epanechnikov")
FLOATS = st.floats(-50, 50)


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


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=7))
def test_argmax_and_argmin_are_the_first_of_several(numbers: list[int]) -> None:
    assert computed("argmax", numbers) == np.argmax(numbers)
    assert computed("argmin", numbers) == np.argmin(numbers)


@pytest.mark.parametrize("scores", [[1e308, 1e308, -1e308], [-1e308, -1e308], [800.0, 799.0, 0.0], [0.0]])
def test_softmax_of_huge_scores(scores: list[float]) -> None:
    expected = torch.softmax(torch.tensor(scores, dtype=torch.float64), dim=0)
    np.testing.assert_allclose(computed("softmax", scores), expected, rtol=1e-12)


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


def check_weights(kernel: str, query: float, keys: list[float], bandwidth: float) -> np.ndarray:
    got = computed("kernelWeights", kernel, query, keys, bandwidth)
    keys = torch.tensor(keys, dtype=torch.float64)
    _, expected = nadaraya_watson(
        torch.tensor([query], dtype=torch.float64),
        keys,
        torch.zeros_like(keys),
        kernel=getattr(utils.kernels, kernel),
        bandwidth=bandwidth,
    )
    np.testing.assert_allclose(got, expected[0], rtol=1e-9, atol=1e-12)
    return got


@pytest.mark.parametrize("kernel", KERNELS)
@given(query=FLOATS, keys=st.lists(FLOATS, min_size=1, max_size=11), bandwidth=st.floats(0.05, 20))
def test_kernel_weights(kernel: str, query: float, keys: list[float], bandwidth: float) -> None:
    got = check_weights(kernel, query, keys, bandwidth)
    assert got.sum() == pytest.approx(1) or (got == 0).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_weights_on_the_edge_of_the_window(kernel: str) -> None:
    # 0.1 * 3 is not 0.3 in floating point; both round alike.
    check_weights(kernel, 0.1 * 3, [0.0, 0.3, 0.6, 0.9], 0.3)
    check_weights(kernel, 2.0, [1.0, 3.0, 3.5], 1.0)


def test_far_queries_have_weights_under_the_gaussian_only() -> None:
    for query in (60.0, 1e4, -1e6):
        gaussian = check_weights("gaussian", query, [1.0, 2.0, 3.0, 5.0], 1.0)
        assert gaussian.sum() == pytest.approx(1)
        assert gaussian[-1 if query > 0 else 0] > 0.99
        for kernel in KERNELS[1:]:
            assert (check_weights(kernel, query, [1.0, 2.0, 3.0, 5.0], 1.0) == 0).all()
