"""Runs: from a pair file to a trained translator in a folder, and back from the folder.

The training loop is in ``loop``; translating and measuring are in ``translating``.
Explained in book/api/command_line.
"""

import json
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import save
from torch import Tensor, nn

from utils.corpus.batches import ShuffledBatches
from utils.corpus.doubts import doubts
from utils.corpus.pairs import find_file, read_pairs, read_rows
from utils.corpus.splits import Example, group_split
from utils.corpus.vocabulary import Vocabulary, encode_pairs
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder
from utils.training import Ids, seeded
from utils.transformer import TransformerDecoder, TransformerEncoder
from utils.translator.checkpoints import Checkpoints, digest, read_safetensors, write_atomically
from utils.translator.devices import CPU, check_memory, fastest_products
from utils.translator.distributed import ALONE, Processes
from utils.translator.folders import (
    RECORD,
    SETTINGS,
    SRC,
    TEST,
    TGT,
    WEIGHTS,
    beside,
    check_place,
    complete,
    locked,
    publish,
)
from utils.translator.loop import FullHistory, Schedule, train
from utils.translator.options import Model
from utils.translator.records import Record, differences, file_digest, now, plan, printable, result_of
from utils.translator.streaming import BatchStream, survey
from utils.translator.threads import Threads


@dataclass(frozen=True)
class Settings:
    """The settings of a run, from which its model can be built again.

    Attributes:
        src: language code of the source.
        tgt: language code of the target.
        vocabulary_size: most subwords per language.
        d_embed: width of the embeddings, and of all sequences of a Transformer.
        d_hidden: width of the decoder's state and of each direction of the encoder; in a Transformer, of the hidden
            layers of its feed-forward networks.
        num_layers: layers of the encoder, and as many of the decoder.
        dropout: probability of dropping a number in training.
        seed: of the split, the initial weights, the batches and dropout.
        model: "recurrent", the translator of Bahdanau et al., or "transformer".
        num_heads: of each attention of a Transformer; None for a recurrent translator.

    Raises:
        ValueError: another model, or a number of heads that it cannot have.
    """

    src: str
    tgt: str
    vocabulary_size: int = 6000
    d_embed: int = 192
    d_hidden: int = 192
    num_layers: int = 1
    dropout: float = 0.1
    seed: int = 0
    model: str = Model.RECURRENT
    num_heads: int | None = None

    def __post_init__(self):
        if self.model not in tuple(Model):
            raise ValueError(f"model must be {' or '.join(Model)}, got {self.model!r}")
        if (self.num_heads is None) != (self.model == Model.RECURRENT):
            raise ValueError(
                "a Transformer needs a number of heads, and a recurrent translator has none, "
                f"got {self.num_heads} for {self.model}"
            )
        if self.num_heads is not None and (self.d_embed % 2 or self.d_embed % self.num_heads):
            raise ValueError(
                "the width of a Transformer must be even and a multiple of the number of its heads, "
                f"got {self.d_embed} and {self.num_heads}"
            )


@dataclass(frozen=True)
class Run:
    """A trained translator with all that is needed to translate text and to measure it.

    Attributes:
        settings: how it was made.
        model: in evaluation mode.
        src_vocabulary: of the source language.
        tgt_vocabulary: of the target language.
        test: the held-out examples.
        record: how it was trained (:mod:`utils.translator.records`); None if that is not known.
    """

    settings: Settings
    model: EncoderDecoder
    src_vocabulary: Vocabulary
    tgt_vocabulary: Vocabulary
    test: list[Example]
    record: Record | None = None


