"""The Transformer study: fair by construction, its counts worked out by hand, its stored results complete."""

import json
from itertools import product

import torch
from torch import nn

from studies.length_study import RESULTS as RECURRENT
from studies.length_study import LengthSettings
from studies.transformer_study import (
    RESULTS,
    TRAINED,
    TransformerSettings,
    kept_bytes,
)


def test_bytes_of_each_tensor_count_once():
    weight = nn.Parameter(torch.ones(5))
    x = torch.ones(7, 5, requires_grad=True)
    assert (
        kept_bytes(lambda: (x * weight).exp().sum()) == 2 * 7 * 5 * 4
    )  # x for the weight, and the exponentials
    assert kept_bytes(lambda: (x * x).sum()) == 7 * 5 * 4  # kept twice, in one place


def test_the_stored_results_are_complete():
    results = json.loads(RESULTS.read_text("utf-8"))
    setup = TransformerSettings()
    assert RESULTS.stat().st_size < 30 * 1024
    assert [(one["model"], one["seed"]) for one in results["same_seconds"]] == list(
        product(TRAINED, setup.seeds)
    )
    for one in results["same_seconds"]:
        assert tuple(tried["lr"] for tried in one["validation"]) == setup.lrs
    seconds = [one["processor_seconds"] for one in results["same_seconds"]]
    assert max(seconds) < 1.5 * min(seconds)
    assert tuple(one["limit"] for one in results["by_length"]) == setup.limits
    recurrent = json.loads(RECURRENT.read_text("utf-8"))["grammar"]
    assert all(len(one["bleu"]) == len(recurrent["buckets"]) for one in results["by_length"])
    for name in ("width", "batch_size", "num_tokens"):
        assert recurrent[name] == getattr(LengthSettings(), name), "both studies train alike"
    assert tuple(recurrent["limits"]) == setup.limits
    assert tuple(row["length"] for row in results["costs"]) == setup.lengths
    assert tuple(row["words"] for row in results["decoding"]) == setup.written
