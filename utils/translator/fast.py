r"""The translators of ``seq2seq`` arranged for speed: the same parameters and, up to rounding, the same numbers.

What changes between the plain form and this one:

- One loop reads the source in both directions at once, and a sentence leaves the loop at its end.
- The embedding's share of the recurrent unit's input needs no state, so one product before the loop gives it
  for all steps.
- The state of the last layer enters two products, the attention's query and the recurrence: side by side they
  are one.
- :math:`\tanh x = 2 \sigma(2x) - 1`, and processors are several times faster at :math:`\sigma`. The factors
  move into the weights, and the constant :math:`-\sum w_v`, the same for every key, vanishes in the softmax.
- Readout, vocabulary and loss wait until the loop is over and see real tokens alone, some hundred at a time.

Explained in book/faster.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from utils.attention import length_mask
from utils.corpus.batches import Batch
from utils.corpus.vocabulary import PAD
from utils.search import DecoderSteps
from utils.seq2seq import (
    BahdanauDecoder,
    ContextGRUCell,
    Decoder,
    Encoder,
    EncoderDecoder,
    FixedContextDecoder,
    Memory,
    check_lengths,
)
from utils.training import batch_loss
from utils.translator.vocabulary_loss import vocabulary_loss

Layers = list[Float[Tensor, "batch queries h"]]


def is_covered(decoder: Decoder) -> bool:
    """Whether this module has a fast form of the decoder: it has one of the two decoders of ``seq2seq`` alone."""
    return type(decoder) in (BahdanauDecoder, FixedContextDecoder)


def fast_loss(
    model: EncoderDecoder, batch: Batch, *, label_smoothing: float = 0.0, chunk: int = 640
) -> Float[Tensor, ""]:
    """:func:`utils.training.batch_loss`, arranged for speed; for another decoder it is that function.

    Under ``torch.autocast`` the products are taken in its dtype, and so are the gates and the softmax over the
    vocabulary. States and sums over steps or tokens stay in float32.

    Args:
        model: a translator.
        batch: padded sentence pairs.
        label_smoothing: share of the target probability that is spread evenly over the vocabulary.
        chunk: tokens at a time in the vocabulary product.

    Raises:
        ValueError: a length below 1 or above n, targets that are all padding, or a chunk below 1.
    """
    decoder = model.decoder
    if not is_covered(decoder):
        return batch_loss(model, batch, label_smoothing=label_smoothing)
    memory, state = _start(model, batch.src, batch.src_lens)
    features, _ = decoder_features(decoder, batch.tgt_in, memory, state)
    tgt_out = batch.tgt_out
    real = tgt_out != PAD
    maxout = read_out(decoder, features[real])
    return vocabulary_loss(
        maxout,
        decoder.output.weight,
        decoder.output.bias,
        tgt_out[real],
        label_smoothing=label_smoothing,
        chunk=chunk,
    )


def attention_weights(model: EncoderDecoder, batch: Batch) -> Float[Tensor, "batch t n"] | None:
    """The attention weights of each step under teacher forcing, without the product with the vocabulary.

    For a decoder without a fast form they are those of ``model(...)``.

    Returns:
        One row per word of ``batch.tgt_in``; None for a decoder without attention.
    """
    if not is_covered(model.decoder):
        return model(batch.src, batch.src_lens, batch.tgt_in)[1]
    memory, state = _start(model, batch.src, batch.src_lens)
    return decoder_features(model.decoder, batch.tgt_in, memory, state)[1]


def _start(model: EncoderDecoder, src: Tensor, src_lens: Tensor) -> tuple[Memory, Tensor]:
    """What ``model.start`` returns, with the source read by :func:`encode`."""
    return model.decoder.start(*encode(model.encoder, src, src_lens), src_lens)


def encode(
    encoder: nn.Module, src: Int[Tensor, "batch n"], src_lens: Int[Tensor, " batch"]
) -> tuple[Float[Tensor, "batch n d_enc"], Float[Tensor, "layers batch directions h"]]:
    """What ``encoder(src, src_lens)`` returns, with both readings in one loop over real words alone.

    A GPU has one kernel for a whole reading. There, and for an encoder of another kind, this is that call.

    Args:
        encoder: of a translator.
        src: token ids; whatever stands behind a sentence's length is ignored.
        src_lens: number of tokens of each sentence, 1 to n.

    Raises:
        ValueError: ``src_lens`` does not hold one length per sentence, each from 1 to n.
    """
    if type(encoder) is not Encoder or src.device.type != "cpu":
        return encoder(src, src_lens)
    check_lengths(src, src_lens)
    gru = encoder.gru
    # Sentences from long to short, so that those still active at a step come first. The words lie in one axis, step
    # after step; ``step`` and ``sentence`` say where each word stands.
    lens, order = src_lens.sort(descending=True, stable=True)
    active = length_mask(lens, int(lens[0])).squeeze(1).T  # (step, sentence)
    step, sentence = active.nonzero(as_tuple=True)
    row = torch.zeros_like(active, dtype=torch.long).masked_scatter(active, torch.arange(len(step)))
    # The backward reading meets a word as many steps from the end as the forward reading does from the front.
    mirrored = row[lens[sentence] - 1 - step, sentence]
    last = row[lens - 1, torch.arange(len(lens))]
    words = encoder.dropout(encoder.embedding(src[order[sentence], step]))
    final = []
    for layer in range(gru.num_layers):
        if layer:
            words = nn.functional.dropout(words, gru.dropout, encoder.training)
        readings = torch.stack([words, words[mirrored]][: 1 + gru.bidirectional])
        states = _read(gru, layer, readings, active.sum(dim=1).tolist())
        final.append(states[:, last][:, order.argsort()])
        words = torch.cat([states[0], *states[1:, mirrored]], dim=-1)
    outputs = words.new_zeros(*src.shape, encoder.d_out).index_put((order[sentence], step), words)
    return outputs, torch.stack(final).transpose(1, 2)


def _read(
    gru: nn.GRU, layer: int, readings: Float[Tensor, "directions words d"], sentences: list[int]
) -> Float[Tensor, "directions words h"]:
    """States of one GRU layer over packed words; ``sentences[t]`` rows are active at step t."""
    directions = ("", "_reverse")[: len(readings)]
    w_input, b_input, w_state, b_state = (
        _autocast(torch.stack([getattr(gru, f"{name}_l{layer}{direction}") for direction in directions]))
        for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
    )
    s = readings.new_zeros(len(readings), sentences[0], gru.hidden_size)
    states = []
    for from_input in torch.baddbmm(b_input[:, None], readings, w_input.mT).split(sentences, dim=1):
        s = s[:, : from_input.shape[1]]
        s = _next_state(gru, from_input, torch.baddbmm(b_state[:, None], s, w_state.mT), s)
        states.append(s)
    return torch.cat(states, dim=1)


def decoder_features(
    decoder: BahdanauDecoder | FixedContextDecoder,
    tgt_in: Int[Tensor, "batch t"],
    memory: Memory,
    state: Float[Tensor, "layers batch h"],
) -> tuple[Float[Tensor, "batch t d_features"], Float[Tensor, "batch t n"] | None]:
    """``[s_i; y_{i-1}; c_i]`` at each step of given words, and the attention weights or None."""
    arranged = ArrangedDecoder(decoder)
    sources = arranged.sources(memory)
    embedded = decoder.dropout(decoder.embedding(tgt_in))
    layers = [s[:, None] for s in state.unbind(0)]
    states, contexts, weights = [], [], []
    for from_word in arranged.from_words(embedded).split(1, dim=1):
        layers, context, step_weights = arranged.step(from_word, layers, sources)
        states.append(layers[-1])
        contexts.append(context)
        weights.append(step_weights)
    features = torch.cat([torch.cat(states, 1), embedded, torch.cat(contexts, 1)], dim=-1)
    return features, None if weights[0] is None else torch.cat(weights, 1)


def read_out(
    decoder: BahdanauDecoder | FixedContextDecoder, features: Float[Tensor, "*batch d_features"]
) -> Float[Tensor, "*batch h"]:
    """The maxout layer: what the vocabulary product reads."""
    return decoder.dropout(decoder.readout(features).unflatten(-1, (-1, 2)).amax(dim=-1))


class Sources(NamedTuple):
    """A :class:`~utils.seq2seq.Memory` in the form that the fast step reads.

    ``doubled_keys`` are the projected keys times 2, and ``floor`` is 0 at real words and minus infinity at
    padding. Without attention ``values`` holds one summary per sentence, and the others are None.
    """

    values: Float[Tensor, "batch n d_enc"]
    doubled_keys: Float[Tensor, "batch 1 n d_attention"] | None
    floor: Float[Tensor, "batch 1 n"] | None

    def rows(self, index: Int[Tensor, " rows"]) -> "Sources":
        """The memory of some sentences of the batch, in the order of ``index``."""
        return Sources(*(None if tensor is None else tensor[index] for tensor in self))


class ArrangedDecoder:
    """The weights of a decoder arranged for its steps; they hold for as long as its parameters do not change.

    A step serves several queries per sentence at once, axes (batch, queries, width): one query in training and in
    greedy search, one per hypothesis in beam search, where all of them share the memory of their sentence.

    Args:
        decoder: one that :func:`is_covered`.

    Raises:
        TypeError: another decoder.
    """

    def __init__(self, decoder: BahdanauDecoder | FixedContextDecoder):
        if not is_covered(decoder):
            raise TypeError(f"{type(decoder).__name__} has no fast form: use DecoderSteps and batch_loss")
        self._decoder = decoder
        self._cells = [_arrange(cell) for cell in decoder.cells]
        first, last = self._cells[0], self._cells[-1]
        d_embed = decoder.embedding.embedding_dim
        from_word, from_context = first.from_input.split(
            [d_embed, first.from_input.shape[1] - d_embed], dim=1
        )
        self._from_word, self._from_context = _autocast(from_word), _autocast(from_context)
        self._d_query = 0
        if isinstance(decoder, BahdanauDecoder):
            attention = decoder.attention
            self._w_v = _autocast(2 * attention.w_v.weight)
            self._d_query = attention.w_q.out_features
            # The state of the last layer enters the query and the recurrence: one product gives both.
            self._cells[-1] = last._replace(
                from_state=_autocast(torch.cat([2 * attention.w_q.weight, last.from_state])),
                state_bias=_autocast(nn.functional.pad(last.state_bias, (self._d_query, 0))),
            )

    def sources(self, memory: Memory) -> Sources:
        """The memory of the source sentences as :meth:`step` reads it, computed once."""
        if memory.projected_keys is None:
            return Sources(memory.values, None, None)
        floor = torch.zeros_like(memory.mask, dtype=memory.values.dtype).masked_fill(~memory.mask, -torch.inf)
        return Sources(_autocast(memory.values), 2 * memory.projected_keys[:, None], floor)

    def from_words(self, embedded: Float[Tensor, "batch t d_embed"]) -> Float[Tensor, "batch t gates"]:
        """The words' share of the first layer's gates: all steps in one product."""
        return linear(embedded, self._from_word, self._cells[0].input_bias)

    def step(
        self, from_word: Float[Tensor, "batch queries gates"], layers: Layers, sources: Sources
    ) -> tuple[Layers, Float[Tensor, "batch queries d_enc"], Float[Tensor, "batch queries n"] | None]:
        """One step: the next state of each layer, the context and the attention weights or None."""
        from_states = [
            linear(s, cell.from_state, cell.state_bias) for s, cell in zip(layers, self._cells, strict=True)
        ]
        query, from_states[-1] = from_states[-1].tensor_split([self._d_query], dim=-1)
        context, weights = self._context(query, sources)
        from_input = from_word + linear(context, self._from_context)
        new_layers: Layers = []
        for depth, (cell, s, from_state) in enumerate(
            zip(self._decoder.cells, layers, from_states, strict=True)
        ):
            if depth:
                below = self._decoder.dropout(new_layers[-1])
                from_input = linear(below, self._cells[depth].from_input, self._cells[depth].input_bias)
            new_layers.append(_next_state(cell, from_input, from_state, s))
        return new_layers, context, weights

    def predict(
        self, words: Int[Tensor, "batch queries"], layers: Layers, sources: Sources
    ) -> tuple[Float[Tensor, "batch queries vocab"], Layers, Float[Tensor, "batch queries n"] | None]:
        """One step of search: logits of what follows ``words``, the next states, the attention weights or None."""
        embedded = self._decoder.dropout(self._decoder.embedding(words))
        layers, context, weights = self.step(self.from_words(embedded), layers, sources)
        features = torch.cat([layers[-1], embedded, context], dim=-1)
        return self._decoder.output(read_out(self._decoder, features)), layers, weights

    def _context(self, query: Tensor, sources: Sources) -> tuple[Tensor, Tensor | None]:
        if sources.doubled_keys is None:
            return sources.values.expand(-1, query.shape[1], -1), None
        features = torch.sigmoid(sources.doubled_keys + query[:, :, None])
        weights = (linear(features, self._w_v).squeeze(-1) + sources.floor).softmax(dim=-1)
        return weights @ sources.values, weights


class FastSteps:
    """:class:`utils.search.Steps` by the fast form. The hypotheses of a sentence share its memory.

    Args:
        model: with a decoder that :func:`is_covered`.
        src: padded source ids.
        src_lens: number of source tokens of each sentence.

    Raises:
        TypeError: another decoder.
    """

    def __init__(self, model: EncoderDecoder, src: Int[Tensor, "batch n"], src_lens: Int[Tensor, " batch"]):
        self._arranged = ArrangedDecoder(model.decoder)
        memory, state = _start(model, src, src_lens)
        self._sources = self._arranged.sources(memory)
        self._layers = [s[:, None] for s in state.unbind(0)]

    def predict(
        self, words: Int[Tensor, "batch beam"]
    ) -> tuple[Float[Tensor, "batch beam vocab"], Float[Tensor, "batch beam n"] | None]:
        """See :class:`utils.search.Steps`."""
        logits, self._layers, weights = self._arranged.predict(words, self._layers, self._sources)
        return logits, weights

    def keep(self, sentences: Int[Tensor, " rows"], origin: Int[Tensor, "rows beam"]) -> None:
        """See :class:`utils.search.Steps`."""
        if len(sentences) < len(self._sources.values):
            self._sources = self._sources.rows(sentences)
        self._layers = [s[sentences[:, None], origin] for s in self._layers]


def steps_for(model: EncoderDecoder) -> type[FastSteps] | type[DecoderSteps]:
    """What a search should run a model with: :class:`FastSteps` where its decoder has a fast form."""
    return FastSteps if is_covered(model.decoder) else DecoderSteps


def _autocast(tensor: Tensor) -> Tensor:
    """Cast to the autocast dtype once, if autocast is on: what every step multiplies by need not be cast each time."""
    device = tensor.device.type
    return tensor.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else tensor


class _Cell(NamedTuple):
    """The weights of a recurrent unit: those of its input and those of its state."""

    from_input: Tensor
    input_bias: Tensor
    from_state: Tensor
    state_bias: Tensor


def _arrange(cell: nn.GRUCell | ContextGRUCell) -> _Cell:
    if isinstance(cell, ContextGRUCell):
        from_input = torch.cat([cell.from_input.weight, cell.from_context.weight], dim=1)
        from_state = cell.from_state.weight
        return _Cell(from_input, cell.from_input.bias, from_state, from_state.new_zeros(len(from_state)))
    return _Cell(cell.weight_ih, cell.bias_ih, cell.weight_hh, cell.bias_hh)


def _next_state(
    cell: nn.GRU | nn.GRUCell | ContextGRUCell, from_input: Tensor, from_state: Tensor, s: Tensor
) -> Tensor:
    """The gates and the new state, once the products are taken."""
    gates, candidate = from_input.tensor_split([2 * s.shape[-1]], dim=-1)
    gates_from_state, candidate_from_state = from_state.tensor_split([2 * s.shape[-1]], dim=-1)
    r, z = torch.sigmoid(gates + gates_from_state).chunk(2, dim=-1)
    if isinstance(
        cell, ContextGRUCell
    ):  # the reset gate acts before the recurrent product, in the others after it
        candidate = torch.tanh(candidate + cell.from_reset_state(s * r))
    else:
        candidate = torch.tanh(candidate + r * candidate_from_state)
    # Under autocast products and gates are in its dtype; what is added up over the steps is not.
    return torch.lerp(candidate.to(s.dtype), s, z.to(s.dtype))
