"""Training a translator: the loss and the loop.

Which model it is, is settled in ``seq2seq``; what is trained and kept on disk, in ``runs``.
Explained in chapters/encoder_decoder and chapters/bahdanau_decoder.
"""

import copy
import hashlib
import itertools
import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from tqdm import tqdm

from utils.corpus.batches import Batch, batches
from utils.corpus.vocabulary import PAD
from utils.seq2seq import EncoderDecoder
from utils.translator.checkpoints import Checkpoints
from utils.translator.distributed import ALONE, Processes, SharedLoss, num_tokens
from utils.translator.fast import fast_loss
from utils.translator.optimizers import Optimizers
from utils.translator.streaming import BatchStream

Ids = Sequence[Sequence[int]]


def sequence_loss(
    logits: Float[Tensor, "batch t vocab"], tgt_out: Int[Tensor, "batch t"], *, label_smoothing: float = 0.0
) -> Float[Tensor, ""]:
    r"""Mean cross-entropy over the real target tokens; padding has no part in it.

    .. math:: L = -\frac{1}{\sum_i [y_i \neq \mathrm{PAD}]} \sum_{i:\, y_i \neq \mathrm{PAD}} \log p(y_i)

    Args:
        logits: unnormalised log-probabilities of each next token.
        tgt_out: the true next tokens, PAD behind the end of a sentence.
        label_smoothing: share of the target probability that is spread evenly over the vocabulary.

    >>> sequence_loss(torch.zeros(1, 3, 8), torch.tensor([[5, 2, PAD]]))  # log 8
    tensor(2.0794)

    Explained in chapters/encoder_decoder.
    """
    return nn.functional.cross_entropy(
        logits.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD, label_smoothing=label_smoothing
    )


@dataclass
class History:
    """What happened in training, step by step.

    Attributes:
        losses: the loss of each step, in nats a token, label smoothing included.
        tokens: real target tokens of each step.
        seconds: time from the start of training to the end of each step.
        valid_losses: the loss on held-out sentences after each epoch, without label smoothing.
    """

    losses: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    valid_losses: list[float] = field(default_factory=list)

    @property
    def tokens_per_second(self) -> float:
        """Target tokens a second, over the whole of training."""
        return sum(self.tokens) / self.seconds[-1] if self.seconds else 0.0


