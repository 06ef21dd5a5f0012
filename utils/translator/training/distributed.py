r"""One training in several processes of ``torchrun``: each takes its share of the rows of every batch.

With the mean loss :math:`L_r` over the :math:`T_r` real target tokens of process r, out of T, the loss of the batch is
:math:`\sum_r \frac{T_r}{T} L_r`. Explained in book/your_translator.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from utils.corpus.batches import Batch
from utils.translator.devices import CPU


@dataclass(frozen=True)
class Processes:
    """The processes of one training, as one of them sees them: its number, how many there are, its device."""

    rank: int = 0
    world: int = 1
    device: torch.device = CPU

    def sum(self, *numbers: float) -> list[float]:
        """Each number summed over the processes, which wait for each other here."""
        if self.world == 1:
            return list(numbers)
        tensor = torch.tensor(numbers, dtype=torch.float64, device=self.device)  # exact for every count
        distributed.all_reduce(tensor)
        return tensor.tolist()

    def share(self, batch: Batch) -> tuple[Batch, float]:
        """Every ``world``-th row of a batch and their share of its real tokens; no row left: the first, share 0."""
        rows = batch.rows(slice(self.rank, None, self.world))
        share = rows.num_tokens / batch.num_tokens
        return (rows if len(rows.src) else batch.rows(slice(1))).to(self.device), share

    def loss_of(self, model: nn.Module, loss: Callable[[nn.Module, Batch], Tensor]) -> nn.Module:
        """The loss as a module; its backward pass takes the mean of the gradients over the processes."""
        module = _Loss()
        module.model, module.loss = model, loss
        if (
            self.world > 1
        ):  # in a group of its own, which can be destroyed: github.com/pytorch/pytorch/pull/179291
            return DistributedDataParallel(module, process_group=distributed.new_group())
        return module


#: A training in one process.
ALONE = Processes()


class _Loss(nn.Module):
    def forward(self, batch: Batch) -> Tensor:
        return self.loss(self.model, batch)


@contextmanager
def processes_of_torchrun(device: torch.device) -> Iterator[Processes]:
    """The processes that ``torchrun`` started, connected within the block; without ``torchrun``, this one alone."""
    if "WORLD_SIZE" not in os.environ:
        yield Processes(device=device)
        return
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"several processes train on cpu or cuda, not on {device.type}: start one")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    store, rank, world = next(distributed.rendezvous("env://"))
    if world == int(os.environ.get("LOCAL_WORLD_SIZE", 0)):  # all know how often torchrun has started them
        store = distributed.PrefixStore(os.environ["TORCHELASTIC_RESTART_COUNT"], store)
    distributed.init_process_group(store=store, rank=rank, world_size=world, timeout=timedelta(days=1))
    try:
        yield Processes(rank, world, device)
    finally:
        distributed.destroy_process_group()
