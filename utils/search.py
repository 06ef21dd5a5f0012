"""Search for a translation: which words to write, given what the model thinks of each next word.

Works on token ids; turning ids into text belongs to ``corpus``, judging the text to ``evaluation``.
Explained in chapters/bahdanau_decoder.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from utils.corpus.vocabulary import BOS, EOS
from utils.seq2seq import EncoderDecoder
from utils.translator.fast import Layers, Sources, Steps

#: Stands in the place of a word where a hypothesis that has ended writes none.
_NOTHING = -1


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One translation.

    Attributes:
        tokens: the ids written, without beginning and end of sentence.
        log_prob: sum of the log-probabilities (natural) of its tokens and, if finished, of the end.
        weights: attention weights, a row a token and one more for the end if finished; or None.
        finished: False where the length limit came before the end of sentence.
    """

    tokens: list[int]
    log_prob: float
    weights: Float[Tensor, "rows n"] | None
    finished: bool

    def score(self, length_penalty: float = 1.0) -> float:
        r"""The log-probability over a power of the length, :math:`\log p / |y|^\alpha`, as beam search ranks it.

        The length counts the tokens and, if finished, the end. With an exponent of 1 it is the mean
        log-probability of a token, with 0 the log-probability itself, which is in favour of short sentences.
        """
        return self.log_prob / max(1, len(self.tokens) + self.finished) ** length_penalty


