"""The training loop of the command line: a budget of time, held-out loss, checkpoints, Ctrl-C, several processes.

The loop that the chapters explain is :func:`utils.training.fit`; without these options both give the same weights up
to rounding.
Explained in book/api/command_line and book/scaling.
"""

import copy
import hashlib
import json
import math
import signal
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice

import torch
from torch import Tensor, nn
from tqdm import tqdm

from utils.corpus.batches import Batch, ShuffledBatches
from utils.corpus.batches import batches as in_batches
from utils.fast_training import fast_loss
from utils.seq2seq import EncoderDecoder
from utils.training import History, Ids, check_finite, check_positive, seeded
from utils.transformer import MultiHeadAttention
from utils.translator.checkpoints import Checkpoints
from utils.translator.distributed import ALONE, Processes, SharedLoss
from utils.translator.interrupts import Interrupted, PendingSignal, hold_signals
from utils.translator.optimizers import Optimizers

#: Held-out sentences per batch; their loss does not depend on it.
_HELD_OUT_BATCH = 128


@dataclass
class FullHistory(History):
    """The record of a training by :func:`train`: that of each step, and the losses on held-out sentences.

    Attributes:
        valid_losses: the held-out loss after each epoch and at the end, without label smoothing.
    """

    valid_losses: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Schedule:
    """How long a model is trained, and the settings of the optimizers.

    Attributes:
        minutes: wall-clock budget, counted from the first batch; the training ends at most one step after it.
        epochs: number of passes over the sentences, instead of ``minutes``.
        steps: number of steps, instead of ``minutes``.
        batch_size: sentence pairs per step. None leaves the choice to :func:`utils.translator.runs.train_run`;
            :func:`train` gets batches that are made already.
        lr: scale of Adam's learning rate, as in :func:`utils.training.fit`.
        muon: scale of the learning rate of Muon for the matrices between hidden layers
            (:mod:`utils.translator.optimizers`); 0 for Adam alone. None leaves the choice to
            :func:`utils.translator.runs.train_run`.
        warmup: share of the budget over which the learning rates rise.
        label_smoothing: as in :func:`utils.training.sequence_loss`.
        clip: largest norm of the gradient of all parameters together.
        patience: epochs without a lower held-out loss after which training stops.

    Raises:
        ValueError: not exactly one of ``minutes``, ``epochs`` and ``steps``, or a number out of its range.
    """

    minutes: float | None = None
    epochs: int | None = None
    steps: int | None = None
    batch_size: int | None = None
    lr: float = 3e-3
    muon: float | None = None
    warmup: float = 0.05
    label_smoothing: float = 0.1
    clip: float = 1.0
    patience: int | None = None

    def __post_init__(self):
        if [self.minutes, self.epochs, self.steps].count(None) != 2:
            raise ValueError("give exactly one of minutes, epochs and steps")
        names = ("minutes", "epochs", "steps", "batch_size", "lr", "clip", "patience")
        check_positive(**{name: getattr(self, name) for name in names}, muon=self.muon or None)
        if not 0 < self.warmup < 1:
            raise ValueError(f"warmup must be a share between 0 and 1, got {self.warmup}")


