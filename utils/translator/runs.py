"""Runs: from a pair file to a trained translator that is kept in a folder and read again.

The training itself is ``training``'s; what a translation is worth, ``evaluation``'s.
Runs are explained in book/api/command_line.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import torch
from safetensors.torch import save
from torch import nn

from utils.corpus.pairs import read_pairs
from utils.corpus.splits import Example, group_split
from utils.corpus.vocabulary import Vocabulary, encode_pairs
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder
from utils.training import History, fit, seeded
from utils.translator.checkpoints import Checkpoints, digest, read_safetensors, write_atomically
from utils.translator.devices import CPU, fastest_products
from utils.translator.distributed import ALONE, Processes
from utils.translator.streaming import BatchStream, survey


@dataclass(frozen=True)
class Settings:
    """What a run was made with, enough to build its model again.

    Attributes:
        src: language code of the source.
        tgt: language code of the target.
        vocabulary_size: most subwords a language.
        d_embed: width of the embeddings.
        d_hidden: width of the decoder's state and of each direction of the encoder.
        num_layers: recurrent layers.
        dropout: probability of dropping a number in training.
        seed: of the split, the initial weights, the batches and dropout.
    """

    src: str
    tgt: str
    vocabulary_size: int = 6000
    d_embed: int = 192
    d_hidden: int = 192
    num_layers: int = 1
    dropout: float = 0.1
    seed: int = 0


@dataclass(frozen=True)
class Run:
    """A trained translator with all that it needs to translate text and to be measured.

    Attributes:
        settings: how it was made.
        model: in evaluation mode.
        src_vocabulary: of the source language.
        tgt_vocabulary: of the target language.
        test: the held-out examples.
    """

    settings: Settings
    model: EncoderDecoder
    src_vocabulary: Vocabulary
    tgt_vocabulary: Vocabulary
    test: list[Example]


@dataclass(frozen=True)
class Rows:
    """What became of the rows of a pair file.

    Attributes:
        good: rows that hold a pair.
        bad: rows that do not, and are left out.
        first_bad: what is wrong with the first three of them, by line number.
        train: pairs that were trained on; None of a stream, which is never seen as a whole.
        too_long: pairs that were not, for a side with too many tokens; None of a stream.
    """

    good: int
    bad: int
    first_bad: dict[int, str]
    train: int | None
    too_long: int | None

    def __str__(self) -> str:
        """The counts in words.

        >>> print(Rows(good=90, bad=2, first_bad={7: "one column", 8: "the fr side is empty"}, train=80, too_long=3))
        90 pairs, 80 to train on; left out: 3 too long, 2 bad rows (line 7: one column; line 8: the fr side is empty)
        """
        known = f"{self.good} pairs" + (f", {self.train} to train on" if self.train is not None else "")
        lines = "; ".join(f"line {number}: {reason}" for number, reason in self.first_bad.items())
        left_out = [f"{self.too_long} too long"] if self.too_long else []
        if self.bad:
            more = "; ..." if self.bad > len(self.first_bad) else ""
            left_out.append(f"{self.bad} bad rows ({lines}{more})")
        return known + (f"; left out: {', '.join(left_out)}" if left_out else "")


def build_model(settings: Settings, num_src: int, num_tgt: int) -> EncoderDecoder:
    """A translator with attention, its initial weights drawn by the seed of the settings.

    Args:
        num_src: size of the source vocabulary.
        num_tgt: size of the target vocabulary.
    """
    options = {"num_layers": settings.num_layers, "dropout": settings.dropout}
    with seeded(settings.seed):
        encoder = Encoder(num_src, settings.d_embed, settings.d_hidden, **options)
        decoder = BahdanauDecoder(num_tgt, settings.d_embed, settings.d_hidden, encoder.d_out, **options)
        for embedding in (encoder.embedding, decoder.embedding):
            # torch draws them with deviation 1: at steps of a thousandth, most words would stay where chance put them.
            nn.init.normal_(embedding.weight, std=0.1)
    return EncoderDecoder(encoder, decoder).eval()


def train_run(
    pairs: str | Path,
    columns: Sequence[str],
    settings: Settings,
    *,
    out: str | Path,
    overwrite: bool = False,
    resume: bool = False,
    minutes: float | None = None,
    epochs: int | None = None,
    num_test: int = 1000,
    num_valid: int = 500,
    max_tokens: int = 100,
    batch_size: int = 128,
    muon: float | None = None,
    stream: bool = False,
    progress: bool = False,
    processes: Processes = ALONE,
) -> tuple[Run, History, Rows]:
    """From a pair file to a trained translator: read, split, learn vocabularies, train, keep.

    Args:
        pairs: the pair file, as for :func:`utils.corpus.pairs.read_pairs`.
        columns: languages of its columns, in the file's order.
        out: folder to keep the run in (:func:`save_run`).
        overwrite: replace a run that the folder holds already, or a training that was interrupted.
        resume: go on with a training that was interrupted; its state is kept in the folder once a minute.
        minutes: budget of training proper, reading not counted.
        epochs: passes over the sentences, where there is no budget of minutes.
        num_test: groups kept for testing.
        num_valid: groups kept for the held-out loss.
        max_tokens: pairs with a longer side are left out of training.
        batch_size: sentence pairs a step.
        muon: highest learning rate of Muon, as for :func:`utils.training.fit`, or 0 for Adam alone. None asks for
            0.02 where the device has bfloat16 products, and for 0 elsewhere: torch's Muon takes them, and a
            processor that has none works them out fifty times as slowly.
        stream: read the file anew in every epoch instead of keeping it in memory (:mod:`utils.translator.streaming`).
        progress: show a progress bar.
        processes: that train together, and the device they train on. The first of them keeps the run; those that
            were started anew after one failed go on with its training.

    Returns:
        The run, how its training went, and which rows of the file it left out.

    Raises:
        FileExistsError: the folder holds a run already, or an interrupted training, and nothing is said of it.
        FileNotFoundError, ValueError, FloatingPointError: as ``read_pairs``, ``group_split`` and :func:`fit`.
    """
    out, checkpoints = Path(out), Checkpoints(out)
    if processes.is_first:
        _make_way(out, checkpoints, overwrite=overwrite, resume=resume or processes.restarted)
    processes.wait()
    held_out = {"num_test": num_test, "num_valid": num_valid, "seed": settings.seed}
    if stream:
        split = survey(pairs, columns, settings.src, settings.tgt, **held_out)
        sample, bad, first_bad, good = split.sample, split.num_bad, split.bad_rows, split.num_rows
    else:
        found = read_pairs(pairs, columns)
        split = group_split(found.between(settings.src, settings.tgt), **held_out)
        sample, bad, good = split.train, len(found.bad_rows), len(found.rows)
        first_bad = dict(islice(found.bad_rows.items(), 3))
    if processes.is_first:
        out.mkdir(parents=True, exist_ok=True)  # before the hours of training, not after
    vocabularies = [Vocabulary.bpe(side, settings.vocabulary_size) for side in zip(*sample, strict=True)]
    if stream:
        train = (BatchStream(split, *vocabularies, max_tokens=max_tokens),)
        rows = Rows(good, bad, first_bad, train=None, too_long=None)
    else:
        train = encode_pairs(split.train, *vocabularies, max_tokens=max_tokens)
        kept = len(train[0])
        rows = Rows(good, bad, first_bad, train=kept, too_long=len(split.train) - kept)
    model = build_model(settings, *map(len, vocabularies)).to(processes.device)
    products = fastest_products(processes.device)
    if muon is None:
        muon = 0.02 if products == torch.bfloat16 else 0
    history = fit(
        model,
        *train,
        minutes=minutes,
        epochs=epochs,
        valid=encode_pairs(split.valid, *vocabularies, max_tokens=max_tokens) if split.valid else None,
        batch_size=batch_size,
        muon=muon or None,
        seed=settings.seed,
        fast=True,
        products=products,
        progress=progress and processes.is_first,
        checkpoints=checkpoints,
        processes=processes,
    )
    run = Run(settings, model, *vocabularies, split.test)
    if processes.is_first:
        save_run(run, out)
        checkpoints.remove()
    return run, history, rows


def _make_way(out: Path, checkpoints: Checkpoints, *, overwrite: bool, resume: bool) -> None:
    """See that nothing in the folder is lost unasked."""
    if (out / _WEIGHTS).exists() and not overwrite:
        raise FileExistsError(
            f"{out} holds a trained run already: name another folder, or ask to overwrite it"
        )
    if overwrite and not resume:
        checkpoints.remove()
    elif checkpoints.kept and not resume:
        raise FileExistsError(f"{out} holds an interrupted training: resume it, or ask to overwrite it")


#: The files of a run's folder. The weights come last and seal the others with their digest.
_SETTINGS, _SRC, _TGT, _TEST, _WEIGHTS = (
    "settings.json", "src.vocabulary.json", "tgt.vocabulary.json", "test.json", "weights.safetensors",
)  # fmt: skip


def save_run(run: Run, folder: str | Path) -> None:
    """Keep a run in a folder: the weights as safetensors, everything else as JSON, nothing pickled.

    Each file takes its place at once or not at all, the weights after all others.

    Args:
        folder: made if it is not there; files of an earlier run in it are replaced.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        _SETTINGS: _to_json(asdict(run.settings)),
        _SRC: run.src_vocabulary.to_json(),
        _TGT: run.tgt_vocabulary.to_json(),
        _TEST: _to_json([example._asdict() for example in run.test]),
    }
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    weights = run.model.state_dict()
    metadata = {"digest": digest([text.encode() for text in texts.values()], weights)}
    write_atomically(folder / _WEIGHTS, save(weights, metadata=metadata))


