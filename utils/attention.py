"""Attention: masks, scoring functions and the three attention layers of the course.

A layer is a score and a way to normalise scores; :class:`Attention` is what all layers share. Everything here works
on tensors only; recurrent networks, text and figures are in other modules. The checks of arguments are in ``checks``,
the only other file that this one needs.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Float, Integer
from torch import Tensor, nn

from utils.checks import (
    check_axes,
    check_count,
    check_floats,
    check_lengths,
    check_mask,
    check_number,
    check_positive,
    check_same_length,
    check_width,
)

__all__ = [
    "AdditiveAttention",
    "Attention",
    "CosineAttention",
    "DotProductAttention",
    "Normalise",
    "additive_scores",
    "cosine_scores",
    "dot_scores",
    "length_mask",
    "masked_softmax",
    "scaled_dot_scores",
    "weighted_sum",
]

#: A function of scores and a mask that makes weights, as :func:`masked_softmax`.
Normalise = Callable[[Tensor, Tensor | None], Tensor]


def length_mask(
    valid_lens: Integer[Tensor, " batch"] | Integer[Tensor, "batch queries"], num_keys: int
) -> Bool[Tensor, "batch #queries keys"]:
    """Boolean mask, True where a key may be attended to: key j is valid when j < valid_lens.

    Args:
        valid_lens: number of valid keys, one per sequence ``(batch,)`` or one per query ``(batch, queries)``.
        num_keys: length of the padded key axis.

    Returns:
        A mask whose query axis is 1 for one-dimensional lengths, so that it broadcasts over queries. Scores of several
        heads, ``(batch, heads, queries, keys)``, need one more axis: ``length_mask(valid_lens, num_keys)[:, None]``.

    Raises:
        ValueError: lengths that are not a tensor of integers, negative, larger than ``num_keys``, or not 1-D or 2-D; or
            a number of keys that cannot be. While ``torch.compile`` or ``torch.export`` reads a program, it does not
            know the lengths, so no length is refused in what it makes of the program.

    >>> length_mask(torch.tensor([1, 3]), 3).int()
    tensor([[[1, 0, 0]],
    <BLANKLINE>
            [[1, 1, 1]]], dtype=torch.int32)

    Explained in chapters/masked_softmax.
    """
    check_count(0, num_keys=num_keys)
    check_lengths(0, num_keys, valid_lens=valid_lens)
    if valid_lens.dim() not in (1, 2):
        raise ValueError(
            f"valid_lens must have shape (batch,) or (batch, queries), got {tuple(valid_lens.shape)}"
        )
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None]
    return torch.arange(num_keys, device=valid_lens.device) < valid_lens[..., None]


def widened(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The same numbers, in float32 if their type is narrower: for sums of many terms, and for numbers of places.

    float16 has no number above 65,504, and from 2,048 on it skips whole numbers.

    :meta private:

    >>> (widened(torch.tensor([2048.0], dtype=torch.float16)) + 1).item()
    2049.0
    """
    return x.to(torch.promote_types(x.dtype, torch.float32))


