r"""Additive scores of many queries in the memory of the scores: a hand-written gradient that works things out twice.

The features :math:`\tanh(q_i + k_j)` of all pairs are h times as many numbers as the scores. Written with
autograd they stand in memory until the backward pass has read them. Here one query at a time has its own, in a
piece of memory that stays in the processor's cache, and the backward pass works them out again, which is faster
than to fetch them from main memory.

With :math:`\tanh x = 2\sigma(2x) - 1` and :math:`\sigma_{ijh} = \sigma(2 q_{ih} + 2 k_{jh})` the score is

.. math:: s_{ij} = \sum_h w_h \tanh(q_{ih} + k_{jh}) = \sum_h 2 w_h \sigma_{ijh} - \sum_h w_h .

Since :math:`\sigma' = \sigma (1 - \sigma)`, a gradient :math:`g_{ij}` of the scores gives

.. math::
    \frac{\partial L}{\partial q_{ih}} = 4 w_h \sum_j g_{ij}\, \sigma_{ijh} (1 - \sigma_{ijh}), \quad
    \frac{\partial L}{\partial k_{jh}} = 4 w_h \sum_i g_{ij}\, \sigma_{ijh} (1 - \sigma_{ijh}), \quad
    \frac{\partial L}{\partial w_h} = \sum_{ij} g_{ij} (2 \sigma_{ijh} - 1) .

And of a sum the exponential is a product,

.. math:: \sigma_{ijh} = \frac{1}{1 + e^{-2 q_{ih}}\, e^{-2 k_{jh}}} ,

so the exponentials are taken once a query and once a key; for all pairs there is a product and a division. Where one
of them would leave the range of the numbers, the sums themselves go through the logistic function.

A softmax over the keys does not see :math:`\sum_h w_h`, which every score of a row shares: behind one, that sum and
the :math:`-1` of the last line could go. They stay, so that these are the scores of
:func:`utils.attention.additive_scores`.

Explained in book/faster.
"""

import math
from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor


def additive_scores_by_query(
    projected_queries: Float[Tensor, "*#batch queries h"],
    projected_keys: Float[Tensor, "*#batch keys h"],
    w_v: Float[Tensor, " h"],
) -> Float[Tensor, "*batch queries keys"]:
    """The scores of :func:`utils.attention.additive_scores`, and their gradients, one query at a time.

    Beside the scores it needs the features of a single query twice, ``2 * keys * h`` numbers, and as many as queries
    and keys hold. It works on one processor core, in the finest dtype of its arguments. The gradient cannot be
    differentiated again.

    Raises:
        RuntimeError: shapes that do not fit; ``AdditiveAttention`` names what is wrong.

    >>> additive_scores_by_query(torch.zeros(1, 3), torch.zeros(2, 3), torch.ones(3))
    tensor([[0., 0.]])
    """
    leading = torch.broadcast_shapes(projected_queries.shape[:-2], projected_keys.shape[:-2])
    # Under autocast the projections are coarse and the weights are not: sums over thousands want the finer dtype.
    dtype = torch.promote_types(torch.promote_types(projected_queries.dtype, projected_keys.dtype), w_v.dtype)
    queries, keys = (
        tensor.to(dtype).expand(*leading, -1, -1).reshape(math.prod(leading), *tensor.shape[-2:])
        for tensor in (projected_queries, projected_keys)
    )
    scores = _AdditiveScores.apply(queries, keys, w_v.to(dtype))
    return scores.reshape(*leading, *scores.shape[1:])


class _AdditiveScores(torch.autograd.Function):
    @staticmethod
    def forward(ctx, queries, keys, w_v):
        ctx.save_for_backward(queries, keys, w_v)
        scores = queries.new_empty(*queries.shape[:2], keys.shape[1])
        for b, i, sigma in _sigmas(queries, keys):
            torch.mv(sigma, 2 * w_v, out=scores[b, i])
        return scores.sub_(w_v.sum())

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        queries, keys, w_v = ctx.saved_tensors
        d_queries, d_keys, d_w = (torch.zeros_like(tensor) for tensor in (queries, keys, w_v))
        slopes = torch.empty_like(keys[0]) if len(keys) else keys
        for b, i, sigma in _sigmas(queries, keys):
            d_w += g[b, i] @ sigma
            torch.addcmul(sigma, sigma, sigma, value=-1, out=slopes)  # sigma (1 - sigma)
            torch.mv(slopes.T, g[b, i], out=d_queries[b, i])
            d_keys[b].addcmul_(slopes, g[b, i, :, None])
        return 4 * w_v * d_queries, 4 * w_v * d_keys, 2 * d_w - g.sum()


def _sigmas(queries: Tensor, keys: Tensor) -> Iterator[tuple[int, int, Tensor]]:
    """Sentence, query and its features with all keys, in memory that the next query's overwrite."""
    # Several threads would have to meet after each of these small operations, thousands of times: with another
    # program on the machine they wait for each other ten times longer than they work.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        largest_sum = sum(tensor.abs().max().item() for tensor in (queries, keys) if tensor.numel())
        in_range = 2 * largest_sum < -math.log(torch.finfo(keys.dtype).tiny)  # False where one is NaN
        of_queries, of_keys = (
            ((-2 * queries).exp(), (-2 * keys).exp()) if in_range else (2 * queries, 2 * keys)
        )
        one = keys.new_ones(())
        for b, of_sentence in enumerate(of_keys):
            sigma = torch.empty_like(of_sentence)
            for i, of_query in enumerate(of_queries[b]):
                if in_range:
                    torch.addcmul(one, of_sentence, of_query, out=sigma).reciprocal_()
                else:
                    torch.add(of_sentence, of_query, out=sigma).sigmoid_()
                yield b, i, sigma
    finally:
        torch.set_num_threads(threads)
