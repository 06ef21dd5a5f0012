"""Whole numbers where fractions are meant: the answer is that of fractions, or an error; never one that is cut off.

The functions with such arguments are found by their annotations, so that a new one needs a line here.
"""

import importlib
import inspect
import re
from itertools import product

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from utils.circuits import at_place, induction_score, previous_token_score
from utils.fast_training import vocabulary_loss
from utils.kernels import boxcar, gaussian, nadaraya_watson
from utils.long_sequences import (
    linear_attention,
    online_attention,
    positive_features,
    recurrent_attention,
)
from utils.positions import rotate
from utils.search import next_word_probabilities

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

MODULES = ["circuits", "fast_decoding", "fast_training", "kernels", "long_sequences", "positions", "search"]
#: Two queries, three keys and values of width 2, and square weights, all whole numbers.
Q, K, V = (
    torch.tensor([[1, 0], [0, 2]]),
    torch.tensor([[1, 1], [0, 1], [2, 0]]),
    torch.tensor([[3, 5], [7, 1], [2, 2]]),
)
SQUARE = torch.tensor([[1, 0, 0], [0, 1, 0], [1, 1, 0]])
#: Each function as a function of tensors, and the tensors.
CALLS = {
    at_place: [(lambda ours, theirs: at_place(ours, theirs / 2, 1), (Q, Q + 1))],
    previous_token_score: [(previous_token_score, (SQUARE,))],
    induction_score: [
        (lambda weights: induction_score(weights, torch.tensor([[7, 8, 7]])), (SQUARE[None, None],))
    ],
    gaussian: [(gaussian, (Q,))],
    boxcar: [(boxcar, (Q,))],
    nadaraya_watson: [(lambda q, k, v: nadaraya_watson(q, k, v)[0], (Q, K, V))],
    linear_attention: [(linear_attention, (K, K, V))],
    online_attention: [(online_attention, (Q, K, V))],
    positive_features: [(positive_features, (Q,))],
    recurrent_attention: [(recurrent_attention, (K, K, V))],
    rotate: [(lambda x: rotate(x, start=1), (Q,)), (lambda x: rotate(x, start=1, halves=True), (Q,))],
    next_word_probabilities: [(next_word_probabilities, (Q,))],
    vocabulary_loss: [(lambda x, w, b: vocabulary_loss(x, w, b, torch.tensor([0, 2])), (Q, K, K[:, 0]))],
}


def test_all_functions_of_fractions_are_here():
    found = set()
    for name in MODULES:
        module = importlib.import_module(f"utils.{name}")
        for public in map(vars(module).get, module.__all__):
            if inspect.isfunction(public) and any(
                re.match(r"(<class ')?(jaxtyping\.)?Float\[", str(parameter.annotation))
                for parameter in inspect.signature(public).parameters.values()
            ):
                found.add(public.__name__)
    assert found == {function.__name__ for function in CALLS}


@pytest.mark.parametrize(("call", "tensors"), [case for cases in CALLS.values() for case in cases])
def test_whole_numbers_give_what_fractions_give_or_an_error(call, tensors: tuple[Tensor, ...]):
    """Whether all tensors are whole numbers or some of them."""
    expected = call(*(tensor.float() for tensor in tensors))
    for whole in product([True, False], repeat=len(tensors)):
        mixed = [
            tensor if is_whole else tensor.float() for tensor, is_whole in zip(tensors, whole, strict=True)
        ]
        try:
            found = call(*mixed)
        except (ValueError, RuntimeError):
            continue
        assert_close(found, expected, rtol=1e-5, atol=1e-5, check_dtype=False)
    assert not any(whole)  # the last time, all were fractions, and no error was raised
    assert_close(found, expected)
