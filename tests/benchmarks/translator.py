"""Speed and memory of training in the plain and the fast form of the same mathematics.

Run as ``python tests/benchmarks/translator.py`` (``--help`` for parts of it). The forms are timed in turn, so that a
busy machine slows all of them; each number is a median with the quartiles around it, each ratio that of calls one
after the other. Memory is the growth of the process's peak during one call, in a fresh process.
"""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated, NamedTuple

import torch
import typer
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from utils.corpus.batches import Batch, batches
from utils.corpus.vocabulary import PAD
from utils.fast_training import fast_loss
from utils.seq2seq import EncoderDecoder
from utils.training import batch_loss
from utils.translator.models import Settings, build_model

BATCH = 64


class Size(NamedTuple):
    length: int
    vocab: int
    width: int


SIZES = {"small": Size(20, 10_000, 256), "large": Size(50, 30_000, 512)}
BOTH = list(SIZES)


def bfloat16_loss(model: EncoderDecoder, batch: Batch) -> Tensor:
    """The fast form with the machine's bfloat16 products."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return fast_loss(model, batch, label_smoothing=0.1)


#: The plain form is that of the chapter, the fast form that of ``fast_training``.
LOSSES: dict[str, Callable[[EncoderDecoder, Batch], Tensor]] = {
    "plain": partial(batch_loss, label_smoothing=0.1),
    "fast": partial(fast_loss, label_smoothing=0.1),
    "fast bfloat16": bfloat16_loss,
}


def sentences(size: Size, num: int, *, mixed: bool) -> tuple[list[list[int]], list[list[int]]]:
    """Random ids. All sentences have the size's length, or mixed ones, from a quarter of it to seven quarters.

    A target and its end of sentence together are as long as its source.
    """
    generator = torch.Generator().manual_seed(0)
    low = size.length // 4 if mixed else size.length
    high = 2 * size.length - low
    lengths = torch.randint(low, high + 1, (num,), generator=generator).tolist()
    draw = partial(torch.randint, 4, size.vocab, generator=generator)
    return [draw((n,)).tolist() for n in lengths], [draw((n - 1,)).tolist() for n in lengths]


def translator(size: Size) -> EncoderDecoder:
    """The model of the chapters, bidirectional, one layer."""
    settings = Settings("xx", "yy", d_embed=size.width, d_hidden=size.width, dropout=0.0)
    return build_model(settings, size.vocab, size.vocab).train()


def make_step(name: str, size: Size) -> Callable[[list[Batch]], None]:
    """Full training steps of one form: forward, backward, clipping and Adam."""
    model = translator(size)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

    def step(epoch: list[Batch]) -> None:
        for batch in epoch:
            optimizer.zero_grad()
            LOSSES[name](model, batch).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    return step


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


def spread(numbers: list[float]) -> str:
    """Median and quartiles as text."""
    low, middle, high = statistics.quantiles(numbers, n=4)
    return f"{middle:8.2f} ({low:.2f} to {high:.2f})"


def measured_peak(dtype: torch.dtype) -> float:
    """Floating-point operations per second of a large matrix product, the best of several."""
    n = 2048
    a, b = (torch.randn(n, n, generator=torch.Generator().manual_seed(0)).to(dtype) for _ in range(2))
    return 2 * n**3 / (1e-3 * min(interleaved({"product": lambda: a @ b}, 7)["product"]))


def peak_in_fresh_process(name: str, size_name: str) -> float:
    """MiB by which the second training step raises the peak of its process."""
    command = [sys.executable, __file__, "--size", size_name, "--only-peak", name]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def print_peak(name: str, size: Size) -> None:
    """Print what :func:`peak_in_fresh_process` reads. A first step makes the gradients and Adam's averages before."""
    step = make_step(name, size)
    short = Size(2, size.vocab, size.width)
    step(list(batches(*sentences(short, 2, mixed=False))))
    epoch = list(batches(*sentences(size, BATCH, mixed=False), batch_size=BATCH))
    before = peak_mib()
    step(epoch)
    print(peak_mib() - before)


def bench_training(size_name: str, *, pairs: int, mixed: bool, peaks: dict[str, float]) -> None:
    """Target tokens per second of full training steps."""
    size = SIZES[size_name]
    ids = sentences(size, BATCH * (4 if mixed else 1), mixed=mixed)
    as_they_come = list(batches(*ids, batch_size=BATCH))
    bucketed = list(batches(*ids, batch_size=BATCH, generator=torch.Generator().manual_seed(0)))
    tokens = sum(int((batch.tgt_out != PAD).sum()) for batch in as_they_come)
    steps = {name: make_step(name, size) for name in LOSSES}
    calls = {
        name: partial(step, bucketed if mixed and name.startswith("fast") else as_they_come)
        for name, step in steps.items()
    }
    with FlopCounterMode(display=False) as counter:
        calls["fast"]()
    flops = counter.get_total_flops()
    limits = {"fast": measured_peak(torch.float32), "fast bfloat16": measured_peak(torch.bfloat16)}
    lengths = f"{min(map(len, ids[0]))} to {max(map(len, ids[0]))}" if mixed else f"{size.length}"
    print(
        f"\ntraining, {size_name}: batch {BATCH}, length {lengths}, vocabulary {size.vocab}, width {size.width}"
    )
    times = interleaved(calls, pairs)
    for name, milliseconds in times.items():
        speed = spread([tokens / (1e-3 * t) for t in milliseconds])
        ratio = spread([t / ours for t, ours in zip(times["plain"], milliseconds, strict=True)])
        memory = f"{peaks[name]:7.0f} MiB" if name in peaks else ""
        share = 1e3 * flops / statistics.median(milliseconds) / limits[name] if name in limits else None
        print(
            f"{name:14} {speed:32} tokens/s  {ratio:24} times the plain form  {memory}"
            + (f"  {share:.0%} of {limits[name] / 1e9:.0f} GFLOP/s" if share else "")
        )


def main(
    size: Annotated[list[str], typer.Option(help="Small or large; give it twice for both.")] = BOTH,
    pairs: Annotated[int, typer.Option(min=3)] = 7,
    only_peak: Annotated[str, typer.Option(hidden=True)] = "",
) -> None:
    """Compare the forms of a training step."""
    if only_peak:
        print_peak(only_peak, SIZES[size[0]])
        return
    # All memory first: a child process inherits the peak of its parent, which the timing below would raise.
    peaks = {name: {loss: peak_in_fresh_process(loss, name) for loss in LOSSES} for name in size}
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {pairs} pairs; median (quartiles)")
    for name in size:
        bench_training(name, pairs=pairs, mixed=False, peaks=peaks[name])
    if "small" in size:
        print(
            "\nmixed lengths: the plain form on batches as they come, the fast form on batches bucketed by length"
        )
        bench_training("small", pairs=pairs, mixed=True, peaks={})


if __name__ == "__main__":
    typer.run(main)
