"""What a GPU changes: its tests, a training of two minutes, and long sequences in time and memory.

Run as ``python tests/benchmarks/gpu.py``, at most eight minutes; the training needs the data folder. Without a CUDA GPU
it says so and measures nothing. Times are medians of five calls, memory is the peak of one call above what was held.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn.functional import scaled_dot_product_attention

from utils.corpus.pairs import find_file
from utils.fast_decoding import GPT
from utils.long_sequences import linear_attention, online_attention

LENGTHS = (1024, 4096, 16_384, 65_536)
#: Width of a head, and numbers of a block.
WIDTH, BLOCK = 64, 1024


def measure(call: Callable[[], object]) -> str:
    """Median milliseconds and peak MiB of a call, or that the memory is not enough."""
    try:
        call()
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        held, times = torch.cuda.memory_allocated(), []
        for _ in range(5):
            start = time.perf_counter()
            call()
            torch.cuda.synchronize()
            times.append(1000 * (time.perf_counter() - start))
    except torch.cuda.OutOfMemoryError:
        return "out of memory"
    peak = (torch.cuda.max_memory_allocated() - held) / 2**20
    return f"{statistics.median(times):,.1f} ms, {peak:,.0f} MiB"


def plain(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Attention with all its weights at once."""
    return torch.softmax(queries @ keys.mT / WIDTH**0.5, dim=-1) @ values


def long_sequences() -> None:
    """A row for each form of attention."""
    forms = {
        "plain": plain,
        "in blocks": lambda q, k, v: online_attention(q, k, v, block=BLOCK),
        "fused": scaled_dot_product_attention,
        "linear": linear_attention,
    }
    for name, form in forms.items():
        for num in LENGTHS:
            inputs = torch.randn(3, 1, num, WIDTH, device="cuda", dtype=torch.bfloat16).unbind()
            print(f"{name:12}{num:>8}  {measure(lambda form=form, inputs=inputs: form(*inputs))}", flush=True)


def decoding() -> None:
    """A row for each way to write one more word: with and without a cache, with all key heads and with two."""
    for key_heads in (8, 2):
        model = GPT(1000, 512, num_heads=8, num_layers=4, num_key_heads=key_heads).cuda().bfloat16().eval()
        for num in LENGTHS[:3]:
            words = torch.randint(1000, (1, num), device="cuda")
            _, past = model(words[:, :-1])
            last = words[:, -1:]
            with_cache = measure(lambda model=model, last=last, past=past: model(last, past))
            without = measure(lambda model=model, words=words: model(words))
            print(f"{key_heads} key heads {num:>8}  cache {with_cache};  without {without}", flush=True)


def training() -> None:
    """BLEU after two minutes of training in bfloat16 on the French file."""
    try:
        pairs = find_file("tatoeba/fra.txt")
    except FileNotFoundError as error:
        print(f"no training: {error}")
        return
    course = [sys.executable, "-m", "utils"]
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "fr-en")
        options = ["--columns", "en,fr", "--src", "fr", "--tgt", "en", "--minutes", "2", "--device", "cuda"]
        subprocess.run([*course, "train", "--pairs", str(pairs), *options, "--out", run], check=True)
        line = [*course, "evaluate", run, "--beam", "5", "--json"]
        scores = json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout)
    print(f"BLEU {scores['bleu']['value']:.1f} {scores['bleu']['interval']} {scores['bleu']['signature']}")


def main() -> None:
    if not torch.cuda.is_available():
        print("no CUDA GPU here: nothing is measured")
        return
    print(torch.cuda.get_device_name())
    subprocess.run([sys.executable, "-m", "pytest", "-q", "tests/utils", "-k", "cuda"], check=False)
    with torch.no_grad():
        long_sequences()
        decoding()
    training()


if __name__ == "__main__":
    main()
