"""The choice of a device and of the precision of its products."""

import pytest
import torch

from utils.translator.devices import CPU, Device, choose_device, fast_products, fastest_products


def set_available(monkeypatch, *, cuda: bool = False, mps: bool = False) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: cuda)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 4 * cuda)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: mps)


def test_auto_takes_the_fastest_device_that_is_available(monkeypatch):
    set_available(monkeypatch, cuda=True, mps=True)
    assert choose_device() == torch.device("cuda", 0)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert choose_device() == torch.device("cuda", 0)  # one process, in which the variable was left
    monkeypatch.setenv("WORLD_SIZE", "5")
    assert choose_device() == torch.device("cuda", 3)
    monkeypatch.setenv("LOCAL_RANK", "4")
    with pytest.raises(ValueError, match="process 4 of this machine finds 4 CUDA GPUs"):
        choose_device()
    monkeypatch.setenv("LOCAL_RANK", "two")
    with pytest.raises(
        ValueError, match=r"LOCAL_RANK must be a whole number of at least 0, .* got 'two': unset"
    ):
        choose_device()
    assert choose_device(Device.CPU) == CPU
    set_available(monkeypatch, mps=True)
    assert choose_device() == torch.device("mps")
    set_available(monkeypatch)
    assert choose_device() == CPU


@pytest.mark.parametrize("name", [Device.CUDA, Device.MPS])
def test_a_device_that_is_not_available_is_named(monkeypatch, name):
    set_available(monkeypatch)
    with pytest.raises(ValueError, match=f"device {name} is not available"):
        choose_device(name)


def test_bfloat16_is_taken_where_the_device_has_it(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda including_emulation: True)
    monkeypatch.setattr("torch.cpu._is_avx512_bf16_supported", lambda: False)
    assert fastest_products(torch.device("cuda")) == torch.bfloat16
    assert fastest_products(CPU) == fastest_products(torch.device("mps")) == torch.float32
    monkeypatch.setattr("torch.cpu._is_avx512_bf16_supported", lambda: True)
    assert fastest_products(CPU) == torch.bfloat16


def test_the_precision_is_restored():
    before = torch.get_float32_matmul_precision()
    with fast_products():
        assert torch.get_float32_matmul_precision() == "medium"
    assert torch.get_float32_matmul_precision() == before
