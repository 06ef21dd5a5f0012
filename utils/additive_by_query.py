r"""Additive scores of many queries in the memory of the scores: the backward pass computes the features again.

The features :math:`\tanh(q_i + k_j)` of all pairs are h times as many numbers as the scores. Written with
autograd they stay in memory until the backward pass has read them. Here only one query at a time has its features,
in a piece of memory that stays in the processor's cache. The backward pass computes them again, which is faster
than reading them from main memory.

With :math:`\tanh x = 2\sigma(2x) - 1` and :math:`\sigma_{ijh} = \sigma(2 q_{ih} + 2 k_{jh})` the score is

.. math:: s_{ij} = \sum_h w_h \tanh(q_{ih} + k_{jh}) = \sum_h 2 w_h \sigma_{ijh} - \sum_h w_h .

Since :math:`\sigma' = \sigma (1 - \sigma)`, a gradient :math:`g_{ij}` of the scores gives

.. math::
    \frac{\partial L}{\partial q_{ih}} = 4 w_h \sum_j g_{ij}\, \sigma_{ijh} (1 - \sigma_{ijh}), \quad
    \frac{\partial L}{\partial k_{jh}} = 4 w_h \sum_i g_{ij}\, \sigma_{ijh} (1 - \sigma_{ijh}), \quad
    \frac{\partial L}{\partial w_h} = \sum_{ij} g_{ij} (2 \sigma_{ijh} - 1) .

The exponential of a sum is a product,

.. math:: \sigma_{ijh} = \frac{1}{1 + e^{-2 q_{ih}}\, e^{-2 k_{jh}}} ,

so exponentials are taken once per query and once per key; each pair needs a product and a division. Where an
exponential would overflow, the sums themselves go through the logistic function.

Derivatives of a higher order, forward-mode derivatives and the transforms of ``torch.func`` use the plain form, with
all features in memory.

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

    Besides the scores it needs the features of one query twice, ``2 * keys * h`` numbers, and the size of the
    queries and keys once more. It runs on one processor core.

    Raises:
        RuntimeError: shapes or dtypes that do not fit; ``AdditiveAttention`` names what is wrong.

    >>> additive_scores_by_query(torch.zeros(1, 3), torch.zeros(2, 3), torch.ones(3))
    tensor([[0., 0.]])
    """
    inputs = (projected_queries, projected_keys, w_v)
    if any(map(_is_transformed, inputs)):
        return _all_pairs(*inputs)
    # Without any pair the plain form gives the leading axes and the dtype of its scores, under autocast too.
    no_pairs = _all_pairs(projected_queries[..., :0, :], projected_keys[..., :0, :], w_v)
    leading = no_pairs.shape[:-2]
    # Under autocast the projections are coarse and w_v is not: sums over thousands need the finer dtype.
    dtype = torch.promote_types(torch.promote_types(projected_queries.dtype, projected_keys.dtype), w_v.dtype)
    queries, keys = (
        tensor.to(dtype).expand(*leading, -1, -1).reshape(math.prod(leading), *tensor.shape[-2:])
        for tensor in (projected_queries, projected_keys)
    )
    scores = _AdditiveScores.apply(queries, keys, w_v.to(dtype))
    return scores.to(no_pairs.dtype).reshape(*leading, *scores.shape[1:])


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
        if torch.is_grad_enabled() or _is_transformed(g):  # the gradients will be differentiated
            scores, pullback = torch.func.vjp(_all_pairs, queries, keys, w_v)
            return pullback(g.to(scores.dtype))
        # Made of g, so that a batch of g, as ``is_grads_batched`` gives, has a batch of gradients.
        d_queries, d_keys, d_w = (g.new_zeros(tensor.shape) for tensor in (queries, keys, w_v))
        slopes = torch.empty_like(keys[0]) if len(keys) else keys
        for b, i, sigma in _sigmas(queries, keys):
            d_w += g[b, i] @ sigma
            torch.addcmul(sigma, sigma, sigma, value=-1, out=slopes)  # sigma (1 - sigma)
            d_queries[b, i] = g[b, i] @ slopes
            d_keys[b].addcmul_(slopes, g[b, i, :, None])
        return 4 * w_v * d_queries, 4 * w_v * d_keys, 2 * d_w - g.sum()


def _sigmas(queries: Tensor, keys: Tensor) -> Iterator[tuple[int, int, Tensor]]:
    """Sentence, query and its features with all keys, in memory that the next query overwrites."""
    # With several threads they would meet after each of thousands of small operations. When another program uses
    # the processor, they then wait for each other ten times longer than they work.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        largest_sum = sum(tensor.abs().max().item() for tensor in (queries, keys) if tensor.numel())
        in_range = 2 * largest_sum < -math.log(torch.finfo(keys.dtype).tiny)  # False if one is NaN
        query_factors, key_factors = (
            ((-2 * queries).exp(), (-2 * keys).exp()) if in_range else (2 * queries, 2 * keys)
        )
        one = keys.new_ones(())
        for b, of_keys in enumerate(key_factors):
            sigma = torch.empty_like(of_keys)
            for i, of_query in enumerate(query_factors[b]):
                if in_range:
                    torch.addcmul(one, of_keys, of_query, out=sigma).reciprocal_()
                else:
                    torch.add(of_keys, of_query, out=sigma).sigmoid_()
                yield b, i, sigma
    finally:
        torch.set_num_threads(threads)