def load_run(folder: str | Path, *, device: torch.device = CPU) -> Run:
    """Read a run that :func:`save_run` kept; its model is in evaluation mode.

    Args:
        folder: of the run.
        device: to put the model on; translations are made there.

    Raises:
        FileNotFoundError: no such folder, or no complete run in it.
        ValueError: a file that is damaged, or that belongs to another run.
    """
    folder = Path(folder)
    for name in (_SETTINGS, _SRC, _TGT, _TEST, _WEIGHTS):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} holds no trained run: {name} is missing")
    texts = [(folder / name).read_bytes() for name in (_SETTINGS, _SRC, _TGT, _TEST)]
    weights, metadata = read_safetensors(folder / _WEIGHTS)
    if metadata.get("digest") != digest(texts, weights):
        raise ValueError(f"the files in {folder} are damaged or not of one run: restore them or train again")
    try:
        settings = Settings(**json.loads(texts[0]))
    except TypeError as error:
        raise ValueError(f"{folder / _SETTINGS} is of another version of this course: {error}") from error
    src_vocabulary, tgt_vocabulary = Vocabulary.load(folder / _SRC), Vocabulary.load(folder / _TGT)
    model = build_model(settings, len(src_vocabulary), len(tgt_vocabulary))
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise ValueError(f"{folder / _WEIGHTS} holds the weights of another model: {error}") from error
    test = [Example(example["source"], tuple(example["references"])) for example in json.loads(texts[3])]
    return Run(settings, model.to(device), src_vocabulary, tgt_vocabulary, test)


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
