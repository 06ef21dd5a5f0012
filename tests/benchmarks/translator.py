"""Speed and memory of the translator: training in three arrangements of the same mathematics, and search.

Run as ``python tests/benchmarks/translator.py`` (``--help`` for parts of it). The arrangements are timed in turn, so
that a busy machine slows all of them; each number is a median with the quartiles around it, each ratio that of
calls one after the other. Memory is the growth of the process's peak during one call, in a fresh process.
"""

import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated, NamedTuple

import torch
import typer
from attention import interleaved, peak_mib, spread
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from utils.corpus.batches import Batch, batches
from utils.corpus.vocabulary import EOS, PAD
from utils.fast_training import fast_loss
from utils.search import beam_search, greedy
from utils.seq2seq import EncoderDecoder
from utils.training import batch_loss, sequence_loss
from utils.translator.models import Settings, build_model

BATCH = 64


class Size(NamedTuple):
    length: int
    vocab: int
    width: int


SIZES = {"small": Size(20, 10_000, 256), "large": Size(50, 30_000, 512)}
BOTH = list(SIZES)


def textbook_loss(model: EncoderDecoder, batch: Batch) -> Tensor:
    """The form of textbooks: no packing, and each step computes the keys, all features and the logits anew."""
    encoder, decoder = model.encoder, model.decoder
    outputs, state = encoder.gru(encoder.embedding(batch.src))
    s = torch.tanh(decoder.start_state(state[-1]))
    padding = torch.arange(batch.src.shape[1]) >= batch.src_lens[:, None, None]
    logits = []
    for y in decoder.embedding(batch.tgt_in).unbind(1):
        queries, keys = decoder.attention.w_q(s)[:, None], decoder.attention.w_k(outputs)
        features = torch.tanh(queries[:, :, None] + keys[:, None])  # (batch, queries, keys, width)
        scores = decoder.attention.w_v(features).squeeze(-1).masked_fill(padding, -1e6)
        context = (scores.softmax(dim=-1) @ outputs).squeeze(1)
        s = decoder.cells[0](y, context, s)
        t = decoder.readout(torch.cat([s, y, context], dim=-1))
        logits.append(decoder.output(t.unflatten(-1, (-1, 2)).amax(dim=-1)))
    return sequence_loss(torch.stack(logits, dim=1), batch.tgt_out, label_smoothing=0.1)


def bfloat16_loss(model: EncoderDecoder, batch: Batch) -> Tensor:
    """The fast form with the machine's bfloat16 products."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return fast_loss(model, batch, label_smoothing=0.1)


#: The plain form is that of the chapter, the fast form that of ``fast_training``.
LOSSES: dict[str, Callable[[EncoderDecoder, Batch], Tensor]] = {
    "textbook": textbook_loss,
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
    """Full training steps of one arrangement: forward, backward, clipping and Adam."""
    model = translator(size)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

    def step(epoch: list[Batch]) -> None:
        for batch in epoch:
            optimizer.zero_grad()
            LOSSES[name](model, batch).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    return step


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
        ratio = spread([t / ours for t, ours in zip(times["textbook"], milliseconds, strict=True)])
        memory = f"{peaks[name]:7.0f} MiB" if name in peaks else ""
        share = 1e3 * flops / statistics.median(milliseconds) / limits[name] if name in limits else None
        print(
            f"{name:14} {speed:32} tokens/s  {ratio:24} times the textbook  {memory}"
            + (f"  {share:.0%} of {limits[name] / 1e9:.0f} GFLOP/s" if share else "")
        )


class EndsAt(nn.Module):
    """An output layer that ends its sentences at given lengths, so that no training is needed.

    All hypotheses of a sentence end at once, and then the search drops it: so this layer knows which are left.
    """

    def __init__(self, output: nn.Linear):
        super().__init__()
        self.output = output

    def start(self, lengths: Tensor) -> None:
        self.left, self.step = lengths, 0

    def forward(self, maxout: Tensor) -> Tensor:
        logits, ends = self.output(maxout), self.left == self.step
        of_rows = ends.repeat_interleave(logits[..., 0].numel() // len(ends))  # the hypotheses of a sentence
        logits[..., EOS] = torch.where(of_rows, 1e4, -1e4).view(logits.shape[:-1]).to(logits.dtype)
        self.left, self.step = self.left[~ends], self.step + 1
        return logits


def search_all(model: EncoderDecoder, epoch: list[Batch], *, beam: int = 0, bfloat16: bool = False) -> None:
    """Translate batches with a beam, or greedily where it is 0."""
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bfloat16):
        for batch in epoch:
            model.decoder.output.start((batch.tgt_out != PAD).sum(dim=1) - 1)
            options = {"beam": beam} if beam else {}
            hypotheses = (beam_search if beam else greedy)(
                model, batch.src, batch.src_lens, max_len=2 * batch.tgt.shape[1], **options
            )
            best = [of_sentence[0] for of_sentence in hypotheses] if beam else hypotheses
            assert [len(h.tokens) + 2 for h in best] == (batch.tgt != PAD).sum(dim=1).tolist()


def bench_search(*, pairs: int) -> None:
    """Sentences per second at the small size, of real lengths: targets a fifth shorter to a fifth longer."""
    size, num = SIZES["small"], 2 * BATCH
    src, tgt = sentences(size, num, mixed=True)
    stretch = torch.rand(num, generator=torch.Generator().manual_seed(1)).mul(0.4).add(0.8).tolist()
    tgt = [(ids * 2)[: max(1, round(len(ids) * factor))] for ids, factor in zip(tgt, stretch, strict=True)]
    order = sorted(range(num), key=lambda row: len(src[row]))  # as translating does
    ids = [src[row] for row in order], [tgt[row] for row in order]
    single, together = (list(batches(*ids, batch_size=n)) for n in (1, BATCH))
    model = translator(size).eval()
    model.decoder.output = EndsAt(model.decoder.output)
    calls = {
        "one by one": partial(search_all, model, single),
        "greedy": partial(search_all, model, together),
        "greedy bfloat16": partial(search_all, model, together, bfloat16=True),
        "beam 5": partial(search_all, model, together, beam=5),
        "beam 5 bfloat16": partial(search_all, model, together, beam=5, bfloat16=True),
    }
    mean = sum(map(len, tgt)) / num
    print(f"\nsearch, {num} sentences of {mean:.0f} words on average, {BATCH} per batch, small model")
    times = interleaved(calls, pairs)
    for name, milliseconds in times.items():
        speed = spread([num / (1e-3 * t) for t in milliseconds])
        ratio = spread([t / ours for t, ours in zip(times["one by one"], milliseconds, strict=True)])
        line = f"{name:16} {speed:32} sentences/s  {ratio:24} times one by one"
        if name.startswith("beam"):
            base = times[name.replace("beam 5", "greedy")]
            line += (
                f"  {spread([t / g for t, g in zip(milliseconds, base, strict=True)])} times greedy's time"
            )
        print(line)


def main(
    size: Annotated[list[str], typer.Option(help="Small or large; give it twice for both.")] = BOTH,
    pairs: Annotated[int, typer.Option(min=3)] = 7,
    only_peak: Annotated[str, typer.Option(hidden=True)] = "",
) -> None:
    """Compare the arrangements of the translator."""
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
            "\nmixed lengths: textbook and plain on batches as they come, the fast form on batches bucketed by length"
        )
        bench_training("small", pairs=pairs, mixed=True, peaks={})
        bench_search(pairs=pairs)


if __name__ == "__main__":
    typer.run(main)
