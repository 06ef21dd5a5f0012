r"""Variants of attention: other scores, sparse weights, and decoders made of them.

The decoders here let you choose the score and the query, or copy words of the source. Masks and the three layers of the
course are in ``attention``, the recurrence is in ``seq2seq``.
Explained in chapters/attention_variants.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from utils.attention import (
    AdditiveAttention,
    Attention,
    CosineAttention,
    DotProductAttention,
    additive_scores,
    dot_scores,
    length_mask,
    widened,
)
from utils.checks import check_axes, check_count, check_floats, check_mask, check_width
from utils.seq2seq import Memory, RecurrentDecoder, word_vectors

__all__ = [
    "SCORES",
    "AttentionDecoder",
    "ConcatAttention",
    "DotAttention",
    "FeedingState",
    "GeneralAttention",
    "LocationAttention",
    "PointerDecoder",
    "masked_sparsemax",
    "score_layer",
]


def masked_sparsemax(
    scores: Float[Tensor, "*batch queries keys"], mask: Bool[Tensor, "..."] | None = None
) -> Float[Tensor, "*batch queries keys"]:
    r"""Sparsemax: of all weights that are not negative and sum to 1, those nearest to the scores; many are exactly 0.

    .. math:: \alpha_{ij} = \max(e_{ij} - \tau_i, 0)

    where :math:`\tau_i` makes :math:`\sum_j \alpha_{ij} = 1`.

    Args:
        scores: unnormalised; not modified.
        mask: True where a query may attend to a key; broadcasts to the scores. None allows all.

    Returns:
        Weights; each row sums to 1, or to 0 where no key is allowed. An allowed score of minus infinity gets the
        weight 0. A row with an allowed score that is NaN or plus infinity, or whose allowed scores are all minus
        infinity, is NaN at its allowed keys.

    Raises:
        ValueError: as for :func:`utils.attention.masked_softmax`.

    >>> masked_sparsemax(torch.tensor([[1.0, 0.5, -1.0]]))
    tensor([[0.7500, 0.2500, 0.0000]])

    Source: Martins and Astudillo (2016), algorithm 1. Explained in chapters/attention_variants.
    """
    check_floats(scores=scores)
    if not scores.shape[-1]:
        return scores.clone()
    allowed = _allowed(scores, mask)
    # A score that lies 1 or more below the largest gets no weight, so -2 hides a word.
    best = torch.where(allowed, scores, -torch.inf).amax(dim=-1, keepdim=True)
    z = widened(torch.where(allowed, scores - best, -2.0))
    ordered = z.sort(dim=-1, descending=True).values
    surplus = ordered.cumsum(dim=-1) - 1
    ranks = torch.arange(1, z.shape[-1] + 1, device=z.device)
    # The number of keys with weight; without the clamp it would be 0 for scores that are NaN.
    size = (ranks * ordered > surplus).sum(dim=-1, keepdim=True).clamp(min=1)
    threshold = surplus.gather(-1, size - 1) / size
    return torch.where(allowed, (z - threshold).clamp(min=0), 0.0).to(scores.dtype)


def _allowed(scores: Tensor, mask: Tensor | None) -> Tensor:
    """The mask in the shape of the scores."""
    if mask is None:
        return torch.ones_like(scores, dtype=torch.bool)
    check_mask(mask, scores.shape)
    return mask.expand_as(scores)


class DotAttention(Attention):
    r"""The plain dot product :math:`q \cdot k`, without parameters and without a scale; equal widths only.

    Source: Luong et al. (2015), section 3.1, *dot*. Explained in chapters/attention_variants.
    """

    def scores(
        self, queries: Float[Tensor, "*batch queries d"], projected_keys: Float[Tensor, "*batch keys d"]
    ) -> Float[Tensor, "*batch queries keys"]:
        """See :class:`utils.attention.Attention`."""
        return dot_scores(queries, projected_keys)


class GeneralAttention(Attention):
    r"""The dot product after a learned matrix: :math:`q^\top W k`.

    Args:
        d_query: width of the queries.
        d_key: width of the keys.
        options: as for :class:`utils.attention.Attention`.

    Source: Luong et al. (2015), section 3.1, *general*. Explained in chapters/attention_variants.
    """

    def __init__(self, d_query: int, d_key: int, **options: Any):
        super().__init__(**options)
        check_count(1, d_query=d_query, d_key=d_key)
        self.w = nn.Linear(d_key, d_query, bias=False)

    def project_keys(self, keys: Float[Tensor, "*batch keys d_k"]) -> Float[Tensor, "*batch keys d_q"]:
        """W k."""
        check_width(self.w.in_features, keys=keys)
        return self.w(keys)

    def scores(
        self, queries: Float[Tensor, "*batch queries d_q"], projected_keys: Float[Tensor, "*batch keys d_q"]
    ) -> Float[Tensor, "*batch queries keys"]:
        """See :class:`utils.attention.Attention`."""
        return dot_scores(queries, projected_keys)


class ConcatAttention(Attention):
    r"""A one-layer network on query and key together: :math:`v^\top \tanh(W [q; k])`.

    It is the additive score: the first columns of W are its :math:`W_q`, the others its :math:`W_k`.

    Args:
        d_query: width of the queries.
        d_key: width of the keys.
        d_hidden: width of the hidden layer.
        options: as for :class:`utils.attention.Attention`.

    Source: Luong et al. (2015), section 3.1, *concat*. Explained in chapters/attention_variants.
    """

    def __init__(self, d_query: int, d_key: int, d_hidden: int, **options: Any):
        super().__init__(**options)
        check_count(1, d_query=d_query, d_key=d_key, d_hidden=d_hidden)
        self.w = nn.Linear(d_query + d_key, d_hidden, bias=False)
        self.v = nn.Linear(d_hidden, 1, bias=False)
        self.d_query = d_query

    def project_keys(self, keys: Float[Tensor, "*batch keys d_k"]) -> Float[Tensor, "*batch keys h"]:
        """The columns of W that belong to the key, times the key."""
        check_width(self.w.in_features - self.d_query, keys=keys)
        return nn.functional.linear(keys, self.w.weight[:, self.d_query :])

    def scores(
        self, queries: Float[Tensor, "*batch queries d_q"], projected_keys: Float[Tensor, "*batch keys h"]
    ) -> Float[Tensor, "*batch queries keys"]:
        """See :class:`utils.attention.Attention`."""
        check_width(self.d_query, queries=queries)
        projected_queries = nn.functional.linear(queries, self.w.weight[:, : self.d_query])
        return additive_scores(projected_queries, projected_keys, self.v.weight.squeeze(0))


class LocationAttention(Attention):
    r"""A score that depends on the query alone: :math:`W q`, a number for each place of the source.

    Args:
        d_query: width of the queries.
        max_len: number of places that have a row in W. A longer source has no score, and is refused.
        options: as for :class:`utils.attention.Attention`.

    Source: Luong et al. (2015), section 3.1, *location*. Explained in chapters/attention_variants.
    """

    def __init__(self, d_query: int, max_len: int, **options: Any):
        super().__init__(**options)
        check_count(1, d_query=d_query, max_len=max_len)
        self.w = nn.Linear(d_query, max_len, bias=False)

    def project_keys(self, keys: Float[Tensor, "*batch keys d_k"]) -> Float[Tensor, "*batch keys d_k"]:
        """The keys as they are: only their number matters.

        Raises:
            ValueError: more keys than ``max_len``.
        """
        check_axes(keys=keys)
        if keys.shape[-2] > self.w.out_features:
            raise ValueError(
                f"the location score has rows for max_len = {self.w.out_features} places, got {keys.shape[-2]} keys"
            )
        return keys

    def scores(
        self, queries: Float[Tensor, "*batch queries d_q"], projected_keys: Float[Tensor, "*batch keys d_k"]
    ) -> Float[Tensor, "*batch queries keys"]:
        """See :class:`utils.attention.Attention`."""
        check_width(self.w.in_features, queries=queries)
        return nn.functional.linear(queries, self.w.weight[: projected_keys.shape[-2]])


#: The scores that :class:`AttentionDecoder` knows by name.
SCORES = ("additive", "dot", "scaled dot", "general", "concat", "location", "cosine")


def score_layer(
    score: str, d_query: int, d_key: int, *, d_hidden: int | None = None, max_len: int | None = None
) -> Attention:
    """The attention layer with this score.

    Args:
        score: one of :data:`SCORES`.
        d_query: width of the queries.
        d_key: width of the keys; *dot*, *scaled dot* and *cosine* need that of the queries.
        d_hidden: hidden width of *additive* and *concat*; ``d_query`` if None.
        max_len: largest number of keys of *location*.

    Raises:
        ValueError: another score, widths below 1 or that differ where they must not, or no ``max_len`` for *location*.
    """
    check_count(1, d_query=d_query, d_key=d_key, d_hidden=d_hidden, max_len=max_len)
    d_hidden = d_query if d_hidden is None else d_hidden
    if score not in SCORES:
        raise ValueError(f"score must be one of {', '.join(SCORES)}, got {score!r}")
    if score in ("dot", "scaled dot", "cosine") and d_query != d_key:
        raise ValueError(f"score {score!r} needs queries and keys of one width, got {d_query} and {d_key}")
    if score == "location":
        if max_len is None:
            raise ValueError("score 'location' needs max_len, the largest number of source words")
        return LocationAttention(d_query, max_len)
    if score in ("additive", "concat"):
        layer = AdditiveAttention if score == "additive" else ConcatAttention
        return layer(d_query, d_key, d_hidden)
    if score == "general":
        return GeneralAttention(d_query, d_key)
    return {"dot": DotAttention, "scaled dot": DotProductAttention, "cosine": CosineAttention}[score]()


class FeedingState(NamedTuple):
    """The state of a decoder with input feeding: the states of its layers, and the context of the step before."""

    layers: Float[Tensor, "layers batch h"]
    context: Float[Tensor, "1 batch d_enc"]


class AttentionDecoder(RecurrentDecoder):
    r"""A decoder whose score can be chosen, and whether it asks before or after its step.

    With ``query="before"`` step i asks with :math:`s_{i-1}`, as in Bahdanau et al.: the context :math:`c_i` is read by
    the unit that makes :math:`s_i`. With ``"additive"`` this is :class:`utils.seq2seq.BahdanauDecoder`.

    With ``query="after"`` it asks with :math:`s_i`, as in Luong et al.: the unit makes :math:`s_i` from the word alone,
    and only the readout reads :math:`c_i`. Then all steps of training are asked at once. With ``input_feeding`` the
    unit also reads the context of the step before, :math:`c_{i-1}`. (Luong et al. feed
    :math:`\tanh(W_c [c_{i-1}; s_{i-1}])`, of which the unit knows :math:`s_{i-1}` already. Our readout is the same in
    both cases, the one of Bahdanau et al.)

    Args:
        vocab_size: number of target tokens.
        d_embed: width of the embedding of y.
        d_hidden: width of the state s, the query.
        d_enc: width of the encoder's outputs h_j, the keys and values.
        score: one of :data:`SCORES`, or a layer with the methods of :class:`utils.attention.Attention`.
        query: ``"before"`` or ``"after"``.
        input_feeding: with ``"after"``, let the unit read the context of the step before.
        d_attention: hidden width of *additive* and *concat*; ``d_hidden`` if None.
        max_len: largest number of source words of *location*; a longer source raises ValueError.
        options: ``d_enc_state``, ``num_layers``, ``dropout`` and ``cell`` of :class:`utils.seq2seq.BahdanauDecoder`.

    Raises:
        ValueError: parts that do not fit together, as for :func:`score_layer`.

    Source: Luong et al. (2015), sections 3.1 and 3.3. Explained in chapters/attention_variants.
    """

    def __init__(
        self,
        vocab_size: int,
        d_embed: int,
        d_hidden: int,
        d_enc: int,
        *,
        score: str | nn.Module = "additive",
        query: str = "before",
        input_feeding: bool = False,
        d_attention: int | None = None,
        max_len: int | None = None,
        **options: Any,
    ):
        if query not in ("before", "after"):
            raise ValueError(f"query must be 'before' or 'after', got {query!r}")
        if input_feeding and query == "before":
            raise ValueError(
                "input_feeding needs query='after': with 'before' the unit reads the context anyway"
            )
        reads_context = query == "before" or input_feeding
        if not reads_context and options.get("cell") == "gated":
            raise ValueError("cell 'gated' reads a context: use query='before' or input_feeding=True")
        super().__init__(
            vocab_size, d_embed, d_hidden, d_enc, d_read=d_enc if reads_context else 0, **options
        )
        if isinstance(score, str):
            score = score_layer(score, d_hidden, d_enc, d_hidden=d_attention, max_len=max_len)
        self.attention = score
        self.query, self.input_feeding = query, input_feeding

    def start(
        self,
        enc_outputs: Float[Tensor, "batch n d_enc"],
        enc_state: Float[Tensor, "layers batch directions h"],
        src_lens: Int[Tensor, " batch"],
    ) -> tuple[Memory, Float[Tensor, "layers batch d"] | FeedingState]:
        """The memory, with the keys projected once, and s_0; with input feeding c_0 = 0."""
        mask = length_mask(src_lens, enc_outputs.shape[1])
        memory = Memory(enc_outputs, self.attention.project_keys(enc_outputs), mask)
        state = self.first_state(enc_state)
        return memory, FeedingState(
            state, torch.zeros_like(enc_outputs[None, :, 0])
        ) if self.input_feeding else state

    def attend(
        self, query: Float[Tensor, "batch h"], memory: Memory
    ) -> tuple[Float[Tensor, "batch d_enc"], Float[Tensor, "batch n"]]:
        """The context and the weights of one step."""
        context, weights = self._ask(query[:, None], memory)
        return context.squeeze(1), weights.squeeze(1)

    def features(
        self,
        tgt_in: Int[Tensor, "batch t"],
        memory: Memory,
        state: Float[Tensor, "layers batch h"] | FeedingState,
    ) -> tuple[
        Float[Tensor, "batch t d_features"],
        Float[Tensor, "layers batch h"] | FeedingState,
        Float[Tensor, "batch t n"],
    ]:
        """``[s_i; y_{i-1}; c_i]`` at each step, the last state, and the weights."""
        if self.query == "before":
            return super().features(tgt_in, memory, state)
        embedded = self.dropout(word_vectors(self.embedding, tgt_in=tgt_in))
        steps = self._fed_steps if self.input_feeding else self._plain_steps
        states, contexts, weights, state = steps(embedded, memory, state)
        return torch.cat([states, embedded, contexts], dim=-1), state, weights

    def _ask(self, queries: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        return self.attention(queries, None, memory.values, memory.mask, projected_keys=memory.projected_keys)

    def _plain_steps(self, embedded: Tensor, memory: Memory, state: Tensor) -> tuple[Tensor, ...]:
        """No step needs the context of another, so all queries are asked at once."""
        no_context, states = embedded.new_zeros(len(embedded), 0), []
        for y in embedded.unbind(1):
            state = self.advance(y, no_context, state)
            states.append(state[-1])
        queries = torch.stack(states, 1)
        return queries, *self._ask(queries, memory), state

    def _fed_steps(
        self, embedded: Tensor, memory: Memory, state: FeedingState
    ) -> tuple[Tensor | FeedingState, ...]:
        steps = []
        layers, context = state.layers, state.context.squeeze(0)
        for y in embedded.unbind(1):
            layers = self.advance(y, context, layers)
            context, weights = self.attend(layers[-1], memory)
            steps.append((layers[-1], context, weights))
        return *(torch.stack(parts, 1) for parts in zip(*steps, strict=True)), FeedingState(
            layers, context[None]
        )


class PointerDecoder(AttentionDecoder):
    r"""A decoder that writes a word of its vocabulary or points at a word of the source.

    The tokens 0 to V - 1 are the vocabulary, and V + j points at source word j:

    .. math::
        g &= \sigma(w_g^\top [s_i; y_{i-1}; c_i] + b) \\
        p(w) &= g\, p_{\text{vocabulary}}(w) \\
        p(V + j) &= (1 - g)\, \alpha_{ij}

    It reads a pointer as the unknown word. Train it without label smoothing, which would give some probability to
    pointers at padding. Arguments as for :class:`AttentionDecoder`, and ``unknown``, the id of the unknown word.

    Source: See et al. (2017), equations 8 and 9, where the two probabilities of a word that is in the vocabulary and in
    the source are added; here source and target are two languages. Explained in chapters/attention_variants.
    """

    def __init__(
        self, vocab_size: int, d_embed: int, d_hidden: int, d_enc: int, *, unknown: int, **options: Any
    ):
        super().__init__(vocab_size, d_embed, d_hidden, d_enc, **options)
        check_count(0, vocab_size - 1, unknown=unknown)
        self.gate = nn.Linear(d_hidden + d_embed + d_enc, 1)
        self.unknown = unknown

    def forward(
        self,
        tgt_in: Int[Tensor, "batch t"],
        memory: Memory,
        state: Float[Tensor, "layers batch h"] | FeedingState,
    ) -> tuple[
        Float[Tensor, "batch t words"],
        Float[Tensor, "layers batch h"] | FeedingState,
        Float[Tensor, "batch t n"],
    ]:
        """Log-probabilities of the V words and the n pointers; otherwise as :class:`AttentionDecoder`."""
        vocabulary_ids = torch.where(tgt_in < self.output.out_features, tgt_in, self.unknown)
        features, state, weights = self.features(vocabulary_ids, memory, state)
        words = self.output(self.read_out(features)).log_softmax(dim=-1)
        gate = self.gate(features)
        pointers = weights.clamp(min=torch.finfo(weights.dtype).tiny).log()
        log_p = [words + nn.functional.logsigmoid(gate), pointers + nn.functional.logsigmoid(-gate)]
        return torch.cat(log_p, dim=-1), state, weights
