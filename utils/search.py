"""Search for a translation: choose its words by the probabilities that the model gives to each next word.

Works on token ids with any decoder; ``corpus`` turns ids into text, and ``metrics`` scores the text.
Explained in chapters/encoder_decoder, chapters/beam_search and chapters/gpt.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from utils.checks import check_count, check_number
from utils.corpus.vocabulary import BOS, EOS, PAD
from utils.errors import check_logits
from utils.seq2seq import EncoderDecoder

__all__ = [
    "DecoderSteps",
    "Hypothesis",
    "MakeSteps",
    "Steps",
    "beam_search",
    "greedy",
    "next_word_probabilities",
]

#: Stands in place of a word id where a hypothesis has ended.
_NO_WORD = -1


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One translation.

    Attributes:
        tokens: the token ids, without beginning and end of sentence.
        log_prob: sum of the log-probabilities (natural) of its tokens and, if finished, of the end.
        weights: attention weights, one row per token and one more for the end if finished; or None.
        finished: False if the search stopped before the end of sentence, at the length limit.
    """

    tokens: list[int]
    log_prob: float
    weights: Float[Tensor, "rows n"] | None
    finished: bool

    def score(self, length_penalty: float = 1.0) -> float:
        r"""The log-probability over a power of the length, :math:`\log p / |y|^\gamma`, as beam search ranks it.

        The length counts the tokens and, if finished, the end. With the exponent 1 the score is the mean
        log-probability of a token. With 0 it is the log-probability itself, which favours short sentences.

        Raises:
            ValueError: an exponent that is negative or not finite.
        """
        check_number(0, length_penalty=length_penalty)
        # A power with a negative exponent may become 0, where the power itself would be too large for a number.
        return self.log_prob * max(1, len(self.tokens) + self.finished) ** -length_penalty


@runtime_checkable
class Steps(Protocol):
    """A model that translates one batch step by step: it predicts words, and keeps the hypotheses to continue."""

    def predict(
        self, words: Int[Tensor, "batch beam"]
    ) -> tuple[Float[Tensor, "batch beam vocab"], Float[Tensor, "batch beam n"] | None]:
        """Read the last word of each hypothesis; return the logits of the next word, and the weights or None."""
        ...

    def keep(self, sentences: Int[Tensor, " rows"], origin: Int[Tensor, "rows beam"]) -> None:
        """Continue some of the sentences; hypothesis b of each continues its former hypothesis ``origin[:, b]``."""


class DecoderSteps:
    """Run a search by calling the decoder, one word at a time. Every hypothesis is a row of the batch.

    Args:
        model: with any :class:`utils.seq2seq.Decoder`.
        src: padded source ids.
        src_lens: number of source tokens of each sentence.

    Explained in chapters/bahdanau_decoder.
    """

    def __init__(
        self, model: EncoderDecoder, src: Int[Tensor, "batch n *item"], src_lens: Int[Tensor, " batch"]
    ):
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
        # All hypotheses of a sentence have the same memory, so it changes only with the number of rows.
        if origin.shape != self._shape:
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


#: A function that makes :class:`Steps` from the model, the padded sources and their lengths.
MakeSteps = Callable[[EncoderDecoder, Tensor, Tensor], Steps]


