"""Rotary positions and ALiBi against complex products, slow loops and numbers by hand."""

import itertools
import math

import pytest
import torch
from torch.testing import assert_close

from utils.positions import alibi, rotate
from utils.transformer import sinusoids

BATCH, WORDS = 2, 7


def test_a_turned_vector_by_hand():
    # Width 4 and base 10,000: at place 1 the angles are 1 and 0.01. The paper pairs neighbours; `rotate_half` of
    # transformers (models/llama/modeling_llama.py) pairs the components 0 and 2, and 1 and 3.
    c, s, c2, s2 = 0.5403023, 0.8414710, 0.9999500, 0.0099998
    x = torch.tensor([[2.0, 3.0, 5.0, 7.0]])
    neighbours = [2 * c - 3 * s, 2 * s + 3 * c, 5 * c2 - 7 * s2, 5 * s2 + 7 * c2]
    halves = [2 * c - 5 * s, 3 * c2 - 7 * s2, 2 * s + 5 * c, 3 * s2 + 7 * c2]
    assert_close(rotate(x, start=1), torch.tensor([neighbours]))
    assert_close(rotate(x, start=1, halves=True), torch.tensor([halves]))


def test_the_first_place_is_0_where_nothing_is_turned():
    x = torch.arange(8.0).view(2, 4)
    assert torch.equal(rotate(x)[0], x[0])
    assert_close(rotate(x)[1:], rotate(x[1:], start=1))


def test_rotary_pairs_are_complex_products():
    torch.manual_seed(0)
    x = torch.randn(BATCH, 3, WORDS, 10, dtype=torch.float64)
    rates = torch.tensor([500.0 ** (-2 * i / 10) for i in range(5)], dtype=torch.float64)
    angles = torch.arange(13, 13 + WORDS, dtype=torch.float64)[:, None] * rates
    turns = torch.polar(torch.ones_like(angles), angles)
    expected = torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turns).flatten(-2)
    assert_close(rotate(x, start=13, base=500.0), expected, atol=1e-5, rtol=1e-5)


def test_both_conventions_are_one_reordering():
    x = torch.randn(WORDS, 10)
    order = torch.arange(10).view(2, 5).T.flatten()  # component i beside component i + 5
    assert_close(rotate(x, halves=True)[:, order], rotate(x[:, order]))


def test_a_unit_pair_becomes_the_sinusoids():
    ones = torch.tensor([0.0, 1.0]).repeat(5)
    turned = rotate(ones.expand(WORDS, 10), start=3)
    expected = sinusoids(WORDS, 10, start=3).unflatten(-1, (-1, 2))
    assert_close(turned.unflatten(-1, (-1, 2)), torch.stack([-expected[..., 0], expected[..., 1]], dim=-1))


@pytest.mark.parametrize("halves", [False, True])
def test_the_score_depends_on_the_distance_alone(halves):
    torch.manual_seed(2)
    q, k = torch.randn(2, 1, 14, dtype=torch.float64)
    for distance in (0, 1, 5, 40):
        scores = [
            rotate(q, start=place + distance, halves=halves) @ rotate(k, start=place, halves=halves).T
            for place in (0, 3, 17, 101)
        ]
        for score in scores[1:]:
            assert_close(score, scores[0], atol=1e-4, rtol=1e-4)
        assert_close(rotate(q, start=distance).norm(), q.norm(), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_far_places_keep_their_angles_in_half_precision(dtype):
    x = torch.randn(3, 4)
    assert rotate(x.to(dtype), start=70_001).dtype == dtype
    assert_close(rotate(x.to(dtype), start=70_001).float(), rotate(x, start=70_001), atol=0.05, rtol=0.05)


@pytest.mark.parametrize("default", [torch.float16, torch.bfloat16, torch.float64])
def test_places_do_not_depend_on_the_default_type(default):
    x, start = torch.randn(2, 4), 2048

    def made() -> list[torch.Tensor]:
        return [sinusoids(2, 6, start=start), rotate(x, start=start), alibi(3, 1, 2051)]

    expected = made()
    torch.set_default_dtype(default)
    try:
        results = made()
    finally:
        torch.set_default_dtype(torch.float32)
    assert not torch.equal(results[0][0], results[0][1])
    for result, exact in zip(results, expected, strict=True):
        assert result.dtype == torch.float32
        assert torch.equal(result, exact)


def test_alibi_by_a_loop():
    bias = alibi(8, 3, 5)
    for head, i, j in itertools.product(range(8), range(3), range(5)):
        place = 2 + i  # the three queries stand at the end
        expected = -math.inf if j > place else -(place - j) / 2 ** (head + 1)
        assert bias[head, i, j] == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rotate(torch.zeros(3, 5)), r"an even width, got shape \(3, 5\)"),
        (lambda: rotate(torch.ones(3, 4, dtype=torch.long)), "a floating-point dtype, got torch.int64"),
        (
            lambda: rotate(torch.zeros(3, 4), start=2**24 - 2),
            "start must be from 0 to 16777213, got 16777214",
        ),
        (lambda: sinusoids(3, 4, start=2**24 - 2), "start must be from 0 to 16777213, got 16777214"),
        (lambda: alibi(2, 3, 2), "num_keys must be at least 3, got 2"),
    ],
)
@pytest.mark.usefixtures("unchecked_shapes")
def test_errors_say_what_they_want(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_last_places_are_still_apart():
    start = 2**24 - 3
    for places in (sinusoids(3, 4, start=start), rotate(torch.ones(3, 4), start=start)):
        assert len(places.unique(dim=0)) == 3