def train(
    model: EncoderDecoder,
    batches: ShuffledBatches,
    schedule: Schedule,
    *,
    valid: tuple[Ids, Ids] | None = None,
    seed: int = 0,
    products: torch.dtype = torch.float32,
    progress: bool = False,
    checkpoints: Checkpoints | None = None,
    processes: Processes = ALONE,
) -> FullHistory:
    """Train with teacher forcing by :func:`utils.fast_training.fast_loss`.

    The learning rate falls to 0 at the end of the budget, whether it is short or long. With ``epochs`` or ``steps`` the
    same seed gives the same weights on one machine; with ``minutes`` they depend on the machine's speed.

    Args:
        model: trained in place, and left in evaluation mode.
        batches: what to train on.
        schedule: how long, and with which learning rates.
        valid: held-out sources and targets, whose loss is measured after each epoch and at the end; the model
            ends with the weights for which it was lowest.
        seed: of the shuffling and of dropout.
        products: dtype of the matrix products. ``torch.bfloat16`` is less exact, and faster on hardware with
            instructions for it; weights, sums and the optimizer stay in float32.
        progress: show a progress bar with the loss and the tokens per second.
        checkpoints: where to save the state of this training. If there is a state already, the training continues
            from it, and ends with the same weights, to the last bit, as one that was never interrupted (with
            ``epochs`` or ``steps``, in one process on the CPU: elsewhere dropout starts from another seed).
        processes: those that train this model together, each with its shard of every batch, and the device to train
            on, which the model must be on already. The first process saves the checkpoints.

    Returns:
        The history of all steps, including those before an interruption.

    Raises:
        ValueError: ``patience`` without ``valid``, checkpoints of another training or all damaged, processes
            whose sentences or settings differ, or a budget that ends before the weights have changed.
        FloatingPointError: a loss or gradient that is not finite, with the step and the last checkpoint; the
            weights are those before it.
        Interrupted: Ctrl-C or another signal that ends programs, once the current step is done and its state is saved.
            A second signal ends it at once, with the state that was saved last.
    """
    if schedule.patience is not None and valid is None:
        raise ValueError("patience needs valid, the held-out sentences whose loss it follows")
    optimizers = Optimizers(model, lr=schedule.lr, muon=schedule.muon or None)
    state = _State(model, optimizers, torch.Generator().manual_seed(seed))
    history, patience = state.history, math.inf if schedule.patience is None else schedule.patience
    fingerprint = "" if checkpoints is None else _fingerprint(model, schedule, seed, products, batches, valid)
    processes.check_same(fingerprint)
    loss_of = partial(fast_loss, label_smoothing=schedule.label_smoothing)
    shared_loss = SharedLoss(model, loss_of, processes=processes)

    with seeded(seed), _bar(progress) as bar, hold_signals() as pending:
        _restore(state, checkpoints, fingerprint, processes, seed)
        num_steps = schedule.steps or (schedule.epochs or 0) * len(batches)
        clock = _Clock(schedule, state, num_steps, processes)
        # An epoch that was interrupted after its last step still needs its held-out loss.
        while (state.in_epoch or not clock.over()) and state.epochs_since_best < patience:
            model.train()
            for batch in state.rest_of_epoch(batches):
                clock.start()
                if (share := clock.share()) == 1 and schedule.epochs is None:
                    break
                with torch.autocast(processes.device.type, products, enabled=products != torch.float32):
                    loss = shared_loss(batch)
                _differentiate(state, loss, clip=schedule.clip, checkpoints=checkpoints)
                optimizers.step(min(share / schedule.warmup, 1) * (1 - share))
                history.add(shared_loss.of_batch(loss), batch.num_tokens, clock.seconds())
                state.end_step()
                _save_if_due(state, checkpoints, fingerprint, processes, pending)
                _show(bar, history, clock.share())
            state.end_epoch(None if valid is None else _valid_loss(model, valid, processes))
        if state.best is not None:
            model.load_state_dict(state.best)
    model.eval()
    if len(history.losses) < 2:  # the learning rate of the first step is 0
        raise ValueError(
            f"the training ended after step {len(history.losses)}, before the weights have changed: "
            "give it more --minutes, --epochs or --steps"
        )
    return history


class _Clock:
    """The time and the share of the budget that a training has used since its first batch.

    The time before it, in which files are read and sentences are sorted, is not counted. A training that was resumed
    also counts the seconds before the interruption.
    """

    def __init__(self, schedule: Schedule, state: "_State", num_steps: int, processes: Processes):
        self._schedule, self._state, self._num_steps, self._processes = schedule, state, num_steps, processes
        self._before = state.history.seconds[-1] if state.history.seconds else 0.0
        self._start: float | None = None

    def start(self) -> None:
        """Begin to count at the first batch; later calls change nothing."""
        if self._start is None:
            self._start = time.perf_counter()

    def seconds(self) -> float:
        return self._before + (0.0 if self._start is None else time.perf_counter() - self._start)

    def share(self) -> float:
        """The share of the budget that is used, at most 1, the same in all processes."""
        if self._schedule.minutes is None:
            return min(len(self._state.history.losses) / self._num_steps, 1)
        return min(self._processes.broadcast(self.seconds() / (60 * self._schedule.minutes)), 1)

    def over(self) -> bool:
        """Whether the training ends before another epoch."""
        if self._schedule.epochs is not None:
            return self._state.epochs_done == self._schedule.epochs
        return self.share() == 1


def _fingerprint(
    model: nn.Module,
    schedule: Schedule,
    seed: int,
    products: torch.dtype,
    batches: ShuffledBatches,
    valid: tuple[Ids, Ids] | None,
) -> str:
    """A digest of what distinguishes this training from others: shapes, dropout, settings, sentences."""
    shapes = {name: list(value.shape) for name, value in model.state_dict().items()}
    dropout = [module.p for module in model.modules() if isinstance(module, nn.Dropout)]
    settings = asdict(schedule) | {"minutes": None, "seed": seed, "products": str(products)}
    identity = [shapes, dropout, settings, batches.identity, valid]
    # The shapes do not tell the number of heads. A model without heads keeps the fingerprint it always had.
    if heads := [module.num_heads for module in model.modules() if isinstance(module, MultiHeadAttention)]:
        identity.append(heads)
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()


def _restore(
    state: "_State", checkpoints: Checkpoints | None, fingerprint: str, processes: Processes, seed: int
) -> None:
    """Restore the state of the last checkpoint, if there is one."""
    if checkpoints is not None and (tensors := checkpoints.load(fingerprint=fingerprint)):
        state.restore(tensors)
    # The checkpoint holds the random state of one process on the CPU; elsewhere dropout gets a new seed.
    if processes.world > 1 or processes.device.type != "cpu":
        torch.manual_seed(seed + len(state.history.losses) * processes.world + processes.rank)