@torch.no_grad()
def greedy(
    model: EncoderDecoder,
    src: Int[Tensor, "batch n *item"],
    src_lens: Int[Tensor, " batch"],
    *,
    max_len: int,
    no_repeat_ngram: int = 0,
    steps: MakeSteps = DecoderSteps,
) -> list[Hypothesis]:
    """Write the likeliest word at each step, for a batch of sentences at once.

    Padding and the beginning of sentence are never written, even where they are the likeliest. The probabilities of
    the other words stay as the model gives them. At the length limit the end of sentence is not forced: a translation
    that has ``max_len`` tokens ends if its end is now the likeliest word, and otherwise stays unfinished.

    Finished sentences leave the batch, so the cost of a step depends only on the unfinished ones. Call
    ``model.eval()`` first: in training mode dropout stays on.

    Args:
        src: padded source ids.
        src_lens: number of source tokens of each sentence.
        max_len: largest number of tokens in a translation, without the end of sentence.
        no_repeat_ngram: with n, no sequence of n tokens is written twice in a translation; 0 allows it. The end of
            sentence is always allowed. A translation for which no word is left stays unfinished.
        steps: how the model is run; see :class:`Steps`.

    Returns:
        One hypothesis per sentence, in the order of the batch.

    Raises:
        ValueError: ``max_len`` below 1, or a negative ``no_repeat_ngram``.
        FloatingPointError: logits that are NaN or plus infinity.

    Explained in chapters/encoder_decoder.
    """
    check_count(1, max_len=max_len)
    check_count(0, no_repeat_ngram=no_repeat_ngram)
    runner = steps(model, src, src_lens)
    batch = len(src)
    rows = torch.arange(batch, device=src.device)  # the sentence of each row of the shrinking batch
    words, written = src.new_full((batch, 1), BOS), src.new_empty(batch, 1, 0)
    log_probs = torch.zeros(batch, device=src.device)
    word_steps, weight_steps = [], []
    for step in range(max_len + 1):
        logits, weights = runner.predict(words)
        best = _log_probs(logits, written, no_repeat_ngram)[:, 0].max(dim=-1)
        ends = best.indices == EOS
        # At the limit only the end of sentence is written, and nothing where no word is possible.
        writes = (ends | (step < max_len)) & ~best.values.isneginf()
        log_probs[rows] += torch.where(writes, best.values, 0.0)
        step_words = torch.where(writes, best.indices, _NO_WORD)
        _record(word_steps, rows, step_words, src.new_full((batch,), _NO_WORD))
        if weights is not None:
            _record(weight_steps, rows, weights[:, 0], weights.new_zeros(batch, src.shape[1]))
        unfinished = (writes & ~ends).nonzero().squeeze(1)
        if len(unfinished) == 0:
            break
        words = best.indices[:, None]
        written = torch.cat([written, words[..., None]], dim=2)
        if len(unfinished) < len(rows):
            rows, words, written = rows[unfinished], words[unfinished], written[unfinished]
            runner.keep(unfinished, torch.zeros_like(words))
    tokens = torch.stack(word_steps, dim=1).tolist()
    row_weights = torch.stack(weight_steps, dim=1) if weight_steps else [None] * batch
    return [
        _hypothesis(*parts)
        for parts in zip(tokens, log_probs.tolist(), row_weights, src_lens.tolist(), strict=True)
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
    no_repeat_ngram: int = 0,
    steps: MakeSteps = DecoderSteps,
) -> list[list[Hypothesis]]:
    r"""Keep the best few translations at each step, for a batch of sentences at once.

    Each unfinished hypothesis is continued with every word. Of all these continuations, and of the finished
    hypotheses, the best ``beam`` are kept. The score of a hypothesis is

    .. math:: \frac{\log p(y_1, \dots, y_m)}{m^{\gamma}}

    where m counts the end of sentence. A sentence whose hypotheses have all ended leaves the batch. What may be
    written, and what happens at the length limit, is as in :func:`greedy`.

    Args:
        src: padded source ids.
        src_lens: number of source tokens of each sentence.
        beam: hypotheses per sentence; with 1 this is :func:`greedy`.
        max_len: largest number of tokens in a translation, without the end of sentence.
        length_penalty: the exponent :math:`\gamma`; see :meth:`Hypothesis.score`.
        no_repeat_ngram: as for :func:`greedy`, in each hypothesis.
        steps: how the model is run; see :class:`Steps`.

    Returns:
        For each sentence its hypotheses, all different: finished ones first, then by score, the best first.
        There are fewer than ``beam`` only if fewer different translations fit within the limit.

    Raises:
        ValueError: ``beam`` or ``max_len`` below 1, or a negative exponent or ``no_repeat_ngram``.
        FloatingPointError: logits that are NaN or plus infinity.

    Source: Graves (2012), algorithm 1, and Bahdanau et al. (2015), section 4.2. Explained in
    chapters/beam_search.
    """
    check_count(1, beam=beam, max_len=max_len)
    check_count(0, no_repeat_ngram=no_repeat_ngram)
    check_number(0, length_penalty=length_penalty)
    runner = steps(model, src, src_lens)
    batch = len(src)
    rows = torch.arange(batch, device=src.device)  # the sentence of each row of the shrinking batch
    words, written = src.new_full((batch, beam), BOS), src.new_empty(batch, beam, 0)
    runner.keep(rows, torch.zeros_like(words))
    # The hypotheses of a sentence are equal at first, so all but one start with probability 0.
    log_probs = torch.full((batch, beam), -torch.inf, device=src.device)
    log_probs[:, 0] = 0.0
    has_ended, lengths = log_probs.isinf(), torch.zeros_like(log_probs)
    identity = torch.arange(beam, device=src.device).repeat(batch, 1)
    word_steps, origins, weight_steps = [], [], []
    for step in range(max_len + 1):
        logits, weights = runner.predict(words)
        log_p, choices = _log_probs(logits, written, no_repeat_ngram).topk(
            min(beam, logits.shape[-1]), dim=-1
        )
        # A hypothesis for which no word is possible stays as it is, too.
        unchanged = has_ended[rows, :, None] | log_p[..., :1].isneginf()
        if step == max_len:  # only the end of sentence is written here, where it is the likeliest word
            log_p, choices = log_p[..., :1], choices[..., :1]
            unchanged = unchanged | (choices != EOS)
        candidates = log_probs[rows, :, None] + log_p.masked_fill(unchanged, 0.0)
        # A hypothesis that has ended is one candidate, not one per word.
        candidates[..., 1:].masked_fill_(unchanged, -torch.inf)
        new_lengths = lengths[rows, :, None] + ~unchanged
        ranks = _ranks(candidates, new_lengths, length_penalty)
        best = ranks.flatten(1).topk(beam, dim=1).indices
        origin = best // choices.shape[-1]
        log_probs[rows] = candidates.flatten(1).gather(1, best)
        lengths[rows] = new_lengths.squeeze(2).gather(1, origin)
        words = choices.masked_fill(unchanged, _NO_WORD).flatten(1).gather(1, best)
        has_ended[rows] = unchanged.squeeze(2).gather(1, origin) | (words == EOS) | log_probs[rows].isinf()
        _record(word_steps, rows, words, torch.full_like(identity, _NO_WORD))
        _record(origins, rows, origin, identity.clone())
        if weights is not None:
            no_weights = weights.new_zeros(batch, beam, src.shape[1])
            _record(weight_steps, rows, _choose(weights, origin), no_weights)
        unfinished = (~has_ended[rows]).any(dim=1).nonzero().squeeze(1)
        if len(unfinished) == 0:
            break
        written = torch.cat([_choose(written, origin), words[..., None]], dim=2)[unfinished]
        rows, words = rows[unfinished], words[unfinished].clamp(min=0)
        runner.keep(unfinished, origin[unfinished])
    tokens, row_weights = _trace_back(word_steps, origins, weight_steps, identity)
    ranks = _ranks(log_probs.cpu().double(), lengths.cpu().double(), length_penalty).tolist()
    return [
        _best_first(zip(*sentence, strict=True), length)
        for *sentence, length in zip(
            ranks, tokens, log_probs.tolist(), row_weights, src_lens.tolist(), strict=True
        )
    ]


