r"""Attention over long sequences: the exact form in blocks, windows, and states that are matrices.

The masks are those of ``attention``: True where a query may attend to a key. There are no kernels for graphics
processors here: the fast form of the exact attention is ``torch.nn.functional.scaled_dot_product_attention``.
Explained in chapters/long_sequences and chapters/linear_attention.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from utils.attention import power_below, scaled_dot_scores, widened
from utils.checks import check_axes, check_count, check_mask, check_same_length
from utils.transformer import causal_mask

__all__ = [
    "Features",
    "linear_attention",
    "online_attention",
    "positive_features",
    "recurrent_attention",
    "window_mask",
]

#: A function that makes the features of queries and keys, none of them negative.
Features = Callable[[Tensor], Tensor]


def online_attention(
    queries: Float[Tensor, "*batch queries d"],
    keys: Float[Tensor, "*batch keys d"],
    values: Float[Tensor, "*batch keys d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    block: int = 128,
) -> Float[Tensor, "*batch queries d_v"]:
    r"""Scaled dot-product attention that reads the keys block by block and never holds all scores.

    Each query keeps the largest score so far *m*, the sum *t* of the exponentials, and the weighted sum *c* of the
    values. A block with the scores *e* changes them to

    .. math::
        m' &= \max(m, \max_j e_j) \\
        p_j &= \exp(e_j - m') \\
        t' &= \exp(m - m')\, t + \textstyle\sum_j p_j \\
        c' &= \exp(m - m')\, c + \textstyle\sum_j p_j v_j

    and after the last block the context is *c / t*. This is the softmax itself and not an approximation.

    Args:
        mask: True where a query may attend to a key; broadcasts to the scores. A query without any key has the
            context 0.
        block: number of keys that are read at once.

    Returns:
        The context. Sums are kept in float32 for narrower types.

    Raises:
        ValueError: whole numbers, axes that do not fit, a mask that is not boolean or does not broadcast, or a block
            below 1.

    >>> online_attention(torch.zeros(1, 2), torch.ones(3, 2), torch.tensor([[1.0], [2.0], [6.0]]), block=2)
    tensor([[3.]])

    Source: Milakov and Gimelshein (2018), algorithm 3; Rabe and Staats (2021). Explained in
    chapters/long_sequences.
    """
    _check_sequence(queries, keys, values)
    check_count(1, block=block)
    shape = (*torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2]), queries.shape[-2], keys.shape[-2])
    if mask is not None:
        check_mask(mask, shape)
        mask = mask.expand(shape)
    top = widened(queries).new_full((*shape[:-1], 1), -math.inf)
    total = torch.zeros_like(top)
    context = top.new_zeros((*shape[:-1], values.shape[-1]))
    for start in range(0, keys.shape[-2], block):
        here = slice(start, start + block)
        scores = widened(scaled_dot_scores(queries, keys[..., here, :]))
        if mask is not None:
            scores = scores.masked_fill(~mask[..., here], -math.inf)
        higher = torch.maximum(top, scores.amax(dim=-1, keepdim=True))
        # Before the first allowed key the maximum is -inf, and -inf - (-inf) would be NaN.
        base = higher.masked_fill(higher == -math.inf, 0.0)
        shrink, parts = (top - base).exp(), (scores - base).exp()
        total = shrink * total + parts.sum(dim=-1, keepdim=True)
        context = shrink * context + parts @ widened(values[..., here, :])
        top = higher
    return (context / total.masked_fill(total == 0, 1.0)).to(values.dtype)


def window_mask(
    num_queries: int, num_keys: int | None = None, *, window: int, sinks: int = 0, device=None
) -> Bool[Tensor, "queries keys"]:
    """Causal mask that allows the last ``window`` keys, the query's own included, and the first ``sinks`` keys.

    Args:
        num_queries: number of queries, which stand at the last positions of the sequence.
        num_keys: length of the sequence; ``num_queries`` if None.
        window: number of keys that each query sees at its own place and before it.
        sinks: number of keys at the beginning that every later query sees, too.

    Raises:
        ValueError: more queries than keys, a window below 1, or a negative number of sinks.

    >>> window_mask(5, window=2, sinks=1).int()
    tensor([[1, 0, 0, 0, 0],
            [1, 1, 0, 0, 0],
            [1, 1, 1, 0, 0],
            [1, 0, 1, 1, 0],
            [1, 0, 0, 1, 1]], dtype=torch.int32)

    Source: Beltagy, Peters and Cohan (2020), section 3.1, for the window; Xiao et al. (2023), section 3.2, for the
    sinks. Explained in chapters/long_sequences.
    """
    check_count(1, window=window)
    check_count(0, sinks=sinks)
    mask = causal_mask(num_queries, num_keys, device=device)
    positions = torch.arange(mask.shape[1], device=device)
    near = positions > positions[mask.shape[1] - num_queries :, None] - window
    return mask & (near | (positions < sinks))


def positive_features(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""Features that are never negative: :math:`\phi(x) = \mathrm{elu}(x) + 1`, which is x + 1 above 0 and eˣ below.

    >>> positive_features(torch.tensor([-100.0, 0.0, 2.0]))
    tensor([0., 1., 3.])

    Source: Katharopoulos et al. (2020), section 3.2.1. Explained in chapters/linear_attention.
    """
    return nn.functional.elu(x) + 1


