"""The one-vector study: how many sentences of each length come back from a vector of 16, 128 or 256 numbers.

Run as ``PYTHONPATH=chapters python -m studies.one_vector_study``. It trains on the grammar corpus and needs about ten
minutes on one core. The results are stored beside this file; chapters/encoder_decoder reads them.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from studies.attention_study import by_length, which_right
from studies.parts import climb, run_parts
from studies.transformer_study import ChapterCorpus, corpus_of_the_chapter
from utils.corpus.batches import pad_ids
from utils.fast_training import fast_loss
from utils.search import greedy
from utils.seq2seq import Encoder, EncoderDecoder, FixedContextDecoder
from utils.training import fit, seeded

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: How many numbers the vector of a sentence has, and the width of each reading of the encoder. The first kind has the
#: encoder of the second, and a layer squeezes what both readings know. The decoder's state always has 128 numbers.
KINDS = {"16": (16, 64), "128": (128, 64), "256": (256, 128)}
#: One English sentence that grows, and its French. None of these is in training.
GROWING = (
    ("Mary washed the dog .", "Marie a lavé le chien ."),
    ("Mary washed the dog carefully .", "Marie a lavé soigneusement le chien ."),
    ("Mary washed the small dog carefully .", "Marie a lavé soigneusement le petit chien ."),
    ("Mary washed the small dog carefully yesterday .", "Marie a lavé soigneusement le petit chien hier ."),
    (
        "Mary washed the small dog carefully in the garden yesterday .",
        "Marie a lavé soigneusement le petit chien dans le jardin hier .",
    ),
    (
        "Mary washed the small black dog carefully in the garden yesterday .",
        "Marie a lavé soigneusement le petit chien noir dans le jardin hier .",
    ),
    (
        "Mary washed the small black dog carefully in the garden yesterday because it was tired .",
        "Marie a lavé soigneusement le petit chien noir dans le jardin hier parce qu' il était fatigué .",
    ),
)


class OneVectorSettings(NamedTuple):
    """The settings of the study: the sentences and the batches of the chapter.

    Attributes:
        num_train: sentence pairs for training.
        epochs: how often each of them is read, in batches of 64.
        num_test: sentences to test, and as many of validation to choose the learning rate.
        edges: longest sentences of the groups by length, in English words.
        start: the learning rate with which the search of each kind begins.
        seeds: of the weights and the order of the batches; the first one serves the search.
    """

    num_train: int = 16_000
    epochs: int = 2
    num_test: int = 2_000
    edges: tuple[int, ...] = (5, 8, 11, 14, 16)
    start: float = 4e-3
    seeds: tuple[int, ...] = (0, 1, 2)


class SqueezedEncoder(Encoder):
    """An encoder whose final states are squeezed into a few numbers, which are all that a decoder gets of them.

    Args:
        d_vector: how many numbers are left, an even number.
        options: as for :class:`utils.seq2seq.Encoder`.
    """

    def __init__(self, *sizes: int, d_vector: int, **options):
        super().__init__(*sizes, **options)
        self.squeeze = nn.Linear(self.d_out, d_vector)

    def forward(
        self, src: Int[Tensor, "batch n"], src_lens: Int[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch n d_enc"], Float[Tensor, "layers batch directions h"]]:
        """As :class:`utils.seq2seq.Encoder`; the states are the halves of the squeezed vector."""
        outputs, state = super().forward(src, src_lens)
        return outputs, self.squeeze(state.flatten(2)).unflatten(-1, (2, -1))


def translator(kind: str, num_src: int, num_tgt: int) -> EncoderDecoder:
    """A translator whose decoder gets the vector of a name in ``KINDS``."""
    d_vector, width = KINDS[kind]
    encoder = Encoder(num_src, 64, width)
    if d_vector < encoder.d_out:
        encoder = SqueezedEncoder(num_src, 64, width, d_vector=d_vector)
    return EncoderDecoder(encoder, FixedContextDecoder(num_tgt, 64, 128, d_vector))


def train(kind: str, corpus: ChapterCorpus, setup: OneVectorSettings, lr: float, seed: int) -> EncoderDecoder:
    """A trained translator."""
    with seeded(seed):
        model = translator(kind, len(corpus.en), len(corpus.fr))
    batches = corpus.batches(seed, batch_size=64)  # in another order in each epoch
    selection = [batch for _ in range(setup.epochs) for batch in batches]
    fit(model, selection, epochs=1, lr=lr, loss=fast_loss, label_smoothing=0.0, seed=seed)
    return model


def measure(kind: str, setup: OneVectorSettings) -> dict:
    """Choose a learning rate on the sentences of validation, then train with every seed and test."""
    corpus, first = corpus_of_the_chapter(setup.num_train, setup.num_test), {}

    def on_validation(lr: float) -> int:
        first[lr] = train(kind, corpus, setup, lr, setup.seeds[0])
        return sum(which_right(first[lr], corpus, corpus.valid))

    trials = climb(on_validation, setup.start)
    lr = max(trials, key=lambda lr: trials[lr])
    models = [first[lr], *(train(kind, corpus, setup, lr, seed) for seed in setup.seeds[1:])]
    return {
        "lr": lr,
        "parameters": sum(parameter.numel() for parameter in models[0].parameters()),
        "num_by_length": by_length([True] * len(corpus.test), corpus.test, setup.edges),
        "validation": [{"lr": lr, "right": right} for lr, right in trials.items()],
        "runs": [
            {
                "seed": seed,
                "right_by_length": by_length(
                    which_right(model, corpus, corpus.test), corpus.test, setup.edges
                ),
            }
            for seed, model in zip(setup.seeds, models, strict=True)
        ],
    }


def measure_growing(setup: OneVectorSettings, lr_of_the_chapter: Callable[[], float]) -> dict:
    """What a vector of 128 numbers gives back of the sentence that grows."""
    corpus = corpus_of_the_chapter(setup.num_train, setup.num_test)
    model = train("128", corpus, setup, lr_of_the_chapter(), setup.seeds[0])
    ids = corpus.en.encode([en.split() for en, _ in GROWING])
    found = greedy(model, pad_ids(ids), torch.tensor([*map(len, ids)]), max_len=50)
    known = {" ".join(t.fr) for t in corpus.train}
    return {
        "in_training": sum(fr in known for _, fr in GROWING),
        "written": [" ".join(corpus.fr.tokens(each.tokens)) for each in found],
    }


def main() -> None:
    """Train the translators of each kind and store how many sentences of each length they get right."""
    torch.set_num_threads(1)  # as for the results in the book
    setup = OneVectorSettings()

    def lr_of_the_chapter() -> float:
        return json.loads(RESULTS.read_text("utf-8"))["parts"]["128"]["lr"]

    belongs_to = {"torch": torch.__version__, **setup._asdict()}
    measures: dict[str, Callable[[], dict]] = {kind: partial(measure, kind, setup) for kind in KINDS}
    measures["growing"] = partial(measure_growing, setup, lr_of_the_chapter)
    run_parts(measures, RESULTS, belongs_to=belongs_to)


if __name__ == "__main__":
    main()