def fit(
    model: EncoderDecoder,
    src_ids: Ids | BatchStream,
    tgt_ids: Ids = (),
    *,
    minutes: float | None = None,
    epochs: int | None = None,
    valid: tuple[Ids, Ids] | None = None,
    patience: int | None = None,
    batch_size: int = 64,
    lr: float = 3e-3,
    muon: float | None = None,
    warmup: float = 0.05,
    label_smoothing: float = 0.1,
    clip: float = 1.0,
    seed: int = 0,
    fast: bool = False,
    products: torch.dtype = torch.float32,
    progress: bool = False,
    checkpoints: Checkpoints | None = None,
    processes: Processes = ALONE,
) -> History:
    """Train with teacher forcing: Adam, clipped gradients, a learning rate that rises, then falls to 0.

    The fall is spread over the budget, so a short training ends as settled as a long one. With ``epochs`` the
    same seed gives the same weights on one machine; with ``minutes`` the speed of the machine has its say.

    Args:
        model: trained in place, and left in evaluation mode.
        src_ids: source sentences; or a stream of batches, which brings the targets with it.
        tgt_ids: target sentences.
        minutes: wall-clock budget; training ends within a step of it.
        epochs: passes over the sentences, where there is no budget of minutes; of a stream, the steps that its
            file would take if none of its rows were left out.
        valid: held-out sources and targets, whose loss is taken after each epoch and at the end; the model
            keeps the weights with which it was lowest.
        patience: epochs without a lower held-out loss after which training stops.
        batch_size: sentence pairs a step.
        lr: highest learning rate, of Adam.
        muon: highest learning rate of Muon for the matrices between hidden layers
            (:mod:`utils.translator.optimizers`); None for Adam alone.
        warmup: share of the budget over which the learning rates rise to it.
        label_smoothing: as in :func:`sequence_loss`.
        clip: largest norm of the gradient of all parameters together.
        seed: of the batches and of dropout.
        fast: take the loss in the arrangement of :mod:`utils.translator.fast`, which is the same up to rounding.
        products: dtype of the matrix products of the fast form. ``torch.bfloat16`` is coarser, and faster where the
            processor has such products; weights, sums and the optimizer stay in float32.
        progress: show a progress bar with the loss and the tokens a second.
        checkpoints: where to keep the state of this training, and to go on from if there is one. A training that
            was interrupted and goes on has the weights, to the last bit, of one that was not (with ``epochs``, in
            one process on the processor: elsewhere dropout draws anew).
        processes: that train this model together, each with its share of every batch, and the device to train
            on, which the model must be on already. The first of them keeps the checkpoints.

    Raises:
        ValueError: both or neither of ``minutes`` and ``epochs``, a number out of its range, ``patience``
            without ``valid``, sentences that make no batch, checkpoints of another training or all damaged, or
            processes whose sentences or settings differ.
        FloatingPointError: a loss or gradient that is not finite, with the step and the last checkpoint; the
            weights are those before it.

    Explained in chapters/encoder_decoder and chapters/bahdanau_decoder.
    """
    if (minutes is None) == (epochs is None):
        raise ValueError("give exactly one of minutes and epochs")
    rates = {"lr": lr, "muon": muon, "clip": clip}
    positive = {"minutes": minutes, "epochs": epochs, "batch_size": batch_size} | rates
    for name, number in positive.items():
        if number is not None and not 0 < number < math.inf:
            raise ValueError(f"{name} must be positive and finite, got {number}")
    if not 0 < warmup < 1:
        raise ValueError(f"warmup must be a share between 0 and 1, got {warmup}")
    streamed = isinstance(src_ids, BatchStream)
    if not streamed and not src_ids:
        raise ValueError("src_ids hold no sentence to train on")
    if products != torch.float32 and not fast:
        raise ValueError(
            f"products in {products} need fast=True: the plain form works in the dtype of its weights"
        )
    if patience is not None and valid is None:
        raise ValueError("patience needs valid, the sentences on which to see whether the loss still falls")
    optimizers = Optimizers(model, lr=lr, muon=muon)
    state = _State(model, optimizers, torch.Generator().manual_seed(seed), _Best(patience))
    history, best = state.history, state.best
    num_steps = (epochs or 0) * math.ceil(len(src_ids) / batch_size)

    settings = (epochs, batch_size, rates, warmup, label_smoothing, seed, patience, fast, str(products))
    epoch = src_ids.batches if streamed else partial(batches, src_ids, tgt_ids)
    sentences = (src_ids.identity if streamed else src_ids, tgt_ids, valid)
    training = "" if checkpoints is None else _fingerprint(model, settings, sentences)
    processes.agree_on(training)
    shared_loss = SharedLoss(
        model, partial(batch_loss, fast=fast, label_smoothing=label_smoothing), processes=processes
    )

    with seeded(seed), _bar(progress) as bar, _interrupted_between_steps() as interrupted:
        if checkpoints is not None and (kept := checkpoints.load(training=training)):
            state.restore(kept)
        # A checkpoint holds the state of dropout in one process on the processor; elsewhere it draws anew.
        if processes.world > 1 or processes.device.type != "cpu":
            torch.manual_seed(seed + len(history.losses) * processes.world + processes.rank)
        start = time.perf_counter() - (history.seconds[-1] if history.seconds else 0.0)

        def done() -> float:
            """Share of the budget that is spent."""
            if minutes is None:
                return len(history.losses) / num_steps
            return processes.of_first((time.perf_counter() - start) / (60 * minutes))

        # An epoch that was interrupted at its last step still wants its held-out loss.
        while (state.in_epoch or done() < 1) and not best.stop:
            model.train()
            for batch in state.rest_of_epoch(partial(epoch, batch_size=batch_size)):
                if (spent := done()) >= 1:
                    break
                try:
                    with torch.autocast(processes.device.type, products, enabled=products != torch.float32):
                        loss = shared_loss(batch)
                    _descend(model, loss, optimizers, clip=clip, rate=min(spent / warmup, 1) * (1 - spent))
                except FloatingPointError as error:
                    raise FloatingPointError(_stopped(len(history.losses) + 1, error, checkpoints)) from None
                history.losses.append(shared_loss.of_batch(loss))
                history.tokens.append(num_tokens(batch))
                history.seconds.append(time.perf_counter() - start)
                state.batches_done += 1
                [num_interrupted] = processes.sum(interrupted.is_set())
                if checkpoints is not None and processes.is_first and (checkpoints.due or num_interrupted):
                    checkpoints.save(state.tensors(), training=training)
                if num_interrupted:
                    raise KeyboardInterrupt
                bar.set_postfix(
                    loss=f"{history.losses[-1]:.2f}",
                    tokens_s=f"{history.tokens_per_second:.0f}",
                    refresh=False,
                )
                bar.update(min(done(), 1) - bar.n)
            state.end_epoch()
            if valid is not None:
                history.valid_losses.append(
                    held_out_loss(model, *valid, batch_size=batch_size, fast=fast, processes=processes)
                )
                best.see(model, history.valid_losses[-1])
        best.restore(model)
    model.eval()
    return history


