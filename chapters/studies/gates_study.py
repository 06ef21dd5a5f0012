"""The gates study: the translator of chapters/encoder_decoder with gated units, and with plain recurrent ones.

Run as ``PYTHONPATH=chapters python -m studies.gates_study``. It trains on the grammar corpus and needs about ten
minutes on one core. The results are stored beside this file; chapters/encoder_decoder reads them.
"""

import time
from functools import partial
from itertools import chain, islice, repeat
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from studies.attention_study import which_right
from studies.parts import run_parts
from studies.transformer_study import ChapterCorpus, corpus_of_the_chapter
from utils.fast_training import fast_loss
from utils.seq2seq import Encoder, EncoderDecoder, FixedContextDecoder
from utils.training import fit, seeded

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: Whether the units have gates, and the width of the encoder's states, by the names in the results. The decoder's
#: state has twice this width. The units of the last kind have as many parameters as those with gates (0.3 % fewer).
KINDS = {"gates": (True, 64), "plain": (False, 64), "plain, wide": (False, 119)}


class GatesSettings(NamedTuple):
    """The settings of the study.

    Attributes:
        num_train: sentence pairs for training.
        steps: batches of 64 pairs that every translator reads.
        lrs: learning rates; each kind has the one with the most right sentences of validation, by the first seed.
        seeds: of the weights and the order of the batches.
        num_test: sentences for validation, and as many to test.
    """

    num_train: int = 24_000
    steps: int = 750
    lrs: tuple[float, ...] = (2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2)
    seeds: tuple[int, ...] = (0, 1, 2)
    num_test: int = 500


class PlainCell(nn.RNNCell):
    r"""A recurrent unit without gates on [y; c]: :math:`s' = \tanh(W [y; c] + U s)`, with two biases."""

    def forward(self, y: Tensor, c: Tensor, s: Tensor) -> Tensor:
        return super().forward(torch.cat([y, c], dim=-1), s)


def translator(kind: str, num_src: int, num_tgt: int) -> EncoderDecoder:
    """A translator without attention whose recurrent units are those of a name in ``KINDS``.

    All recurrent matrices start orthogonal, those without gates too.
    """
    gated, width = KINDS[kind]
    encoder = Encoder(num_src, 64, width)
    decoder = FixedContextDecoder(num_tgt, 64, 2 * width, 2 * width)
    if not gated:
        encoder.gru = nn.RNN(64, width, batch_first=True, bidirectional=True)
        decoder.cells[0] = PlainCell(64 + 2 * width, 2 * width)
        for name, matrix in chain(encoder.gru.named_parameters(), decoder.cells[0].named_parameters()):
            if name.startswith("weight_hh"):
                nn.init.orthogonal_(matrix)
    return EncoderDecoder(encoder, decoder)


def num_recurrent(model: EncoderDecoder) -> int:
    """The parameters of the recurrent units."""
    units = chain(model.encoder.gru.parameters(), model.decoder.cells.parameters())
    return sum(parameter.numel() for parameter in units)


def train(
    kind: str, corpus: ChapterCorpus, *, steps: int, lr: float, seed: int
) -> tuple[EncoderDecoder, float]:
    """A trained translator, and the seconds of processor time that its training took."""
    with seeded(seed):
        model = translator(kind, len(corpus.en), len(corpus.fr))
    start = time.process_time()
    selection = list(islice(chain.from_iterable(repeat(corpus.batches(seed, batch_size=64))), steps))
    fit(model, selection, epochs=1, lr=lr, loss=fast_loss, label_smoothing=0.0, seed=seed)
    return model, round(time.process_time() - start, 1)


def measure(kind: str, setup: GatesSettings) -> dict:
    """Choose a learning rate on the sentences of validation, then train with every seed and test."""
    corpus = corpus_of_the_chapter(setup.num_train, setup.num_test)
    trials, first = [], {}
    for lr in setup.lrs:
        first[lr] = train(kind, corpus, steps=setup.steps, lr=lr, seed=setup.seeds[0])
        trials.append({"lr": lr, "right": sum(which_right(first[lr][0], corpus, corpus.valid))})
    lr = max(trials, key=lambda trial: trial["right"])["lr"]
    runs = []
    for seed in setup.seeds:
        again = partial(train, kind, corpus, steps=setup.steps, lr=lr, seed=seed)
        model, seconds = first[lr] if seed == setup.seeds[0] else again()
        right = which_right(model, corpus, corpus.test)
        long_right = sum(ok for ok, t in zip(right, corpus.test, strict=True) if len(t.en) >= 9)
        about = {"seed": seed, "processor_seconds": seconds}
        runs.append(about | {"right": sum(right), "long_right": long_right})
    return {
        "lr": lr,
        "parameters": num_recurrent(model),
        "long": sum(len(t.en) >= 9 for t in corpus.test),
        "validation": trials,
        "runs": runs,
    }


def main() -> None:
    """Train the translators of each kind and store what they get right."""
    torch.set_num_threads(1)  # as for the results in the book
    setup = GatesSettings()
    belongs_to = {"torch": torch.__version__, **setup._asdict()}
    run_parts({kind: partial(measure, kind, setup) for kind in KINDS}, RESULTS, belongs_to=belongs_to)


if __name__ == "__main__":
    main()
