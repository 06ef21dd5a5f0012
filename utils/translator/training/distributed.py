r"""One training in several processes of ``torchrun``: each takes its share of the rows of every batch.

With the mean loss :math:`L_r` over the :math:`T_r` real target tokens of process r, out of T, the loss of the batch is
:math:`\sum_r \frac{T_r}{T} L_r`. Explained in book/your_translator.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from utils.corpus.batches import Batch
from utils.errors import CourseError
from utils.translator.devices import CPU, number_of_torchrun
from utils.translator.training.threads import FasterThreads

#: The loss of a model on a batch.
Loss = Callable[[nn.Module, Batch], Tensor]


@dataclass(frozen=True)
class Processes:
    """The processes of one training, as one of them sees them: its number, how many there are, its device.

    A process that is alone on a processor may have something that finds its number of threads.
    """

    rank: int = 0
    world: int = 1
    device: torch.device = CPU
    threads: FasterThreads | None = None

    def sum(self, *numbers: float) -> list[float]:
        """Each number summed over the processes, which wait for each other here."""
        if self.world == 1:
            return list(numbers)
        tensor = torch.tensor(numbers, dtype=torch.float64, device=self.device)  # exact for every count
        distributed.all_reduce(tensor)
        return tensor.tolist()

    def of_first(self, value: Any) -> Any:
        """The value that the first process has; the others wait for it here."""
        if self.world == 1:
            return value
        box = [value]
        distributed.broadcast_object_list(box, device=self.device)
        return box[0]

    def share(self, batch: Batch) -> tuple[Batch, float]:
        """Every ``world``-th row of a batch and their share of its real tokens; no row left: the first, share 0."""
        rows = batch.rows(slice(self.rank, None, self.world))
        share = rows.num_tokens / batch.num_tokens
        return (rows if len(rows.src) else batch.rows(slice(1))).to(self.device), share

    def loss_of(self, model: nn.Module, loss: Loss) -> Loss:
        """The loss of a whole batch, of which each process computes its share.

        The backward pass of the value takes the mean of the gradients over the processes, so each multiplies its share
        of the loss by their number. The value itself is the sum of the shares.
        """
        if self.world == 1:
            return lambda model, batch: loss(model, batch.to(self.device))
        # In a group of its own, which can be destroyed: github.com/pytorch/pytorch/pull/179291
        of_rows = DistributedDataParallel(_LossOf(model, loss), process_group=distributed.new_group())

        def of_batch(_model: nn.Module, batch: Batch) -> Tensor:
            rows, share = self.share(batch)
            own = of_rows(rows) * share
            total = own.detach().clone()
            distributed.all_reduce(total)
            scaled = own * self.world
            return scaled + (total - scaled.detach())

        return of_batch


#: A training in one process.
ALONE = Processes()


class _LossOf(nn.Module):
    """The loss of a model as a module, as DistributedDataParallel wants it."""

    def __init__(self, model: nn.Module, loss: Loss):
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, batch: Batch) -> Tensor:
        return self.loss(self.model, batch)


@contextmanager
def processes_of_torchrun(device: torch.device) -> Iterator[Processes]:
    """The processes that ``torchrun`` started, connected within the block; without ``torchrun``, this one alone.

    Raises:
        ValueError: a device on which only one process trains, or variables that are not those of ``torchrun``.
    """
    if number_of_torchrun("WORLD_SIZE", least=1) == 1:  # also where something else has left the variables
        yield Processes(device=device)
        return
    if device.type not in ("cpu", "cuda"):
        raise CourseError(f"several processes train on cpu or cuda, not on {device.type}: start one")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    store, rank, world = _meet()
    if world == number_of_torchrun("LOCAL_WORLD_SIZE"):  # all know how often torchrun has started them
        store = distributed.PrefixStore(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"), store)
    distributed.init_process_group(store=store, rank=rank, world_size=world, timeout=timedelta(days=1))
    try:
        yield Processes(rank, world, device)
    finally:
        distributed.destroy_process_group()


def _meet() -> tuple[distributed.Store, int, int]:
    """What the processes of this training share, the number of this one, and how many they are.

    Raises:
        ValueError: the variables of ``torchrun`` are not complete, or lead to nobody.
    """
    names = ("WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT")
    remedy = f"start the command with torchrun, or unset {', '.join(names)} to train in one process"
    if missing := [name for name in names if name not in os.environ]:
        raise CourseError(f"WORLD_SIZE is {os.environ['WORLD_SIZE']}, but {missing[0]} is not set: {remedy}")
    try:
        return next(distributed.rendezvous("env://"))
    except (ValueError, distributed.DistError) as error:
        first = str(error).splitlines()[0]
        raise CourseError(
            f"the other processes of this training cannot be reached ({first}): {remedy}"
        ) from error