def _fingerprint(model: nn.Module, *settled: object) -> str:
    """What makes a training this one and no other: the shapes of its model, its settings, its sentences."""
    shapes = {name: list(value.shape) for name, value in model.state_dict().items()}
    return hashlib.sha256(json.dumps([shapes, *settled]).encode()).hexdigest()


def _stopped(step: int, error: FloatingPointError, checkpoints: Checkpoints | None) -> str:
    kept = checkpoints is not None and checkpoints.kept
    return f"step {step}: {error}" + (f"; {checkpoints.paths[0]} holds the last state before" if kept else "")


def batch_loss(
    model: EncoderDecoder, batch: Batch, *, fast: bool = False, label_smoothing: float = 0.0
) -> Float[Tensor, ""]:
    """The loss of a batch under teacher forcing, :func:`sequence_loss`, in the plain form or the fast one."""
    if fast:
        return fast_loss(
            model, batch.src, batch.src_lens, batch.tgt_in, batch.tgt_out, label_smoothing=label_smoothing
        )
    logits, _ = model(batch.src, batch.src_lens, batch.tgt_in)
    return sequence_loss(logits, batch.tgt_out, label_smoothing=label_smoothing)


def _descend(model: nn.Module, loss: Tensor, optimizers: Optimizers, *, clip: float, rate: float) -> None:
    """One step of gradient descent. Nothing is changed if the loss or its gradient is not finite."""
    optimizers.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), clip)
    if not (loss.isfinite() and norm.isfinite()):
        raise FloatingPointError(
            f"loss {loss.item():.4g} with gradient norm {norm.item():.4g}; try a smaller lr"
        )
    optimizers.step(rate)


@torch.no_grad()
def held_out_loss(
    model: EncoderDecoder,
    src_ids: Ids,
    tgt_ids: Ids,
    *,
    batch_size: int = 64,
    fast: bool = False,
    processes: Processes = ALONE,
) -> float:
    """Mean cross-entropy a target token, without dropout; leaves the model in evaluation mode.

    Several processes take a batch each in turn, and all get the mean over all batches.

    Explained in chapters/encoder_decoder.
    """
    model.eval()
    total = tokens = 0.0
    every = batches(src_ids, tgt_ids, batch_size=batch_size)
    for batch in itertools.islice(every, processes.rank, None, processes.world):
        loss = batch_loss(model, batch.to(processes.device), fast=fast).item()
        total += num_tokens(batch) * loss
        tokens += num_tokens(batch)
    total, tokens = processes.sum(total, tokens)
    return total / tokens


