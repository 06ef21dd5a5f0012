"""Search for a translation: which words to write, given what the model thinks of each next word.

Works on token ids with any decoder; turning ids into text belongs to ``corpus``, judging the text to ``metrics``.
Explained in chapters/bahdanau_decoder.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from utils.corpus.vocabulary import BOS, EOS
from utils.seq2seq import EncoderDecoder

#: Stands for "no word" where a hypothesis has ended.
_NOTHING = -1


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One translation.

    Attributes:
        tokens: the ids written, without beginning and end of sentence.
        log_prob: sum of the log-probabilities (natural) of its tokens and, if finished, of the end.
        weights: attention weights, one row per token and one more for the end if finished; or None.
        finished: False where the length limit came before the end of sentence.
    """

    tokens: list[int]
    log_prob: float
    weights: Float[Tensor, "rows n"] | None
    finished: bool

    def score(self, length_penalty: float = 1.0) -> float:
        r"""The log-probability over a power of the length, :math:`\log p / |y|^\gamma`, as beam search ranks it.

        The length counts the tokens and, if finished, the end. With the exponent 1 the score is the mean
        log-probability of a token. With 0 it is the log-probability itself, which favours short sentences.
        """
        return self.log_prob / max(1, len(self.tokens) + self.finished) ** length_penalty


@runtime_checkable
class Steps(Protocol):
    """A model at work on one batch: it predicts a word for each hypothesis, and keeps those the search goes on with."""

    def predict(
        self, words: Int[Tensor, "batch beam"]
    ) -> tuple[Float[Tensor, "batch beam vocab"], Float[Tensor, "batch beam n"] | None]:
        """Read the last word of each hypothesis; return the logits of the next word, and the weights or None."""

    def keep(self, sentences: Int[Tensor, " rows"], origin: Int[Tensor, "rows beam"]) -> None:
        """Go on with some sentences; hypothesis b of a sentence continues its hypothesis ``origin[:, b]``."""


class DecoderSteps:
    """The steps of a search by calling the decoder, one word at a time. Every hypothesis is a row of the batch.

    Args:
        model: with any :class:`utils.seq2seq.Decoder`.
        src: padded source ids.
        src_lens: number of source tokens of each sentence.

    Explained in chapters/bahdanau_decoder.
    """

    def __init__(self, model: EncoderDecoder, src: Int[Tensor, "batch n"], src_lens: Int[Tensor, " batch"]):
        self._decoder = model.decoder
        self._memory, self._state = model.start(src, src_lens)
        self._shape = (len(src), 1)  # sentences, hypotheses per sentence

    def predict(
        self, words: Int[Tensor, "batch beam"]
    ) -> tuple[Float[Tensor, "batch beam vocab"], Float[Tensor, "batch beam n"] | None]:
        """See :class:`Steps`."""
        logits, self._state, weights = self._decoder(words.reshape(-1, 1), self._memory, self._state)
        return logits.unflatten(0, words.shape).squeeze(2), (
            None if weights is None else weights.unflatten(0, words.shape).squeeze(2)
        )

    def keep(self, sentences: Int[Tensor, " rows"], origin: Int[Tensor, "rows beam"]) -> None:
        """See :class:`Steps`."""
        rows = (sentences[:, None] * self._shape[1] + origin).flatten()
        self._state = _select(self._state, rows, dim=1)
        if (
            origin.shape != self._shape
        ):  # the hypotheses of a sentence have one memory: most steps leave it as it is
            self._memory = _select(self._memory, rows, dim=0)
            self._shape = tuple(origin.shape)


def _select(tensors: Any, index: Tensor, *, dim: int) -> Any:
    """The chosen rows of a tensor, or of each tensor of a (named) tuple."""
    if tensors is None:
        return None
    if isinstance(tensors, Tensor):
        return tensors.index_select(dim, index)
    parts = [_select(part, index, dim=dim) for part in tensors]
    return type(tensors)(*parts) if hasattr(tensors, "_fields") else tuple(parts)


#: What makes the steps of a search: a function of the model and the padded sources.
MakeSteps = Callable[[EncoderDecoder, Tensor, Tensor], Steps]


