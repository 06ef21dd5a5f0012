r"""Additive scores of many queries in little memory: the backward pass computes the features again.

The features :math:`f_{ijh} = \tanh(q_{ih} + k_{jh})` of all pairs are h times as many numbers as the scores. Autograd
keeps them in memory until the backward pass has read them. Here the features of one query at a time are computed, in
memory that the next query overwrites, and the backward pass computes them again. A gradient :math:`g_{ij}` of the
scores :math:`s_{ij} = \sum_h w_h f_{ijh}` gives

.. math::
    \frac{\partial L}{\partial q_{ih}} &= w_h \sum_j g_{ij} (1 - f_{ijh}^2) \\
    \frac{\partial L}{\partial k_{jh}} &= w_h \sum_i g_{ij} (1 - f_{ijh}^2) \\
    \frac{\partial L}{\partial w_h} &= \sum_{ij} g_{ij} f_{ijh} .

Explained in book/faster.
"""

import math
from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from utils.attention import check_additive


def additive_scores_by_query(
    projected_queries: Float[Tensor, "*#batch queries h"],
    projected_keys: Float[Tensor, "*#batch keys h"],
    w_v: Float[Tensor, " h"],
) -> Float[Tensor, "*batch queries keys"]:
    """The scores of :func:`utils.attention.additive_scores` and their gradients, one query at a time.

    Pass it to the layer: ``AdditiveAttention(d_query, d_key, d_hidden, score=additive_scores_by_query)``. It is meant
    for a CPU; a GPU is slow at many small operations. It has first derivatives only. For others, for the transforms
    of ``torch.func`` and for ``torch.compile`` take ``additive_scores``.

    Raises:
        ValueError: as for ``additive_scores``.
        RuntimeError: gradients with ``create_graph=True``, forward-mode derivatives, and ``torch.func``.

    >>> additive_scores_by_query(torch.zeros(1, 3), torch.zeros(2, 3), torch.ones(3))
    tensor([[0., 0.]])
    """
    leading = check_additive(projected_queries, projected_keys, w_v)
    dtype = torch.promote_types(w_v.dtype, torch.float32)  # sums over thousands of numbers need 32 bits
    queries, keys = (
        tensor.to(dtype).expand(*leading, -1, -1).reshape(math.prod(leading), *tensor.shape[-2:])
        for tensor in (projected_queries, projected_keys)
    )
    scores = _AdditiveScores.apply(queries, keys, w_v.to(dtype))
    return scores.to(projected_queries.dtype).reshape(*leading, *scores.shape[1:])


class _AdditiveScores(torch.autograd.Function):
    @staticmethod
    def forward(ctx, queries, keys, w_v):
        ctx.save_for_backward(queries, keys, w_v)
        scores = queries.new_empty(*queries.shape[:2], keys.shape[1])
        for b, i, features in _features(queries, keys):
            torch.mv(features, w_v, out=scores[b, i])
        return scores

    @staticmethod
    def backward(ctx, g):
        if torch.is_grad_enabled():
            raise RuntimeError(
                "additive_scores_by_query has no second derivative (create_graph=True); additive_scores has"
            )
        queries, keys, w_v = ctx.saved_tensors
        d_queries, d_keys, d_w = map(torch.zeros_like, ctx.saved_tensors)
        one = w_v.new_ones(())
        for b, i, features in _features(queries, keys):
            d_w.addmv_(features.mT, g[b, i])
            slopes = torch.addcmul(one, features, features, value=-1, out=features)
            d_queries[b, i].addmv_(slopes.mT, g[b, i])
            d_keys[b].addcmul_(slopes, g[b, i, :, None])
        return w_v * d_queries, w_v * d_keys, d_w


def _features(queries: Tensor, keys: Tensor) -> Iterator[tuple[int, int, Tensor]]:
    """Yield b, i and the features of query i with all keys, in memory that the next query overwrites."""
    for b, (query_rows, key_rows) in enumerate(zip(queries, keys, strict=True)):
        features = torch.empty_like(key_rows)
        for i, query in enumerate(query_rows):
            yield b, i, torch.add(key_rows, query, out=features).tanh_()
