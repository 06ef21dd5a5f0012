"""The Transformer study: fair by construction, its counts worked out by hand, its stored results complete."""

import json
from itertools import product

import pytest
import torch
from torch import nn

from studies import transformer_study
from studies.length_study import RESULTS as RECURRENT
from studies.length_study import LengthSettings
from studies.transformer_study import (
    RESULTS,
    TRAINED,
    TransformerSettings,
    corpus_of_the_chapter,
    kept_bytes,
    same_seconds,
)

TINY = TransformerSettings(
    seconds=0.1, lrs=(1e-3, 2e-3), width=8, num_heads=2, num_layers=1, limits=(5,), seeds=(3,), timed=2, lengths=(2, 3),
    written=(2, 3), repeats=1,
)  # fmt: skip


@pytest.mark.slow
def test_all_train_equally_long_and_each_head_counts(monkeypatch):
    speeds = dict(zip(TRAINED, [(20.0, 170.0), (30.0, 250.0), (50.0, 410.0)], strict=True))
    monkeypatch.setattr(transformer_study, "speeds", lambda models, batches: speeds)
    results = same_seconds(TINY, corpus_of_the_chapter(50, 7))
    assert [one["model"] for one in results] == list(TRAINED)
    assert [one["steps"] for one in results] == [2, 3, 5]
    for one in results:
        assert [tried["lr"] for tried in one["validation"]] == [1e-3, 2e-3]
        assert {"lr": one["lr"], "bleu": max(tried["bleu"] for tried in one["validation"])} in one[
            "validation"
        ]
        assert 0 <= one["bleu"] <= 100
        heads = ["L0H0", "L0H1", "layer 0, mean"]
        found = ["attention"] if one["model"] == "recurrent" else heads
        assert list(one["alignment_errors"]) == [*found, "diagonal"]
        assert all(0 <= rate <= 1 for rate in one["alignment_errors"].values())


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
