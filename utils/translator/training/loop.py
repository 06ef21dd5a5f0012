"""A training of the command line: a budget of time, held-out loss, a state that can be saved, several processes.

The loop itself is :func:`utils.training.training_steps`, which the chapters use, too.
Explained in book/your_translator.
"""

import copy
import io
import math
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from utils.checks import check_positive
from utils.corpus.batches import Batch, ShuffledBatches
from utils.corpus.batches import batches as in_batches
from utils.corpus.whole_files import write_whole
from utils.errors import CourseError, check_weights
from utils.fast_training import fast_loss
from utils.seq2seq import EncoderDecoder
from utils.training import History, Ids, seeded, training_steps
from utils.translator.training.distributed import ALONE, Processes

#: The state of a training: the states of the model and of the optimizer, the history, and the best weights so far.
State = dict[str, Any]
#: The file of a state.
STATE = "state.pt"
#: Seconds of training after which its state is saved again.
SAVE_AFTER = 60.0
#: Held-out sentences per batch; their loss does not depend on it.
_HELD_OUT_BATCH = 128


@dataclass(frozen=True)
class Schedule:
    """How long a model is trained, and the settings of the optimizer.

    Attributes:
        minutes: wall-clock budget, counted from the first batch; the training ends at most one step after it.
        epochs: number of passes over the sentences, instead of ``minutes``.
        steps: number of steps, instead of ``minutes``.
        batch_size: sentence pairs per step, of which :func:`utils.translator.runs.train_run` makes its batches.
        lr: scale of Adam's learning rate, as in :func:`utils.training.fit`.
        warmup: share of the budget over which the learning rate rises.
        label_smoothing: as in :func:`utils.training.sequence_loss`.
        clip: largest norm of the gradient of all parameters together.

    Raises:
        ValueError: not exactly one of ``minutes``, ``epochs`` and ``steps``, or a number out of its range.
    """

    minutes: float | None = None
    epochs: int | None = None
    steps: int | None = None
    batch_size: int = 32
    lr: float = 3e-3
    warmup: float = 0.05
    label_smoothing: float = 0.1
    clip: float = 1.0

    def __post_init__(self):
        if [self.minutes, self.epochs, self.steps].count(None) != 2:
            raise CourseError("give exactly one of minutes, epochs and steps")
        names = ("minutes", "epochs", "steps", "batch_size", "lr", "clip")
        check_positive(**{name: getattr(self, name) for name in names})
        if not 0 < self.warmup < 1:
            raise CourseError(f"warmup must be a share between 0 and 1, got {self.warmup}")

    def share(self, history: History, seconds: float, steps_per_epoch: int) -> float:
        """The share of the budget that is used after the steps of a history and these seconds; at most 1."""
        if self.minutes is not None:
            return min(seconds / (60 * self.minutes), 1)
        return min(len(history.losses) / (self.steps or self.epochs * steps_per_epoch), 1)


def train_model(
    model: EncoderDecoder,
    batches: ShuffledBatches,
    schedule: Schedule,
    *,
    valid: tuple[Ids, Ids] | None = None,
    seed: int = 0,
    products: torch.dtype = torch.float32,
    progress: bool = False,
    state: State | None = None,
    save: Callable[[State], object] | None = None,
    processes: Processes = ALONE,
) -> History:
    """Train with teacher forcing by :func:`utils.fast_training.fast_loss`.

    The learning rate falls to 0 at the end of the budget, whether it is short or long. With ``epochs`` or ``steps`` the
    same seed gives the same weights on one machine; with ``minutes`` they depend on the machine's speed, and where
    the number of threads is found by trying, their last digits do.

    Args:
        model: trained in place, and left in evaluation mode; it must be on the device of the processes.
        batches: what to train on.
        schedule: how long, and with which learning rates.
        valid: held-out sources and targets, whose loss is measured after each epoch and at the end; the model
            ends with the weights for which it was lowest.
        seed: of the shuffling and of dropout.
        products: dtype of the matrix products. ``torch.bfloat16`` is less exact, and faster on hardware with
            instructions for it; weights, sums and the optimizer stay in float32.
        progress: show a progress bar with the loss and the tokens per second.
        state: of an interrupted training, which continues from it with a new pass over the batches.
        save: gets the state once per minute and when the training ends, whatever ends it.
        processes: those that train this model together. Only the first one saves.

    Returns:
        The history of all steps, including those before an interruption.

    Raises:
        ValueError: a budget that ends before the first step.
        FloatingPointError: a loss or gradient that is not finite, with the step; the weights are those before it.
    """
    training = _Training(model, state)
    history, start, per_epoch = training.history, len(training.history.losses), len(batches)
    options = {"products": products, "label_smoothing": schedule.label_smoothing}
    with seeded(seed + start + processes.rank), _bar(progress) as bar:

        def share(seconds: float) -> float:
            used = schedule.share(history, seconds, per_epoch)
            [used] = processes.sum(used if processes.rank == 0 else 0.0)  # all have the clock of the first
            bar.update(used - bar.n)
            return used

        steps = training_steps(
            model.train(),
            _endless(batches, torch.Generator().manual_seed(seed + start)),
            training.optimizer,
            history,
            loss=processes.loss_of(model, partial(_loss, **options)),
            share=share,
            lr=schedule.lr,
            warmup=schedule.warmup,
            clip=schedule.clip,
        )
        saves = save is not None and processes.rank == 0
        began = saved_at = time.perf_counter()
        try:
            for _ in steps:
                if processes.threads is not None:
                    processes.threads.step_done(history.tokens[-1], time.perf_counter() - began)
                _tell(bar, history)
                if valid is not None and len(history.losses) % per_epoch == 0:
                    training.keep_best(_valid_loss(model, valid, processes))
                if saves and time.perf_counter() - saved_at >= SAVE_AFTER:
                    save(training.state())
                    saved_at = time.perf_counter()
                began = time.perf_counter()
            if valid is not None and len(history.losses) % per_epoch:
                training.keep_best(_valid_loss(model, valid, processes))
        finally:
            if saves and history.losses:
                save(training.state())
    if training.best is not None:
        model.load_state_dict(training.best)
    model.eval()
    if not history.losses:
        raise CourseError("the training ended before its first step: give it more --minutes")
    return history