@torch.no_grad()
def greedy(
    model: EncoderDecoder, src: Int[Tensor, "batch n"], src_lens: Int[Tensor, " batch"], *, max_len: int
) -> list[Hypothesis]:
    """Write the likeliest word at each step, for a batch of sentences at once.

    Finished sentences leave the batch, so a step costs what the sentences left cost. The model works in
    the mode it is in: call ``model.eval()`` first, or dropout takes part.

    Args:
        src: padded source ids.
        src_lens: number of source tokens of each sentence.
        max_len: most tokens to write, the end of sentence not counted.

    Returns:
        One hypothesis a sentence, in the order of the batch.

    Raises:
        ValueError: a limit below 1.

    Explained in chapters/bahdanau_decoder.
    """
    _check_at_least_1(max_len=max_len)
    steps, layers, sources = _start(model, src, src_lens)
    batch = len(src)
    rows = torch.arange(batch, device=src.device)  # which sentence each row of the shrinking batch is
    words = src.new_full((batch, 1), BOS)
    log_probs = torch.zeros(batch, device=src.device)
    trace, attended = [], []
    for step in range(max_len + 1):
        logits, layers, weights = steps.predict(words, layers, sources)
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
            rows, words, layers, sources = (
                rows[alive],
                words[alive],
                [s[alive] for s in layers],
                sources.rows(alive),
            )
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
) -> list[list[Hypothesis]]:
    r"""Keep the best few translations at each step, for a batch of sentences at once.

    Each hypothesis that has not ended is continued with every word; of all these, and of those that have
    ended, which stay as they are, the best ``beam`` are kept. The score of a hypothesis is

    .. math:: \frac{\log p(y_1, \dots, y_m)}{m^{\alpha}}

    where m counts the end of sentence. A sentence whose hypotheses have all ended leaves the batch. The
    hypotheses of a sentence share its memory: they are so many queries about the same keys.

    Args:
        src: padded source ids.
        src_lens: number of source tokens of each sentence.
        beam: hypotheses kept a sentence; with 1 this is :func:`greedy`.
        max_len: most tokens to write, the end of sentence not counted.
        length_penalty: the exponent :math:`\alpha`; see :meth:`Hypothesis.score`.

    Returns:
        For each sentence its hypotheses, all different: finished ones first, then by score, the best first.
        There may be fewer than ``beam``, but only where there are not so many translations within the limit.

    Raises:
        ValueError: a beam or a limit below 1, or a negative exponent.

    Source: Graves (2012), algorithm 1, and Bahdanau et al. (2015), section 4.2.
    """
    _check_at_least_1(beam=beam, max_len=max_len)
    if length_penalty < 0:
        raise ValueError(f"length_penalty must not be negative, got {length_penalty}")
    steps, layers, sources = _start(model, src, src_lens)
    layers = [s.expand(-1, beam, -1) for s in layers]
    batch = len(src)
    rows = torch.arange(batch, device=src.device)  # which sentence each row of the shrinking batch is
    words = src.new_full((batch, beam), BOS)
    # All hypotheses are the same at first: one of them lives, the others are dead, of probability 0.
    log_probs = torch.full((batch, beam), -torch.inf, device=src.device)
    log_probs[:, 0] = 0.0
    ended, lengths = log_probs.isinf(), torch.zeros_like(log_probs)
    trace, origins, attended = [], [], []
    for step in range(max_len + 1):
        logits, layers, weights = steps.predict(words, layers, sources)
        log_p, choices = logits.float().log_softmax(dim=-1).topk(min(beam, logits.shape[-1]), dim=-1)
        stays = ended[rows, :, None]
        if step == max_len:  # an end may still be written where it is likeliest, and nothing else
            log_p, choices = log_p[..., :1], choices[..., :1]
            stays = stays | (choices != EOS)
        candidates = log_probs[rows, :, None] + log_p.masked_fill(stays, 0.0)
        candidates[..., 1:].masked_fill_(stays, -torch.inf)  # what stays as it is does so once
        new_lengths = lengths[rows, :, None] + ~stays
        scores = candidates / new_lengths.clamp(min=1) ** length_penalty
        best = scores.flatten(1).topk(beam, dim=1).indices
        origin = best // choices.shape[-1]
        log_probs[rows] = candidates.flatten(1).gather(1, best)
        lengths[rows] = new_lengths.squeeze(2).gather(1, origin)
        words = choices.masked_fill(stays, _NOTHING).flatten(1).gather(1, best)
        ended[rows] = stays.squeeze(2).gather(1, origin) | (words == EOS) | log_probs[rows].isinf()
        _record(trace, rows, words, words.new_full((batch, beam), _NOTHING))
        _record(origins, rows, origin, torch.arange(beam, device=src.device).repeat(batch, 1))
        if weights is not None:
            weights = _choose(weights, origin)
            _record(attended, rows, weights, weights.new_zeros(batch, beam, src.shape[1]))
        alive = (~ended[rows]).any(dim=1).nonzero().squeeze(1)
        if len(alive) == 0:
            break
        words, layers = words.clamp(min=0), [_choose(s, origin) for s in layers]
        if len(alive) < len(rows):
            rows, words, layers, sources = (
                rows[alive],
                words[alive],
                [s[alive] for s in layers],
                sources.rows(alive),
            )
    # From the last step back: what each hypothesis wrote stands where it came from.
    at = torch.arange(beam, device=src.device).repeat(batch, 1)
    for step in reversed(range(len(trace))):
        trace[step] = trace[step].gather(1, at)
        if attended:
            attended[step] = _choose(attended[step], at)
        at = origins[step].gather(1, at)
    tokens = torch.stack(trace, dim=2).tolist()
    by_sentence = torch.stack(attended, dim=2) if attended else [[None] * beam] * batch
    return [
        sorted(
            (_hypothesis(*parts, length) for parts in zip(*sentence, strict=True) if parts[1] > -torch.inf),
            key=lambda hypothesis: (hypothesis.finished, hypothesis.score(length_penalty)),
            reverse=True,
        )
        for *sentence, length in zip(tokens, log_probs.tolist(), by_sentence, src_lens.tolist(), strict=True)
    ]


def _start(model: EncoderDecoder, src: Tensor, src_lens: Tensor) -> tuple[Steps, Layers, Sources]:
    """What the steps of a search need, one query a sentence."""
    memory, hidden = model.start(src, src_lens)
    steps = Steps(model.decoder)
    return steps, [s[:, None] for s in hidden.unbind(0)], steps.arrange(memory)


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
