"""Encoder and decoders of the translator: a GRU encoder, and decoders with and without attention.

Everything here works on token ids and tensors; text, training and search are in other modules.
A decoder of your own needs no base class: any module with the two methods of :class:`Decoder` will do.
Explained in chapters/bahdanau_decoder.
"""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from utils.attention import AdditiveAttention, length_mask
from utils.checks import check_batch, check_count, check_number

__all__ = [
    "BahdanauDecoder",
    "Decoder",
    "Encoder",
    "EncoderDecoder",
    "FixedContextDecoder",
    "GatedUnit",
    "Memory",
    "RecurrentDecoder",
]


class Encoder(nn.Module):
    r"""Reads a sentence with a bidirectional GRU: :math:`h_j = [\overrightarrow{h}_j; \overleftarrow{h}_j]`.

    Sentences are packed before the recurrent network reads them, so padding never changes a valid output and
    the backward direction starts at the last word of each sentence.

    Args:
        vocab_size: number of source tokens, padding included.
        d_embed: width of the embedding.
        d_hidden: width h of each direction.
        num_layers: stacked GRU layers.
        dropout: probability of dropping each number of the embeddings and between layers, in training mode.
        bidirectional: read in both directions; otherwise only forward.

    Source: Bahdanau et al. (2015), section 3.2. Explained in chapters/encoder_decoder.
    """

    def __init__(
        self,
        vocab_size: int,
        d_embed: int,
        d_hidden: int,
        *,
        num_layers: int = 1,
        dropout: float = 0.0,
        bidirectional: bool = True,
    ):
        super().__init__()
        check_count(1, vocab_size=vocab_size, d_embed=d_embed, d_hidden=d_hidden, num_layers=num_layers)
        check_number(0, 1, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, d_embed)
        self.dropout = nn.Dropout(dropout)
        self.gru = nn.GRU(
            d_embed,
            d_hidden,
            num_layers,
            batch_first=True,
            dropout=dropout if num_layers > 1 else 0.0,
            bidirectional=bidirectional,
        )
        self.d_out = d_hidden * (2 if bidirectional else 1)
        _orthogonal_recurrence(self.gru)

    def forward(
        self, src: Int[Tensor, "batch n"], src_lens: Int[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch n d_enc"], Float[Tensor, "layers batch directions h"]]:
        """Read a padded batch.

        Args:
            src: token ids; those beyond a sentence's length are ignored.
            src_lens: number of tokens of each sentence, 1 to n.

        Returns:
            The outputs of the last layer at each position, 0 at padding; and each layer's final state in each
            direction, forward first: after the last word for the forward direction, after the first word
            for the backward one.

        Raises:
            ValueError: ``src`` is not a batch or has an id outside the vocabulary, or ``src_lens`` does not hold one
                length per sentence, each from 1 to n.
        """
        check_batch(src, src_lens)
        embedded = self.dropout(word_vectors(self.embedding, src=src))
        packed = pack_padded_sequence(embedded, src_lens.cpu(), batch_first=True, enforce_sorted=False)
        packed_outputs, state = self.gru(packed)
        outputs, _ = pad_packed_sequence(packed_outputs, batch_first=True, total_length=src.shape[1])
        return outputs, state.unflatten(0, (self.gru.num_layers, -1)).transpose(1, 2)


class GatedUnit(nn.Module):
    r"""The gated unit of Bahdanau et al., in which the reset gate acts before the recurrent product.

    .. math::
        r &= \sigma(W_{yr} y + W_{sr} s + W_{cr} c + b_r) \\
        z &= \sigma(W_{yz} y + W_{sz} s + W_{cz} c + b_z) \\
        \tilde s &= \tanh(W_{ys} y + W_{ss} (s \odot r) \\
        &\qquad\quad + W_{cs} c + b_s) \\
        s' &= z \odot s + (1 - z) \odot \tilde s

    ``torch.nn.GRUCell`` on ``[y; c]`` applies r after the product, :math:`r \odot (W_{ss} s + b)`: the two
    agree where r = 1 and, in general, nowhere else. (The paper writes the last line with z and 1 − z exchanged,
    which renames the gate and changes nothing else.)

    Args:
        d_input: width of the input y, the embedding of the previous word.
        d_context: width of the context c.
        d_hidden: width of the state s.

    Source: Bahdanau et al. (2015), appendix A.2.2. Explained in chapters/bahdanau_decoder.
    """

    def __init__(self, d_input: int, d_context: int, d_hidden: int):
        super().__init__()
        check_count(1, d_input=d_input, d_hidden=d_hidden)
        check_count(0, d_context=d_context)
        # One product per input, with the gates side by side in the order r, z, candidate.
        self.from_input = nn.Linear(d_input, 3 * d_hidden)
        self.from_context = nn.Linear(d_context, 3 * d_hidden, bias=False)
        self.from_state = nn.Linear(d_hidden, 2 * d_hidden, bias=False)
        self.from_reset_state = nn.Linear(d_hidden, d_hidden, bias=False)
        for matrix in (*self.from_state.weight.chunk(2), self.from_reset_state.weight):
            nn.init.orthogonal_(matrix)

    def forward(
        self, y: Float[Tensor, "batch d_y"], c: Float[Tensor, "batch d_c"], s: Float[Tensor, "batch d_s"]
    ) -> Float[Tensor, "batch d_s"]:
        """One step: the next state from input, context and state."""
        y_and_c = self.from_input(y) + self.from_context(c)
        gates, candidate = y_and_c.split([2 * s.shape[-1], s.shape[-1]], dim=-1)
        r, z = torch.sigmoid(gates + self.from_state(s)).chunk(2, dim=-1)
        candidate = torch.tanh(candidate + self.from_reset_state(s * r))
        return z * s + (1 - z) * candidate


class _ConcatGRUCell(nn.GRUCell):
    """PyTorch's GRU cell on [y; c], with the arguments of :class:`GatedUnit`."""

    def __init__(self, d_input: int, d_context: int, d_hidden: int):
        super().__init__(d_input + d_context, d_hidden)
        _orthogonal_recurrence(self)

    def forward(self, y: Tensor, c: Tensor, s: Tensor) -> Tensor:
        return super().forward(torch.cat([y, c], dim=-1), s)


def word_vectors(
    table: nn.Embedding | Float[Tensor, "vocab d"], /, **words: Int[Tensor, "*batch"]
) -> Float[Tensor, "*batch d"]:
    """The row of the table for each word, whose ids are the one argument with a name.

    Only where torch finds no row are the ids looked at, which costs nothing where all is well. (On a graphics processor
    torch finds this out later, and stops the program with a message of its own.)

    Raises:
        ValueError: an id that is not from 0 to the size of the vocabulary - 1.

    :meta private:

    >>> word_vectors(torch.eye(3), src=torch.tensor([[0, 3]]))
    Traceback (most recent call last):
    ValueError: src must be from 0 to 2, for a vocabulary of 3, got 3
    """
    [ids] = words.values()
    try:
        return table(ids) if isinstance(table, nn.Module) else nn.functional.embedding(ids, table)
    except IndexError as error:
        size = len(table.weight if isinstance(table, nn.Module) else table)
        raise outside_vocabulary(size, **words) from error


def outside_vocabulary(size: int, /, **words: Int[Tensor, "*batch"]) -> ValueError:
    """The error that names an argument and its first id for which a vocabulary of this size has no word.

    :meta private:
    """
    [(name, ids)] = words.items()
    first = ids[(ids < 0) | (ids >= size)][0].item()
    return ValueError(f"{name} must be from 0 to {size - 1}, for a vocabulary of {size}, got {first}")


@runtime_checkable
class Decoder(Protocol):
    """The methods that training, search and alignment call. Any module with these two methods is a decoder.

    ``memory`` holds what the decoder knows of the source sentences: a tensor or a tuple of tensors, with the batch as
    first axis. ``state`` is what it passes from step to step: a tensor or a tuple of tensors, with the batch as second
    axis, as in torch's recurrent layers. Search selects sentences of both along these axes.
    """

    def start(
        self,
        enc_outputs: Float[Tensor, "batch n d_enc"],
        enc_state: Float[Tensor, "layers batch directions h"],
        src_lens: Int[Tensor, " batch"],
    ) -> tuple[Any, Any]:
        """The memory and the first state, from what the encoder returns."""
        ...

    def __call__(
        self, tgt_in: Int[Tensor, "batch t"], memory: Any, state: Any
    ) -> tuple[Float[Tensor, "batch t vocab"], Any, Float[Tensor, "batch t n"] | None]:
        """Logits of the next word after each word of ``tgt_in``, the last state, and the weights or None."""
        ...


class Memory(NamedTuple):
    """The memory of the source sentences in the decoders of this module; the first axis of each tensor is the batch.

    ``values`` are the encoder's outputs, ``projected_keys`` are W_k h_j, computed once per sentence, and ``mask`` is
    True at real words. Without attention ``values`` holds one summary per sentence and the others are None.
    """

    values: Float[Tensor, "batch n d_enc"]
    projected_keys: Float[Tensor, "batch n d_attention"] | None = None
    mask: Bool[Tensor, "batch 1 n"] | None = None


class RecurrentDecoder(nn.Module):
    """The part that the decoders of this module share: s_0, the recurrence and the readout.

    A subclass defines :meth:`start`, which makes the memory, and :meth:`attend`, which gives the context of a step.
    Arguments as for :class:`BahdanauDecoder`, except ``d_attention``. In addition, ``d_read`` is the width of the
    context that the first cell reads with the word: ``d_enc`` if None, 0 for a cell that reads the word alone.
    """

    def __init__(
        self,
        vocab_size: int,
        d_embed: int,
        d_hidden: int,
        d_enc: int,
        *,
        d_enc_state: int | None = None,
        num_layers: int = 1,
        dropout: float = 0.0,
        cell: str = "gru",
        d_read: int | None = None,
    ):
        super().__init__()
        if cell not in ("gru", "gated"):
            raise ValueError(f"cell must be 'gru' or 'gated', got {cell!r}")
        sizes = {"vocab_size": vocab_size, "d_embed": d_embed, "d_hidden": d_hidden, "d_enc": d_enc}
        check_count(1, **sizes, d_enc_state=d_enc_state, num_layers=num_layers)
        check_count(0, d_read=d_read)
        check_number(0, 1, dropout=dropout)
        d_enc_state = d_enc // 2 if d_enc_state is None else d_enc_state
        d_read = d_enc if d_read is None else d_read
        self.embedding = nn.Embedding(vocab_size, d_embed)
        self.dropout = nn.Dropout(dropout)
        first_class = GatedUnit if cell == "gated" else _ConcatGRUCell
        upper_cells = [nn.GRUCell(d_hidden, d_hidden) for _ in range(num_layers - 1)]
        self.cells = nn.ModuleList([first_class(d_embed, d_read, d_hidden), *upper_cells])
        for upper_cell in upper_cells:
            _orthogonal_recurrence(upper_cell)
        self.start_state = nn.Linear(d_enc_state, d_hidden)
        self.readout = nn.Linear(d_hidden + d_embed + d_enc, 2 * d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)

    def first_state(
        self, enc_state: Float[Tensor, "layers batch directions h"]
    ) -> Float[Tensor, "layers batch d"]:
        """s_0 = tanh(W_s h) of each layer, where h is the state of the backward direction (or of the only one)."""
        if enc_state.shape[0] != len(self.cells):
            raise ValueError(
                "encoder and decoder must have the same number of layers, "
                f"got {enc_state.shape[0]} and {len(self.cells)}: each layer's s_0 comes from the encoder's state there"
            )
        return torch.tanh(self.start_state(enc_state[:, :, -1]))

    def attend(
        self, query: Float[Tensor, "batch h"], memory: Any
    ) -> tuple[Float[Tensor, "batch d_enc"], Float[Tensor, "batch n"] | None]:
        """The context c_i of one step, and the weights or None; ``query`` is s_{i-1}."""
        raise NotImplementedError(f"{type(self).__name__} must define attend")

    def forward(
        self, tgt_in: Int[Tensor, "batch t"], memory: Any, state: Any
    ) -> tuple[Float[Tensor, "batch t words"], Any, Float[Tensor, "batch t n"] | None]:
        """Run the decoder over given words: all of them in training, one at a time in search.

        Args:
            tgt_in: y_{i-1} at each step, the beginning-of-sentence token first.
            memory: from :meth:`start`.
            state: s_{i-1} of each layer, from :meth:`start` or from the previous call.

        Returns:
            Unnormalised log-probabilities of the next word at each step, the last state of each layer, and
            the attention weights at each step (None without attention).
        """
        features, state, weights = self.features(tgt_in, memory, state)
        return self.output(self.read_out(features)), state, weights

    def features(
        self, tgt_in: Int[Tensor, "batch t"], memory: Any, state: Float[Tensor, "layers batch h"]
    ) -> tuple[
        Float[Tensor, "batch t d_features"],
        Float[Tensor, "layers batch h"],
        Float[Tensor, "batch t n"] | None,
    ]:
        """``[s_i; y_{i-1}; c_i]`` at each step, which the readout reads; otherwise as :meth:`forward`."""
        embedded = self.dropout(word_vectors(self.embedding, tgt_in=tgt_in))
        states, contexts, weights = [], [], []
        for y in embedded.unbind(1):
            context, step_weights = self.attend(state[-1], memory)  # the query is the last layer's s_{i-1}
            state = self.advance(y, context, state)
            states.append(state[-1])
            contexts.append(context)
            weights.append(step_weights)
        features = torch.cat([torch.stack(states, 1), embedded, torch.stack(contexts, 1)], dim=-1)
        return features, state, None if weights[0] is None else torch.stack(weights, 1)

    def advance(
        self,
        y: Float[Tensor, "batch d_y"],
        context: Float[Tensor, "batch d_read"],
        state: Float[Tensor, "layers batch h"],
    ) -> Float[Tensor, "layers batch h"]:
        """The next state of each layer, from the word, the context that the first cell reads, and the old states."""
        layers = [self.cells[0](y, context, state[0])]
        for cell, s in zip(self.cells[1:], state[1:], strict=True):
            layers.append(cell(self.dropout(layers[-1]), s))
        return torch.stack(layers)

    def read_out(self, features: Float[Tensor, "*batch d_features"]) -> Float[Tensor, "*batch h"]:
        """The maxout layer: what the vocabulary product reads."""
        return self.dropout(self.readout(features).unflatten(-1, (-1, 2)).amax(dim=-1))


class BahdanauDecoder(RecurrentDecoder):
    r"""The decoder with additive attention.

    .. math::
        e_{ij} &= w_v^\top \tanh(W_q s_{i-1} + W_k h_j) \\
        \alpha_{ij} &= \operatorname{softmax}_j(e_{ij}) \\
        c_i &= \textstyle\sum_j \alpha_{ij} h_j \\
        s_i &= \mathrm{GRU}([y_{i-1}; c_i], s_{i-1}) \\
        t_i &= \operatorname{maxout}(U [s_i; y_{i-1}; c_i]) \\
        p(y_i) &= \operatorname{softmax}(W_o t_i)

    The last two layers also have biases, which the formulas leave out.

    Args:
        vocab_size: number of target tokens.
        d_embed: width of the embedding of y.
        d_hidden: width of the state s.
        d_enc: width of the encoder's outputs h_j (``Encoder.d_out``).
        d_attention: hidden width of the scoring network; ``d_hidden`` if None.
        d_enc_state: width of one direction of the encoder, whose state gives s_0; ``d_enc // 2`` if None.
        num_layers: stacked recurrent layers, as many as the encoder has; the state of the last one is the query.
        dropout: probability of dropping each number of the embeddings, between layers and of the readout.
        cell: ``"gru"`` for PyTorch's cell on [y; c], ``"gated"`` for the paper's :class:`GatedUnit`.

    Source: Bahdanau et al. (2015), section 3.1 and appendix A.2. Explained in chapters/bahdanau_decoder.
    """

    def __init__(
        self,
        vocab_size: int,
        d_embed: int,
        d_hidden: int,
        d_enc: int,
        *,
        d_attention: int | None = None,
        **options,
    ):
        super().__init__(vocab_size, d_embed, d_hidden, d_enc, **options)
        d_attention = d_hidden if d_attention is None else d_attention
        self.attention = AdditiveAttention(d_hidden, d_enc, d_attention)

    def start(
        self,
        enc_outputs: Float[Tensor, "batch n d_enc"],
        enc_state: Float[Tensor, "layers batch directions h"],
        src_lens: Int[Tensor, " batch"],
    ) -> tuple[Memory, Float[Tensor, "layers batch d"]]:
        """The memory, with the keys projected once, and s_0."""
        mask = length_mask(src_lens, enc_outputs.shape[1])
        memory = Memory(enc_outputs, self.attention.project_keys(enc_outputs), mask)
        return memory, self.first_state(enc_state)

    def attend(
        self, query: Float[Tensor, "batch h"], memory: Memory
    ) -> tuple[Float[Tensor, "batch d_enc"], Float[Tensor, "batch n"]]:
        """Additive attention of the query s_{i-1} over the encoder's outputs."""
        context, weights = self.attention(
            query[:, None], None, memory.values, memory.mask, projected_keys=memory.projected_keys
        )
        return context.squeeze(1), weights.squeeze(1)


class FixedContextDecoder(RecurrentDecoder):
    """The same decoder without attention: every step sees the same summary of the sentence.

    The summary is the encoder's final state: the states of both directions side by side, each after it has read every
    word.
    Arguments as for :class:`BahdanauDecoder`, except ``d_attention``.

    Source: Cho et al. (2014), section 2.2. Explained in chapters/encoder_decoder.
    """

    def start(
        self,
        enc_outputs: Float[Tensor, "batch n d_enc"],
        enc_state: Float[Tensor, "layers batch directions h"],
        src_lens: Int[Tensor, " batch"],
    ) -> tuple[Memory, Float[Tensor, "layers batch d"]]:
        """The memory, which is the summary of each sentence, and s_0."""
        summary = enc_state[-1].flatten(1)[:, None]
        return Memory(summary), self.first_state(enc_state)

    def attend(
        self, query: Float[Tensor, "batch h"], memory: Memory
    ) -> tuple[Float[Tensor, "batch d_enc"], None]:
        """The summary of the sentence, whatever the query."""
        return memory.values.squeeze(1), None


class EncoderDecoder(nn.Module):
    """A translator: reads the source and predicts each target word from those before it.

    Args:
        encoder: a module that returns outputs and states as :class:`Encoder` does. It may read other things than ids,
            such as the patches of a picture: then a source has further axes, and its lengths count what it reads.
        decoder: one of this module, or any other :class:`Decoder`.

    Source: Sutskever et al. (2014); Cho et al. (2014). Explained in chapters/encoder_decoder.
    """

    def __init__(self, encoder: nn.Module, decoder: Decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(
        self,
        src: Int[Tensor, "batch n *item"],
        src_lens: Int[Tensor, " batch"],
        tgt_in: Int[Tensor, "batch t"],
    ) -> tuple[Float[Tensor, "batch t vocab"], Float[Tensor, "batch t n"] | None]:
        """Teacher forcing: logits of the next word at each step, and the attention weights or None.

        Raises:
            ValueError: lengths that do not fit, or ``tgt_in`` that does not hold one or more words for each sentence.
        """
        memory, state = self.start(src, src_lens)
        if tgt_in.dim() != 2 or len(tgt_in) != len(src) or not tgt_in.numel():
            raise ValueError(
                f"tgt_in must have shape (batch, t), with t at least 1 and a row for each of {len(src)} sentences, "
                f"got {tuple(tgt_in.shape)}"
            )
        logits, _, weights = self.decoder(tgt_in, memory, state)
        return logits, weights

    def start(self, src: Int[Tensor, "batch n *item"], src_lens: Int[Tensor, " batch"]) -> tuple[Any, Any]:
        """Read the source once: the decoder's memory and its first state."""
        enc_outputs, enc_state = self.encoder(src, src_lens)
        return self.decoder.start(enc_outputs, enc_state, src_lens)


def _orthogonal_recurrence(module: nn.GRU | nn.GRUCell) -> None:
    """Orthogonal recurrent matrices, one per gate, as in appendix B.1 of the paper."""
    for name, parameter in module.named_parameters():
        if name.startswith("weight_hh"):
            for gate in parameter.data.chunk(3):
                nn.init.orthogonal_(gate)
