"""Runs: from a pair file to a trained translator in a folder, and back from the folder.

The training loop is in ``training.loop``; translating and measuring are in ``using``.
Explained in book/your_translator.
"""

import hashlib
import json
import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from utils.corpus.splits import Example
from utils.corpus.vocabulary import Vocabulary
from utils.corpus.whole_files import write_whole
from utils.errors import CourseError, check_weights
from utils.seq2seq import EncoderDecoder
from utils.training import History
from utils.translator.devices import CPU, fastest_products
from utils.translator.models import Settings, build_model
from utils.translator.training.data import Notify, PairData, Rows, TrainingData, prepare, silent
from utils.translator.training.distributed import ALONE, Processes
from utils.translator.training.loop import STATE, Schedule, State, load_state, save_state, train_model

#: The files of a run. The weights hold the digest of all others but the evaluation.
RECORD, SETTINGS, SRC, TGT, TEST, WEIGHTS, EVALUATION = (
    "run.json", "settings.json", "src.vocabulary.json", "tgt.vocabulary.json", "test.json", "weights.safetensors",
    "evaluation.json",
)  # fmt: skip
FILES = (RECORD, SETTINGS, SRC, TGT, TEST, WEIGHTS, EVALUATION)
#: The most points of the curve of the loss in a record.
MAX_POINTS = 200
#: What may differ between the command that began a training and the one that continues it. The pair file may have
#: moved: its digest says whether it is the same.
_FREE = {("data", "pairs"), ("schedule", "minutes")}

#: How a run was trained, in types that JSON can hold.
Record = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """A trained translator with all that is needed to translate text and to measure it.

    Attributes:
        settings: how it was made.
        model: in evaluation mode.
        src_vocabulary: of the source language.
        tgt_vocabulary: of the target language.
        test: the held-out examples.
        record: from which data, by which command and how it was trained; None if nothing is known of this.
    """

    settings: Settings
    model: EncoderDecoder
    src_vocabulary: Vocabulary
    tgt_vocabulary: Vocabulary
    test: list[Example]
    record: Record | None = None


def train_run(
    data: PairData,
    settings: Settings,
    schedule: Schedule,
    *,
    out: str | Path,
    resume: bool = False,
    progress: bool = False,
    notify: Notify = silent,
    processes: Processes = ALONE,
) -> tuple[Run, History, Rows]:
    """From a pair file to a trained translator in a folder: read, split, learn vocabularies, train, save.

    Until the training is complete, the folder holds its state alone.

    Args:
        data: the pair file and its split.
        settings: of the model.
        schedule: of the training; its budget does not include the reading of the file.
        out: folder of the run, which must be new or empty.
        resume: go on with an interrupted training, whose state is saved once per minute; a warning says if there is
            none.
        progress: show a progress bar.
        notify: gets a message before each part that may take long.
        processes: those that train together, and the device they train on. The first of them reads the file and saves
            the run.

    Returns:
        The run, how its training went, and which rows of the file it left out.

    Raises:
        FileExistsError: the folder holds something, or an interrupted training and ``resume`` is False.
        FileNotFoundError: as :func:`utils.translator.training.data.prepare`.
        ValueError: ``resume`` with other options, another file or another number of processes, a damaged state, or as
            :func:`utils.translator.training.data.prepare` and :func:`utils.translator.training.loop.train_model`.
        FloatingPointError: as :func:`utils.translator.training.loop.train_model`.
    """
    is_first, device, out = processes.rank == 0, processes.device, Path(out)
    record, state, training_data = {}, None, None
    if is_first:
        state = _state_in(out, resume=resume)
        training_data = prepare(data, settings, batch_size=schedule.batch_size, notify=notify)
        record = _planned(data, settings, schedule, training_data, processes.world)
        if state is not None:
            record = _resumed(json.loads(state["record"]), record)
    state, training_data = processes.of_first((state, training_data))
    vocabularies = training_data.src_vocabulary, training_data.tgt_vocabulary
    model, products = build_model(settings, *map(len, vocabularies)).to(device), fastest_products(device)
    if is_first:
        out.mkdir(parents=True, exist_ok=True)
    history = train_model(
        model,
        training_data.batches,
        schedule,
        valid=training_data.valid,
        seed=settings.seed,
        products=products,
        progress=progress and is_first,
        state=state,
        save=lambda state: save_state(out, state | {"record": _to_json(record)}),
        processes=processes,
    )
    run = Run(settings, model, *vocabularies, training_data.test)
    if is_first:
        machine = {"device": str(device), "products": str(products), "threads": torch.get_num_threads()}
        record["machine"] |= machine
        record |= {"rows": asdict(training_data.rows), "result": _result(history, model)}
        run = replace(run, record=record)
        save_run(run, out)
        (out / STATE).unlink()
    return run, history, training_data.rows


def _state_in(out: Path, *, resume: bool) -> State | None:
    """The state of an interrupted training into this folder, or None.

    Raises:
        FileExistsError: the place is taken, or there is such a training and ``resume`` is False.
        ValueError: the state is damaged.
    """
    if (out / STATE).exists():
        if resume:
            return load_state(out)
        raise FileExistsError(
            f"a training into {out} was interrupted: continue it with --resume, or remove {out}"
        )
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise FileExistsError(f"{out} exists already: name a new folder for the run, or remove this one")
    if resume:  # not an error: a cluster starts a job always alike
        warnings.warn(f"no training into {out} was interrupted: this one begins anew", stacklevel=3)
    return None