@dataclass(frozen=True)
class Rows:
    """How the rows of a pair file were used.

    Attributes:
        good: rows that hold a pair.
        bad: rows that do not hold a pair and were left out.
        first_bad: what is wrong with the first three of them, by line number.
        train: pairs to train on; None for a stream, whose pairs are not counted beforehand.
        too_long: pairs that were left out because a side has too many tokens; None for a stream.
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
        summary = f"{self.good} pairs" + (f", {self.train} to train on" if self.train is not None else "")
        lines = "; ".join(f"line {number}: {reason}" for number, reason in self.first_bad.items())
        left_out = [f"{self.too_long} too long"] if self.too_long else []
        if self.bad:
            more = "; ..." if self.bad > len(self.first_bad) else ""
            left_out.append(f"{self.bad} bad rows ({lines}{more})")
        return summary + (f"; left out: {', '.join(left_out)}" if left_out else "")


def build_model(settings: Settings, num_src: int, num_tgt: int) -> EncoderDecoder:
    """A translator with attention, its initial weights drawn by the seed of the settings.

    Args:
        num_src: size of the source vocabulary.
        num_tgt: size of the target vocabulary.
    """
    options = {"num_layers": settings.num_layers, "dropout": settings.dropout}
    with seeded(settings.seed):
        if settings.model == Model.TRANSFORMER:
            options |= {"num_heads": settings.num_heads, "d_hidden": settings.d_hidden}
            encoder = TransformerEncoder(num_src, settings.d_embed, **options)
            return EncoderDecoder(encoder, TransformerDecoder(num_tgt, settings.d_embed, **options)).eval()
        encoder = Encoder(num_src, settings.d_embed, settings.d_hidden, **options)
        decoder = BahdanauDecoder(num_tgt, settings.d_embed, settings.d_hidden, encoder.d_out, **options)
        for embedding in (encoder.embedding, decoder.embedding):
            # torch's default standard deviation is 1; with steps of about 0.001 most embeddings would hardly change.
            nn.init.normal_(embedding.weight, std=0.1)
    return EncoderDecoder(encoder, decoder).eval()


@dataclass(frozen=True)
class PairData:
    """A pair file, and which of its pairs to train on.

    Attributes:
        pairs: the file, as for :func:`utils.corpus.pairs.read_pairs`.
        columns: languages of its columns, in the file's order.
        num_test: groups of sentences for testing.
        num_valid: groups for the held-out loss.
        max_tokens: pairs with a longer side are left out of training.
        stream: read the file again in every epoch instead of holding it in memory
            (:mod:`utils.translator.streaming`).
    """

    pairs: str | Path
    columns: Sequence[str]
    num_test: int = 1000
    num_valid: int = 500
    max_tokens: int = 100
    stream: bool = False


class TrainingData(NamedTuple):
    """The data for a training, which :func:`prepare` makes from a pair file.

    Attributes:
        src_vocabulary: of the source language.
        tgt_vocabulary: of the target language.
        batches: what to train on.
        valid: ids of the sources and targets for the held-out loss; None if there are none.
        test: the examples for testing.
        rows: how the rows of the file were used.
        sha256: of the file.
    """

    src_vocabulary: Vocabulary
    tgt_vocabulary: Vocabulary
    batches: ShuffledBatches | BatchStream
    valid: tuple[Ids, Ids] | None
    test: list[Example]
    rows: Rows
    sha256: str


#: Longer sentences are left out when the vocabularies are learned: the time grows with the square of a word's length.
MAX_LEARNT = 5000
#: Takes a message to the user.
Notify = Callable[[str], object]


def silent(_message: str) -> None:
    """Ignore the message."""


def prepare(data: PairData, settings: Settings, *, batch_size: int, notify: Notify = silent) -> TrainingData:
    """Read a pair file, split it without leaks and learn its vocabularies.

    Args:
        data: the file and its split.
        settings: languages, size of the vocabularies and seed of the split.
        batch_size: sentence pairs per batch.
        notify: gets a message before each part that may take long.

    Raises:
        FileNotFoundError, ValueError: as ``read_pairs`` and ``group_split``, or ``survey``.
    """
    held_out = {"num_test": data.num_test, "num_valid": data.num_valid, "seed": settings.seed}
    notify(f"reading {find_file(data.pairs)}")
    if data.stream:
        split = survey(data.pairs, data.columns, settings.src, settings.tgt, **held_out)
        sample, rows = split.sample, Rows(split.num_rows, split.num_bad, split.bad_rows, None, None)
        sha256 = split.sha256
    else:
        file, sha256 = read_pairs(data.pairs, data.columns), file_digest(find_file(data.pairs))
        split = group_split(file.between(settings.src, settings.tgt), **held_out)
        sample = split.train
    first = next(row for _, row in read_rows(data.pairs, data.columns) if not isinstance(row, str))
    show_pairs(data.columns, first, (settings.src, settings.tgt), sample, notify)
    sample = [pair for pair in sample if max(map(len, pair)) <= MAX_LEARNT]
    if not sample:
        raise ValueError(f"no pair to train on has at most {MAX_LEARNT} characters on both sides")
    notify(f"learning the vocabularies from {len(sample)} pairs")
    src, tgt = (Vocabulary.bpe(side, settings.vocabulary_size) for side in zip(*sample, strict=True))
    if data.stream:
        batches = BatchStream(split, src, tgt, max_tokens=data.max_tokens, batch_size=batch_size)
    else:
        ids = encode_pairs(split.train, src, tgt, max_tokens=data.max_tokens)
        if not ids[0]:
            raise ValueError(f"no pair to train on has at most {data.max_tokens} tokens on both sides")
        batches = ShuffledBatches(*ids, batch_size=batch_size)
        first_bad = dict(islice(file.bad_rows.items(), 3))
        num_train = len(ids[0])
        rows = Rows(len(file.rows), len(file.bad_rows), first_bad, num_train, len(split.train) - num_train)
    valid = encode_pairs(split.valid, src, tgt, max_tokens=data.max_tokens) if split.valid else None
    if valid == ([], []):
        raise ValueError(
            f"no pair to validate on has at most {data.max_tokens} tokens on both sides: "
            "give more --valid-groups, or 0"
        )
    return TrainingData(src, tgt, batches, valid, split.test, rows, sha256)


def show_pairs(
    columns: Sequence[str],
    first: tuple[str, str],
    languages: tuple[str, str],
    pairs: Sequence[tuple[str, str]],
    notify: Notify,
) -> None:
    """Say which columns of a file are read, show its first row and three pairs, and warn of what is odd in them.

    Args:
        columns: the languages of the file's columns.
        first: the first row, in that order.
        languages: source and target.
        pairs: of the file, in the order of ``languages``.
        notify: gets each message.
    """
    notify("  " + "  ".join(f"column {n} is {columns[n - 1]}: {first[n - 1][:60]}" for n in (1, 2)))
    examples = pairs[:: len(pairs) // 1000 + 1]
    for source, target in examples[:: len(examples) // 3 or 1][:3]:
        notify(f"  {languages[0]}: {source[:60]}  {languages[1]}: {target[:60]}")
    for doubt in doubts(languages, first, examples):
        notify(f"warning: {doubt}")


def train_run(
    data: PairData,
    settings: Settings,
    schedule: Schedule,
    *,
    out: str | Path,
    overwrite: bool = False,
    resume: bool = False,
    progress: bool = False,
    notify: Notify = silent,
    processes: Processes = ALONE,
    threads: Threads | None = None,
) -> tuple[Run, FullHistory, Rows]:
    """From a pair file to a trained translator: read, split, learn vocabularies, train, save.

    The files are written into a folder beside ``out``, with ".training" after its name. It is renamed to ``out`` when
    the run is complete; until then a run that ``out`` holds stays as it is. A lock keeps a second training out.

    Args:
        data: the pair file and its split.
        settings: of the model.
        schedule: of the training; its budget does not include the reading of the file. Where its ``muon`` is None,
            Muon's learning rate is 0.02 on a device with bfloat16 products, and elsewhere Adam trains all weights:
            torch's Muon uses such products, and is fifty times slower on a processor without them. Where its
            ``batch_size`` is None, it is 128, or 32 where Adam trains all weights on a CPU: with few minutes, smaller
            and more steps are better there (measured in book/quality).
        out: folder of the run.
        overwrite: replace a run that the folder holds already, or an interrupted training into it.
        resume: go on with an interrupted training, whose state is saved once per minute; a warning says if there is
            none.
        progress: show a progress bar.
        notify: gets a message before each part that may take long.
        processes: those that train together, and the device they train on. The first of them saves the run; processes
            that were restarted after one failed go on with its training.
        threads: chooses the number of threads, as for :func:`utils.translator.loop.train`.

    Returns:
        The run, how its training went, and which rows of the file it left out.

    Raises:
        FileExistsError: the folder holds something that may not be replaced, or another process trains into it.
        FileNotFoundError: as :func:`prepare`.
        ValueError: ``resume`` with other options, too little memory, or as :func:`prepare` and
            :func:`utils.translator.loop.train`.
        FloatingPointError: as :func:`utils.translator.loop.train`.
    """
    checkpoints = Checkpoints(beside(out, "training"))
    with locked(out) if processes.is_first else nullcontext():
        if processes.is_first:
            _prepare_folder(
                out, checkpoints, overwrite=overwrite, resume=resume, restarted=processes.restarted
            )
        processes.barrier()
        try:
            options = {"progress": progress, "notify": notify, "threads": threads}
            run, history, rows = _train(data, settings, schedule, checkpoints, processes, **options)
            if processes.is_first:
                write_run(run, checkpoints.folder)
                publish(checkpoints.folder, out)
                Checkpoints(out).remove()
        finally:
            if processes.is_first and not checkpoints.exist:
                shutil.rmtree(checkpoints.folder, ignore_errors=True)
    return run, history, rows


def _completed(schedule: Schedule, products: torch.dtype, device: torch.device) -> Schedule:
    """The schedule with the choices that it leaves open."""
    muon, batch_size = schedule.muon, schedule.batch_size
    if muon is None:
        muon = 0.02 if products == torch.bfloat16 else 0.0
    if batch_size is None:
        batch_size = 32 if device.type == "cpu" and not muon else 128
    return replace(schedule, muon=muon, batch_size=batch_size)


def _train(
    data: PairData,
    settings: Settings,
    schedule: Schedule,
    checkpoints: Checkpoints,
    processes: Processes,
    *,
    progress: bool,
    notify: Notify,
    threads: Threads | None,
) -> tuple[Run, FullHistory, Rows]:
    """Train in a folder that is ready, and record the plan there before."""
    notify = notify if processes.is_first else silent
    products = fastest_products(processes.device)
    schedule = _completed(schedule, products, processes.device)
    training_data = prepare(data, settings, batch_size=schedule.batch_size, notify=notify)
    vocabularies = training_data.src_vocabulary, training_data.tgt_vocabulary
    with torch.device("meta"):
        num_weights = sum(p.numel() for p in build_model(settings, *map(len, vocabularies)).parameters())
    check_memory(num_weights, processes.device)
    model = build_model(settings, *map(len, vocabularies)).to(processes.device)
    record = {}
    if processes.is_first:
        record = _planned(data, settings, schedule, training_data, checkpoints.folder / RECORD)
        record["machine"] = {"device": str(processes.device), "products": str(products)}
        record["machine"] |= {"processes": processes.world}
        record["optimizer"] = "Muon and Adam" if schedule.muon else "Adam"
        write_atomically(checkpoints.folder / RECORD, _to_json(record).encode())
    history = train(
        model,
        training_data.batches,
        schedule,
        valid=training_data.valid,
        seed=settings.seed,
        products=products,
        progress=progress and processes.is_first,
        checkpoints=checkpoints,
        processes=processes,
        threads=threads,
    )
    if threads is not None and processes.is_first:
        record["machine"] |= {"threads": threads.number}
    record |= {
        "rows": asdict(training_data.rows),
        "result": result_of(history, digest((), model.state_dict())),
    }
    return Run(settings, model, *vocabularies, training_data.test, record), history, training_data.rows


def _planned(
    data: PairData, settings: Settings, schedule: Schedule, training_data: TrainingData, path: Path
) -> Record:
    """The plan of a training; that of the first command if this one continues it with the same options."""
    file = asdict(data) | {
        "pairs": printable(find_file(data.pairs).absolute()),
        "sha256": training_data.sha256,
    }
    file["columns"] = list(data.columns)
    record = plan(data=file, settings=asdict(settings), schedule=asdict(schedule))
    if not path.exists():
        return record
    first = json.loads(path.read_bytes())
    # A training that an earlier version of this course began is recurrent: there was no other model.
    first["settings"] = {"model": Model.RECURRENT, "num_heads": None} | first["settings"]
    before, after = (
        {part: plan_[part] for part in ("data", "settings", "schedule")} for plan_ in (first, record)
    )
    if changes := differences(before, after):
        raise ValueError(
            f"the training to resume began with other options: {'; '.join(changes)}: give the same options, "
            "or begin again with --overwrite"
        )
    resumption = {"date": now(), "command": record["command"], "minutes": schedule.minutes}
    return first | {"resumed": [*first.get("resumed", []), resumption]}


def _prepare_folder(
    out: str | Path, checkpoints: Checkpoints, *, overwrite: bool, resume: bool, restarted: bool
) -> None:
    """Make the folder to train in; raise an error rather than lose a run or a state of a training unasked."""
    check_place(out, overwrite=overwrite)
    if checkpoints.exist and not (resume or restarted):
        if not overwrite:
            raise FileExistsError(
                f"a training into {out} was interrupted: continue it with --resume, or begin again with --overwrite"
            )
        shutil.rmtree(checkpoints.folder)
    elif resume and not restarted and not checkpoints.exist:
        # Not an error: a cluster starts a job with the same command at first and after each interruption.
        warnings.warn(f"there is no interrupted training into {out}: this training begins anew", stacklevel=2)
    if not checkpoints.exist and checkpoints.folder.exists():
        shutil.rmtree(checkpoints.folder)  # of a training that ended before its first state was saved
    checkpoints.folder.mkdir(exist_ok=True)


def save_run(run: Run, folder: str | Path) -> None:
    """Save a run in a folder: the weights as safetensors, everything else as JSON, nothing pickled.

    The files are written beside the folder and renamed into it together.

    Args:
        folder: made if it does not exist; a run in it is replaced.

    Raises:
        ValueError, FileExistsError: the folder holds something else than a run.
    """
    with locked(folder):
        check_place(folder, overwrite=True)
        new = beside(folder, "new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        try:
            write_run(run, new)
            publish(new, folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)


def write_run(run: Run, folder: Path) -> None:
    """Write the files of a run into a folder that is there, the weights last.

    Raises:
        FloatingPointError: a weight that is not a finite number.
    """
    weights = run.model.state_dict()
    _check_weights(weights, "the weights after the training")
    texts = {
        SETTINGS: _to_json(asdict(run.settings)),
        SRC: run.src_vocabulary.to_json(),
        TGT: run.tgt_vocabulary.to_json(),
        TEST: _to_json([example._asdict() for example in run.test]),
    }
    if run.record is not None:
        texts[RECORD] = _to_json(run.record)
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    metadata = {"digest": digest([text.encode() for text in texts.values()], weights)}
    write_atomically(folder / WEIGHTS, save(weights, metadata=metadata))


def load_run(folder: str | Path, *, device: torch.device = CPU) -> Run:
    """Load a run that :func:`save_run` wrote; its model is in evaluation mode.

    Args:
        folder: of the run.
        device: to put the model on.

    Raises:
        FileNotFoundError: no such folder, or no complete run in it.
        ValueError: a file that is damaged, or that belongs to another run.
        FloatingPointError: a weight that is not a finite number.
    """
    folder = complete(folder)
    for name in (SETTINGS, SRC, TGT, TEST, WEIGHTS):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} holds no trained run: {name} is missing")
    # A run of an earlier version has no record.
    has_record = (folder / RECORD).is_file()
    names = (SETTINGS, SRC, TGT, TEST, *([RECORD] if has_record else []))
    texts = [(folder / name).read_bytes() for name in names]
    weights, metadata = read_safetensors(folder / WEIGHTS)
    if metadata.get("digest") != digest(texts, weights):
        raise ValueError(f"the files in {folder} are damaged or not of one run: restore them or train again")
    try:
        settings = Settings(**json.loads(texts[0]))
    except TypeError as error:
        raise ValueError(f"{folder / SETTINGS} is of another version of this course: {error}") from error
    src_vocabulary, tgt_vocabulary = Vocabulary.load(folder / SRC), Vocabulary.load(folder / TGT)
    _check_weights(weights, f"{folder / WEIGHTS}")
    model = build_model(settings, len(src_vocabulary), len(tgt_vocabulary))
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise ValueError(f"{folder / WEIGHTS} holds the weights of another model: {error}") from error
    test = [Example(example["source"], tuple(example["references"])) for example in json.loads(texts[3])]
    record = json.loads(texts[4]) if has_record else None
    return Run(settings, model.to(device), src_vocabulary, tgt_vocabulary, test, record)


def _check_weights(weights: Mapping[str, Tensor], where: str) -> None:
    for name, tensor in weights.items():
        if not tensor.isfinite().all():
            raise FloatingPointError(f"{where}: {name} has numbers that are not finite; train again")


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
