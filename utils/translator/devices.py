"""Choose the device of a model and the precision of its matrix products.

Explained in book/your_translator.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from utils.errors import CourseError
from utils.translator.options import Device

#: The processor, which is the default everywhere.
CPU = torch.device("cpu")


def choose_device(name: Device = Device.AUTO) -> torch.device:
    """The torch device of a name; ``auto`` takes a CUDA GPU if there is one, else an Apple GPU, else the processor.

    With several CUDA GPUs, each process of ``torchrun`` takes the GPU of its local rank.

    Raises:
        ValueError: a device that this machine or this build of torch does not have, fewer GPUs than processes, or
            variables that are not those of ``torchrun``.

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
    is_one = number_of_torchrun("WORLD_SIZE", least=1) == 1
    local_rank, count = 0 if is_one else number_of_torchrun("LOCAL_RANK"), torch.cuda.device_count()
    if local_rank >= count:
        raise CourseError(
            f"process {local_rank} of this machine finds {count} CUDA GPUs: "
            "start no more processes than GPUs, or use --device cpu"
        )
    return torch.device(name, local_rank)


def number_of_torchrun(name: str, *, least: int = 0) -> int:
    """The number in a variable that ``torchrun`` sets for each process that it starts; ``least`` where it is not set.

    Raises:
        ValueError: it is no whole number, or less than ``least``.
    """
    text = os.environ.get(name) or str(least)
    if not text.isdecimal() or int(text) < least:
        raise CourseError(
            f"the variable {name} must be a whole number of at least {least}, as torchrun sets it, got {text!r}: "
            f"unset {name} to train in one process"
        )
    return int(text)


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


@contextmanager
def fast_products() -> Iterator[None]:
    """Take fast float32 products ("medium") inside a block, and restore the precision afterwards."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
