"""Time and memory of attention: the formula written out against torch's fused kernel, for growing sequences.

Run as ``python tests/benchmarks/attention.py`` (``--help`` for sizes). The two are timed in turn, so that a busy
machine slows both; each number is a median with quartiles. Memory is the growth of the process's peak during one
call, in a fresh process for each number.
"""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Annotated

import torch
import typer
from torch import Tensor

from utils.attention import DotProductAttention

#: Name -> value of ``need_weights``: without weights the layer uses the fused kernel.
VARIANTS = {"written out": True, "fused": False}
SIZES = [256, 1024, 2048]


def attend(
    variant: str, queries: Tensor, keys: Tensor, values: Tensor, *, layer: DotProductAttention, train: bool
) -> Tensor:
    """The context by one of the variants, with its gradients when ``train``."""
    with torch.set_grad_enabled(train):
        context, _ = layer(queries, keys, values, need_weights=VARIANTS[variant])
    if train:
        torch.autograd.grad(context.sum(), (queries, keys, values))
    return context


def inputs(num: int, *, batch: int, heads: int, width: int, train: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of ``num`` positions, standard normal."""
    generator = torch.Generator().manual_seed(num)
    shape = (batch, heads, num, width)
    queries, keys, values = (torch.randn(shape, generator=generator).requires_grad_(train) for _ in range(3))
    return queries, keys, values


def interleaved(functions: dict[str, Callable[[], object]], pairs: int) -> dict[str, list[float]]:
    """Milliseconds of each function, called in turn ``pairs`` times; the order changes from pair to pair."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for pair in range(pairs + 1):
        for name in list(functions)[:: 1 if pair % 2 else -1]:
            start = time.perf_counter()
            functions[name]()
            if pair:  # the first pair warms up
                times[name].append(1e3 * (time.perf_counter() - start))
    return times


def peak_mib() -> float:
    """The highest resident size of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024  # getrusage counts bytes on macOS, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def growth_in_fresh_process(variant: str, num: int, *, options: list[str]) -> float:
    """MiB by which one call raises the peak of a process that has done nothing else."""
    command = [sys.executable, __file__, "--num", str(num), "--only-peak", variant, *options]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def spread(numbers: list[float]) -> str:
    """Median and quartiles as text."""
    low, middle, high = statistics.quantiles(numbers, n=4)
    return f"{middle:8.2f} ({low:.2f} to {high:.2f})"


def main(
    num: Annotated[list[int], typer.Option(help="Positions; give it more than once.")] = SIZES,
    batch: int = 1,
    heads: int = 8,
    width: int = 64,
    pairs: Annotated[int, typer.Option(min=3)] = 15,
    train: Annotated[bool, typer.Option(help="Time the backward pass too.")] = False,
    only_peak: Annotated[str, typer.Option(hidden=True)] = "",
) -> None:
    """Compare the written-out formula with torch's fused kernel."""
    sizes = {"batch": batch, "heads": heads, "width": width, "train": train}
    layer = DotProductAttention()
    if only_peak:
        # A first call loads the libraries behind the kernels, which would count as memory of attention.
        attend(only_peak, *inputs(2, **sizes), layer=layer, train=train)
        arguments = inputs(num[0], **sizes)
        before = peak_mib()
        attend(only_peak, *arguments, layer=layer, train=train)
        print(peak_mib() - before)
        return
    options = ["--batch", f"{batch}", "--heads", f"{heads}", "--width", f"{width}"] + ["--train"] * train
    # All memory first: a child process inherits the peak of its parent, which the timing below would raise.
    peaks = {n: {v: growth_in_fresh_process(v, n, options=options) for v in VARIANTS} for n in num}
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, float32, {sizes}, {pairs} pairs")
    print("median milliseconds (quartiles); MiB = growth of the process's peak; ratio = written out / fused")
    for n in num:
        arguments = inputs(n, **sizes)
        calls = {
            v: lambda v=v, a=arguments: attend(v, *a, layer=layer, train=train)  # bound now, called later
            for v in VARIANTS
        }
        torch.testing.assert_close(*(call() for call in calls.values()), rtol=1e-5, atol=1e-5)
        times = interleaved(calls, pairs)
        for variant in VARIANTS:
            print(f"n = {n:5}  {variant:12} {spread(times[variant]):32} ms  {peaks[n][variant]:8.1f} MiB")
        ratios = [ours / theirs for ours, theirs in zip(*times.values(), strict=True)]
        print(f"n = {n:5}  {'ratio':12} {spread(ratios)}")


if __name__ == "__main__":
    typer.run(main)
