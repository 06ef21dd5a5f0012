"""Runs: from a pair file to a trained translator in a folder, and back from the folder.

The training loop is in ``loop``; translating and measuring are in ``translating``.
Explained in book/api/command_line.
"""

import hashlib
import json
import shutil
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors.torch import save
from torch import Tensor

from utils.corpus.pairs import find_files
from utils.corpus.splits import Example
from utils.corpus.vocabulary import Vocabulary
from utils.seq2seq import EncoderDecoder
from utils.translator.checkpoints import Checkpoints, digest, read_safetensors, write_atomically
from utils.translator.data import Notify, PairData, Rows, prepare, silent
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
from utils.translator.models import Settings, build_model
from utils.translator.options import Model
from utils.translator.records import Record, differences, now, plan, printable, result_of


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
            run, history, rows = _train(
                data, settings, schedule, checkpoints, processes, progress=progress, notify=notify
            )
            if processes.is_first:
                shutil.rmtree(checkpoints.folder / "ids")
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
) -> tuple[Run, FullHistory, Rows]:
    """Train in a folder that is ready, and record the plan there before."""
    products = fastest_products(processes.device)
    schedule = _completed(schedule, products, processes.device)
    record, ids = {}, checkpoints.folder / "ids"
    if processes.is_first:
        record = _planned(data, settings, schedule, checkpoints.folder / RECORD)
        record["machine"] = {"device": str(processes.device), "products": str(products)}
        record["machine"] |= {"processes": processes.world, "threads": torch.get_num_threads()}
        record["optimizer"] = "Muon and Adam" if schedule.muon else "Adam"
    # The other processes may be on machines that do not have this folder.
    with nullcontext(ids) if processes.is_first else TemporaryDirectory() as folder:
        training_data = prepare(
            data,
            settings,
            Path(folder),
            batch_size=schedule.batch_size,
            notify=notify if processes.is_first else silent,
        )
        vocabularies = training_data.src_vocabulary, training_data.tgt_vocabulary
        with torch.device("meta"):
            num_parameters = sum(
                p.numel() for p in build_model(settings, *map(len, vocabularies)).parameters()
            )
        check_memory(num_parameters, processes.device)
        model = build_model(settings, *map(len, vocabularies)).to(processes.device)
        if processes.is_first:
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
        )
    record |= {
        "rows": asdict(training_data.rows),
        "result": result_of(history, digest((), model.state_dict())),
    }
    return Run(settings, model, *vocabularies, training_data.test, record), history, training_data.rows


def _planned(data: PairData, settings: Settings, schedule: Schedule, path: Path) -> Record:
    """The plan of a training; that of the first command if this one continues it with the same options."""
    names, digests = [], []
    for pairs in find_files(data.pairs):
        names.append(printable(pairs.absolute()))
        with pairs.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    facts = {"pairs": " and ".join(names), "columns": list(data.columns), "sha256": " and ".join(digests)}
    record = plan(data=asdict(data) | facts, settings=asdict(settings), schedule=asdict(schedule))
    if not path.exists():
        return record
    first = json.loads(path.read_bytes())
    # A training that an earlier version of this course began is recurrent: there was no other model.
    first["settings"] = {"model": Model.RECURRENT, "num_heads": None} | first["settings"]
    if changes := differences(first, record):
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
