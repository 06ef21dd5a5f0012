r"""One training in several processes: each takes its shard of the rows of every batch.

All processes shuffle alike, so they see the same batches as a single process would, and each takes every
``world``-th row of them. With the mean loss :math:`L_r` over the :math:`T_r` real target tokens of process r,

.. math:: L = \sum_r \frac{T_r}{T} L_r, \qquad T = \sum_r T_r,

is the loss of the whole batch, and its gradient is the sum of the gradients of the terms.
``DistributedDataParallel`` takes the mean over the processes instead, so each term is multiplied by their number.
Explained in book/scaling.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from utils.corpus.batches import Batch
from utils.translator.devices import CPU


@dataclass(frozen=True)
class Processes:
    """The processes of one training, as seen from one of them.

    Every method but ``shard`` waits until all processes have called it.

    Attributes:
        rank: number of this process, from 0.
        world: number of processes.
        device: of the model and of the tensors that the processes exchange.
        restarted: whether the processes were restarted after one of them failed.
    """

    rank: int = 0
    world: int = 1
    device: torch.device = CPU
    restarted: bool = False

    @property
    def is_first(self) -> bool:
        """Whether this is the process that writes files and prints messages."""
        return self.rank == 0

    def sum(self, *numbers: float) -> list[float]:
        """Each number summed over the processes, which all get the same."""
        if self.world == 1:
            return list(numbers)
        # float64 is exact for every count. Apple's GPUs do not have it, but they train in one process only.
        tensor = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        distributed.all_reduce(tensor)
        return tensor.tolist()

    def broadcast(self, number: float) -> float:
        """The number that the first process passed, for every process."""
        return self.sum(number if self.is_first else 0.0)[0]

    def barrier(self) -> None:
        """Wait until every process has called this."""
        self.sum(0.0)

    def check_same(self, text: str) -> None:
        """Check that every process has the same text as the first.

        Raises:
            ValueError: this process has another text.
        """
        digest = int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])  # 48 bits: exact in float64
        if self.broadcast(digest) != digest:
            raise ValueError(
                f"process {self.rank} has other sentences or settings than process 0: give all of them the same"
            )

    def shard(self, batch: Batch) -> tuple[Batch, float]:
        """The rows of a batch that are this process's, and the share of the real target tokens they hold.

        A batch is sorted by length, so taking every ``world``-th row gives shards of about equal work. If there are
        fewer rows than processes, some processes get the first row with a share of 0, because all must take part.
        """
        if self.rank >= len(batch.src):
            return batch.rows(slice(1)), 0.0
        rows = batch.rows(slice(self.rank, None, self.world))
        return rows, rows.num_tokens / batch.num_tokens


#: The processes of a training in one process.
ALONE = Processes()


@contextmanager
def processes_of_torchrun(device: torch.device) -> Iterator[Processes]:
    """The processes that ``torchrun`` started, connected within the block; without ``torchrun``, this process alone.

    Args:
        device: of this process; processes on CPUs talk through gloo, those on CUDA GPUs through nccl.

    Raises:
        ValueError: several processes on a device that torch cannot connect.
    """
    restarted = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0)) > 0
    if int(os.environ.get("WORLD_SIZE", 1)) == 1:
        yield Processes(device=device, restarted=restarted)
        return
    backends = {"cpu": "gloo", "cuda": "nccl"}
    if device.type not in backends:
        raise ValueError(f"several processes train on cpu or cuda, not on {device.type}: start one")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    store, rank, world = next(distributed.rendezvous("env://"))
    if world == int(os.environ.get("LOCAL_WORLD_SIZE", 0)):
        # torchrun keeps one store for all its starts. In it, restarted processes may find the addresses of those that
        # failed, and wait for them. On one machine all processes know how often they were started.
        store = distributed.PrefixStore(os.environ["TORCHELASTIC_RESTART_COUNT"], store)
    distributed.init_process_group(backends[device.type], store=store, rank=rank, world_size=world)
    try:
        yield Processes(rank, world, device, restarted)
    finally:
        distributed.destroy_process_group()


class SharedLoss(nn.Module):
    """The loss of a batch of which each process computes its shard; the backward pass sums the gradients of all.

    Args:
        model: to train; all processes start with the weights of the first.
        loss: of a model and a batch, the mean over its real target tokens.
        processes: that train together.
    """

    def __init__(self, model: nn.Module, loss: Callable[[nn.Module, Batch], Tensor], processes: Processes):
        super().__init__()
        self._processes = processes
        self._loss = _Loss(model, loss)
        if processes.world > 1:
            # A separate group: DistributedDataParallel never releases its group, and the threads of a group that is
            # not destroyed may still hold Python's tensors when the interpreter ends, which aborts the process
            # (github.com/pytorch/pytorch/pull/179291). The threads of this group hold only the gradients' buckets.
            self._loss = DistributedDataParallel(self._loss, process_group=distributed.new_group())

    def forward(self, batch: Batch) -> Tensor:
        """The value to call ``backward`` on: the loss of the shard, times its share and the number of processes."""
        rows, share = self._processes.shard(batch)
        return self._loss(rows.to(self._processes.device)) * (share * self._processes.world)

    def of_batch(self, of_process: Tensor) -> float:
        """The loss of the whole batch, from what :meth:`forward` returned in each process."""
        return self._processes.sum(of_process.item() / self._processes.world)[0]


class _Loss(nn.Module):
    """A module that returns the loss: DistributedDataParallel sums gradients only for calls of ``forward``."""

    def __init__(self, model: nn.Module, loss: Callable[[nn.Module, Batch], Tensor]):
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, batch: Batch) -> Tensor:
        return self.loss(self.model, batch)
