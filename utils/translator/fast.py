r"""A fast form of the translators of ``seq2seq``: the same parameters and, up to rounding, the same numbers.

It differs from the plain form in this:

- One loop reads the source in both directions at once, and a sentence leaves the loop at its end.
- The part of the recurrent unit's input that comes from the embedding does not depend on the state, so one product
  before the loop computes it for all steps.
- The state of the last layer enters two products, the attention's query and the recurrence. They are computed as one
  product, with the matrices side by side.
- :math:`\tanh x = 2 \sigma(2x) - 1`, and processors compute :math:`\sigma` several times faster. The weights are
  multiplied by the factors; the constant :math:`-\sum w_v` is the same for every key, so the softmax removes it.
- Readout, output layer and loss are computed after the loop, for real tokens only, a few hundred at a time.

A Transformer reads all words at once, so only the last point applies to it.

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
from utils.transformer import TransformerDecoder
from utils.translator.vocabulary_loss import vocabulary_loss

Layers = list[Float[Tensor, "batch queries h"]]


def is_covered(decoder: Decoder) -> bool:
    """Whether this module has fast steps of the decoder, as for the two decoders of ``seq2seq``."""
    return type(decoder) in (BahdanauDecoder, FixedContextDecoder)


def fast_loss(
    model: EncoderDecoder, batch: Batch, *, label_smoothing: float = 0.0, chunk: int = 640
) -> Float[Tensor, ""]:
    """A fast form of :func:`utils.training.batch_loss`; for other decoders it calls that function.

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
    decoder, real = model.decoder, batch.tgt_out != PAD
    if is_covered(decoder):
        memory, state = _start(model, batch.src, batch.src_lens)
        hidden = decoder.read_out(decoder_features(decoder, batch.tgt_in, memory, state)[0][real])
    elif type(decoder) is TransformerDecoder:
        memory, past = model.start(batch.src, batch.src_lens)
        hidden = decoder.features(batch.tgt_in, memory, past, need_weights=False)[0][real]
    else:
        return batch_loss(model, batch, label_smoothing=label_smoothing)
    return vocabulary_loss(
        hidden,
        decoder.output.weight,
        decoder.output.bias,
        batch.tgt_out[real],
        label_smoothing=label_smoothing,
        chunk=chunk,
    )


def attention_weights(model: EncoderDecoder, batch: Batch) -> Float[Tensor, "batch t n"] | None:
    """The attention weights of each step under teacher forcing, without the product with the vocabulary.

    Of a Transformer they are the mean over the heads. For another decoder they are those of ``model(...)``.

    Returns:
        One row per word of ``batch.tgt_in``; None for a decoder without attention.
    """
    if type(model.decoder) is TransformerDecoder:
        return model.decoder.features(batch.tgt_in, *model.start(batch.src, batch.src_lens))[2].mean(dim=1)
    if not is_covered(model.decoder):
        return model(batch.src, batch.src_lens, batch.tgt_in)[1]
    memory, state = _start(model, batch.src, batch.src_lens)
    return decoder_features(model.decoder, batch.tgt_in, memory, state)[1]


def _start(model: EncoderDecoder, src: Tensor, src_lens: Tensor) -> tuple[Memory, Tensor]:
    """The same as ``model.start``, but faster: :func:`encode` reads the source."""
    return model.decoder.start(*encode(model.encoder, src, src_lens), src_lens)


def encode(
    encoder: nn.Module, src: Int[Tensor, "batch n"], src_lens: Int[Tensor, " batch"]
) -> tuple[Float[Tensor, "batch n d_enc"], Float[Tensor, "layers batch directions h"]]:
    """The same as ``encoder(src, src_lens)``, with both directions in one loop over real words only.

    On a GPU, where PyTorch has one function for the whole GRU, and for another class of encoder this calls the encoder.

    Args:
        encoder: of a translator.
        src: token ids; those beyond a sentence's length are ignored.
        src_lens: number of tokens of each sentence, 1 to n.

    Raises:
        ValueError: ``src_lens`` does not hold one length per sentence, each from 1 to n.
    """
    if type(encoder) is not Encoder or src.device.type != "cpu":
        return encoder(src, src_lens)
    check_lengths(src, src_lens)
    gru = encoder.gru
    # Sentences are sorted from long to short, so that those active at a step come first. All words are in one axis,
    # step after step; ``step`` and ``sentence`` give the position of each word.
    lens, order = src_lens.sort(descending=True, stable=True)
    active = length_mask(lens, int(lens[0])).squeeze(1).T  # (step, sentence)
    step, sentence = active.nonzero(as_tuple=True)
    row = torch.zeros_like(active, dtype=torch.long).masked_scatter(active, torch.arange(len(step)))
    # The backward direction reads the last word of each sentence first: at step t, word n - 1 - t of n.
    mirrored = row[lens[sentence] - 1 - step, sentence]
    last = row[lens - 1, torch.arange(len(lens))]
    words = encoder.dropout(encoder.embedding(src[order[sentence], step]))
    final = []
    for layer in range(gru.num_layers):
        if layer:
            words = nn.functional.dropout(words, gru.dropout, encoder.training)
        inputs = torch.stack([words, words[mirrored]][: 1 + gru.bidirectional])
        states = _run_layer(gru, layer, inputs, active.sum(dim=1).tolist())
        final.append(states[:, last][:, order.argsort()])
        words = torch.cat([states[0], *states[1:, mirrored]], dim=-1)
    outputs = words.new_zeros(*src.shape, encoder.d_out).index_put((order[sentence], step), words)
    return outputs, torch.stack(final).transpose(1, 2)