def _ranks(
    log_probs: Float[Tensor, "batch beam *words"],
    lengths: Float[Tensor, "batch beam *#words"],
    length_penalty: float,
) -> Float[Tensor, "batch beam *words"]:
    """Numbers in the order of the scores log p / m^γ; minus infinity for what is impossible.

    They are γ log m - log(-log p), since powers may be too large for a number. The longest length is the unit: its
    logarithm is 0, so that the probabilities decide between hypotheses of this length, however large γ is.
    (From 1e30 on it would be infinite in float32, and with less the longest is the best already.)
    """
    lengths = lengths.clamp(min=1)
    return (
        min(length_penalty, 1e30) * (lengths / lengths.amax(dim=1, keepdim=True)).log() - (-log_probs).log()
    )


def _log_probs(
    logits: Float[Tensor, "batch beam vocab"], written: Int[Tensor, "batch beam t"], n: int
) -> Float[Tensor, "batch beam vocab"]:
    """The log-probability of each next word; minus infinity for one that must not be written.

    That is padding, the beginning of sentence, and with n > 0 a word that would repeat n words of its hypothesis.
    """
    check_logits(logits)
    log_p = logits.float().log_softmax(dim=-1)
    log_p[..., PAD] = log_p[..., BOS] = -torch.inf
    if 0 < n <= written.shape[-1]:
        ngrams = written.unfold(-1, n, 1)
        last = written[..., None, written.shape[-1] - (n - 1) :]
        repeats = (ngrams[..., :-1] == last).all(dim=-1)
        # Padding stands in place of what need not be forbidden, as it is forbidden already. An ended hypothesis,
        # which has no word (a negative number) at its end, is not continued.
        log_p.scatter_(-1, torch.where(repeats, ngrams[..., -1], PAD).clamp(min=PAD), -torch.inf)
    return log_p