class _Training:
    """What changes in a training from step to step."""

    def __init__(self, model: EncoderDecoder, state: State | None):
        self._model = model
        self.optimizer = torch.optim.Adam(model.parameters(), fused=True)
        self.history = History()
        self.best: dict[str, Tensor] | None = None
        if state is not None:
            model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.history, self.best = History(**state["history"]), state["best"]

    def state(self) -> State:
        """What another training needs to continue this one."""
        states = {"model": self._model.state_dict(), "optimizer": self.optimizer.state_dict()}
        return states | {"history": asdict(self.history), "best": self.best}

    def keep_best(self, valid_loss: float) -> None:
        """Note a held-out loss, and the weights if it is the lowest so far."""
        if valid_loss < min(self.history.valid_losses, default=math.inf):
            self.best = copy.deepcopy(self._model.state_dict())
        self.history.valid_losses.append(valid_loss)


def _endless(batches: ShuffledBatches, generator: torch.Generator) -> Iterator[Batch]:
    while True:
        yield from batches.epoch(generator)


def _loss(model: EncoderDecoder, batch: Batch, *, products: torch.dtype, label_smoothing: float) -> Tensor:
    with torch.autocast(batch.src.device.type, products, enabled=products != torch.float32):
        return fast_loss(model, batch, label_smoothing=label_smoothing)


@torch.no_grad()
def _valid_loss(model: EncoderDecoder, valid: tuple[Ids, Ids], processes: Processes) -> float:
    """The mean loss per target token, without dropout. The processes take turns with the batches."""
    model.eval()
    total, tokens = 0.0, 0
    for batch in islice(
        in_batches(*valid, batch_size=_HELD_OUT_BATCH), processes.rank, None, processes.world
    ):
        total += batch.num_tokens * fast_loss(model, batch.to(processes.device)).item()
        tokens += batch.num_tokens
    total, tokens = processes.sum(total, tokens)
    model.train()
    return total / tokens


def save_state(folder: Path, state: State) -> None:
    """Write the state of a training into a folder, in place of the one before."""
    content = io.BytesIO()
    torch.save(state, content)
    write_whole(folder / STATE, content.getvalue())


def load_state(folder: Path) -> State:
    """The state that :func:`save_state` wrote, without running any code of it.

    Raises:
        ValueError: the file is damaged.
        FloatingPointError: a weight that is not a finite number.
    """
    try:
        state = torch.load(folder / STATE, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError):
        state = None
    if not isinstance(state, dict) or not {"model", "optimizer", "history", "best"} <= state.keys():
        raise CourseError(
            f"{folder / STATE} is damaged, or no state of a training: remove it and train again"
        )
    check_weights(state["model"], f"{folder / STATE}")
    return state


def _bar(progress: bool) -> tqdm:
    return tqdm(
        total=1.0,
        disable=not progress,
        desc="training",
        bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}",
    )


def _tell(bar: tqdm, history: History) -> None:
    numbers = {"loss": f"{history.losses[-1]:.2f}", "tokens_s": f"{history.tokens_per_second:.0f}"}
    bar.set_postfix(numbers, refresh=False)