@torch.no_grad()
def greedy(
    model: EncoderDecoder,
    src: Int[Tensor, "batch n"],
    src_lens: Int[Tensor, " batch"],
    *,
    max_len: int,
    steps: MakeSteps = DecoderSteps,
) -> list[Hypothesis]:
    """Write the likeliest word at each step, for a batch of sentences at once.

    A finished sentence leaves the batch, so a step costs as much as the unfinished sentences need. The model works in
    the mode it is in: call ``model.eval()`` first, or dropout stays on.

    Args:
        src: padded source ids.
        src_lens: number of source tokens of each sentence.
        max_len: most tokens to write, the end of sentence not counted.
        steps: how the model is run; see :class:`Steps`.

    Returns:
        One hypothesis per sentence, in the order of the batch.

    Raises:
        ValueError: a limit below 1.

    Explained in chapters/bahdanau_decoder.
    """
    _check_at_least_1(max_len=max_len)
    running = steps(model, src, src_lens)
    batch = len(src)
    rows = torch.arange(batch, device=src.device)  # the sentence of each row of the shrinking batch
    words = src.new_full((batch, 1), BOS)
    log_probs = torch.zeros(batch, device=src.device)
    trace, attended = [], []
    for step in range(max_len + 1):
        logits, weights = running.predict(words)
        best = logits[:, 0].float().log_softmax(dim=-1).max(dim=-1)
        ends = best.indices == EOS
        writes = ends | (step < max_len)  # at the limit nothing is written but the end
        log_probs[rows] += torch.where(writes, best.values, 0.0)
        _record(trace, rows, torch.where(writes, best.indices, _NOTHING), src.new_full((batch,), _NOTHING))
        if weights is not None:
            _record(attended, rows, weights[:, 0], weights.new_zeros(batch, src.shape[1]))
        alive = (~ends).nonzero().squeeze(1)
        if len(alive) == 0:
            break
        words = best.indices[:, None]
        if len(alive) < len(rows):
            rows, words = rows[alive], words[alive]
            running.keep(alive, torch.zeros_like(words))
    tokens = torch.stack(trace, dim=1).tolist()
    by_sentence = torch.stack(attended, dim=1) if attended else [None] * batch
    return [
        _hypothesis(*parts)
        for parts in zip(tokens, log_probs.tolist(), by_sentence, src_lens.tolist(), strict=True)
    ]