def linear_attention(
    queries: Float[Tensor, "*batch n d"],
    keys: Float[Tensor, "*batch n d"],
    values: Float[Tensor, "*batch n d_v"],
    *,
    features: Features = positive_features,
) -> tuple[Float[Tensor, "*batch n d_v"], Float[Tensor, "*batch n n"]]:
    r"""Causal attention with the kernel :math:`\phi(q) \cdot \phi(k)`: all positions at once, with all n² weights.

    .. math:: c_i = \sum_{j \le i} \frac{\phi(q_i) \cdot \phi(k_j)}{\sum_{l \le i} \phi(q_i) \cdot \phi(k_l)}\, v_j

    :func:`recurrent_attention` computes the same contexts from a state, without the weights.

    Args:
        features: makes numbers that are not negative, of queries and of keys.

    Returns:
        The contexts, and the weights. A query whose kernel is 0 everywhere has the weights 0 and the context 0.
        Sums are kept in float32 for narrower types.

    Raises:
        ValueError: whole numbers, axes that do not fit, or another number of queries than of keys.

    >>> one, x = torch.ones(2, 1), torch.tensor([[2.0], [4.0]])
    >>> linear_attention(one, one, x)[0]
    tensor([[2.],
            [3.]])

    Source: Katharopoulos et al. (2020), section 3.3. Explained in chapters/linear_attention.
    """
    _check_pairs(queries, keys, values)
    asking = widened(features(queries))
    # The weights do not depend on the length of a query's features, but the products may be too large.
    kernel = (asking / power_below(asking)) @ widened(features(keys)).mT
    kernel = kernel.masked_fill(~causal_mask(keys.shape[-2], device=keys.device), 0.0)
    total = kernel.sum(dim=-1, keepdim=True)
    weights = kernel / total.masked_fill(total == 0, 1.0)
    return (weights @ widened(values)).to(values.dtype), weights.to(values.dtype)


def recurrent_attention(
    queries: Float[Tensor, "*batch n d"],
    keys: Float[Tensor, "*batch n d"],
    values: Float[Tensor, "*batch n d_v"],
    state: Float[Tensor, "*batch d d_v"] | None = None,
    *,
    gates: Float[Tensor, "*batch n"] | None = None,
    rates: Float[Tensor, "*batch n"] | None = None,
) -> tuple[Float[Tensor, "*batch n d_v"], Float[Tensor, "*batch d d_v"]]:
    r"""Reads a sequence one position at a time into a state, a matrix of d rows and d_v columns.

    .. math::
        S' &= g_i S_{i-1} \\
        S_i &= S' + k_i v_i^\top \\
        \text{or}\quad S_i &= S' + \beta_i\, k_i (v_i - S'^\top k_i)^\top \\
        c_i &= S_i^\top q_i

    The second form of :math:`S_i` is for rates. Without gates and rates this is linear attention before the
    division by the sum of the weights. If the values have a column of ones, the same column of the contexts is this
    sum.

    Args:
        queries: their features, if there are any; the same for ``keys``.
        state: what was read before; zeros if None. It is not modified.
        gates: which part of the state stays at each position, from 0 to 1; None keeps all.
        rates: the delta rule: how far the value that the state has for a key moves to the new value. With the rate 1
            and a key of length 1 the new value replaces it. None adds the new value.

    Returns:
        The contexts, and the state after the last position. The state is a sum: for narrower types it is in float32.

    Raises:
        ValueError: whole numbers, axes that do not fit, or another number of queries, gates or rates than of keys.

    >>> k, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[2.0], [5.0]])
    >>> recurrent_attention(k, k, v)[0], recurrent_attention(k, k, v, rates=torch.ones(2))[0]
    (tensor([[2.],
            [7.]]), tensor([[2.],
            [5.]]))

    Source: Katharopoulos et al. (2020), section 3.4; for the delta rule Schlag et al. (2021), section 4.2; for gate and
    rule together Yang, Kautz and Hatamizadeh (2024). Explained in chapters/linear_attention.
    """
    _check_pairs(queries, keys, values)
    batch, n = keys.shape[:-2], keys.shape[-2]
    for name, numbers in (("gates", gates), ("rates", rates)):
        if numbers is not None and numbers.shape[-1:] != (n,):
            raise ValueError(f"{name} must have one number for each of {n} keys, got {tuple(numbers.shape)}")
    if state is None:
        state = widened(values).new_zeros((*batch, keys.shape[-1], values.shape[-1]))
    elif state.shape[-2:] != (keys.shape[-1], values.shape[-1]):
        expected = (keys.shape[-1], values.shape[-1])
        raise ValueError(f"state must have the last axes {expected}, got shape {tuple(state.shape)}")
    contexts = [values[..., :0, :]]  # for a sequence without positions
    state = widened(state)
    for i in range(n):
        key, value = widened(keys[..., i, :, None]), widened(values[..., i, None, :])
        if gates is not None:
            state = gates[..., i, None, None] * state
        if rates is not None:
            value = rates[..., i, None, None] * (value - key.mT @ state)
        state = state + key * value
        contexts.append((widened(queries[..., i, None, :]) @ state).to(values.dtype))
    return torch.cat(contexts, dim=-2), state


def _check_sequence(queries: Tensor, keys: Tensor, values: Tensor) -> None:
    check_axes(queries=queries, keys=keys)
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            f"queries and keys must have the same width, got {queries.shape[-1]} and {keys.shape[-1]}"
        )
    check_same_length(keys.shape[-2], values)


def _check_pairs(queries: Tensor, keys: Tensor, values: Tensor) -> None:
    _check_sequence(queries, keys, values)
    if queries.shape[-2] != keys.shape[-2]:
        raise ValueError(
            f"there must be a query for each key, got {queries.shape[-2]} queries and {keys.shape[-2]} keys"
        )