def _planned(
    data: PairData, settings: Settings, schedule: Schedule, read: TrainingData, num_processes: int
) -> Record:
    """What is known of a training before it."""
    file = _printable(read.file.absolute())
    files = {"pairs": file, "columns": list(data.columns), "sha256": read.sha256}
    return {
        "date": _now(),
        "command": [_printable(argument) for argument in (Path(sys.argv[0]).name, *sys.argv[1:])],
        "versions": _versions(),
        "data": asdict(data) | files,
        "settings": asdict(settings),
        "schedule": asdict(schedule),
        "machine": {"processes": num_processes},
    }


def _resumed(first: Record, record: Record) -> Record:
    """What the first command noted of a training, and that a second one continues it.

    Raises:
        ValueError: the second command has other options, another file or another number of processes.
    """
    began, now = (part["machine"]["processes"] for part in (first, record))
    if began != now:
        start = f"with torchrun in {began} processes" if began > 1 else "without torchrun"
        raise CourseError(f"processes of the training to resume were {began}, now {now}: start it {start}")
    if first["data"]["sha256"] != record["data"]["sha256"]:
        raise CourseError(
            f"the text of {record['data']['pairs']} is not the one that the training to resume began with: restore it, "
            "or train with this one into another folder"
        )
    if different := changes(first, record):
        raise CourseError(
            f"the training to resume began with other options: {'; '.join(different)}: give the same options"
        )
    return first | {
        "schedule": record["schedule"],
        "resumed": [*first.get("resumed", []), record["date"]],
    }


def changes(before: Record, after: Record) -> list[str]:
    """The differences between two records that make them two trainings, one phrase each.

    >>> changes(*({"data": {}, "settings": {"dropout": share}, "schedule": {}} for share in (0.1, 0.3)))
    ['dropout was 0.1, now 0.3']
    """
    return [
        f"{name} was {before[part].get(name)}, now {after[part].get(name)}"
        for part in ("data", "settings", "schedule")
        for name in before[part] | after[part]
        if before[part].get(name) != after[part].get(name) and (part, name) not in _FREE
    ]


def _result(history: History, model: EncoderDecoder) -> Record:
    """What is known after a training. The curve is the mean loss up to each of at most 200 steps since the last."""
    pieces = torch.tensor(history.losses).tensor_split(min(MAX_POINTS, len(history.losses)))
    ends = accumulate(map(len, pieces))
    return {
        "date": _now(),
        "steps": len(history.losses),
        "minutes": round(history.seconds[-1] / 60, 2),
        "target_tokens": sum(history.tokens),
        "losses": [[end, round(piece.mean().item(), 4)] for end, piece in zip(ends, pieces, strict=True)],
        "held_out_losses": [round(loss, 4) for loss in history.valid_losses],
        "weights": digest((), model.state_dict()),
    }


def _versions() -> dict[str, str]:
    packages = ("attention-course", "torch", "tokenizers", "sacrebleu")
    return {"python": sys.version.split()[0]} | {name: version(name) for name in packages}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _printable(text: str | os.PathLike) -> str:
    """A path or an argument as text that UTF-8 can hold."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def save_run(run: Run, folder: str | Path) -> None:
    """Save a run in a folder: the weights as safetensors, everything else as JSON, nothing pickled.

    Each file is written whole, the weights last; a folder with files of two runs is refused by :func:`load_run`.

    Args:
        folder: made if it does not exist.

    Raises:
        FloatingPointError: a weight that is not a finite number.
    """
    folder = Path(folder)
    weights = run.model.state_dict()
    check_weights(weights, "the weights after the training")
    texts = {
        SETTINGS: _to_json(asdict(run.settings)),
        SRC: run.src_vocabulary.to_json(),
        TGT: run.tgt_vocabulary.to_json(),
        TEST: _to_json([example._asdict() for example in run.test]),
    }
    if run.record is not None:
        texts[RECORD] = _to_json(run.record)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_whole(folder / name, text.encode())
    metadata = {"digest": digest([text.encode() for text in texts.values()], weights)}
    write_whole(folder / WEIGHTS, save(weights, metadata=metadata))


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
    folder = Path(folder)
    for name in (SETTINGS, SRC, TGT, TEST, WEIGHTS):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} holds no trained run: {name} is missing")
    has_record = (folder / RECORD).is_file()
    names = (SETTINGS, SRC, TGT, TEST, *([RECORD] if has_record else []))
    texts = [(folder / name).read_bytes() for name in names]
    try:
        with safe_open(folder / WEIGHTS, framework="pt") as file:
            weights, metadata = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    except SafetensorError as error:
        raise CourseError(f"{folder / WEIGHTS} is damaged: {error}") from error
    if (metadata or {}).get("digest") != digest(texts, weights):
        raise CourseError(f"the files in {folder} are damaged or not of one run: restore them or train again")
    check_weights(weights, f"{folder / WEIGHTS}")
    settings = Settings(**json.loads(texts[0]))
    src_vocabulary, tgt_vocabulary = Vocabulary.load(folder / SRC), Vocabulary.load(folder / TGT)
    model = build_model(settings, len(src_vocabulary), len(tgt_vocabulary))
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise CourseError(f"{folder / WEIGHTS} holds the weights of another model: {error}") from error
    test = [Example(example["source"], tuple(example["references"])) for example in json.loads(texts[3])]
    record = json.loads(texts[4]) if has_record else None
    return Run(settings, model.to(device), src_vocabulary, tgt_vocabulary, test, record)


def digest(texts: Iterable[bytes], tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of texts and of tensors, independent of the order in which the tensors are stored.

    >>> digest([b"a"], {}) == hashlib.sha256(b"a").hexdigest()
    True
    """
    sha256 = hashlib.sha256(b"".join(texts))
    for name in sorted(tensors):
        sha256.update(tensors[name].cpu().contiguous().flatten().view(torch.uint8).numpy())
    return sha256.hexdigest()


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
