"""Checks of the exercises of chapters/beam_search."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from utils.corpus.vocabulary import BOS, EOS
from utils.exercises.checking import (
    ReadersFunction,
    as_parts,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_distribution,
    expect_numbers,
    show,
)

#: The words of a toy translator.
_LE, _LA, _CHAT, _FLEUR = 4, 5, 6, 7
_NAMES = {BOS: "<bos>", EOS: "<eos>", _LE: "le", _LA: "la", _CHAT: "chat", _FLEUR: "fleur"}


@dataclass(frozen=True)
class _Toy:
    """A translator with a table: the words so far, and the probabilities of the next one. Its state is the words."""

    table: Mapping[tuple[int, ...], Mapping[int, float]]
    first: tuple[int, ...] = ()

    def next(self, word: int, state: tuple[int, ...]) -> tuple[torch.Tensor, tuple[int, ...]]:
        words = (*state, word)
        if words not in self.table:
            raise ValueError(
                f"the state is that of {_text(state)!r}, after which {_text([word])!r} does not follow"
            )
        probabilities = torch.full((8,), 1e-6)
        for following, probability in self.table[words].items():
            probabilities[following] = probability
        return probabilities.log(), words


def _text(words: Sequence[int]) -> str:
    return " ".join(_NAMES.get(word, str(word)) for word in words)


_SENTENCES = {
    (BOS,): {_LE: 0.5, _LA: 0.4, EOS: 0.1},
    (BOS, _LE): {_CHAT: 0.4, _FLEUR: 0.3, EOS: 0.3},
    (BOS, _LA): {_FLEUR: 0.9, _CHAT: 0.1},
    (BOS, _LE, _CHAT): {EOS: 0.8, _FLEUR: 0.2},
    (BOS, _LE, _FLEUR): {EOS: 0.7, _CHAT: 0.3},
    (BOS, _LA, _FLEUR): {EOS: 0.6, _CHAT: 0.4},
    (BOS, _LE, _CHAT, _FLEUR): {EOS: 1.0},
}


@exercise(
    1,
    "Keep three things from step to step: the words, their log-probability, and the state.",
    "`log_probs, state = steps.next(words[-1], state)` reads the last word.",
)
def greedy_search(answer: ReadersFunction) -> Iterator[str]:
    words, log_prob = as_parts(answer(_Toy(_SENTENCES), 10), "words", "log_prob")
    found = as_tensor(words, "Words are numbers.", name="words").int().tolist()
    right, case = [BOS, _LE, _CHAT, EOS], "for the toy translator"
    expect(found != right[:3], f"{case} the words stop before <eos>.", "Write <eos>, too, and end then.")
    expect(found != right[1:], f"{case} <bos> is missing.", "Begin with `[BOS]`.")
    expect(
        found != [BOS, _LA, _FLEUR, EOS],
        f"{case} the words are those of the most probable sentence; expected those of greedy search.",
        "Take the most probable word at each step, and never go back.",
    )
    expect(found == right, f"{case} the words are {_text(found)!r}; expected {_text(right)!r}.")
    yield f"{case}: {_text(right)}"
    mistakes = (
        (0.16, "this is the probability", "Add the logarithms."),
        (math.log(0.2), "<eos> is left out", "The end has a probability, too."),
        (math.log(0.8), "this is the logarithm of the last word alone", "Add up."),
    )
    expect_numbers({"log_prob": log_prob}, [math.log(0.16)], mistakes)
    yield "its log-probability is that of all its words, <eos> included"
    for limit in (1, 2):
        words, _ = as_parts(answer(_Toy(_SENTENCES), limit), "words", "log_prob")
        found = as_tensor(words, name="words").int().tolist()
        limited = f"with max_len={limit} the words are {_text(found)!r}"
        expect(
            found == right[: limit + 1],
            f"{limited}; expected {_text(right[: limit + 1])!r}.",
            "Count without <bos>.",
        )
    yield "it stops at the limit"


@exercise(
    2,
    "Collect the continuations of all hypotheses in one list, sort it by `score_of`, and return the first `beam`.",
    "A hypothesis whose last word is `EOS` goes into the list as it is.",
)
def beam_step(answer: ReadersFunction) -> Iterator[str]:
    steps = _Toy(_SENTENCES)
    le, la = ([BOS, _LE], math.log(0.5), (BOS,)), ([BOS, _LA], math.log(0.4), (BOS,))
    short, chat = ([BOS, EOS], math.log(0.19), (BOS,)), ([BOS, _LE, _CHAT], math.log(0.2), (BOS, _LE))
    finished = "Put a finished hypothesis into the list as it is."
    cases = (
        ([([BOS], 0.0, ())], 1, 1, [[BOS, _LE]], "from <bos> with a beam of 1", "This is greedy search."),
        (
            [le, la],
            2,
            0,
            [[BOS, _LA, _FLEUR], [BOS, _LE, _CHAT]],
            "from *le* and *la* with a beam of 2",
            "The best of *all* continuations are kept, best first; the log-probability of the beginning counts.",
        ),
        (
            [le, short],
            2,
            0,
            [[BOS, _LE, _CHAT], [BOS, EOS]],
            "with a finished hypothesis and gamma 0",
            finished,
        ),
        (
            [chat, short],
            2,
            0,
            [[BOS, EOS], [BOS, _LE, _CHAT, EOS]],
            "from *le chat* and an empty finished sentence, with gamma 0",
            "With gamma 0 the score is the log-probability.",
        ),
        (
            [chat, short],
            2,
            1,
            [[BOS, _LE, _CHAT, EOS], [BOS, _LE, _CHAT, _FLEUR]],
            "from *le chat* and an empty finished sentence, with gamma 1",
            "Divide the log-probability by the number of words.",
        ),
    )
    for hypotheses, beam, gamma, right, case, hint in cases:
        kept = answer(steps, hypotheses, beam, gamma)
        expect(isinstance(kept, list | tuple), f"{case} the result is {show(kept)}; expected a list.", hint)
        parts = [as_parts(one, "words", "log_prob", "state") for one in kept]  # type: ignore[attr-defined]
        texts = [_text(as_tensor(words, name="words").int().tolist()) for words, _, _ in parts]
        wanted = [_text(words) for words in right]
        expect(texts == wanted, f"{case} it keeps {', '.join(texts)}; expected {', '.join(wanted)}.", hint)
        for words, log_prob, state in parts:
            text = _text(words)
            sum_ = _log_probability(tuple(words), short)
            last = sum_ - _log_probability(tuple(words[:-1]), short)
            alone = (
                last,
                "this is that of the last word alone",
                "Add it to the log-probability of the hypothesis.",
            )
            expect_close(log_prob, sum_, f"{case}, {text!r}", name="the log-probability", mistakes=[alone])
            read = (BOS,) if len(words) == 2 and words[-1] == EOS else tuple(words[:-1])
            old = "Keep the state that `steps.next` returned."
            expect(
                state == read,
                f"{case} the state of {text!r} is not the one after its last word was read.",
                old,
            )
        yield f"{case}: {', '.join(wanted)}"


def _log_probability(words: tuple[int, ...], short: tuple) -> float:
    """The logarithm of the probability of a toy sentence; the finished one is given."""
    if list(words) == short[0]:
        return short[1]
    return sum(math.log(_SENTENCES[words[:i]][words[i]]) for i in range(1, len(words)))


@exercise(
    3,
    "The most probable sentence must begin with the word that the beam drops in its first step.",
    "After the dropped word, let one word be nearly certain. After the two other words, let all three be about equal.",
)
def missed_by_the_beam(first: object, second: object) -> Iterator[str]:
    three = "There is a probability for each of the words 0, 1 and 2."
    start = as_tensor(first, three, shape=(3,), name="first").double()
    rows = "Row i has the probabilities of the words that follow word i."
    then = as_tensor(second, rows, shape=(3, 3), name="second").double()
    expect_distribution(start.tolist(), "first", tolerance=1e-3)
    columns_sum, rows_sum = (((then.sum(dim=dim) - 1).abs() < 1e-3).all() for dim in (0, 1))
    expect(rows_sum or not columns_sum, "the columns of second sum to 1; expected 1 for each row.", rows)
    for word in range(3):
        expect_distribution(then[word].tolist(), f"second[{word}]", tolerance=1e-3)
    yield "first and each row of second are probabilities"
    order = start.argsort(descending=True, stable=True).tolist()
    kept_words, dropped_word = sorted(order[:2]), order[2]
    expect(
        start[order[1]] - start[dropped_word] > 1e-6,
        f"in first, {show(start)}, the words {min(order[1:])} and {max(order[1:])} are equally probable: "
        "which of them the beam keeps is an accident.",
        "Make one word of the three less probable than the two others.",
    )
    both = start[:, None] * then

    def best_of(words: list[int]) -> tuple[float, str]:
        at = int(both[words].argmax())
        return both[words].max().item(), f"{words[at // 3]} {at % 3}"

    kept, words_of_beam = best_of(kept_words)
    dropped, dropped_words = best_of([dropped_word])
    case = (
        f"the beam keeps the words {kept_words[0]} and {kept_words[1]}, and finds the sentence {words_of_beam} with "
        f"the probability {show(kept)}"
    )
    expect(
        dropped > kept + 1e-6,
        f"{case}, which is the most probable one.",
        f"The best sentence that begins with the dropped word {dropped_word} is {dropped_words}, with "
        f"{show(dropped)}. Make it more probable.",
    )
    yield f"{case}; the sentence {dropped_words} has {show(dropped)}"
