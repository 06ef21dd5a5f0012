"""Where the tensors of a training live: the processor or an accelerator, and the coarsest products that pay there.

Explained in book/scaling.
"""

import os
from enum import StrEnum

import torch

#: The processor, on which everything runs that is not asked to run elsewhere.
CPU = torch.device("cpu")


class Device(StrEnum):
    """What a training or a search can be asked to run on. Explained in book/scaling."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"


def choose_device(name: Device = Device.AUTO) -> torch.device:
    """The device of a name; ``auto`` takes a CUDA GPU where there is one, else Apple's, else the processor.

    Of several CUDA GPUs a process that ``torchrun`` started takes the one of its place on the machine.

    Raises:
        ValueError: a device that this machine or this build of torch does not have, or fewer GPUs than processes.

    >>> choose_device(Device.CPU)
    device(type='cpu')

    Explained in book/scaling.
    """
    there = {
        Device.CUDA: torch.cuda.is_available(),
        Device.MPS: torch.backends.mps.is_available(),
        Device.CPU: True,
    }
    if name is Device.AUTO:
        name = next(device for device in there if there[device])
    elif not there[name]:
        raise ValueError(f"device {name} is not there: this machine, or this build of torch, has none")
    if name is not Device.CUDA:
        return torch.device(name)
    place, count = int(os.environ.get("LOCAL_RANK", 0)), torch.cuda.device_count()
    if place >= count:
        raise ValueError(
            f"process {place} of this machine finds {count} CUDA GPUs: start no more processes than GPUs, "
            "or work on the cpu"
        )
    return torch.device(name, place)


def fastest_products(device: torch.device = CPU) -> torch.dtype:
    """bfloat16 where the device has instructions for its products, else float32.

    Explained in book/scaling.
    """
    if device.type == "cuda":
        supported = torch.cuda.is_bf16_supported(including_emulation=False)
    elif device.type == "cpu":
        ask = getattr(torch.cpu, "_is_avx512_bf16_supported", None)  # torch knows, under no public name
        supported = ask is not None and ask()
    else:
        supported = False
    return torch.bfloat16 if supported else torch.float32
