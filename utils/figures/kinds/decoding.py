"""The kind of figure that walks through the steps of decoding, and the numbers that it needs of a trained model.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from utils.attention import additive_scores
from utils.corpus.vocabulary import BOS, EOS, Vocabulary
from utils.figures.figure import Figure
from utils.seq2seq import EncoderDecoder

#: What a step of decoding computes, in this order.
STAGES = ("score", "softmax", "average", "next state", "word")
#: How many of the most probable next words are kept.
NUM_BEST = 5
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
    target: Sequence[str],
    src_vocabulary: Vocabulary,
    tgt_vocabulary: Vocabulary,
) -> DecodingRecord:
    """What a translator with a ``BahdanauDecoder`` computes while it writes one sentence.

    Args:
        model: in evaluation mode, as ``utils.training.fit`` leaves it.
        source: the words to translate.
        target: the words that are fed to the decoder, whatever it would write.
        src_vocabulary: of the source.
        tgt_vocabulary: of the target.

    Raises:
        ValueError: a model in training mode, whose dropout would draw other numbers each time.
    """
    if model.training:
        raise ValueError("the model must be in evaluation mode: call model.eval() first")
    ids = src_vocabulary.encode([source])[0]
    src, src_lens = torch.tensor([ids]), torch.tensor([len(ids)])
    written = [*tgt_vocabulary.encode([target])[0], EOS]
    decoder, (memory, state) = model.decoder, model.start(src, src_lens)
    layer = decoder.attention
    steps: list[tuple[Tensor, ...]] = []
    for word in [BOS, *written[:-1]]:
        query = state[-1]
        scores = additive_scores(layer.w_q(query)[:, None], memory.projected_keys, layer.w_v.weight[0])[0]
        context, weights = decoder.attend(query, memory)
        logits, state, _ = decoder(torch.tensor([[word]]), memory, state)
        probabilities, best = logits[0].softmax(dim=-1).topk(NUM_BEST)
        steps.append((scores, weights, context, query, state[-1], probabilities, best))
    scores, weights, contexts, queries, states, probabilities, best = map(torch.cat, zip(*steps, strict=True))
    return DecodingRecord(
        source=list(source),
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

_ALT = (
    "One step of a decoder in five numbered panels. In the first the query gives each source word a score, drawn as a "
    "bar with its number; in the second the scores have become weights; in the third each word's vector, times its "
    "weight, is a row of small bars, and their sum below is the context; in the fourth the bars of the next state "
    "stand before those of the state before; in the fifth are the most probable next words with their "
    "probabilities. The panel of the chosen stage is grey; in the page a panel is empty until its stage comes."
)


class DecodingSteps(Figure):
    """One step of a decoder with attention in five stages: scores, weights, context, next state, next word.

    The stage is the axis ``stage``, with the values of :data:`STAGES`; the word is the pick ``word``. In a page
    the panels of later stages have a question mark. Of each vector a few numbers are drawn: those that change most.

    Args:
        record: what :func:`record_decoding` returns. A page of 360 pixels has room for about nine source words.
        name: as for :class:`utils.figures.figure.Figure`.
        start: opening ``stage`` and ``word``; the first ones by default.
        options: as for :class:`utils.figures.figure.Figure`.
    """

    kind = "decoding"
    picks: ClassVar = {"word": "target"}
    table = ((("weights", ""),), "target", "source")
    pace = 2200

    def __init__(
        self,
        record: DecodingRecord,
        *,
        name: str,
        start: Mapping[str, object] | None = None,
        **options,
    ):
        self.record = record
        super().__init__(
            _frames(record),
            {"stage": STAGES},
            name=name,
            alt=_ALT,
            say=_sentences(len(record.source)),
            labels={
                "source": record.source,
                "target": record.target,
                "before": [BEGIN, *record.target[:-1]],
                "candidates": [word for row in record.candidates for word in row],
            },
            start=start,
            play="stage",
            **options,
        )

    def shares(self) -> set[str]:
        """The weights, and the probabilities of words."""
        return super().shares() | {"weights", "probabilities"}

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """scores, weights: (target, source); probabilities: (target, most probable words)."""
        rows, columns = len(self.labels["target"]), len(self.labels["source"])
        best = len(self.record.candidates[0])
        return {"scores": (rows, columns), "weights": (rows, columns), "probabilities": (rows, best)}

    @property
    def options(self) -> dict:
        """How many numbers a whole state has."""
        return {"state_size": self.record.queries.shape[1]}


def _sentences(num_words: int) -> list[str]:
    """What is said at each stage."""
    return [
        f"1. For word {{place[word]}} the query scores the {num_words} source words: “{{best[word]|source}}” is "
        "highest, {best_score[word]:1}.",
        "2. The softmax turns scores into weights that sum to 1: “{best[word]|source}” gets {best_weight[word]:2}, "
        "“{second[word]|source}” {second_weight[word]:2}.",
        "3. Each value is multiplied by its weight; their sum is the context. “{best[word]|source}” has "
        "{best_weight[word]:0%} of the weight.",
        "4. The GRU makes the next state from the old one, the context and “{previous[word]|before}”; its numbers "
        "change by {moved[word]:2} on average.",
        "5. The readout gives every word a probability: “{first[word]|candidates}” {first_share[word]:1%}, "
        "“{runner[word]|candidates}” {runner_share[word]:1%}.",
    ]


def _most_varied(vectors: Tensor, count: int) -> Tensor:
    """Positions of the numbers that differ most from vector to vector, in order."""
    spread = vectors.std(dim=0, correction=0)
    return spread.topk(min(count, vectors.shape[1])).indices.sort().values


def _frames(record: DecodingRecord) -> Callable[..., dict]:
    """The arrays of the figure, a row for each target word; only the sentence changes with the stage."""
    rows, num_best = len(record.target), len(record.candidates[0])
    of_state = _most_varied(record.states, _OF_STATE)
    of_context = _most_varied(record.contexts, _OF_CONTEXT)
    top = record.weights.topk(min(2, len(record.source)), dim=1)
    first = num_best * torch.arange(rows)
    arrays = {
        "scores": record.scores,
        "weights": record.weights,
        "queries": record.queries[:, of_state],
        "states": record.states[:, of_state],
        "parts": record.weights[:, :, None] * record.values[:, of_context],
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
    return lambda stage: arrays | {"case": torch.tensor(STAGES.index(stage))}
