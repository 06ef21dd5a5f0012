"""Small things to train on and with, and a stored translator of a hundred sentences, for tests that need them."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from utils.corpus.batches import make_batch
from utils.corpus.vocabulary import EOS
from utils.search import beam_search, greedy
from utils.seq2seq import EncoderDecoder
from utils.training import History, Ids, batch_loss
from utils.translator.models import Settings, build_model
from utils.translator.runs import Run, load_run, save_run, train_run
from utils.translator.training.data import PairData
from utils.translator.training.loop import Schedule

# A pair file, and a run that was trained on it

_NUMBERS = {"two": "deux", "three": "trois", "four": "quatre", "five": "cinq", "six": "six"}
_NOUNS = {"cats": "chats", "dogs": "chiens", "birds": "oiseaux", "books": "livres", "keys": "clés"}
_VERBS = {"I see": ("Je vois", "Moi, je vois"), "We have": ("Nous avons",), "They want": ("Elles veulent",)}

SETTINGS = Settings("en", "fr", vocabulary_size=360, d_embed=11, d_hidden=13, dropout=0.0)
STORED_RUN = Path(__file__).parent / "tiny_run"


def pair_lines() -> list[str]:
    """English, tab, French; "I see" has two translations, so its sentences have two references."""
    return [
        f"{verb} {number} {noun}.\t{french} {_NUMBERS[number]} {_NOUNS[noun]}."
        for verb, number, noun in product(_VERBS, _NUMBERS, _NOUNS)
        for french in _VERBS[verb]
    ]


def write_pairs(path: Path) -> Path:
    path.write_text("\n".join(pair_lines()) + "\n", encoding="utf-8")
    return path


def tiny_data(folder: Path) -> PairData:
    folder.mkdir(parents=True, exist_ok=True)
    return PairData(write_pairs(folder / "pairs.txt"), ("en", "fr"), num_test=7, num_valid=5)


def train_tiny(folder: Path, *, epochs: int) -> tuple[Run, History]:
    schedule = Schedule(epochs=epochs, lr=1e-2)
    run, history, _ = train_run(tiny_data(folder), SETTINGS, schedule, out=folder / "run")
    return run, history


@lru_cache(maxsize=1)
def trained_run() -> Run:
    """The stored run, which translates every sentence right; tests must not change it.

    After a change of a model's parameters or a run's files, ``python tests/support/tiny.py`` trains and
    stores it again.
    """
    return load_run(STORED_RUN)


# Sentences of ids, and a model that learns them quickly

VOCAB = 13
TINY = Settings("xx", "yy", d_embed=11, d_hidden=17, dropout=0.1)


def sentences(num: int = 97, seed: int = 0) -> list[list[int]]:
    numbers = random.Random(seed)
    return [[numbers.randrange(4, VOCAB) for _ in range(numbers.randrange(1, 6))] for _ in range(num)]


def model(**changes: object) -> EncoderDecoder:
    """A translator of the settings ``TINY`` with these changes."""
    return build_model(replace(TINY, **changes), VOCAB, VOCAB)


#: The changes that make a Transformer of ``TINY``.
TRANSFORMER = {"model": "transformer", "d_embed": 12, "num_heads": 3, "num_layers": 2}


@torch.no_grad()
def held_out_loss(model: EncoderDecoder, src_ids: Ids, tgt_ids: Ids) -> float:
    """The mean loss per target token of sentences that are one batch, without dropout."""
    return batch_loss(model.eval(), make_batch(src_ids, tgt_ids)).item()


#: How much two computations of a hypothesis's log-probability may differ. A search keeps it in float32: each of at most
#: 8 steps rounds a logit, the difference from the largest one, the logarithm and the sum. These numbers are below 64 in
#: size, and float32 rounds by 2^-24 of a number at the most.
SEARCH_ROUNDING = 8 * 4 * 64 * 2**-24


@torch.no_grad()
def check_hypotheses(model: EncoderDecoder, *, push: float) -> None:
    """Every hypothesis of both searches has the log-probability and the weights of reading its words.

    ``push`` makes the end of sentence likelier, so that some sentences end before the limit.
    """
    for parameter in model.parameters():  # larger than trained ones
        parameter *= 3
    model.decoder.output.bias[EOS] += push
    batch = make_batch([[4, 5, 6], [7], [8, 9, 4, 5, 10], [6, 4]], [[]] * 4)
    wide = beam_search(model, batch.src, batch.src_lens, beam=5, max_len=6)
    narrow = [[hypothesis] for hypothesis in greedy(model, batch.src, batch.src_lens, max_len=6)]
    for row, hypotheses in enumerate(map(list.__add__, wide, narrow)):
        src = batch.src[row : row + 1, : batch.src_lens[row]]
        for hypothesis in hypotheses:
            read = make_batch(src.tolist(), [hypothesis.tokens])
            logits, weights = model(read.src, read.src_lens, read.tgt_in)
            written = read.tgt_out[0, : len(hypothesis.tokens) + hypothesis.finished]
            log_p = logits[0].log_softmax(dim=-1)[torch.arange(len(written)), written].sum()
            torch.testing.assert_close(hypothesis.log_prob, log_p.item(), rtol=0, atol=SEARCH_ROUNDING)
            if weights is None:
                assert hypothesis.weights is None
            else:
                torch.testing.assert_close(hypothesis.weights, weights[0, : len(written)])


def check_the_seed(trained: Callable[[int], torch.Tensor]) -> None:
    """The seed alone settles the parameters that a training gives, and torch's own generator is left alone."""
    torch.manual_seed(5)
    first = trained(3)
    after = torch.rand(1)
    torch.manual_seed(5)
    assert torch.rand(1) == after
    torch.manual_seed(7)
    assert torch.equal(trained(3), first)
    assert not torch.equal(trained(4), first)


def weights_of(model: EncoderDecoder) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        save_run(train_tiny(Path(temporary), epochs=400)[0], STORED_RUN)
