r"""Additive scores of many queries in little memory: the backward pass recomputes the features.

The features :math:`\tanh(q_i + k_j)` of all pairs are h times as many numbers as the scores. Autograd keeps them in
memory until the backward pass has read them. Here the features of one query at a time are computed, in a buffer that
fits into the processor's cache. The backward pass recomputes them, which is faster than reading them from main
memory.

With :math:`\tanh x = 2\sigma(2x) - 1` and :math:`\sigma_{ijh} = \sigma(2 q_{ih} + 2 k_{jh})` the score is

.. math::
    s_{ij} &= \sum_h w_h \tanh(q_{ih} + k_{jh}) \\
        &= \sum_h 2 w_h \sigma_{ijh} - \sum_h w_h .

Since :math:`\sigma' = \sigma (1 - \sigma)`, a gradient :math:`g_{ij}` of the scores gives

.. math::
    \frac{\partial L}{\partial q_{ih}} &= 4 w_h \sum_j g_{ij}\, \sigma_{ijh} (1 - \sigma_{ijh}) \\
    \frac{\partial L}{\partial k_{jh}} &= 4 w_h \sum_i g_{ij}\, \sigma_{ijh} (1 - \sigma_{ijh}) \\
    \frac{\partial L}{\partial w_h} &= \sum_{ij} g_{ij} (2 \sigma_{ijh} - 1) .

The exponential of a sum is a product,

.. math:: \sigma_{ijh} = \frac{1}{1 + e^{-2 q_{ih}}\, e^{-2 k_{jh}}} ,

so exponentials are taken once per query and once per key; each pair needs a product and a division. Where an
exponential would overflow, the logistic function of the sum is computed instead.

Derivatives of a higher order, forward-mode derivatives, the transforms of ``torch.func`` and ``torch.compile`` use the
plain form, with all features in memory.

Explained in book/faster.
"""

import math
from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd import forward_ad


def additive_scores_by_query(
    projected_queries: Float[Tensor, "*#batch queries h"],
    projected_keys: Float[Tensor, "*#batch keys h"],
    w_v: Float[Tensor, " h"],
) -> Float[Tensor, "*batch queries keys"]:
    """The scores of :func:`utils.attention.additive_scores`, and their gradients, one query at a time.

    Besides the scores it needs memory for ``2 * keys * h`` numbers, which is the features of one query twice, and
    for a copy of the queries and keys. It runs on one processor core.

    Raises:
        RuntimeError: shapes or dtypes that do not fit; the errors of ``AdditiveAttention`` say which.

    >>> additive_scores_by_query(torch.zeros(1, 3), torch.zeros(2, 3), torch.ones(3))
    tensor([[0., 0.]])
    """
    inputs = (projected_queries, projected_keys, w_v)
    if torch.compiler.is_compiling() or any(map(_is_transformed, inputs)):
        return _all_pairs(*inputs)
    # The plain form, called without any query, gives the leading axes and the dtype of the scores, also under autocast.
    no_scores = _all_pairs(projected_queries[..., :0, :], projected_keys[..., :0, :], w_v)
    leading = no_scores.shape[:-2]
    # Under autocast w_v has a more precise dtype than the projections; sums over thousands of numbers need it.
    dtype = torch.promote_types(torch.promote_types(projected_queries.dtype, projected_keys.dtype), w_v.dtype)
    queries, keys = (
        tensor.to(dtype).expand(*leading, -1, -1).reshape(math.prod(leading), *tensor.shape[-2:])
        for tensor in (projected_queries, projected_keys)
    )
    scores = _AdditiveScores.apply(queries, keys, w_v.to(dtype))
    return scores.to(no_scores.dtype).reshape(*leading, *scores.shape[1:])


def _all_pairs(queries: Tensor, keys: Tensor, w_v: Tensor) -> Tensor:
    """The plain form: the features of all pairs in one tensor."""
    return torch.tanh(queries[..., :, None, :] + keys[..., None, :, :]) @ w_v


def _is_transformed(tensor: Tensor) -> bool:
    """Whether ``torch.func`` or forward-mode differentiation follows the tensor."""
    return torch.func.debug_unwrap(tensor) is not tensor or forward_ad.unpack_dual(tensor).tangent is not None


class _AdditiveScores(torch.autograd.Function):
    @staticmethod
    def forward(ctx, queries, keys, w_v):
        ctx.save_for_backward(queries, keys, w_v)
        scores = queries.new_empty(*queries.shape[:2], keys.shape[1])
        for b, i, sigma in _sigmas(queries, keys):
            torch.mv(sigma, 2 * w_v, out=scores[b, i])
        return scores.sub_(w_v.sum())

    @staticmethod
    def backward(ctx, g):
        queries, keys, w_v = ctx.saved_tensors
        if torch.is_grad_enabled():  # the gradients will be differentiated again
            return torch.func.vjp(_all_pairs, queries, keys, w_v)[1](g)
        # Made from g, so that the gradients get the batch axis of ``is_grads_batched`` or the tangent that g has.
        d_queries, d_keys, d_w = (g.new_zeros(tensor.shape) for tensor in (queries, keys, w_v))
        slopes = torch.empty_like(keys[0]) if len(keys) else keys
        for b, i, sigma in _sigmas(queries, keys):
            d_w += g[b, i] @ sigma
            torch.addcmul(sigma, sigma, sigma, value=-1, out=slopes)  # sigma (1 - sigma)
            d_queries[b, i] = g[b, i] @ slopes
            d_keys[b].addcmul_(slopes, g[b, i, :, None])
        return 4 * w_v * d_queries, 4 * w_v * d_keys, 2 * d_w - g.sum()


def _sigmas(queries: Tensor, keys: Tensor) -> Iterator[tuple[int, int, Tensor]]:
    """Yield b, i and the sigmas of query i with all keys, in memory that the next query overwrites."""
    # Several threads would have to wait for each other after each of thousands of small operations. When another
    # program uses the processor, they wait ten times longer than they work.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        largest_sum = sum(tensor.abs().max().item() for tensor in (queries, keys) if tensor.numel())
        in_range = 2 * largest_sum < -math.log(torch.finfo(keys.dtype).tiny)  # False if a number is NaN
        query_factors, key_factors = (
            ((-2 * queries).exp(), (-2 * keys).exp()) if in_range else (2 * queries, 2 * keys)
        )
        unit = keys.new_ones(())
        for b, key_rows in enumerate(key_factors):
            sigma = torch.empty_like(key_rows)
            for i, query_row in enumerate(query_factors[b]):
                if in_range:
                    torch.addcmul(unit, key_rows, query_row, out=sigma).reciprocal_()
                else:
                    torch.add(key_rows, query_row, out=sigma).sigmoid_()
                yield b, i, sigma
    finally:
        torch.set_num_threads(threads)