def _differentiate(state: "_State", loss: Tensor, *, clip: float, checkpoints: Checkpoints | None) -> None:
    """The gradient for one step. It is an error if the loss or its gradient is not finite."""
    state.optimizers.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(state.model.parameters(), clip)
    try:
        check_finite(loss, norm, step=len(state.history.losses) + 1)
    except FloatingPointError as error:
        if checkpoints is None or not checkpoints.exist:
            raise
        raise FloatingPointError(f"{error}; the last state before is in {checkpoints.paths[0]}") from None


def _save_if_due(
    state: "_State",
    checkpoints: Checkpoints | None,
    fingerprint: str,
    processes: Processes,
    pending: PendingSignal,
) -> None:
    """Save a checkpoint when it is due; after a signal to any process, save one and stop all processes."""
    [num_pending] = processes.sum(pending.number > 0)
    if checkpoints is not None and processes.is_first and (checkpoints.due or num_pending):
        checkpoints.save(state.tensors(), fingerprint=fingerprint)
    if num_pending:
        raise Interrupted(pending.number or signal.SIGINT)


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


class _State:
    """The whole state of a training between two steps; a training that continues from it gives the same weights.

    With held-out sentences it also has the weights with the lowest held-out loss, and the number of epochs since then.
    """

    def __init__(self, model: nn.Module, optimizers: Optimizers, generator: torch.Generator):
        self.model, self.optimizers, self.generator = model, optimizers, generator
        self.history = FullHistory()
        self.best: dict[str, Tensor] | None = None
        self.best_loss, self.epochs_since_best = math.inf, 0
        self.epochs_done, self.batches_done = 0, 0
        self._epoch_start: Tensor | None = None
        self._dropout = torch.get_rng_state()

    def rest_of_epoch(self, batches: ShuffledBatches) -> Iterator[Batch]:
        """The batches of this epoch that are not done yet."""
        if self._epoch_start is None:
            self._epoch_start = self.generator.get_state()
        self.generator.set_state(self._epoch_start)
        self._dropout = torch.get_rng_state()
        return islice(batches.epoch(self.generator), self.batches_done, None)

    @property
    def in_epoch(self) -> bool:
        return self._epoch_start is not None

    def end_step(self) -> None:
        self.batches_done += 1
        self._dropout = torch.get_rng_state()

    def end_epoch(self, valid_loss: float | None) -> None:
        self.epochs_done, self.batches_done, self._epoch_start = self.epochs_done + 1, 0, None
        if valid_loss is None:
            return
        self.history.valid_losses.append(valid_loss)
        self.epochs_since_best += 1
        if valid_loss < self.best_loss:
            self.best, self.best_loss = copy.deepcopy(self.model.state_dict()), valid_loss
            self.epochs_since_best = 0

    def tensors(self) -> dict[str, Tensor]:
        """The state by name, with the states of the generators of shuffling and of dropout."""
        tensors = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        tensors |= {f"optimizer.{name}": value for name, value in self.optimizers.tensors().items()}
        tensors |= {f"best.{name}": value for name, value in (self.best or {}).items()}
        return tensors | {
            "best_loss": torch.tensor(self.best_loss, dtype=torch.float64),
            "best_epochs_since": torch.tensor(self.epochs_since_best),
            "epochs_done": torch.tensor(self.epochs_done),
            "batches_done": torch.tensor(self.batches_done),
            "epoch_start": self._epoch_start,
            "dropout": self._dropout,
            "losses": torch.tensor(self.history.losses, dtype=torch.float64),
            "tokens": torch.tensor(self.history.tokens),
            "seconds": torch.tensor(self.history.seconds, dtype=torch.float64),
            "valid_losses": torch.tensor(self.history.valid_losses, dtype=torch.float64),
        }

    def restore(self, tensors: dict[str, Tensor]) -> None:
        def part(prefix: str) -> dict[str, Tensor]:
            names = [name for name in tensors if name.startswith(prefix)]
            return {name.removeprefix(prefix): tensors[name] for name in names}

        self.model.load_state_dict(part("model."))
        self.optimizers.restore(part("optimizer."))
        self.best, self.best_loss = part("best.") or None, tensors["best_loss"].item()
        self.epochs_since_best = int(tensors["best_epochs_since"])
        self.epochs_done, self.batches_done = int(tensors["epochs_done"]), int(tensors["batches_done"])
        self._epoch_start = tensors["epoch_start"]
        torch.set_rng_state(tensors["dropout"])
        for name in ("losses", "tokens", "seconds", "valid_losses"):
            getattr(self.history, name)[:] = tensors[name].tolist()


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