def next_word_probabilities(
    logits: Float[Tensor, "*batch vocab"], *, temperature: float = 1.0, top_p: float = 1.0
) -> Float[Tensor, "*batch vocab"]:
    """The probabilities from which the next word is drawn, with a temperature and without improbable words.

    The logits are divided by the temperature before the softmax. Then only the most probable words stay, the
    fewest whose probabilities add up to at least ``top_p``; the others get 0, and the rest is divided by its sum.
    Of equally probable words, the one with the smaller number counts as more probable.

    Probabilities are added up in float64. A sum that is at most 8 ε top_p (1 - top_p) below ``top_p`` counts as
    reaching it, since rounding logits of size 8 can change the sum by as much. Here ε is the machine epsilon of the
    dtype of the logits, at least that of float32.

    Args:
        logits: unnormalised log-probabilities of each next word; minus infinity excludes a word.
        temperature: below 1, the probable words become more probable; above 1, the improbable ones do. With infinity
            all words that are not excluded are equally probable.
        top_p: probability that the kept words reach together; with 1 all words stay. At least one word is kept.

    Raises:
        ValueError: a temperature that is not positive, a ``top_p`` that is not above 0 and at most 1, or logits that
            are whole numbers.
        FloatingPointError: logits among which the largest is not finite, as where all words are excluded.

    >>> logits = torch.tensor([0.5, 0.25, 0.125, 0.125]).log()
    >>> next_word_probabilities(logits, top_p=0.75)
    tensor([0.6667, 0.3333, 0.0000, 0.0000])

    Source: Holtzman et al. (2020), section 3.1 for ``top_p`` and 3.3 for the temperature. Explained in
    chapters/gpt.
    """
    if not temperature > 0:
        raise ValueError(
            f"temperature must be positive, got {temperature}: with utils.fast_decoding.generate or, for a translator, "
            "utils.search.greedy, the most probable word is always written"
        )
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
    check_logits(logits)
    dtype = torch.promote_types(logits.dtype, torch.float32)
    eps = max(torch.finfo(logits.dtype).eps, torch.finfo(torch.float32).eps)
    # In float64 so that no rounding of ours decides, and on the CPU because some GPUs have no float64.
    exact = logits.cpu().double()
    largest = exact.amax(dim=-1, keepdim=True)
    # The largest logit becomes 0. A very small temperature makes the others minus infinity, but none plus infinity.
    # An infinite one would make minus infinity NaN.
    scaled = ((exact - largest) / temperature).masked_fill(exact == -torch.inf, -torch.inf)
    probabilities = scaled.softmax(dim=-1)
    if top_p < 1:
        ordered, words = probabilities.sort(dim=-1, descending=True, stable=True)
        # A word stays if those before it do not reach top_p, so the first always stays.
        before = ordered.cumsum(dim=-1) - ordered
        reached = before >= top_p - 8 * eps * top_p * (1 - top_p)
        nucleus = ordered.masked_fill(reached, 0.0)
        probabilities = torch.zeros_like(nucleus).scatter(
            -1, words, nucleus / nucleus.sum(dim=-1, keepdim=True)
        )
    return probabilities.to(logits.device, dtype)


def _trace_back(
    word_steps: list[Tensor], origins: list[Tensor], weight_steps: list[Tensor], last: Tensor
) -> tuple[list, Tensor | list]:
    """The words and weights of each final hypothesis, gathered from the last step to the first."""
    words, weights, at = [], [], last
    for step in reversed(range(len(word_steps))):
        words.append(word_steps[step].gather(1, at))
        if weight_steps:
            weights.append(_choose(weight_steps[step], at))
        at = origins[step].gather(1, at)
    tokens = torch.stack(words[::-1], dim=2).tolist()
    if not weight_steps:
        return tokens, [[None] * last.shape[1]] * len(last)
    return tokens, torch.stack(weights[::-1], dim=2)


def _record(steps: list[Tensor], rows: Tensor, values: Tensor, blank: Tensor) -> None:
    """Append the values of a step as a tensor for all sentences; finished sentences have ``blank``."""
    blank[rows] = values
    steps.append(blank)


def _choose(tensor: Tensor, index: Tensor) -> Tensor:
    """Select the hypotheses (second axis) with the numbers ``index`` of each sentence (first axis)."""
    return tensor.gather(1, index[..., None].expand(-1, -1, tensor.shape[-1]))


def _hypothesis(words: list[int], log_prob: float, weights: Tensor | None, src_len: int) -> Hypothesis:
    """Make a hypothesis from the word and the weights of each step."""
    tokens = [word for word in words if word != _NO_WORD]
    if weights is not None:
        weights = weights[: len(tokens), :src_len].clone()
    finished = tokens[-1:] == [EOS]
    return Hypothesis(tokens[:-1] if finished else tokens, log_prob, weights, finished)


def _best_first(parts: Iterable[tuple], src_len: int) -> list[Hypothesis]:
    """The hypotheses of a sentence: finished ones first, then by rank. Impossible ones are left out."""
    ranked = [
        (rank, _hypothesis(words, log_prob, weights, src_len))
        for rank, words, log_prob, weights in parts
        if log_prob > -torch.inf
    ]
    ranked.sort(key=lambda pair: (pair[1].finished, pair[0]), reverse=True)
    return [hypothesis for _, hypothesis in ranked]
