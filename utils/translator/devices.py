"""Choose the device of a model and the precision of its matrix products.

Explained in book/your_translator.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import torch

from utils.errors import CourseError
from utils.translator.options import Device

#: The processor, which is the default everywhere.
CPU = torch.device("cpu")


def choose_device(name: Device = Device.AUTO) -> torch.device:
    """The torch device of a name; ``auto`` takes a CUDA GPU if there is one, else an Apple GPU, else the processor.

    With several CUDA GPUs, each process of ``torchrun`` takes the GPU of its local rank.

    Raises:
        ValueError: a device that this machine or this build of torch does not have, or fewer GPUs than processes.

    >>> choose_device(Device.CPU)
    device(type='cpu')
    """
    available = {
        Device.CUDA: torch.cuda.is_available(),
        Device.MPS: torch.backends.mps.is_available(),
        Device.CPU: True,
    }
    if name is Device.AUTO:
        name = next(device for device in available if available[device])
    elif not available[name]:
        raise CourseError(f"device {name} is not available: this machine, or this build of torch, has none")
    if name is not Device.CUDA:
        return torch.device(name)
    local_rank, count = int(os.environ.get("LOCAL_RANK", 0)), torch.cuda.device_count()
    if local_rank >= count:
        raise CourseError(
            f"process {local_rank} of this machine finds {count} CUDA GPUs: "
            "start no more processes than GPUs, or use --device cpu"
        )
    return torch.device(name, local_rank)


def fastest_products(device: torch.device = CPU) -> torch.dtype:
    """bfloat16 if the device has instructions for bfloat16 matrix products, else float32."""
    if device.type == "cuda":
        supported = torch.cuda.is_bf16_supported(including_emulation=False)
    elif device.type == "cpu":
        # In torch 2.13 the public torch.cpu.get_capabilities says the same.
        is_supported = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
        supported = is_supported is not None and is_supported()
    else:
        supported = False
    return torch.bfloat16 if supported else torch.float32


def check_memory(num_weights: int, device: torch.device = CPU) -> None:
    """Check that the weights, their gradients, Adam's two means and the best weights so far fit into memory.

    Args:
        num_weights: of the model, in float32.
        device: to train on; the memory of a GPU is not checked, because torch reports when it is full.

    Raises:
        ValueError: they need more memory than this machine has.
    """
    needed, present = 5 * 4 * num_weights, _memory()
    if device.type == "cpu" and present is not None and needed > present:
        raise CourseError(
            f"a model of {num_weights:,} weights needs at least {needed / 2**30:,.0f} GB to train, and this machine "
            f"has {present / 2**30:,.0f} GB: choose a smaller --width or --vocabulary-size"
        )


def _memory() -> int | None:
    """The bytes of memory that this process may use; None if the system does not say."""
    try:
        present = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    with suppress(OSError, ValueError):  # the limit of a container
        present = min(present, int(Path("/sys/fs/cgroup/memory.max").read_text("ascii")))
    return present


@contextmanager
def computing(threads: int | None = None) -> Iterator[None]:
    """Take fast float32 products ("medium") and this number of threads inside a block, and restore both afterwards."""
    before = torch.get_float32_matmul_precision(), torch.get_num_threads()
    torch.set_float32_matmul_precision("medium")
    torch.set_num_threads(threads or before[1])
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.set_num_threads(before[1])
