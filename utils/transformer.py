r"""The Transformer: attention with several heads, its layers, and an encoder and a decoder for the translator.

The masks are those of ``attention``: True where a query may attend to a key. The encoder and the decoder fit into
:class:`utils.seq2seq.EncoderDecoder`, so training, search and alignment are those of the recurrent translator.
Explained in chapters/transformer.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from utils.attention import DotProductAttention, length_mask
from utils.checks import check_batch, check_count, check_heads, check_mask, check_number, check_width
from utils.seq2seq import word_vectors

__all__ = [
    "DecoderLayer",
    "EncoderLayer",
    "FeedForward",
    "MultiHeadAttention",
    "Past",
    "Residual",
    "SourceMemory",
    "TransformerDecoder",
    "TransformerEncoder",
    "causal_mask",
    "head_name",
    "sinusoids",
]


def causal_mask(
    num_queries: int, num_keys: int | None = None, *, device=None
) -> Bool[Tensor, "queries keys"]:
    """Boolean mask that hides later keys: the last query may attend to all keys, the query before it to one fewer.

    Args:
        num_queries: number of queries, which stand at the last positions of the sequence.
        num_keys: length of the sequence; ``num_queries`` if None.

    Raises:
        ValueError: more queries than keys, or a negative number.

    >>> causal_mask(3).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)

    Source: Vaswani et al. (2017), section 3.2.3. Explained in chapters/transformer.
    """
    num_keys = num_queries if num_keys is None else num_keys
    check_count(0, num_queries=num_queries, num_keys=num_keys)
    if num_queries > num_keys:
        raise ValueError(f"there must be a key for each query, got {num_queries} queries and {num_keys} keys")
    queries = torch.arange(num_keys - num_queries, num_keys, device=device)
    return torch.arange(num_keys, device=device) <= queries[:, None]


def sinusoids(num_positions: int, d_model: int, *, start: int = 0) -> Float[Tensor, "positions d_model"]:
    r"""Positions as vectors: sines and cosines of d/2 frequencies.

    .. math::
        p_{t,2i} &= \sin(t / 10000^{2i/d}) \\
        p_{t,2i+1} &= \cos(t / 10000^{2i/d})

    Args:
        num_positions: number of vectors.
        d_model: their width.
        start: the first position.

    Raises:
        ValueError: an odd width, a negative number of vectors or first position, or positions beyond 2^24, the last
            that float32 tells from the next.

    Source: Vaswani et al. (2017), section 3.5. Explained in chapters/transformer.
    """
    if d_model % 2:
        raise ValueError(f"d_model must be even, got {d_model}")
    check_count(1, d_model=d_model)
    check_count(0, num_positions=num_positions)
    check_count(0, 2**24 - num_positions, start=start)  # float32 does not tell later places apart
    # Places and angles are float32, whatever the default type is: float16 has no place 2049.
    rates = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float32) * (-math.log(10_000) / d_model))
    angles = torch.arange(start, start + num_positions, dtype=torch.float32)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class MultiHeadAttention(nn.Module):
    r"""Scaled dot-product attention with several heads, each with queries, keys and values of its own.

    .. math::
        \text{head}_i &= \text{attention}(W_q^i q, W_k^i k, W_v^i v) \\
        c &= W_o\,[\text{head}_1; \dots; \text{head}_h]

    The four layers also have biases, which the formula leaves out.

    Args:
        d_model: width of queries, keys, values and contexts.
        num_heads: number of heads; each has the width ``d_model / num_heads``.
        dropout: probability of dropping a weight in training mode.

    Raises:
        ValueError: a width that the heads cannot share evenly.

    Source: Vaswani et al. (2017), section 3.2.2. Explained in chapters/transformer.
    """

    def __init__(self, d_model: int, num_heads: int, *, dropout: float = 0.0):
        super().__init__()
        check_heads(d_model, num_heads)
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.attention = DotProductAttention(dropout=dropout)

    def project(
        self, keys: Float[Tensor, "*batch keys d_model"], values: Float[Tensor, "*batch keys d_model"]
    ) -> tuple[Float[Tensor, "*batch heads keys d"], Float[Tensor, "*batch heads keys d"]]:
        """The keys and the values of each head, which do not depend on the queries.

        Raises:
            ValueError: fewer than two axes, or another width than ``d_model``.
        """
        check_width(self.w_k.in_features, keys=keys, values=values)
        return self._split(self.w_k(keys)), self._split(self.w_v(values))

    def forward(
        self,
        queries: Float[Tensor, "*batch queries d_model"],
        projected_keys: Float[Tensor, "*batch heads keys d"],
        projected_values: Float[Tensor, "*batch heads keys d"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        need_weights: bool = True,
    ) -> tuple[Float[Tensor, "*batch queries d_model"], Float[Tensor, "*batch heads queries keys"] | None]:
        """Compute the context and the weights of each head.

        Args:
            projected_keys: from :meth:`project`, as are ``projected_values``.
            mask: True where a query may attend to a key. A mask that broadcasts to ``(batch, queries, keys)`` is
                shared by all heads; one with as many axes as ``(batch, heads, queries, keys)`` is for each head.
            need_weights: if False, use PyTorch's fused function and return None in place of the weights.

        Raises:
            ValueError: axes that do not fit, or a mask that is not boolean.
        """
        check_width(self.w_q.in_features, queries=queries)
        for name, tensor in (("projected_keys", projected_keys), ("projected_values", projected_values)):
            if tensor.dim() != queries.dim() + 1 or tensor.shape[-3] != self.num_heads:
                raise ValueError(
                    f"{name} must come from project, with an axis of {self.num_heads} heads before the last two, "
                    f"got shape {tuple(tensor.shape)} for queries of shape {tuple(queries.shape)}"
                )
        if mask is not None and mask.dim() <= queries.dim():  # all heads share it
            check_mask(mask, (*queries.shape[:-1], projected_keys.shape[-2]))
            mask = torch.atleast_2d(mask).unsqueeze(-3)
        heads, weights = self.attention(
            self._split(self.w_q(queries)), projected_keys, projected_values, mask, need_weights=need_weights
        )
        return self.w_o(heads.transpose(-3, -2).flatten(-2)), weights

    def _split(self, x: Float[Tensor, "*batch n d_model"]) -> Float[Tensor, "*batch heads n d"]:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(-3, -2)


class FeedForward(nn.Sequential):
    r"""The network of two layers that each position passes through alone: :math:`W_2 \max(0, W_1 x + b_1) + b_2`.

    Source: Vaswani et al. (2017), section 3.3. Explained in chapters/transformer.
    """

    def __init__(self, d_model: int, d_hidden: int, *, dropout: float = 0.0):
        check_count(1, d_model=d_model, d_hidden=d_hidden)
        check_number(0, 1, dropout=dropout)
        super().__init__(
            nn.Linear(d_model, d_hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_hidden, d_model)
        )


class Residual(nn.Module):
    """A residual connection: adds the output of a part of the network to its input, with a layer norm.

    Args:
        d_model: width of the sequence.
        dropout: probability of dropping a number of the output before it is added.
        norm_first: normalise what the part reads; otherwise normalise the sum, as Vaswani et al. do.

    Source: Vaswani et al. (2017), section 3.1; for ``norm_first`` Xiong et al. (2020). Explained in
    chapters/transformer.
    """

    def __init__(self, d_model: int, *, dropout: float = 0.0, norm_first: bool = True):
        super().__init__()
        check_count(1, d_model=d_model)
        check_number(0, 1, dropout=dropout)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def read(self, x: Float[Tensor, "*batch n d_model"]) -> Float[Tensor, "*batch n d_model"]:
        """The input of the part of the network."""
        return self.norm(x) if self.norm_first else x

    def add(
        self, x: Float[Tensor, "*batch n d_model"], change: Float[Tensor, "*batch n d_model"]
    ) -> Float[Tensor, "*batch n d_model"]:
        """The sum of the sequence and the output of the part."""
        total = x + self.dropout(change)
        return total if self.norm_first else self.norm(total)


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network: with a causal mask a layer of GPT, without a mask a layer of BERT.

    Args:
        d_model: width of the sequence.
        num_heads: of the self-attention.
        d_hidden: width of the hidden layer of the feed-forward network.
        dropout: probability of dropping a hidden unit, or a number of an output before it is added. As in the paper
            (section 5.4) no weight of attention is dropped, so training can use PyTorch's fused function.
        norm_first: as for :class:`Residual`.

    Source: Vaswani et al. (2017), section 3.1. Explained in chapters/transformer.
    """

    def __init__(
        self, d_model: int, num_heads: int, d_hidden: int, *, dropout: float = 0.0, norm_first: bool = True
    ):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_hidden, dropout=dropout)
        self.residuals = nn.ModuleList(
            Residual(d_model, dropout=dropout, norm_first=norm_first) for _ in range(2)
        )

    def forward(
        self,
        x: Float[Tensor, "*batch n d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "*batch n d_model"], Float[Tensor, "*batch heads n n"] | None]:
        """The next sequence, and the weights of each head or None.

        Args:
            mask: True where a position may attend to another; broadcasts to ``(batch, n, n)``, or is for each head as
                in :class:`MultiHeadAttention`.

        Raises:
            ValueError: axes that do not fit, or a mask that is not boolean.
        """
        check_width(self.self_attention.w_q.in_features, x=x)
        first, second = cast(Iterable[Residual], self.residuals)
        y = first.read(x)
        change, weights = self.self_attention(
            y, *self.self_attention.project(y, y), mask, need_weights=need_weights
        )
        x = first.add(x, change)
        return second.add(x, self.feed_forward(second.read(x))), weights


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the source, and a feed-forward network.

    Arguments as for :class:`EncoderLayer`.

    Source: Vaswani et al. (2017), section 3.1. Explained in chapters/transformer.
    """

    def __init__(
        self, d_model: int, num_heads: int, d_hidden: int, *, dropout: float = 0.0, norm_first: bool = True
    ):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_hidden, dropout=dropout)
        self.residuals = nn.ModuleList(
            Residual(d_model, dropout=dropout, norm_first=norm_first) for _ in range(3)
        )

    def forward(
        self,
        x: Float[Tensor, "*batch t d_model"],
        source: tuple[Float[Tensor, "*batch heads n d"], Float[Tensor, "*batch heads n d"]],
        source_mask: Bool[Tensor, "..."] | None,
        past: tuple[Float[Tensor, "*batch heads past d"], Float[Tensor, "*batch heads past d"]],
        *,
        need_weights: bool = False,
    ) -> tuple[
        Float[Tensor, "*batch t d_model"],
        tuple[Float[Tensor, "*batch heads all d"], Float[Tensor, "*batch heads all d"]],
        Float[Tensor, "*batch heads t n"] | None,
    ]:
        """The next sequence, the keys and values of all positions so far, and the weights on the source or None.

        Args:
            x: the positions that are new, one in search and all in training.
            source: the projected keys and values of the source.
            source_mask: True where a position may attend to a word of the source, as in :class:`MultiHeadAttention`;
                None allows all.
            past: the projected keys and values of the positions before ``x``.

        Raises:
            ValueError: fewer than two axes of ``x``, another width than ``d_model``, or a source that does not fit.
        """
        check_width(self.self_attention.w_q.in_features, x=x)
        first, second, third = cast(Iterable[Residual], self.residuals)
        y = first.read(x)
        new = self.self_attention.project(y, y)
        keys, values = (torch.cat(pair, dim=-2) for pair in zip(past, new, strict=True))
        mask = causal_mask(x.shape[-2], keys.shape[-2], device=x.device)
        x = first.add(x, self.self_attention(y, keys, values, mask, need_weights=False)[0])
        change, weights = self.cross_attention(
            second.read(x), *source, source_mask, need_weights=need_weights
        )
        x = second.add(x, change)
        return third.add(x, self.feed_forward(third.read(x))), (keys, values), weights


class TransformerEncoder(nn.Module):
    """Reads a sentence with self-attention; takes the place of :class:`utils.seq2seq.Encoder`.

    Args:
        vocab_size: number of source tokens, padding included.
        d_model: width of the embeddings and the outputs.
        num_heads: of each attention.
        num_layers: number of layers.
        d_hidden: width of the hidden layer of the feed-forward networks; 4 d_model if None.
        dropout: as for :class:`EncoderLayer`, and of the embeddings.
        norm_first: as for :class:`Residual`.

    Source: Vaswani et al. (2017), section 3.1. Explained in chapters/transformer.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        num_heads: int,
        num_layers: int,
        d_hidden: int | None = None,
        dropout: float = 0.0,
        norm_first: bool = True,
    ):
        super().__init__()
        check_count(1, vocab_size=vocab_size, d_model=d_model, num_heads=num_heads, d_hidden=d_hidden)
        check_count(0, num_layers=num_layers)
        check_number(0, 1, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.dropout = nn.Dropout(dropout)
        options = {"dropout": dropout, "norm_first": norm_first}
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_hidden or 4 * d_model, **options) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()
        self.d_out = d_model
        _initialise(self)

    def forward(
        self, src: Int[Tensor, "batch n"], src_lens: Int[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch n d_model"], None]:
        """Read a padded batch.

        Args:
            src: token ids; those beyond a sentence's length change no output at a real word.
            src_lens: number of tokens of each sentence, 1 to n.

        Returns:
            The outputs, and None in place of the states of a recurrent encoder.

        Raises:
            ValueError: an id outside the vocabulary, or ``src_lens`` does not hold one length per sentence, each from 1
                to n.
        """
        check_batch(src, src_lens)
        mask = length_mask(src_lens, src.shape[1])
        x = self.dropout(_embed(self.embedding.weight, src=src))
        for layer in self.layers:
            x, _ = layer(x, mask)
        return self.norm(x), None


def head_name(layer: int, head: int) -> str:
    """The name of a head of attention, with layer and head counted from 0.

    >>> head_name(0, 2)
    'L0H2'
    """
    return f"L{layer}H{head}"


def check_heads_of(
    num_layers: int, num_heads: int, **heads: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The heads that an argument names, each a layer and a head; ValueError for one that a network does not have.

    :meta private:

    >>> check_heads_of(2, 4, without=[(0, 4)])
    Traceback (most recent call last):
    ValueError: head must be from 0 to 3, got 4
    """
    [(name, pairs)] = heads.items()
    found = []
    for pair in pairs:
        try:
            layer, head = pair
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} must hold pairs of a layer and a head, such as [(0, 3)], got {pair!r}"
            ) from None
        check_count(0, num_layers - 1, layer=layer)
        check_count(0, num_heads - 1, head=head)
        found.append((layer, head))
    return found


class SourceMemory(NamedTuple):
    """The memory of the source sentences: the keys and values of each layer of the decoder, and the mask."""

    keys: Float[Tensor, "batch layers heads n d"]
    values: Float[Tensor, "batch layers heads n d"]
    mask: Bool[Tensor, "batch 1 n"]


class Past(NamedTuple):
    """The state of the decoder: the keys and values of the words so far, in each layer."""

    keys: Float[Tensor, "layers batch heads t d"]
    values: Float[Tensor, "layers batch heads t d"]


class TransformerDecoder(nn.Module):
    """Writes a sentence with causal self-attention and attention to the source; a :class:`utils.seq2seq.Decoder`.

    The matrix that turns words into vectors also turns vectors into the scores of words (Press and Wolf, 2017).
    The weights that it returns are the mean over the heads of one layer's attention to the source.

    Arguments as for :class:`TransformerEncoder`.

    Attributes:
        weights_of: number of the layer whose weights are returned, counted from 0; by default the last.

    Source: Vaswani et al. (2017), section 3.1. Explained in chapters/transformer.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        num_heads: int,
        num_layers: int,
        d_hidden: int | None = None,
        dropout: float = 0.0,
        norm_first: bool = True,
    ):
        super().__init__()
        check_count(1, vocab_size=vocab_size, d_model=d_model, num_layers=num_layers, d_hidden=d_hidden)
        check_number(0, 1, dropout=dropout)
        self.dropout = nn.Dropout(dropout)
        options = {"dropout": dropout, "norm_first": norm_first}
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_hidden or 4 * d_model, **options) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()
        self.output = nn.Linear(d_model, vocab_size)
        self.weights_of = num_layers - 1
        _initialise(self)

    def start(
        self,
        enc_outputs: Float[Tensor, "batch n d_model"],
        enc_state: object,
        src_lens: Int[Tensor, " batch"],
    ) -> tuple[SourceMemory, Past]:
        """The keys and values of the source in each layer, computed once, and an empty past."""
        mask = length_mask(src_lens, enc_outputs.shape[1])
        layers = cast(Iterable[DecoderLayer], self.layers)
        projected = [layer.cross_attention.project(enc_outputs, enc_outputs) for layer in layers]
        keys, values = (torch.stack(tensors, dim=1) for tensors in zip(*projected, strict=True))
        no_words = keys.transpose(0, 1)[..., :0, :]
        return SourceMemory(keys, values, mask), Past(no_words, no_words)

    def features(
        self, tgt_in: Int[Tensor, "batch t"], memory: SourceMemory, past: Past, *, need_weights: bool = True
    ) -> tuple[Float[Tensor, "batch t d_model"], Past, Float[Tensor, "batch heads t n"] | None]:
        """The input of the output layer at each step, the new past, and the weights of each head or None."""
        check_count(0, len(self.layers) - 1, weights_of=self.weights_of)
        x = self.dropout(_embed(self.output.weight, start=past.keys.shape[3], tgt_in=tgt_in))
        pasts, weights = [], None
        for number, layer in enumerate(self.layers):
            x, new_past, layer_weights = layer(
                x,
                (memory.keys[:, number], memory.values[:, number]),
                memory.mask,
                (past.keys[number], past.values[number]),
                need_weights=need_weights and number == self.weights_of,
            )
            pasts.append(new_past)
            weights = layer_weights if layer_weights is not None else weights
        return self.norm(x), Past(*(torch.stack(parts) for parts in zip(*pasts, strict=True))), weights

    def forward(
        self, tgt_in: Int[Tensor, "batch t"], memory: SourceMemory, state: Past
    ) -> tuple[Float[Tensor, "batch t vocab"], Past, Float[Tensor, "batch t n"]]:
        """Run the decoder over given words: all of them in training, one at a time in search.

        Args:
            tgt_in: y_{i-1} at each step, the beginning-of-sentence token first.
            memory: from :meth:`start`.
            state: the words so far, from :meth:`start` or from the previous call.
        """
        features, past, weights = self.features(tgt_in, memory, state)
        assert weights is not None  # they are those of the layer ``weights_of``
        return self.output(features), past, weights.mean(dim=1)


def _embed(table: Tensor, *, start: int = 0, **words: Tensor) -> Tensor:
    """The vectors of words at positions from ``start`` on, times sqrt(d) as in the paper, plus their positions."""
    vectors = word_vectors(table, **words)
    positions = sinusoids(vectors.shape[1], table.shape[1], start=start).to(table)
    return vectors * math.sqrt(table.shape[1]) + positions


def _initialise(module: nn.Module) -> None:
    """Weights of Glorot and Bengio (2010), as in torch.nn.Transformer; word vectors of length about 1."""
    for name, parameter in module.named_parameters():
        if name in ("embedding.weight", "output.weight"):
            nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5)
        elif parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)
