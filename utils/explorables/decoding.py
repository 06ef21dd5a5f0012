"""The kind of figure that walks through the steps of decoding, and the numbers that it needs of a trained model.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from utils.attention import additive_scores
from utils.corpus.vocabulary import BOS, EOS, Vocabulary
from utils.explorables import shapes
from utils.explorables.drawing import Bind, binds, fixed, tag, text
from utils.explorables.figure import Figure
from utils.explorables.kinds import picture
from utils.search import greedy
from utils.seq2seq import EncoderDecoder

#: What a step of decoding computes, in this order.
STAGES = ("score", "softmax", "average", "next state", "word")
#: The labels of what stands before the first word and behind the last one.
BEGIN, END = "(begin)", "(end)"


@dataclass(frozen=True, eq=False)
class DecodingRecord:
    """The numbers of each step in which a decoder writes one word; the end of the sentence is the last word.

    Make it with :func:`record_decoding`. Explained in book/explorables.

    Attributes:
        source: the source words.
        target: the words that are written, and :data:`END` if the sentence ends.
        scores: before the softmax.
        weights: after it.
        values: the encoder's outputs.
        contexts: the averages of the values.
        queries: the state before each step, :math:`s_{i-1}`.
        states: the state after it, :math:`s_i`.
        probabilities: of the most probable next words, the highest first.
        candidates: these words.
    """

    source: list[str]
    target: list[str]
    scores: Float[Tensor, "t n"]
    weights: Float[Tensor, "t n"]
    values: Float[Tensor, "n d_enc"]
    contexts: Float[Tensor, "t d_enc"]
    queries: Float[Tensor, "t h"]
    states: Float[Tensor, "t h"]
    probabilities: Float[Tensor, "t best"]
    candidates: list[list[str]]


@torch.no_grad()
def record_decoding(
    model: EncoderDecoder,
    source: Sequence[str],
    target: Sequence[str] | None,
    src_vocabulary: Vocabulary,
    tgt_vocabulary: Vocabulary,
    *,
    num_best: int = 5,
    max_len: int = 50,
) -> DecodingRecord:
    """What a translator with a ``BahdanauDecoder`` computes while it writes one sentence.

    Args:
        model: in evaluation mode, as ``utils.training.fit`` leaves it.
        source: the words to translate, or the text for a vocabulary of subwords.
        target: the words that are fed to the decoder, whatever it would write; None for its own, by greedy search.
        src_vocabulary: of the source.
        tgt_vocabulary: of the target.
        num_best: how many of the most probable next words are kept.
        max_len: most words that greedy search writes.

    Raises:
        ValueError: a model in training mode, whose dropout would draw other numbers each time.

    Explained in book/explorables.
    """
    if model.training:
        raise ValueError("the model must be in evaluation mode: call model.eval() first")
    ids = src_vocabulary.encode([source])[0]
    src, src_lens = torch.tensor([ids]), torch.tensor([len(ids)])
    if target is None:
        (hypothesis,) = greedy(model, src, src_lens, max_len=max_len)
        written = hypothesis.tokens + [EOS] * hypothesis.finished
    else:
        written = [*tgt_vocabulary.encode([target])[0], EOS]
    decoder, (memory, state) = model.decoder, model.start(src, src_lens)
    layer = decoder.attention
    steps: list[tuple[Tensor, ...]] = []
    for word in [BOS, *written[:-1]]:
        query = state[-1]
        scores = additive_scores(layer.w_q(query)[:, None], memory.projected_keys, layer.w_v.weight[0])[0]
        context, weights = decoder.attend(query, memory)
        logits, state, _ = decoder(torch.tensor([[word]]), memory, state)
        probabilities, best = logits[0].softmax(dim=-1).topk(num_best)
        steps.append((scores, weights, context, query, state[-1], probabilities, best))
    scores, weights, contexts, queries, states, probabilities, best = map(torch.cat, zip(*steps, strict=True))
    return DecodingRecord(
        source=src_vocabulary.tokens(ids) if isinstance(source, str) else list(source),
        target=_labels(tgt_vocabulary, written),
        scores=scores,
        weights=weights,
        values=memory.values[0],
        contexts=contexts,
        queries=queries,
        states=states,
        probabilities=probabilities,
        candidates=[_labels(tgt_vocabulary, row) for row in best.tolist()],
    )


def _labels(vocabulary: Vocabulary, ids: Sequence[int]) -> list[str]:
    words = vocabulary.tokens(ids)
    return [END if i == EOS else word for i, word in zip(ids, words, strict=True)]


#: How many numbers of a context and of a state are drawn.
_OF_CONTEXT, _OF_STATE = 6, 12
_WIDTH, _ROW = 340, 20
#: Left ends of the three panels side by side, and the right end of the source words.
_WORDS, _SCORE, _SOFTMAX, _AVERAGE = 62, 68, 154, 244

#: The look of what only this kind draws.
_STYLE = (
    ".name{font-weight:600}.quiet{fill-opacity:.7}.value{fill:var(--true)}.next{fill:currentColor;fill-opacity:.55}"
    ".lit{fill:var(--ink);fill-opacity:.13;stroke:var(--ink);stroke-width:1.5}"
    ".veil{fill:var(--paper);fill-opacity:.6}.to-come{fill-opacity:.5}"
    "@media(forced-colors:active){.value,.next{forced-color-adjust:none}}"
)

_ALT = (
    "One step of a decoder in five numbered panels. In the first the query gives each source word a score, drawn as a "
    "bar with its number; in the second the scores have become weights; in the third each word's vector, times its "
    "weight, is a row of small bars, and their sum below is the context; in the fourth the bars of the next state "
    "stand before those of the state before; in the fifth are the most probable next words with their "
    "probabilities. The panel of the chosen stage has a coloured ground, and the panels of later stages are empty."
)


class DecodingSteps(Figure):
    """One step of decoding in five stages, with the numbers of a trained model; the words are chosen by name.

    The stage is the axis ``stage``, with the values of :data:`STAGES`; the word is the pick ``word``. What later
    stages compute is not shown yet. Of each vector a few numbers are drawn: those that change most.

    Args:
        record: what :func:`record_decoding` returns. A page of 360 pixels has room for about nine source words.
        name: as for :class:`utils.explorables.figure.Figure`.
        start: opening ``stage`` and ``word``; the first ones by default.
        alt: what is drawn and what to see, if the general description should say more.
    """

    kind = "decoding"
    table = ("weights", "target", "source")
    pace = 1500

    def __init__(
        self,
        record: DecodingRecord,
        *,
        name: str,
        start: Mapping[str, object] | None = None,
        alt: str = _ALT,
    ):
        self.record = record
        self._slots = _slots(record.target)
        super().__init__(
            _frames(record, self._slots),
            {"stage": STAGES},
            name=name,
            alt=alt,
            say=_sentences(len(record.source)),
            labels={
                "source": record.source,
                "target": record.target,
                "before": [BEGIN, *record.target[:-1]],
                "candidates": [word for row in record.candidates for word in row],
            },
            picks={"word": "target"},
            start=start,
            play=("stage", "word"),
        )

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """scores, weights: (target, source); queries, states, contexts: (target, numbers that are drawn)."""
        rows, columns = len(self.labels["target"]), len(self.labels["source"])
        return {"scores": (rows, columns), "weights": (rows, columns), "probabilities": (rows, self._best)}

    @property
    def _best(self) -> int:
        return len(self.record.candidates[0])

    def draw(self) -> str:
        """The sentence that is written, the query, and the five panels."""
        top = self._slots[-1][1] + 28  # below the sentence
        rows = [top + 48 + _ROW * (j + 0.5) for j in range(len(self.labels["source"]))]
        below = rows[-1] + _ROW / 2 + 34
        height = below + 24 + 18 * self._best
        panels = [
            (_SCORE, top + 28, 82, rows[-1] - top - 28 + _ROW / 2 + 3),
            (_SOFTMAX, top + 28, 86, rows[-1] - top - 28 + _ROW / 2 + 3),
            (_AVERAGE, top + 28, 95, below - top - 33),
            (1, below, 149, height - below - 1),
            (_SOFTMAX, below, 185, height - below - 1),
        ]
        parts = [tag("style", _STYLE), *self._sentence(), *self._query(top + 12)]
        for j, word in enumerate(self.labels["source"]):
            parts.append(text(word, x=_WORDS, y=rows[j] + 4, text_anchor="end"))
        drawn = [
            self._scores(rows),
            self._weights(rows),
            self._average(rows),
            self._state(below, height),
            self._words(below),
        ]
        for k, ((x, y, width, tall), children) in enumerate(zip(panels, drawn, strict=True)):
            box = {"x": x, "y": y, "width": width, "height": tall, "rx": 5}
            parts.append(tag("rect", **box, class_="grid"))
            parts.append(self._seen("now", k, tag("rect", **box, class_="lit")))
            parts.append(text(f"{k + 1} {STAGES[k]}", x=x + 7, y=y + 15, class_="name"))
            parts += children
            parts.append(self._seen("to_come", k, tag("rect", **box, class_="veil")))
        return picture(_WIDTH, height, *parts)

    def _seen(self, array: str, index: int, *children: str) -> str:
        """The children, seen only where that number of the array is not 0."""
        seen = "visible" if self.array(array)[index] else "hidden"
        return tag("g", *children, visibility=seen, data_bind=binds(Bind("visibility", array, index)))

    def _of_word(self, array: str, column: int) -> dict:
        """Where an array has the number of the chosen word: the arguments of a binding."""
        stride = self.array(array).shape[1] if self.array(array).ndim > 1 else 1
        return {"array": array, "index": column, "pick": "word", "stride": stride}

    def _numbers(self, array: str, ys: Sequence[float], x: float, digits: int) -> list[str]:
        """The chosen word's numbers, one below the other."""
        return [
            text(
                fixed(number, digits),
                x=x,
                y=y + 4,
                text_anchor="end",
                data_bind=binds(Bind("text", **self._of_word(array, j), digits=digits)),
            )
            for j, (y, number) in enumerate(zip(ys, shapes.row(self, array, "word"), strict=True))
        ]

    def _sentence(self) -> list[str]:
        """The words, those to come paler; a frame around the one that is being written."""
        chosen = self.point["word"]
        x, y, width = self._slots[chosen]
        moved = [Bind(at, **self._of_word(f"word_{at}", 0)) for at in ("x", "y", "width")]
        frame = {"x": float(x), "y": float(y), "width": float(width), "height": 22, "rx": 4}
        parts = [tag("rect", **frame, class_="chosen", data_bind=binds(*moved))]
        written = self.array("written")
        for i, (word, (x, y, width)) in enumerate(zip(self.labels["target"], self._slots, strict=True)):
            at = {"x": x + width / 2, "y": y + 15, "text_anchor": "middle"}
            parts.append(text(word, **at, class_="to-come"))
            parts.append(
                text(
                    word,
                    **at,
                    visibility="visible" if written[chosen, i] else "hidden",
                    data_bind=binds(Bind("visibility", **self._of_word("written", i))),
                )
            )
            parts.append(tag("rect", x=x, y=y, width=width, height=22, class_="hit", data_pick=f"word={i}"))
        return parts

    def _strip(
        self, array: str, left: float, step: float, width: float, middle: float, height: float, **more
    ):
        """The chosen word's numbers as bars side by side, up or down from a line; the largest of all words fits."""
        count = self.array(array).shape[1]
        middles = [left + step * (k + 0.5) for k in range(count)]
        line = tag("line", x1=left, x2=left + step * count, y1=middle, y2=middle, class_="grid")
        return line + shapes.bars(
            self, array, middles, width, round(-height / self._largest(array), 4), middle, pick="word", **more
        )

    def _largest(self, array: str) -> float:
        """The largest size of a number; of all values together, whose bars must be comparable."""
        alike = {"queries": ("queries", "states"), "states": ("queries", "states")}
        arrays = alike.get(array, ["contexts", *(key for key in self._packed if key.startswith("part_"))])
        return max(float(abs(self.frames(key)).max()) for key in arrays) or 1.0

    def _query(self, middle: float) -> list[str]:
        """The query above the scores, which it makes."""
        x = _SCORE + 41
        return [
            text("query", x=_WORDS, y=middle + 4, text_anchor="end", class_="name"),
            self._strip("queries", _SCORE + 2, 6.5, 4.5, middle, 10, class_="bar"),
            tag("path", d=f"M{x - 5},{middle + 12}h10l-5,5z", class_="bar"),
            text(
                f"{self.array('queries').shape[1]} of its {self.record.queries.shape[1]} numbers",
                x=_SOFTMAX + 2,
                y=middle + 4,
                class_="quiet",
            ),
        ]

    def _scores(self, ys: Sequence[float]) -> list[str]:
        scores = self.frames("scores")
        low, high = min(0.0, float(scores.min())), max(0.0, float(scores.max()))
        slope = round(40 / (high - low or 1), 4)
        zero = round(_SCORE + 39 - low * slope, 2)
        bars = shapes.bars(self, "scores", ys, 11, slope, zero, level=True, pick="word", class_="next")
        line = tag("line", x1=zero, x2=zero, y1=ys[0] - 9, y2=ys[-1] + 9, class_="grid")
        return [line, self._seen("reached", 0, bars, *self._numbers("scores", ys, _SCORE + 34, 1))]

    def _weights(self, ys: Sequence[float]) -> list[str]:
        left, width = _SOFTMAX + 36, 46
        frames = [tag("rect", x=left, y=y - 6, width=width, height=12, class_="grid") for y in ys]
        bars = shapes.bars(self, "weights", ys, 12, width, left, level=True, pick="word", class_="link")
        return [*frames, self._seen("reached", 1, bars, *self._numbers("weights", ys, _SOFTMAX + 31, 2))]

    def _average(self, ys: Sequence[float]) -> list[str]:
        """Each value times its weight, and below the line their sum, all in one scale."""
        left, step, width = _AVERAGE + 5, 14.5, 11
        terms = [
            self._strip(f"part_{j}", left, step, width, y, 9.5, class_="value") for j, y in enumerate(ys)
        ]
        under = ys[-1] + _ROW / 2 + 1
        total = self._strip("contexts", left, step, width, under + 13, 9.5, class_="value")
        notes = [
            text("context", x=_AVERAGE - 6, y=under + 15, text_anchor="end", class_="name"),
            text(
                f"{self.array('contexts').shape[1]} of its {self.record.contexts.shape[1]} numbers",
                x=_AVERAGE - 62,
                y=under + 15,
                text_anchor="end",
                class_="quiet",
            ),
        ]
        return [
            tag("line", x1=left - 2, x2=left + 88, y1=under, y2=under, stroke="currentColor"),
            self._seen("reached", 2, *terms, total, *notes),
        ]

    def _state(self, top: float, height: float) -> list[str]:
        middle, tall = (top + height) / 2 + 1, (height - top - 44) / 2
        before = self._strip("queries", 13, 10.5, 9, middle, tall, class_="trace")
        after = self._strip("states", 13, 10.5, 5, middle, tall, class_="bar")
        note = text("grey: the state before", x=8, y=height - 8, class_="quiet")
        return [self._seen("reached", 3, before, after, note)]

    def _words(self, top: float) -> list[str]:
        """The most probable words of each step lie one over the other; those of the chosen one are seen."""
        ys = [top + 33 + 18 * k for k in range(self._best)]
        left = _SOFTMAX + 88
        bars = shapes.bars(self, "probabilities", ys, 11, 56, left, level=True, pick="word", class_="next")
        shown = self.array("best_of")[self.point["word"]]
        words = []
        for i, candidates in enumerate(self.record.candidates):
            lines = [
                text(
                    word, x=_SOFTMAX + 8, y=y + 4, class_="name" if word == self.labels["target"][i] else None
                )
                for word, y in zip(candidates, ys, strict=True)
            ]
            bind = Bind("visibility", **self._of_word("best_of", i))
            words.append(
                tag("g", *lines, visibility="visible" if shown[i] else "hidden", data_bind=binds(bind))
            )
        numbers = self._numbers("probabilities", ys, _SOFTMAX + 180, 3)
        return [*words, self._seen("reached", 4, bars, *numbers)]


