"""What training costs beyond the laptop: operations of a step, their rate, and the memory for a large file.

Run as ``python tests/benchmarks/scaling.py step`` and ``python tests/benchmarks/scaling.py large --pairs 1000000``, or
without arguments for both, with a small file. The numbers of book/speed.md come from here.
"""

import random
import re
import statistics
import tempfile
import threading
import time
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated

import torch
import typer
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from utils.corpus.batches import Batch, make_batch
from utils.fast_training import fast_loss
from utils.seq2seq import EncoderDecoder
from utils.training import batch_loss
from utils.translator.devices import Device, choose_device, fastest_products
from utils.translator.models import Settings, build_model
from utils.translator.training.data import PairData, prepare

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

#: Bahdanau et al. (2015): appendix A.2.3 and table 2. Words from Sutskever et al. (2014), section 3.1.
PAPER = {"d_embed": 620, "d_hidden": 1000, "vocab": 30_000}
#: Rows and words of a batch, and the size of the model.
SIZES = {
    "small": (64, 20, {"d_embed": 256, "d_hidden": 256, "vocab": 10_000}),
    "large": (64, 50, {"d_embed": 512, "d_hidden": 512, "vocab": 30_000}),
    "paper": (80, 30, PAPER),
}
PAPER_MAXOUT = 500
PAPER_PAIRS = 667_000 * 80
PAPER_LENGTHS = 304 / 12, 348 / 12 + 1  # English words per sentence; French words and the end of the sentence


def training_flops(
    n: float, t: float, d_embed: int, d_hidden: int, vocab: int, *, maxout: int | None = None
) -> float:
    """Operations of the forward and backward pass over a sentence of n words and its translation of t words."""
    e, h, m = d_embed, d_hidden, maxout or d_hidden
    encoder = 6 * h * (e + h) + 2 * h * h  # two directions of three gates, the keys
    decoder = h * h + 3 * h * (e + 3 * h) + 2 * m * (e + 3 * h) + m * vocab  # query, gates, readout, words
    attention = h + 2 * h  # a score and its share of the context
    return 6 * (n * encoder + t * (decoder + n * attention))


def random_batch(rows: int, length: int, vocab: int) -> Batch:
    """Sentences that all have this length, their ends included."""
    numbers = random.Random(0)
    draw = partial(numbers.choices, range(4, vocab))
    return make_batch([draw(k=length) for _ in range(rows)], [draw(k=length - 1) for _ in range(rows)])


def translator(d_embed: int, d_hidden: int, vocab: int) -> EncoderDecoder:
    """The model of the command line, without dropout."""
    settings = Settings("xx", "yy", d_embed=d_embed, d_hidden=d_hidden, dropout=0.0)
    return build_model(settings, vocab, vocab).train()


def counted(length: int, d_embed: int, d_hidden: int, vocab: int) -> float:
    """Operations of a training step on one sentence, as torch counts them in the plain form."""
    model = translator(d_embed, d_hidden, vocab)
    with FlopCounterMode(display=False) as counter:
        batch_loss(model, random_batch(1, length, vocab)).backward()
    return counter.get_total_flops()


@app.callback(invoke_without_command=True)
def both(context: typer.Context) -> None:
    """Both commands with their defaults, unless one is named."""
    if context.invoked_subcommand is None:
        step()
        large()


@app.command()
def step(device: Annotated[Device, typer.Option()] = Device.AUTO) -> None:
    """Tokens and operations per second of full training steps, and what the paper's training would take.

    The paper's size needs 2 GB. On the processor these are seconds of processor time, so that other programs do not
    count.
    """
    chosen = choose_device(device)
    products = fastest_products(chosen)
    on_cpu = chosen.type == "cpu"
    clock, unit = (time.process_time, "second of a core") if on_cpu else (time.perf_counter, "second")
    for name, (rows, length, size) in SIZES.items():
        model, batch = translator(**size).to(chosen), random_batch(rows, length, size["vocab"]).to(chosen)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
        seconds = []
        for _ in range(6):
            start = clock()
            optimizer.zero_grad()
            with torch.autocast(chosen.type, products, enabled=products != torch.float32):
                loss = fast_loss(model, batch)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            loss.item()  # waits for a GPU
            seconds.append(clock() - start)
        median = statistics.median(seconds[1:])  # the first one warms up
        rate = rows * training_flops(length, length, **size) / median
        print(
            f"{name}: {chosen.type}, {products}: {rows * length / median:,.0f} tokens per {unit}, "
            f"{rate / 1e9:,.0f} GFLOP/s",
            flush=True,
        )
    of_pair = training_flops(*PAPER_LENGTHS, **PAPER, maxout=PAPER_MAXOUT)
    total = PAPER_PAIRS * of_pair
    print(
        f"the paper: {of_pair / 1e9:.1f} GFLOP per pair, {total:.2g} in all; "
        f"{total / (252 * 3600) / 1e9:.0f} GFLOP/s over its 252 hours; "
        f"{total / rate / 3600:,.0f} hours at the rate of the line before"
    )


@app.command()
def large(pairs: Annotated[int, typer.Option()] = 100_000) -> None:
    """Generate a file of pairs of about 20 pieces, prepare it for a training and make the batches of an epoch.

    Print how long each takes and the peak of memory so far.

    Times are processor time, so that other programs do not count.
    """
    words = ["".join(parts) for parts in product("bcdfglmnprst", "aeiou", "lnrst", "aeiou")]
    draw = partial(random.Random(0).choices, words, k=18)
    lines = [(" ".join(draw()), " ".join(draw())) for _ in range(10_000)]
    peak = _Peak(daemon=True)
    peak.start()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.txt"
        with path.open("w") as file:
            for block in range(pairs // len(lines)):
                file.writelines(f"{block} {source}.\t{block} {target}.\n" for source, target in lines)
        print(f"{path.stat().st_size / 1e9:.2f} GB; peak of memory {peak.mib:.0f} MiB", flush=True)
        start = time.process_time()
        prepared = prepare(PairData(path, ("en", "fr")), Settings("en", "fr"), batch_size=64)
        seconds, num_pairs = time.process_time() - start, prepared.rows.train
        print(f"{num_pairs:,} pairs prepared in {seconds:.0f} s; {peak.mib:.0f} MiB", flush=True)
        start = time.process_time()
        for _ in prepared.batches.epoch(torch.Generator().manual_seed(0)):
            pass
        seconds = time.process_time() - start
        print(f"{num_pairs / seconds:,.0f} pairs per second in batches; {peak.mib:.0f} MiB")


class _Peak(threading.Thread):
    """The largest memory so far, without libraries, looked at ten times per second."""

    mib = 0.0

    def run(self) -> None:
        while True:
            status = Path("/proc/self/status").read_text("ascii")
            self.mib = max(self.mib, int(re.search(r"RssAnon:\s*(\d+)", status)[1]) / 1024)
            time.sleep(0.1)


if __name__ == "__main__":
    app()
