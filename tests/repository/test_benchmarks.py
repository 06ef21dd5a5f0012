"""What the benchmarks compute, apart from what they measure."""

import runpy
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_the_formula_counts_the_operations_that_torch_counts():
    scaling = runpy.run_path(str(BENCHMARKS / "scaling.py"))
    n, h = 7, 17
    size = {"d_embed": 11, "d_hidden": h, "vocab": 41}
    first_states = 6 * h * h - 2 * 6 * h * h  # s_0 is a product; nothing goes back into the encoder's zeros
    scores = 6 * n * n * h  # matrix by vector, which torch does not count
    assert scaling["counted"](n, **size) == scaling["training_flops"](n, n, **size) + first_states - scores