@torch.no_grad()
def beam_search(
    model: EncoderDecoder,
    src: Int[Tensor, "batch n"],
    src_lens: Int[Tensor, " batch"],
    *,
    beam: int,
    max_len: int,
    length_penalty: float = 1.0,
    steps: MakeSteps = DecoderSteps,
) -> list[list[Hypothesis]]:
    r"""Keep the best few translations at each step, for a batch of sentences at once.

    Each unfinished hypothesis is continued with every word. Of all these continuations, and of the finished
    hypotheses, the best ``beam`` are kept. The score of a hypothesis is

    .. math:: \frac{\log p(y_1, \dots, y_m)}{m^{\gamma}}

    where m counts the end of sentence. A sentence whose hypotheses have all ended leaves the batch.

    Args:
        src: padded source ids.
        src_lens: number of source tokens of each sentence.
        beam: hypotheses per sentence; with 1 this is :func:`greedy`.
        max_len: most tokens to write, the end of sentence not counted.
        length_penalty: the exponent :math:`\gamma`; see :meth:`Hypothesis.score`.
        steps: how the model is run; see :class:`Steps`.

    Returns:
        For each sentence its hypotheses, all different: finished ones first, then by score, the best first.
        There are fewer than ``beam`` only where there are fewer translations within the limit.

    Raises:
        ValueError: a beam or a limit below 1, or a negative exponent.

    Source: Graves (2012), algorithm 1, and Bahdanau et al. (2015), section 4.2. Explained in
    chapters/sentence_length.
    """
    _check_at_least_1(beam=beam, max_len=max_len)
    if length_penalty < 0:
        raise ValueError(f"length_penalty must not be negative, got {length_penalty}")
    running = steps(model, src, src_lens)
    batch = len(src)
    rows = torch.arange(batch, device=src.device)  # the sentence of each row of the shrinking batch
    words = src.new_full((batch, beam), BOS)
    running.keep(rows, torch.zeros_like(words))
    # All hypotheses are equal at first, so one is alive and the others have probability 0.
    log_probs = torch.full((batch, beam), -torch.inf, device=src.device)
    log_probs[:, 0] = 0.0
    ended, lengths = log_probs.isinf(), torch.zeros_like(log_probs)
    same = torch.arange(beam, device=src.device).repeat(batch, 1)
    trace, origins, attended = [], [], []
    for step in range(max_len + 1):
        logits, weights = running.predict(words)
        log_p, choices = logits.float().log_softmax(dim=-1).topk(min(beam, logits.shape[-1]), dim=-1)
        stays = ended[rows, :, None]
        if step == max_len:  # at the limit nothing is written but the end, where it is the likeliest word
            log_p, choices = log_p[..., :1], choices[..., :1]
            stays = stays | (choices != EOS)
        candidates = log_probs[rows, :, None] + log_p.masked_fill(stays, 0.0)
        candidates[..., 1:].masked_fill_(
            stays, -torch.inf
        )  # an ended hypothesis is one candidate, not several
        new_lengths = lengths[rows, :, None] + ~stays
        scores = candidates / new_lengths.clamp(min=1) ** length_penalty
        best = scores.flatten(1).topk(beam, dim=1).indices
        origin = best // choices.shape[-1]
        log_probs[rows] = candidates.flatten(1).gather(1, best)
        lengths[rows] = new_lengths.squeeze(2).gather(1, origin)
        words = choices.masked_fill(stays, _NOTHING).flatten(1).gather(1, best)
        ended[rows] = stays.squeeze(2).gather(1, origin) | (words == EOS) | log_probs[rows].isinf()
        _record(trace, rows, words, torch.full_like(same, _NOTHING))
        _record(origins, rows, origin, same.clone())
        if weights is not None:
            _record(attended, rows, _choose(weights, origin), weights.new_zeros(batch, beam, src.shape[1]))
        alive = (~ended[rows]).any(dim=1).nonzero().squeeze(1)
        if len(alive) == 0:
            break
        rows, words = rows[alive], words[alive].clamp(min=0)
        running.keep(alive, origin[alive])
    tokens, by_sentence = _trace_back(trace, origins, attended, same)
    return [
        sorted(
            (_hypothesis(*parts, length) for parts in zip(*sentence, strict=True) if parts[1] > -torch.inf),
            key=lambda hypothesis: (hypothesis.finished, hypothesis.score(length_penalty)),
            reverse=True,
        )
        for *sentence, length in zip(tokens, log_probs.tolist(), by_sentence, src_lens.tolist(), strict=True)
    ]


def _trace_back(
    trace: list[Tensor], origins: list[Tensor], attended: list[Tensor], last: Tensor
) -> tuple[list, Tensor | list]:
    """The words and weights of each final hypothesis, gathered from the last step to the first."""
    words, weights, at = [], [], last
    for step in reversed(range(len(trace))):
        words.append(trace[step].gather(1, at))
        if attended:
            weights.append(_choose(attended[step], at))
        at = origins[step].gather(1, at)
    tokens = torch.stack(words[::-1], dim=2).tolist()
    return tokens, torch.stack(weights[::-1], dim=2) if attended else [[None] * last.shape[1]] * len(last)


def _record(trace: list[Tensor], rows: Tensor, values: Tensor, blank: Tensor) -> None:
    """Append what a step gave for the sentences still there, as a tensor for all sentences."""
    blank[rows] = values
    trace.append(blank)


def _choose(tensor: Tensor, index: Tensor) -> Tensor:
    """The hypotheses (second axis) that ``index`` names for each sentence (first axis)."""
    return tensor.gather(1, index[..., None].expand(-1, -1, tensor.shape[-1]))


def _hypothesis(written: list[int], log_prob: float, weights: Tensor | None, src_len: int) -> Hypothesis:
    """A hypothesis from what each step wrote, and the weights of these steps."""
    tokens = [word for word in written if word != _NOTHING]
    if weights is not None:
        weights = weights[: len(tokens), :src_len].clone()
    finished = tokens[-1:] == [EOS]
    return Hypothesis(tokens[:-1] if finished else tokens, log_prob, weights, finished)


def _check_at_least_1(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} must be at least 1, got {number}")
