"""Checks of the exercises of chapters/beam_search."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from utils.corpus.vocabulary import BOS, EOS
from utils.exercises.checking import as_number, as_parts, as_tensor, expect, show
from utils.exercises.tables import Case, against

#: The words of a toy translator, and for the words so far the probabilities of the next one.
_LE, _LA, _CHAT, _FLEUR = 4, 5, 6, 7
_NAMES = {BOS: "<bos>", EOS: "<eos>", _LE: "le", _LA: "la", _CHAT: "chat", _FLEUR: "fleur"}
_NEXT = {
    (BOS,): {_LE: 0.5, _LA: 0.4, EOS: 0.1},
    (BOS, _LE): {_CHAT: 0.4, _FLEUR: 0.35, EOS: 0.25},
    (BOS, _LA): {_FLEUR: 0.9, _CHAT: 0.1},
    (BOS, _LE, _CHAT): {EOS: 0.8, _FLEUR: 0.2},
    (BOS, _LE, _FLEUR): {EOS: 0.7, _CHAT: 0.3},
    (BOS, _LA, _FLEUR): {EOS: 0.6, _CHAT: 0.4},
    (BOS, _LE, _CHAT, _FLEUR): {EOS: 1.0},
}
#: The same for all other words, which a right program never reads: what goes on after the end, or with a wrong state.
_ASTRAY = {EOS: 0.55, _LE: 0.25, _CHAT: 0.2}


@dataclass(frozen=True)
class _Toy:
    """A translator with this table. Its state is the words that it has read."""

    first: tuple[int, ...] = ()

    def next(self, word: int, state: tuple[int, ...]) -> tuple[Tensor, tuple[int, ...]]:
        words = (*state, word)
        probabilities = torch.full((8,), 1e-6)
        for following, probability in _NEXT.get(words, _ASTRAY).items():
            probabilities[following] = probability
        return probabilities.log(), words


def _text(words: Sequence[int]) -> str:
    return " ".join(_NAMES.get(word, str(word)) for word in words)


def _words_or_number(part: object) -> str | float:
    numbers = as_tensor(part)
    return numbers.item() if numbers.numel() == 1 else _text(numbers.int().tolist())


@against(
    2,
    "Keep three things from step to step: the words, their log-probability, and the state.",
    "`log_probs, state = steps.next(words[-1], state)` reads the last word.",
    cases=[
        Case(
            "for the toy translator",
            (_Toy(), 10),
            "words and log-probability are those of <bos> le chat <eos>",
        ),
        Case("with max_len=2", (_Toy(), 2), hint="Count without <bos>."),
        Case("with max_len=1", (_Toy(), 1), "it stops at the limit", "Count without <bos>."),
    ],
    mistakes={
        "the words stop before <eos> | Write <eos>, too, and end then.": {"part": slice(-1)},
        "<bos> is missing | Begin with `[BOS]`.": {"part": slice(1, None)},
        "it goes on after the end | Stop when the last word is `EOS`.": {"end": None},
        "every word is read with the first state | Hand on the state that `steps.next` returned.": {
            "hand_on": False
        },
        "this is the most probable sentence | Take the best word at each step, and never go back.": (
            lambda steps, max_len: ([BOS, _LA, _FLEUR, EOS], math.log(0.216))
        ),
        "this is the probability | Add the logarithms.": {"total": lambda each: math.exp(sum(each))},
        "this is the logarithm of the last word alone | Add up.": {"total": lambda each: each[-1]},
        "the limit counts <bos>, too | Count without <bos>.": {"limit": lambda max_len: max_len - 1},
        "the limit has no effect | Count without <bos>.": {"limit": lambda max_len: 10},
    },
    parts=["words", "log_prob"],
    compared=_words_or_number,
)
def greedy_search(
    steps: _Toy, max_len: int, *, part=slice(None), total=sum, limit=int, end=EOS, hand_on=True
) -> tuple[list[int], float]:
    words, each, state = [BOS], [], steps.first
    while words[-1] != end and len(words) <= limit(max_len):
        log_probs, new = steps.next(words[-1], state)
        state = new if hand_on else state
        words.append(int(log_probs.argmax()))
        each.append(log_probs.max().item())
    return words[part], total(each)


def _kept(hypotheses: object) -> list[tuple]:
    """The hypotheses with words in place of numbers."""
    expect(isinstance(hypotheses, list | tuple), f"the result is {show(hypotheses)}; expected a list.")
    kept = []
    for words, log_prob, state in (as_parts(one, "words", "log_prob", "state") for one in hypotheses):
        text = _text(as_tensor(words, name="words").int().tolist())
        number = round(as_number(log_prob, name="log_prob"), 3)
        kept.append((text, number, _text(state) if isinstance(state, tuple) else state))
    return kept


_LE_AND_LA = [([BOS, _LE], math.log(0.5), (BOS,)), ([BOS, _LA], math.log(0.4), (BOS,))]
_ONE_ENDS = "from *le chat* and an empty finished sentence"
_LE_CHAT_AND_END = [([BOS, _LE, _CHAT], math.log(0.2), (BOS, _LE)), ([BOS, EOS], math.log(0.19), (BOS,))]
_ONE = "One hypothesis is left: <bos> and the most probable next word, with the state that `steps.next` returned."
_SEVERAL = "Continue the hypothesis with its `beam` most probable next words."
_ALL = "The best of *all* continuations are kept, best first; the log-probability of the beginning counts."
_DIVIDE = "Divide the log-probability by the number of words."


@against(
    1,
    "Collect the continuations of all hypotheses in one list, sort it by `score_of`, and return the first `beam`.",
    "A hypothesis whose last word is `EOS` goes into the list as it is.",
    cases=[
        Case(says, (_Toy(), hypotheses, beam, gamma), f"{says}, the right hypotheses are kept", hint)
        for says, hypotheses, beam, gamma, hint in (
            ("from <bos> with a beam of 1", [([BOS], 0.0, ())], 1, 1, _ONE),
            ("from <bos> with a beam of 2", [([BOS], 0.0, ())], 2, 1, _SEVERAL),
            ("from *le* and *la* with a beam of 2", _LE_AND_LA, 2, 0, _ALL),
            (f"{_ONE_ENDS}, with gamma 0", _LE_CHAT_AND_END, 2, 0, "The score is the log-probability."),
            (f"{_ONE_ENDS}, with gamma 1", _LE_CHAT_AND_END, 2, 1, _DIVIDE),
        )
    ],
    mistakes={
        "the finished hypothesis is lost | Put it into the list as it is.": {"ended": False},
        "the states are the old ones | Keep the state that `steps.next` returned.": {"old_state": True},
        "each log-probability is that of the last word alone | Add that of the hypothesis.": {"start": 0},
        "more than `beam` hypotheses are kept | Return the first `beam`.": {"cut": False},
        f"a hypothesis has one continuation only | {_SEVERAL}": {"each": 1},
        f"gamma has no effect | {_DIVIDE}": lambda *inputs: beam_step.program(*inputs[:3], 0),
        "the finished hypothesis is continued | Put it into the list as it is.": {"ended": None},
        "the first continuations are kept, and not the best | Sort all of them by `score_of`.": {
            "order": None
        },
        "the worst come first | Sort with `reverse=True`.": {"order": False},
        "the score is stored in place of the log-probability | `score_of` only decides the order.": (
            lambda *inputs: [
                (words, log_prob / (len(words) - 1) ** inputs[3], state)
                for words, log_prob, state in beam_step.program(*inputs)
            ]
        ),
    },
    compared=_kept,
)
def beam_step(
    steps, hypotheses, beam, gamma, *, ended=True, old_state=False, start=1, each=None, cut=True, order=True
) -> list[tuple]:
    candidates = []
    for words, log_prob, state in hypotheses:
        if words[-1] == EOS and ended is not None:
            candidates += [(words, log_prob, state)] if ended else []
            continue
        log_probs, new = steps.next(words[-1], state)
        for word in log_probs.topk(each or beam).indices.tolist():
            total = start * log_prob + log_probs[word].item()
            candidates.append(([*words, word], total, state if old_state else new))
    if order is not None:
        candidates.sort(key=lambda new: new[1] / (len(new[0]) - 1) ** gamma, reverse=order)
    return candidates[:beam] if cut else candidates
