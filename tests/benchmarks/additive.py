"""Time and memory of additive attention for many queries: all features at once against those of one query at a time.

Run as ``python tests/benchmarks/additive.py``. It times scores, softmax and their backward pass of one batch
in turn and prints medians with quartiles. Memory is the growth of the process's peak in a fresh process.
"""

import subprocess
import sys
from functools import partial
from typing import Annotated

import torch
import typer
from attention import interleaved, peak_mib, spread

from utils.attention import additive_scores
from utils.translator.additive_by_query import additive_scores_by_query

SCORES = {"broadcast": additive_scores, "by query": additive_scores_by_query}
#: Above this length all features at once need more memory than a small machine has.
LONGEST_BROADCAST = 1000
LENGTHS = [500, 1000, 2000]


def attend(name: str, inputs: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Gradients of a loss of the context with respect to the inputs."""
    context = SCORES[name](*inputs).softmax(dim=-1) @ inputs[1]
    return torch.autograd.grad(context.square().sum(), inputs)


def make_inputs(num: int, width: int) -> list[torch.Tensor]:
    """Projected queries and keys and the weights of the scores, about as large as a trained model's."""
    generator = torch.Generator().manual_seed(num)
    shapes = ((num, width), (num, width), (width,))
    return [torch.randn(shape, generator=generator).div(width**0.25).requires_grad_() for shape in shapes]


def growth_in_fresh_process(name: str, num: int, width: int) -> float:
    """MiB by which one call raises the peak of a process that has done nothing else."""
    command = [sys.executable, __file__, "--num", str(num), "--width", str(width), "--only-peak", name]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main(
    num: Annotated[list[int], typer.Option(help="Queries and keys; give it more than once.")] = LENGTHS,
    width: int = 256,
    pairs: Annotated[int, typer.Option(min=3)] = 7,
    only_peak: Annotated[str, typer.Option(hidden=True)] = "",
) -> None:
    """Compare additive attention with all features in memory and those of one query."""
    if only_peak:
        attend(only_peak, make_inputs(2, width))
        inputs = make_inputs(num[0], width)
        before = peak_mib()
        attend(only_peak, inputs)
        print(peak_mib() - before)
        return
    names = {n: [name for name in SCORES if name == "by query" or n <= LONGEST_BROADCAST] for n in num}
    # All memory first: a child process inherits the peak of its parent, which the timing below would raise.
    peaks = {(n, name): growth_in_fresh_process(name, n, width) for n in num for name in names[n]}
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, width {width}, {pairs} pairs")
    for n in num:
        inputs = make_inputs(n, width)
        results = [attend(name, inputs) for name in names[n]]
        torch.testing.assert_close(results[0], results[-1], rtol=1e-4, atol=1e-4)
        times = interleaved({name: partial(attend, name, inputs) for name in names[n]}, pairs)
        for name in names[n]:
            print(f"n = {n:5}  {name:10} {spread(times[name]):32} ms  {peaks[n, name]:8.1f} MiB")
        if len(names[n]) == 2:
            ratios = spread([theirs / ours for theirs, ours in zip(*times.values(), strict=True)])
            memory = peaks[n, "broadcast"] / peaks[n, "by query"]
            print(f"n = {n:5}  {'ratio':10} {ratios:32}     {memory:8.1f}")


if __name__ == "__main__":
    typer.run(main)