def _slots(words: Sequence[str]) -> list[tuple[float, float, float]]:
    """Left, top and width of each word of a sentence, in as many lines as it takes."""
    slots, x, y = [], 1.0, 1.0
    for word in words:
        width = 8.4 + sum(12 if c > "\u2e7f" else 4.3 if c in "fijlrt.,;:!'()" else 7.0 for c in word)
        if slots and x + width > _WIDTH - 1:
            x, y = 1.0, y + 24
        slots.append((round(x, 1), y, round(width, 1)))
        x += width
    return slots


def _sentences(num_words: int) -> list[str]:
    """What is said at each stage."""
    return [
        f"To write word {{place[word]}}, the query scores each of the {num_words} source words: "
        "«{best[word]|source}» gets the highest score, {best_score[word]:1}.",
        f"The softmax turns the {num_words} scores into weights that add up to 1: «{{best[word]|source}}» gets "
        "{best_weight[word]:2}, and «{second[word]|source}», the second, {second_weight[word]:2}.",
        "The vector of each word is multiplied by its weight, and the sum is the context. «{best[word]|source}» has "
        "{best_weight[word]:0%} of the weight.",
        "The GRU computes the next state from the old state, the context and the word before, "
        "«{previous[word]|before}». Its numbers change by {moved[word]:2} on average.",
        "The readout gives every word a probability: «{first[word]|candidates}» gets {first_share[word]:1%}, and "
        "«{runner[word]|candidates}», the second, {runner_share[word]:1%}.",
    ]