def _run_layer(
    gru: nn.GRU, layer: int, inputs: Float[Tensor, "directions words d"], sentences: list[int]
) -> Float[Tensor, "directions words h"]:
    """States of one GRU layer over packed words; ``sentences[t]`` rows are active at step t."""
    directions = ("", "_reverse")[: len(inputs)]
    w_input, b_input, w_state, b_state = (
        _autocast(torch.stack([getattr(gru, f"{name}_l{layer}{direction}") for direction in directions]))
        for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
    )
    s = inputs.new_zeros(len(inputs), sentences[0], gru.hidden_size)
    states = []
    for from_input in torch.baddbmm(b_input[:, None], inputs, w_input.mT).split(sentences, dim=1):
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
    fast_decoder = ArrangedDecoder(decoder)
    sources = fast_decoder.sources(memory)
    embedded = decoder.dropout(decoder.embedding(tgt_in))
    layers = [s[:, None] for s in state.unbind(0)]
    states, contexts, weights = [], [], []
    for from_word in fast_decoder.from_words(embedded).split(1, dim=1):
        layers, context, step_weights = fast_decoder.step(from_word, layers, sources)
        states.append(layers[-1])
        contexts.append(context)
        weights.append(step_weights)
    features = torch.cat([torch.cat(states, 1), embedded, torch.cat(contexts, 1)], dim=-1)
    return features, None if weights[0] is None else torch.cat(weights, 1)


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
    """The weights of a decoder in the form that its fast steps use; valid until its parameters change.

    A step computes several queries per sentence at once, with axes (batch, queries, width): one in training and in
    greedy search, one per hypothesis in beam search. All queries of a sentence share its memory.

    Args:
        decoder: a decoder for which :func:`is_covered` is True.

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
            # One product gives both the query and the recurrence of the last layer's state.
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
        """The part of the first layer's gates that comes from the words: all steps in one product."""
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
        return self._decoder.output(self._decoder.read_out(features)), layers, weights

    def _context(self, query: Tensor, sources: Sources) -> tuple[Tensor, Tensor | None]:
        if sources.doubled_keys is None:
            return sources.values.expand(-1, query.shape[1], -1), None
        features = torch.sigmoid(sources.doubled_keys + query[:, :, None])
        weights = (linear(features, self._w_v).squeeze(-1) + sources.floor).softmax(dim=-1)
        return weights @ sources.values, weights


class FastSteps:
    """The fast form of :class:`utils.search.Steps`. The hypotheses of a sentence share its memory.

    Args:
        model: with a decoder for which :func:`is_covered` is True.
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
    """The class of :class:`utils.search.Steps` for a model: fast steps if its decoder has a fast form."""
    return FastSteps if is_covered(model.decoder) else DecoderSteps


def _autocast(tensor: Tensor) -> Tensor:
    """Cast to the autocast dtype, if autocast is on: once, so that the steps need not cast again."""
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
    """The gates and the new state, from the products."""
    gates, candidate = from_input.tensor_split([2 * s.shape[-1]], dim=-1)
    gates_from_state, candidate_from_state = from_state.tensor_split([2 * s.shape[-1]], dim=-1)
    r, z = torch.sigmoid(gates + gates_from_state).chunk(2, dim=-1)
    # In a ContextGRUCell the reset gate acts before the recurrent product, in the others after it.
    if isinstance(cell, ContextGRUCell):
        candidate = torch.tanh(candidate + cell.from_reset_state(s * r))
    else:
        candidate = torch.tanh(candidate + r * candidate_from_state)
    # Under autocast products and gates have its dtype; the state, a sum over many steps, keeps its own.
    return torch.lerp(candidate.to(s.dtype), s, z.to(s.dtype))
