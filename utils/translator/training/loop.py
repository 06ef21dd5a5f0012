"""The training loop of the command line: a budget of time, held-out loss, a saved state, several processes.

The loop that the chapters explain is :func:`utils.training.fit`; without these options both give the same weights up
to rounding.
Explained in book/your_translator.
"""

import copy
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn
from tqdm import tqdm

from utils.corpus.batches import Batch, ShuffledBatches
from utils.corpus.batches import batches as in_batches
from utils.fast_training import fast_loss
from utils.seq2seq import EncoderDecoder
from utils.training import History, Ids, check_finite, check_positive, seeded
from utils.translator.recovery import STATE, Interrupted, hold_signals, load_state, save_state
from utils.translator.training.distributed import ALONE, Processes

#: Held-out sentences per batch; their loss does not depend on it.
_HELD_OUT_BATCH = 128
#: Steps after which the weights have changed: the learning rate of the first one is 0.
_FEWEST = 2
#: Seconds of training after which its state is saved again.
SAVE_AFTER = 60.0


@dataclass
class FullHistory(History):
    """The record of a training by :func:`train_model`: that of each step, and the losses on held-out sentences.

    Attributes:
        valid_losses: the held-out loss after each epoch and at the end, without label smoothing.
    """

    valid_losses: list[float] = field(default_factory=list)


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
            raise ValueError("give exactly one of minutes, epochs and steps")
        names = ("minutes", "epochs", "steps", "batch_size", "lr", "clip")
        check_positive(**{name: getattr(self, name) for name in names})
        if not 0 < self.warmup < 1:
            raise ValueError(f"warmup must be a share between 0 and 1, got {self.warmup}")

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
    folder: Path | None = None,
    processes: Processes = ALONE,
) -> FullHistory:
    """Train with teacher forcing by :func:`utils.fast_training.fast_loss`.

    The learning rate falls to 0 at the end of the budget, whether it is short or long. With ``epochs`` or ``steps`` the
    same seed gives the same weights on one machine; with ``minutes`` they depend on the machine's speed.

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
        folder: where to save the state once per minute and when the training ends, whatever ends it. If there is a
            state already, the training continues from it; the rest of its epoch is shuffled anew.
        processes: those that train this model together. The first one saves the state.

    Returns:
        The history of all steps, including those before an interruption.

    Raises:
        ValueError: a damaged state, or a budget that ends before the weights have changed.
        FloatingPointError: a loss or gradient that is not finite, with the step; the weights are those before it.
        Interrupted: Ctrl-C or another signal that ends programs, once the current step is done and its state is saved.
    """
    training = _Training(model, schedule, len(batches), folder, processes)
    seed += len(training.history.losses)
    generator = torch.Generator().manual_seed(seed)
    with (
        seeded(seed + processes.rank),
        _bar(progress) as bar,
        hold_signals() as signals,
        training.saved_at_the_end(),
    ):
        share = 0.0
        while share < 1:
            model.train()
            for batch in islice(batches.epoch(generator), training.rest_of_epoch):
                if (share := training.share(signals)) == 1:
                    break
                training.step(batch, share, products)
                _show(bar, training.history, share)
            if valid is not None:
                training.keep_best(_valid_loss(model, valid, processes))
            share = training.share(signals)
            bar.update(share - bar.n)
    if training.best is not None:
        model.load_state_dict(training.best)
    model.eval()
    if len(training.history.losses) < _FEWEST:
        raise ValueError(
            f"the training ended after step {len(training.history.losses)}, before the weights have changed: "
            "give it more --minutes or --steps"
        )
    return training.history


class _Training:
    """What changes in a training from step to step, and the folder in which it is saved."""

    def __init__(
        self,
        model: EncoderDecoder,
        schedule: Schedule,
        steps_per_epoch: int,
        folder: Path | None,
        processes: Processes,
    ):
        self._model, self._schedule, self._processes = model, schedule, processes
        self._steps_per_epoch, self._folder = steps_per_epoch, folder
        self._optimizer = torch.optim.Adam(model.parameters(), fused=True)
        self._loss = processes.loss_of(model, partial(fast_loss, label_smoothing=schedule.label_smoothing))
        self._start: float | None = None
        self._saved_at = time.perf_counter()
        self.history = FullHistory()
        self.best: dict[str, Tensor] | None = None
        if folder is not None and (folder / STATE).exists():
            state = load_state(folder)
            model.load_state_dict(state["model"])
            self._optimizer.load_state_dict(state["optimizer"])
            self.history, self.best = FullHistory(**state["history"]), state["best"]

    @property
    def rest_of_epoch(self) -> int:
        """The number of steps that are left of this epoch."""
        return self._steps_per_epoch - len(self.history.losses) % self._steps_per_epoch

    def share(self, signals: list[int]) -> float:
        """The share of the budget that is used, the same in all processes; time counts from the first call.

        Raises:
            Interrupted: one of the processes holds a signal.
        """
        if self._start is None:
            self._start = time.perf_counter() - (self.history.seconds or [0.0])[-1]
        share = self._schedule.share(self.history, time.perf_counter() - self._start, self._steps_per_epoch)
        share, held = self._processes.sum(share if self._processes.rank == 0 else 0.0, len(signals))
        if held:
            raise Interrupted(*signals[:1])
        return share

    def step(self, batch: Batch, share: float, products: torch.dtype) -> None:
        """Forward and backward pass, and a step of Adam at the rate for this share of the budget."""
        rows, share_of_tokens = self._processes.share(batch)
        with torch.autocast(rows.src.device.type, products, enabled=products != torch.float32):
            loss = self._loss(rows) * share_of_tokens
        self._optimizer.zero_grad()
        (loss * self._processes.world).backward()
        norm = nn.utils.clip_grad_norm_(self._model.parameters(), self._schedule.clip)
        check_finite(loss, norm, step=len(self.history.losses) + 1)
        warm = min(share / self._schedule.warmup, 1)
        self._optimizer.param_groups[0]["lr"] = self._schedule.lr * warm * (1 - share)
        self._optimizer.step()
        [of_batch] = self._processes.sum(loss.item())
        self.history.add(of_batch, batch.num_tokens, time.perf_counter() - self._start)
        if time.perf_counter() - self._saved_at >= SAVE_AFTER:
            self._save()

    def keep_best(self, valid_loss: float) -> None:
        """Note a held-out loss, and the weights if it is the lowest so far."""
        if valid_loss < min(self.history.valid_losses, default=math.inf):
            self.best = copy.deepcopy(self._model.state_dict())
        self.history.valid_losses.append(valid_loss)

    @contextmanager
    def saved_at_the_end(self) -> Iterator[None]:
        """Save the state when the block ends, whatever ends it."""
        try:
            yield
        finally:
            self._save()

    def _save(self) -> None:
        if self._folder is not None and self._processes.rank == 0 and len(self.history.losses) >= _FEWEST:
            state = {"model": self._model.state_dict(), "optimizer": self._optimizer.state_dict()}
            save_state(self._folder, state | {"best": self.best, "history": asdict(self.history)})
        self._saved_at = time.perf_counter()


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
    return total / tokens


def _bar(progress: bool) -> tqdm:
    return tqdm(
        total=1.0,
        disable=not progress,
        desc="training",
        bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}",
    )


def _show(bar: tqdm, history: History, share: float) -> None:
    numbers = {"loss": f"{history.losses[-1]:.2f}", "tokens_s": f"{history.tokens_per_second:.0f}"}
    bar.set_postfix(numbers, refresh=False)
    bar.update(share - bar.n)