def _most_varied(vectors: Tensor, count: int) -> Tensor:
    """Positions of the numbers that differ most from vector to vector, in order."""
    spread = vectors.std(dim=0, correction=0)
    return spread.topk(min(count, vectors.shape[1])).indices.sort().values


def _frames(record: DecodingRecord, slots: Sequence[tuple[float, float, float]]) -> Callable[..., dict]:
    """The arrays of the figure at each stage; a row for each target word."""
    rows, num_best = len(record.target), len(record.candidates[0])
    of_state = _most_varied(record.states, _OF_STATE)
    of_context = _most_varied(record.contexts, _OF_CONTEXT)
    top = record.weights.topk(min(2, len(record.source)), dim=1)
    first = num_best * torch.arange(rows)
    fixed_arrays = {
        "scores": record.scores,
        "weights": record.weights,
        "queries": record.queries[:, of_state],
        "states": record.states[:, of_state],
        "contexts": record.contexts[:, of_context],
        "probabilities": record.probabilities,
        "place": torch.arange(rows) + 1,
        "previous": torch.arange(rows),
        "best": top.indices[:, 0],
        "best_score": record.scores.max(dim=1).values,
        "best_weight": top.values[:, 0],
        "second": top.indices[:, -1],
        "second_weight": top.values[:, -1],
        "moved": (record.states - record.queries).abs().mean(dim=1),
        "first": first,
        "first_share": record.probabilities[:, 0],
        "runner": first + 1,
        "runner_share": record.probabilities[:, 1],
    }
    for j, value in enumerate(record.values[:, of_context]):
        fixed_arrays[f"part_{j}"] = record.weights[:, j, None] * value
    for key, numbers in zip(("word_x", "word_y", "word_width"), zip(*slots, strict=True), strict=True):
        fixed_arrays[key] = torch.tensor(numbers)
    ones = torch.ones(rows, rows, dtype=torch.bool)

    def frame(stage: str) -> dict[str, Tensor]:
        at = STAGES.index(stage)
        order, done = torch.arange(len(STAGES)), stage == STAGES[-1]
        return fixed_arrays | {
            "case": torch.tensor(at),
            "now": order == at,
            "reached": order <= at,
            "to_come": order > at,
            "written": ones.tril(0 if done else -1),
            "best_of": torch.eye(rows, dtype=torch.bool) & done,
        }

    return frame