class _Best:
    """The weights with the lowest held-out loss, and whether it is long since they were found."""

    def __init__(self, patience: int | None):
        self._patience = math.inf if patience is None else patience
        self.loss, self.weights, self.epochs_since = math.inf, None, 0

    def see(self, model: nn.Module, loss: float) -> None:
        if loss < self.loss:
            self.loss, self.weights, self.epochs_since = loss, copy.deepcopy(model.state_dict()), 0
        else:
            self.epochs_since += 1

    @property
    def stop(self) -> bool:
        return self.epochs_since >= self._patience

    def restore(self, model: nn.Module) -> None:
        if self.weights is not None:
            model.load_state_dict(self.weights)


class _State:
    """All that a training is at the end of a step; kept and restored, it goes on as if nothing had happened."""

    def __init__(self, model: nn.Module, optimizers: Optimizers, generator: torch.Generator, best: _Best):
        self.model, self.optimizers, self.generator, self.best = model, optimizers, generator, best
        self.history = History()
        self.batches_done = 0
        self._epoch_start: Tensor | None = None

    def rest_of_epoch(self, epoch: Callable[..., Iterator[Batch]]) -> Iterator[Batch]:
        """The batches of this epoch that are still to come."""
        if self._epoch_start is None:
            self._epoch_start = self.generator.get_state()
        self.generator.set_state(self._epoch_start)
        return itertools.islice(epoch(generator=self.generator), self.batches_done, None)

    @property
    def in_epoch(self) -> bool:
        return self._epoch_start is not None

    def end_epoch(self) -> None:
        self.batches_done, self._epoch_start = 0, None

    def tensors(self) -> dict[str, Tensor]:
        """The state by name. The generators' are those of the order of sentences and of dropout."""
        kept = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        kept |= {f"optimizer.{name}": value for name, value in self.optimizers.tensors().items()}
        kept |= {f"best.{name}": value for name, value in (self.best.weights or {}).items()}
        return kept | {
            "best_loss": torch.tensor(self.best.loss, dtype=torch.float64),
            "best_epochs_since": torch.tensor(self.best.epochs_since),
            "batches_done": torch.tensor(self.batches_done),
            "epoch_start": self._epoch_start,
            "dropout": torch.get_rng_state(),
            "losses": torch.tensor(self.history.losses, dtype=torch.float64),
            "tokens": torch.tensor(self.history.tokens),
            "seconds": torch.tensor(self.history.seconds, dtype=torch.float64),
            "valid_losses": torch.tensor(self.history.valid_losses, dtype=torch.float64),
        }

    def restore(self, kept: dict[str, Tensor]) -> None:
        def below(prefix: str) -> dict[str, Tensor]:
            return {
                name.removeprefix(prefix): value for name, value in kept.items() if name.startswith(prefix)
            }

        self.model.load_state_dict(below("model."))
        self.optimizers.restore(below("optimizer."))
        self.best.loss, self.best.epochs_since = kept["best_loss"].item(), int(kept["best_epochs_since"])
        self.best.weights = below("best.") or None
        self.batches_done, self._epoch_start = int(kept["batches_done"]), kept["epoch_start"]
        torch.set_rng_state(kept["dropout"])
        for name in ("losses", "tokens", "seconds", "valid_losses"):
            getattr(self.history, name)[:] = kept[name].tolist()


@contextmanager
def _interrupted_between_steps() -> Iterator[threading.Event]:
    """Ctrl-C does not tear a step apart: the event tells that it was pressed. Elsewhere than in the main
    thread, which alone gets it, nothing changes."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before = signal.signal(signal.SIGINT, lambda *_: pressed.set())
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Dropout and initial weights draw from torch's global generator: seed it, and give it back as it was."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


@contextmanager
def matmul_precision(precision: str) -> Iterator[None]:
    """For a while, float32 matrix products as coarse as ``torch.set_float32_matmul_precision`` says."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _bar(progress: bool) -> tqdm:
    return tqdm(
        total=1.0,
        disable=not progress,
        desc="training",
        bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}",
    )
