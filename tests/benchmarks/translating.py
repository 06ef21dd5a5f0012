"""How fast translations are written: greedy search, a beam of 1 and a beam of 5.

Run as ``python tests/benchmarks/translating.py``. The weights are random, so each search writes as many words as it
may. Times are taken as in ``training.py``.
"""

from functools import partial

import torch
from training import BATCH, LENGTH, ROUNDS, VOCAB, WIDTH, interleaved, sentences, spread

from utils.corpus.batches import make_batch
from utils.search import beam_search, greedy
from utils.translator.models import Settings, build_model


def main() -> None:
    """Compare the searches, for each of the two translators."""
    print(
        f"torch {torch.__version__}, {torch.get_num_threads()} threads, {ROUNDS} rounds; median (quartiles)"
    )
    print(f"{BATCH} sentences of {LENGTH} words, vocabulary {VOCAB}, width {WIDTH}")
    batch = make_batch(*sentences(BATCH, LENGTH, LENGTH))
    for kind, num_heads in (("recurrent", None), ("transformer", 4)):
        settings = Settings("xx", "yy", d_embed=WIDTH, d_hidden=WIDTH, model=kind, num_heads=num_heads)
        model = build_model(settings, VOCAB, VOCAB).eval()
        given = {"model": model, "src": batch.src, "src_lens": batch.src_lens, "max_len": LENGTH}
        searches = {
            "greedy": partial(greedy, **given),
            "a beam of 1": partial(beam_search, **given, beam=1),
            "a beam of 5": partial(beam_search, **given, beam=5),
        }
        times = interleaved(searches)
        for name, milliseconds in times.items():
            speed = spread([BATCH / (1e-3 * t) for t in milliseconds])
            ratio = spread([t / first for t, first in zip(milliseconds, times["greedy"], strict=True)])
            print(f"{kind:12} {name:12} {speed:32} sentences/s  {ratio:24} times as long as greedy")


if __name__ == "__main__":
    main()