def power_below(vectors: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch 1"]:
    """The power of two at or just below the largest component of each vector, without a gradient.

    A vector that is divided by it keeps all its digits, and its squares are neither too large nor too small. For a
    vector of zeros, or with infinity or NaN, it is some finite number.

    :meta private:

    >>> power_below(torch.tensor([[3.0, -5.0], [0.25, 0.0]]))
    tensor([[4.0000],
            [0.2500]])
    """
    largest = vectors.detach().abs().amax(dim=-1, keepdim=True)
    return torch.ldexp(torch.ones_like(largest), torch.frexp(largest).exponent - 1)


def masked_softmax(
    scores: Float[Tensor, "*batch queries keys"], mask: Bool[Tensor, "..."] | None = None
) -> Float[Tensor, "*batch queries keys"]:
    r"""Softmax over the keys that the mask allows; every other weight is exactly 0.

    .. math:: \alpha_{ij} = \frac{m_{ij} \exp(e_{ij})}{\sum_{l} m_{il} \exp(e_{il})}

    A row without any valid key has no distribution: its weights are all 0 and so is its gradient, as in
    PyTorch's fused function. Masked scores are replaced by minus infinity and not by a large negative number, so
    scores of any magnitude keep their order and every floating-point type works. A masked score is never read: it
    may be infinite or NaN. Allowed scores behave as in ``torch.softmax``: -inf among finite ones gets the weight 0,
    while +inf or NaN turns its row into NaN.

    A weight of 0 removes only a finite value. A NaN or infinite *value* at a masked position still reaches
    the context, since 0·NaN is NaN; the same happens in PyTorch's fused function. Pad with finite numbers.

    Args:
        scores: unnormalised, any floating-point dtype; not modified.
        mask: True where a query may attend to a key; broadcasts against ``scores``. None allows all. A mask for each
            sentence has as many axes as the scores: for ``(batch, heads, queries, keys)`` write ``mask[:, None]``.

    Returns:
        Weights of the dtype of ``scores``; each row sums to 1, or to 0 where no key is valid.

    Raises:
        ValueError: scores that are not floating-point numbers, or a mask that is not boolean, does not broadcast to the
            shape of ``scores``, or has an axis for sentences that would meet the axis of the heads.

    >>> masked_softmax(torch.zeros(1, 1, 4), torch.tensor([True, True, False, False]))
    tensor([[[0.5000, 0.5000, 0.0000, 0.0000]]])

    Source: the masked softmax of Vaswani et al. (2017), section 3.2.3, with its empty row defined.
    Explained in chapters/masked_softmax.
    """
    check_floats(scores=scores)
    if mask is None:
        return torch.softmax(scores, dim=-1)
    check_mask(mask, scores.shape)
    # An empty row goes into the softmax as zeros, and the last line sets its weights to 0. With -inf its softmax
    # would be 0/0 = NaN: the last line would hide it in the weights, but autograd's anomaly detection would raise.
    floor = torch.where(mask.any(dim=-1, keepdim=True), -math.inf, 0.0).to(scores.dtype)
    weights = torch.softmax(torch.where(mask, scores, floor), dim=-1)
    return torch.where(mask, weights, 0.0)


def dot_scores(
    queries: Float[Tensor, "*batch queries d"], keys: Float[Tensor, "*batch keys d"]
) -> Float[Tensor, "*batch queries keys"]:
    r"""Dot-product scores :math:`e_{ij} = q_i \cdot k_j`.

    Raises:
        ValueError: fewer than two axes, queries and keys of different widths, or leading axes that do not fit.

    >>> dot_scores(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[11.,  2.]])

    Source: Luong et al. (2015), section 3.1. Explained in chapters/dot_product_attention.
    """
    _check_dot_product(queries, keys)
    return queries @ keys.mT


def scaled_dot_scores(
    queries: Float[Tensor, "*batch queries d"], keys: Float[Tensor, "*batch keys d"]
) -> Float[Tensor, "*batch queries keys"]:
    r"""Scaled dot-product scores :math:`e_{ij} = q_i \cdot k_j / \sqrt{d}`.

    The division comes before the product, which keeps float16 scores of wide vectors finite.

    Raises:
        ValueError: fewer than two axes, queries and keys of different widths, or leading axes that do not fit.

    >>> scaled_dot_scores(torch.ones(1, 4), torch.ones(2, 4))
    tensor([[2., 2.]])

    Source: Vaswani et al. (2017), equation 1. Explained in chapters/dot_product_attention.
    """
    _check_dot_product(queries, keys)
    return queries / math.sqrt(queries.shape[-1]) @ keys.mT


def cosine_scores(
    queries: Float[Tensor, "*batch queries d"],
    keys: Float[Tensor, "*batch keys d"],
    *,
    scale: float | Float[Tensor, ""] = 1.0,
) -> Float[Tensor, "*batch queries keys"]:
    r"""Cosine scores :math:`e_{ij} = \beta\, q_i \cdot k_j / (\lVert q_i \rVert \lVert k_j \rVert)`.

    Args:
        scale: the inverse temperature β. Cosines lie in [-1, 1], so with β = 1 no weight can exceed another
            by more than a factor e².

    Raises:
        ValueError: fewer than two axes, queries and keys of different widths, or leading axes that do not fit.

    >>> cosine_scores(torch.tensor([[2.0, 0.0]]), torch.tensor([[5.0, 0.0], [0.0, 1.0]]))
    tensor([[1., 0.]])

    A vector of zeros has no direction; its cosine is 0. Source: Graves et al. (2014), equation 6.
    Explained in chapters/additive_attention and chapters/attention_variants.
    """
    check_axes(queries=queries, keys=keys)
    return scale * dot_scores(_unit(queries), _unit(keys))


def additive_scores(
    projected_queries: Float[Tensor, "*batch queries h"],
    projected_keys: Float[Tensor, "*batch keys h"],
    w_v: Float[Tensor, " h"],
) -> Float[Tensor, "*batch queries keys"]:
    r"""Additive scores :math:`e_{ij} = w_v^\top \tanh(W_q q_i + W_k k_j)` of projected queries and keys.

    The features, the values of tanh, are ``batch * queries * keys * h`` numbers.

    Raises:
        ValueError: fewer than two axes, widths that differ, or leading axes that do not fit.

    >>> additive_scores(torch.zeros(1, 3), torch.zeros(2, 3), torch.ones(3))
    tensor([[0., 0.]])

    Source: Bahdanau et al. (2015), appendix A.1.2. Explained in chapters/additive_attention.
    """
    check_width(len(w_v), projected_queries=projected_queries, projected_keys=projected_keys)
    _leading_axes(queries=projected_queries, keys=projected_keys)
    features = torch.tanh(projected_queries[..., :, None, :] + projected_keys[..., None, :, :])
    return features @ w_v


class Attention(nn.Module):
    """The part that all attention layers share: scores, weights, and the weighted average of the values.

    A subclass defines :meth:`scores`, and :meth:`project_keys` if a part of the score does not depend on the query.
    A decoder that attends to the same keys at every step projects them once with :meth:`project_keys` and passes the
    result as ``projected_keys``.

    Args:
        dropout: probability of dropping a weight in training mode.
        normalise: turns scores and mask into weights.

    Raises:
        ValueError: a dropout that is not from 0 to 1.

    Explained in chapters/attention_variants.
    """

    def __init__(self, *, dropout: float = 0.0, normalise: Normalise = masked_softmax):
        super().__init__()
        check_number(0, 1, dropout=dropout)
        self.dropout = nn.Dropout(dropout)
        self.normalise = normalise

    def project_keys(self, keys: Float[Tensor, "*batch keys d_k"]) -> Float[Tensor, "*batch keys d"]:
        """The part of the score that does not depend on the query: here the keys themselves."""
        return keys

    def scores(
        self, queries: Float[Tensor, "*batch queries d_q"], projected_keys: Float[Tensor, "*batch keys d"]
    ) -> Float[Tensor, "*batch queries keys"]:
        """The score of each query and key; the keys come from :meth:`project_keys`."""
        raise NotImplementedError(f"{type(self).__name__} must define scores")

    def weigh(
        self,
        queries: Float[Tensor, "*batch queries d_q"],
        projected_keys: Float[Tensor, "*batch keys d"],
        mask: Bool[Tensor, "..."] | None,
    ) -> Float[Tensor, "*batch queries keys"]:
        """The weights of each query."""
        return self.normalise(self.scores(queries, projected_keys), mask)

    def forward(
        self,
        queries: Float[Tensor, "*batch queries d_q"],
        keys: Float[Tensor, "*batch keys d_k"] | None,
        values: Float[Tensor, "*batch keys d_v"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        projected_keys: Float[Tensor, "*batch keys d"] | None = None,
    ) -> tuple[Float[Tensor, "*batch queries d_v"], Float[Tensor, "*batch queries keys"]]:
        """Compute the context and the weights.

        Args:
            keys: projected here; None when ``projected_keys`` is given.
            mask: True where a query may attend to a key; broadcasts to the scores.
            projected_keys: the result of :meth:`project_keys`, reused.

        Returns:
            The context, and the weights before dropout.

        Raises:
            ValueError: both or neither of ``keys`` and ``projected_keys``, axes that do not fit, or a mask that is
                not boolean.
        """
        projected_keys = self._projected(keys, projected_keys)
        weights = self.weigh(queries, projected_keys, mask)
        return weighted_sum(self.dropout(weights), values), weights

    def _projected(self, keys: Tensor | None, projected_keys: Tensor | None) -> Tensor:
        if projected_keys is not None and keys is None:
            return projected_keys
        if projected_keys is not None or keys is None:
            raise ValueError("give exactly one of keys and projected_keys")
        return self.project_keys(keys)


class DotProductAttention(Attention):
    r"""Scaled dot-product attention: :math:`\operatorname{softmax}(QK^\top / \sqrt{d})\,V`.

    Arguments as for :class:`Attention`.

    Source: Vaswani et al. (2017), section 3.2.1. Explained in chapters/dot_product_attention.
    """

    def scores(
        self, queries: Float[Tensor, "*batch queries d"], projected_keys: Float[Tensor, "*batch keys d"]
    ) -> Float[Tensor, "*batch queries keys"]:
        """See :func:`scaled_dot_scores`."""
        return scaled_dot_scores(queries, projected_keys)

    def forward(
        self,
        queries: Float[Tensor, "*batch queries d"],
        keys: Float[Tensor, "*batch keys d"] | None,
        values: Float[Tensor, "*batch keys d_v"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        projected_keys: Float[Tensor, "*batch keys d"] | None = None,
        need_weights: bool = True,
    ) -> tuple[Float[Tensor, "*batch queries d_v"], Float[Tensor, "*batch queries keys"] | None]:
        """As :meth:`Attention.forward`, or without the weights.

        Args:
            need_weights: if False, use PyTorch's fused function and return None in place of the weights.

        Raises:
            ValueError: as for :meth:`Attention.forward`, or ``need_weights=False`` in a layer whose ``normalise`` is
                not :func:`masked_softmax`, the only one that the fused function knows.
        """
        if need_weights:
            return super().forward(queries, keys, values, mask, projected_keys=projected_keys)
        if self.normalise is not masked_softmax:
            raise ValueError(
                "need_weights=False needs normalise=masked_softmax: the fused function has no other"
            )
        keys = self._projected(keys, projected_keys)
        return _fused_attention(queries, keys, values, mask, self.dropout.p if self.training else 0.0), None


class CosineAttention(Attention):
    r"""Attention whose score is the cosine of query and key times a learned scale.

    Args:
        scale: initial value of the scale β, the inverse temperature of the softmax. The parameter that is
            trained is its logarithm, so the scale stays positive.
        options: as for :class:`Attention`.

    Raises:
        ValueError: a scale that is not positive and finite.

    Source: Graves et al. (2014), section 3.3.1.
    Explained in chapters/additive_attention and chapters/attention_variants.
    """

    def __init__(self, *, scale: float = 10.0, **options: Any):
        super().__init__(**options)
        check_positive(scale=scale)
        self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))

    def scores(
        self, queries: Float[Tensor, "*batch queries d"], projected_keys: Float[Tensor, "*batch keys d"]
    ) -> Float[Tensor, "*batch queries keys"]:
        """See :func:`cosine_scores`."""
        check_axes(queries=queries)
        return cosine_scores(queries, projected_keys, scale=self.log_scale.exp().to(queries.dtype))


class AdditiveAttention(Attention):
    r"""Additive attention: the score is a one-layer network, :math:`w_v^\top \tanh(W_q q + W_k k)`.

    Queries and keys may have different widths.

    Args:
        d_query: width of the queries.
        d_key: width of the keys.
        d_hidden: width d_h of the hidden layer.
        options: as for :class:`Attention`.

    Raises:
        ValueError: a width below 1.

    Source: Bahdanau et al. (2015), appendix A.1.2. Explained in chapters/additive_attention.
    """

    def __init__(self, d_query: int, d_key: int, d_hidden: int, **options: Any):
        super().__init__(**options)
        check_count(1, d_query=d_query, d_key=d_key, d_hidden=d_hidden)
        self.w_q = nn.Linear(d_query, d_hidden, bias=False)
        self.w_k = nn.Linear(d_key, d_hidden, bias=False)
        self.w_v = nn.Linear(d_hidden, 1, bias=False)

    def project_keys(self, keys: Float[Tensor, "*batch keys d_k"]) -> Float[Tensor, "*batch keys h"]:
        """Project the keys: W_k k, the part of the hidden layer that does not depend on the query."""
        check_width(self.w_k.in_features, keys=keys)
        return self.w_k(keys)

    def scores(
        self, queries: Float[Tensor, "*batch queries d_q"], projected_keys: Float[Tensor, "*batch keys h"]
    ) -> Float[Tensor, "*batch queries keys"]:
        """See :func:`additive_scores`."""
        check_width(self.w_q.in_features, queries=queries)
        return additive_scores(self.w_q(queries), projected_keys, self.w_v.weight.squeeze(0))


def weighted_sum(
    weights: Float[Tensor, "*batch queries keys"], values: Float[Tensor, "*batch keys d_v"]
) -> Float[Tensor, "*batch queries d_v"]:
    r"""The context of each query, :math:`c_i = \sum_j \alpha_{ij} v_j`.

    Raises:
        ValueError: fewer than two axes, another number of values than of keys, or leading axes that do not fit.

    >>> weighted_sum(torch.tensor([[0.5, 0.5]]), torch.tensor([[2.0], [4.0]]))
    tensor([[3.]])

    Explained in chapters/dot_product_attention.
    """
    check_axes(weights=weights)
    check_same_length(weights.shape[-1], values)
    _leading_axes(weights=weights, values=values)
    return weights @ values


def _unit(vectors: Tensor) -> Tensor:
    # Divided by that power, each vector but one of zeros has at least the length 1.
    return nn.functional.normalize(vectors / power_below(vectors), dim=-1, eps=1.0)


def _fused_attention(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float
) -> Tensor:
    _check_dot_product(queries, keys)
    check_same_length(keys.shape[-2], values)
    leading = _leading_axes(queries=queries, keys=keys, values=values)
    if mask is not None:
        check_mask(mask, (*leading, queries.shape[-2], keys.shape[-2]))
    # PyTorch's fused function takes only (batch, heads, length, width). With fewer axes torch computes the formula
    # step by step without a warning, in three times the time and with all weights in memory.
    rank = max(4, len(leading) + 2)
    q, k, v = (_add_leading_axes(tensor.expand(*leading, -1, -1), rank) for tensor in (queries, keys, values))
    if mask is not None:
        mask = _add_leading_axes(mask, rank)
    context = nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout)
    return context.reshape(*leading, *context.shape[-2:])


def _add_leading_axes(tensor: Tensor, rank: int) -> Tensor:
    """Add axes of size 1 in front until the tensor has ``rank`` axes."""
    return tensor[(None,) * (rank - tensor.dim())]


def _check_dot_product(queries: Tensor, keys: Tensor) -> None:
    check_axes(queries=queries, keys=keys)
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            "queries and keys must have the same width for a dot product, "
            f"got {queries.shape[-1]} and {keys.shape[-1]}; AdditiveAttention takes different widths"
        )
    _leading_axes(queries=queries, keys=keys)


def _leading_axes(**tensors: Tensor) -> tuple[int, ...]:
    """The axes before the last two, broadcast against each other."""
    leading = {name: tuple(tensor.shape[:-2]) for name, tensor in tensors.items()}
    if len(set(leading.values())) == 1:  # torch.broadcast_shapes takes long
        return next(iter(leading.values()))
    try:
        return tuple(torch.broadcast_shapes(*leading.values()))
    except RuntimeError as error:
        raise ValueError(f"the leading (batch) axes do not fit together: {leading}") from error
