"""Training a translator: the loss and the loop.

Models are in ``seq2seq``, batches in ``corpus.batches``. What the command line adds around the loop, such as a budget
of minutes and a saved state, is in ``translator.training.loop``.
Explained in chapters/encoder_decoder and chapters/bahdanau_decoder.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from utils.checks import check_count, check_list, check_number, check_positive
from utils.corpus.batches import Batch
from utils.corpus.vocabulary import PAD
from utils.errors import NotFiniteError
from utils.seq2seq import EncoderDecoder, outside_vocabulary

__all__ = [
    "EpochBatches",
    "History",
    "Ids",
    "Loss",
    "batch_loss",
    "fit",
    "learning_rate",
    "seeded",
    "sequence_loss",
    "training_steps",
]

Ids = Sequence[Sequence[int]]


@runtime_checkable
class EpochBatches(Protocol):
    """The batches to train on: a list of them, or a ``ShuffledBatches``. One pass over it is an epoch."""

    def __iter__(self) -> Iterator[Batch]:
        """The batches of one epoch."""

    def __len__(self) -> int:
        """Number of batches per epoch."""


#: The loss of a model on a batch; it takes ``label_smoothing`` as a keyword.
Loss = Callable[..., Tensor]


def sequence_loss(
    logits: Float[Tensor, "batch t vocab"], tgt_out: Int[Tensor, "batch t"], *, label_smoothing: float = 0.0
) -> Float[Tensor, ""]:
    r"""Mean cross-entropy over the real target tokens; padding is ignored.

    .. math:: L = -\frac1N \sum_{i:\, y_i \neq \mathrm{PAD}} \log p(y_i)

    where N is the number of tokens that are not PAD.

    Args:
        logits: unnormalised log-probabilities of each next token.
        tgt_out: the true next tokens, followed by PAD in shorter sentences.
        label_smoothing: share of the target probability that is spread evenly over the vocabulary.

    Raises:
        ValueError: no token that is not PAD, of which there is no mean, an id without a logit, or a share that is not
            from 0 to 1.

    >>> sequence_loss(torch.zeros(1, 3, 8), torch.tensor([[5, 2, PAD]]))  # log 8
    tensor(2.0794)

    Explained in chapters/encoder_decoder.
    """
    check_number(0, 1, label_smoothing=label_smoothing)
    if not (tgt_out != PAD).any():
        raise ValueError("tgt_out must hold at least one token that is not padding, got none")
    try:
        return nn.functional.cross_entropy(
            logits.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD, label_smoothing=label_smoothing
        )
    except IndexError as error:
        raise outside_vocabulary(logits.shape[-1], tgt_out=tgt_out) from error


def batch_loss(model: EncoderDecoder, batch: Batch, *, label_smoothing: float = 0.0) -> Float[Tensor, ""]:
    """The :func:`sequence_loss` of a batch under teacher forcing.

    Explained in chapters/encoder_decoder.
    """
    logits, _ = model(batch.src, batch.src_lens, batch.tgt_in)
    return sequence_loss(logits, batch.tgt_out, label_smoothing=label_smoothing)


@dataclass
class History:
    """The record of a training, step by step.

    Attributes:
        losses: the loss of each step, in nats per token, label smoothing included.
        tokens: real target tokens of each step.
        seconds: time from the first batch to the end of each step.
        valid_losses: the losses on held-out sentences, without label smoothing, if they are measured.
    """

    losses: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    valid_losses: list[float] = field(default_factory=list)

    def add(self, loss: float, tokens: int, seconds: float) -> None:
        """Append the numbers of one step."""
        self.losses.append(loss)
        self.tokens.append(tokens)
        self.seconds.append(seconds)

    @property
    def tokens_per_second(self) -> float:
        """Target tokens per second, over the whole training."""
        return sum(self.tokens) / self.seconds[-1] if self.seconds and self.seconds[-1] > 0 else 0.0


def fit(
    model: nn.Module,
    batches: EpochBatches,
    *,
    epochs: int,
    loss: Loss = batch_loss,
    label_smoothing: float = 0.1,
    lr: float = 3e-3,
    warmup: float = 0.05,
    clip: float = 1.0,
    seed: int = 0,
    on_step: Callable[[History], object] | None = None,
) -> History:
    """Train with teacher forcing: Adam, clipped gradients, a learning rate that rises and then falls to 0.

    Args:
        model: trained in place, and left in evaluation mode, also after an error.
        batches: a list, or :class:`utils.corpus.batches.ShuffledBatches`; one pass over them is an epoch.
        epochs: number of passes over the batches.
        loss: a function of the model and a batch; ``utils.fast_training.fast_loss`` gives the same number faster.
        label_smoothing: as in :func:`sequence_loss`.
        lr: scale of the learning rate: :func:`learning_rate` at the share of the steps that are done.
        warmup: share of the steps over which the learning rate rises.
        clip: largest norm of the gradient of all parameters together.
        seed: seed of dropout.
        on_step: called with the history after each step.

    Raises:
        ValueError: no batch, a batch without a real target token, or a number out of its range.
        FloatingPointError: a loss or gradient that is not finite; the weights are those before that step.

    Explained in chapters/encoder_decoder and chapters/bahdanau_decoder.
    """
    if isinstance(batches, Iterator):  # a list or ShuffledBatches can be read in each epoch
        check_list(batches=batches)
    check_count(1, epochs=epochs)
    check_positive(lr=lr, clip=clip, batches=len(batches))
    if not 0 < warmup < 1:
        raise ValueError(f"warmup must be a share between 0 and 1, got {warmup}")
    history, num_steps = History(), epochs * len(batches)
    steps = training_steps(
        model,
        (batch for _ in range(epochs) for batch in batches),
        torch.optim.Adam(model.parameters()),
        history,
        loss=partial(loss, label_smoothing=label_smoothing),
        share=lambda _seconds: len(history.losses) / num_steps,
        lr=lr,
        warmup=warmup,
        clip=clip,
    )
    try:
        model.train()
        with seeded(seed):
            for _ in steps:
                if on_step is not None:
                    on_step(history)
    finally:
        model.eval()
    return history


def training_steps(
    model: nn.Module,
    batches: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    history: History,
    *,
    loss: Callable[[nn.Module, Batch], Tensor],
    share: Callable[[float], float],
    lr: float,
    warmup: float,
    clip: float,
) -> Iterator[None]:
    """The loop of every training: a step for each batch, after which the caller may do what it wants.

    Args:
        model: trained in place; the caller puts it into training mode.
        batches: ends the training, unless the budget is used before.
        optimizer: of the model's parameters.
        history: gets the numbers of each step. The time of the steps that it has already counts.
        loss: of the model on a batch.
        share: the share of the budget that is used, from the seconds since the first batch; at 1 the training ends.
        lr: scale of the learning rate, as in :func:`learning_rate`.
        warmup: share of the budget over which the learning rate rises.
        clip: largest norm of the gradient of all parameters together.

    Raises:
        FloatingPointError: a loss or gradient that is not finite; the weights are those before that step.

    Explained in chapters/encoder_decoder.
    """
    start = None
    for batch in batches:
        if start is None:  # shuffling many sentences takes no time of the budget
            start = time.perf_counter() - (history.seconds or [0.0])[-1]
        progress = share(time.perf_counter() - start)
        if progress >= 1:
            return
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(progress, lr=lr, warmup=warmup)
        value = loss(model, batch)
        optimizer.zero_grad()
        value.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), clip)
        check_finite(value, norm, step=len(history.losses) + 1)
        optimizer.step()
        history.add(value.item(), batch.num_tokens, time.perf_counter() - start)
        yield


def learning_rate(share: float, *, lr: float, warmup: float) -> float:
    r"""The learning rate at a share p of the training: it rises from a hundredth of ``lr``, and then falls to 0.

    .. math:: \min\!\left(\tfrac{1}{100} + \tfrac{p}{\text{warmup}}, 1\right) (1 - p)\, \text{lr}

    The first step is small, since Adam knows only one gradient by then, but it is a step.

    >>> [learning_rate(share, lr=8, warmup=0.5) for share in (0, 0.25, 0.5, 0.75)]
    [0.08, 3.06, 4.0, 2.0]
    """
    return lr * min(0.01 + share / warmup, 1) * (1 - share)


def check_finite(loss: Tensor, norm: Tensor, *, step: int) -> None:
    """Raise FloatingPointError with the number of the step if the loss or its gradient norm is not finite."""
    if not (loss.isfinite() and norm.isfinite()):
        raise NotFiniteError(
            f"step {step}: loss {loss.item():.4g} with gradient norm {norm.item():.4g}; try a smaller lr"
        )


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's global generator, from which dropout and initial weights draw, and restore it afterwards."""
    check_count(-(2**63), 2**63 - 1, seed=seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
