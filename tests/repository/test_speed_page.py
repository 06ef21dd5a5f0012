"""The numbers of operations on the page on speed: its formula, and what follows from it for the paper."""

from pathlib import Path

from torch.utils.flop_counter import FlopCounterMode

from utils.corpus.batches import make_batch
from utils.training import batch_loss
from utils.translator.models import Settings, build_model

PAGE = (Path(__file__).parents[2] / "book" / "speed.md").read_text("utf-8")


def operations(n: float, t: float, d_e: int, d_h: int, vocab: int, *, d_m: int) -> float:
    """Those of a training step on a sentence of n words and its translation of t words, as the page has it."""
    encoder = 6 * d_h * (d_e + d_h) + 2 * d_h**2
    decoder = d_h**2 + d_m * vocab + (3 * d_h + 2 * d_m) * (d_e + 3 * d_h)
    return 6 * (n * encoder + t * decoder + 3 * n * t * d_h)


def test_the_formula_counts_the_operations_that_torch_counts() -> None:
    n, d_e, h, vocab = 7, 11, 17, 41
    model = build_model(Settings("xx", "yy", d_embed=d_e, d_hidden=h, dropout=0.0), vocab, vocab).train()
    with FlopCounterMode(display=False) as counter:
        batch_loss(model, make_batch([[5] * n], [[5] * (n - 1)])).backward()
    first_states = 6 * h * h - 2 * 6 * h * h  # s_0 is a product; nothing goes back into the encoder's zeros
    scores = 6 * n * n * h  # matrix by vector, which torch does not count
    assert counter.get_total_flops() == operations(n, n, d_e, h, vocab, d_m=h) + first_states - scores


def test_the_training_of_the_paper() -> None:
    of_pair = operations(304 / 12, 348 / 12 + 1, 620, 1000, 30_000, d_m=500)
    total = 667_000 * 80 * of_pair
    assert f"a pair of average length takes {of_pair / 1e9:.1f} billion operations" in PAGE
    assert (
        f"the whole training {total / 1e17:.1f} × 10¹⁷: {round(total / 252 / 3600 / 1e9, -1):.0f} billion"
        in PAGE
    )
    hours = round(total / 114e9 / 3600, -1)
    assert f"about {hours:.0f} hours, or {hours / 24:.0f} days" in PAGE
