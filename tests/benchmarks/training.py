"""Speed and memory of training in the plain and the fast form of the same mathematics.

Run as ``python tests/benchmarks/training.py``. The forms are timed in turn, so that a busy machine slows all of them;
each number is a median with the quartiles around it, each ratio that of calls one after the other. Memory is the growth
of the process's peak during one call, in a fresh process.
"""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from utils.corpus.batches import Batch, batches
from utils.corpus.vocabulary import PAD
from utils.fast_training import fast_loss
from utils.seq2seq import EncoderDecoder
from utils.training import batch_loss
from utils.translator.models import Settings, build_model

#: Sentences of a batch and their words, words of the vocabularies, and the width of all layers.
BATCH, LENGTH, VOCAB, WIDTH = 64, 20, 10_000, 256
#: How often each form is timed.
ROUNDS = 7


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


def sentences(num: int, shortest: int, longest: int) -> tuple[list[list[int]], list[list[int]]]:
    """Random ids of random lengths. A target and its end of sentence together are as long as its source."""
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(shortest, longest + 1, (num,), generator=generator).tolist()
    draw = partial(torch.randint, 4, VOCAB, generator=generator)
    return [draw((n,)).tolist() for n in lengths], [draw((n - 1,)).tolist() for n in lengths]


def make_step(name: str) -> Callable[[list[Batch]], None]:
    """Full training steps of one form: forward, backward, clipping and Adam."""
    settings = Settings("xx", "yy", d_embed=WIDTH, d_hidden=WIDTH, dropout=0.0)
    model = build_model(settings, VOCAB, VOCAB).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

    def step(epoch: list[Batch]) -> None:
        for batch in epoch:
            optimizer.zero_grad()
            LOSSES[name](model, batch).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    return step


def interleaved(functions: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Milliseconds of each function, called in turn; the order changes from round to round."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for number in range(ROUNDS + 1):
        for name in list(functions)[:: 1 if number % 2 else -1]:
            start = time.perf_counter()
            functions[name]()
            if number:  # the first round warms up
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


def peak_in_fresh_process(name: str) -> float:
    """MiB by which the second training step raises the peak of its process."""
    command = [sys.executable, __file__, "--only-peak", name]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def print_peak(name: str) -> None:
    """Print what :func:`peak_in_fresh_process` reads. A first step makes the gradients and Adam's averages before."""
    step = make_step(name)
    step(list(batches(*sentences(2, 2, 2))))
    batch = list(batches(*sentences(BATCH, LENGTH, LENGTH), batch_size=BATCH))
    before = peak_mib()
    step(batch)
    print(peak_mib() - before)


def bench(ids: tuple[list[list[int]], list[list[int]]], *, peaks: dict[str, float]) -> None:
    """Target tokens per second of full training steps, on batches of sentences of similar lengths."""
    epoch = list(batches(*ids, batch_size=BATCH, generator=torch.Generator().manual_seed(0)))
    tokens = sum(int((batch.tgt_out != PAD).sum()) for batch in epoch)
    lengths = sorted({len(sentence) for sentence in ids[0]})
    print(f"\nlength {lengths[0]} to {lengths[-1]}, batch {BATCH}, vocabulary {VOCAB}, width {WIDTH}")
    times = interleaved({name: partial(make_step(name), epoch) for name in LOSSES})
    for name, milliseconds in times.items():
        speed = spread([tokens / (1e-3 * t) for t in milliseconds])
        ratio = spread([t / ours for t, ours in zip(times["plain"], milliseconds, strict=True)])
        memory = f"{peaks[name]:7.0f} MiB" if name in peaks else ""
        print(f"{name:14} {speed:32} tokens/s  {ratio:24} times the plain form  {memory}")


def main() -> None:
    """Compare the forms of a training step."""
    # All memory first: a child process inherits the peak of its parent, which the timing below would raise.
    peaks = {name: peak_in_fresh_process(name) for name in LOSSES}
    print(
        f"torch {torch.__version__}, {torch.get_num_threads()} threads, {ROUNDS} rounds; median (quartiles)"
    )
    bench(sentences(BATCH, LENGTH, LENGTH), peaks=peaks)
    bench(sentences(4 * BATCH, LENGTH // 4, LENGTH // 4 * 7), peaks={})


if __name__ == "__main__":
    if "--only-peak" in sys.argv:
        print_peak(sys.argv[-1])
    else:
        main()
