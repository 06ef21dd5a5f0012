"""The Transformer study: its stored results are complete."""

import json
from itertools import product

import torch

from studies.length_study import RESULTS as RECURRENT
from studies.length_study import LengthSettings
from studies.transformer_study import RESULTS, SENTENCE, TRAINED, TransformerSettings


def test_the_stored_results_are_complete():
    results = json.loads(RESULTS.read_text("utf-8"))
    setup = TransformerSettings()
    assert RESULTS.stat().st_size < 40 * 1024
    assert [(one["model"], one["seed"]) for one in results["same_seconds"]] == list(
        product(TRAINED, setup.seeds)
    )
    for one in results["same_seconds"]:
        assert tuple(tried["lr"] for tried in one["validation"]) == setup.lrs
    trained = [(one["model"], one["seed"], one["times"]) for one in results["longer"]]
    assert trained == list(product(TRAINED[:2], setup.seeds[:1], setup.longer))
    seconds = [one["processor_seconds"] for one in results["same_seconds"]]
    assert max(seconds) < 1.5 * min(seconds)
    assert tuple(one["limit"] for one in results["by_length"]) == setup.limits
    recurrent = json.loads(RECURRENT.read_text("utf-8"))["grammar"]
    assert all(len(one["bleu"]) == len(recurrent["buckets"]) for one in results["by_length"])
    for name in ("width", "batch_size", "num_tokens"):
        assert recurrent[name] == getattr(LengthSettings(), name), "both studies train alike"
    assert tuple(recurrent["limits"]) == setup.limits


def test_where_it_looks_is_a_weight_for_each_pair_of_words():
    looks = json.loads(RESULTS.read_text("utf-8"))["looks"]
    assert (" ".join(looks["english"]), " ".join([*looks["french"][1:], "."])) == SENTENCE
    weights = torch.tensor(
        [[[int(each) for each in row.split()] for row in head] for head in looks["weights"]]
    )
    assert weights.shape == (TransformerSettings().num_heads, 2 * 8 + 2 * (9 + 9), 9)
    assert (weights.sum(dim=-1) - 1000).abs().max() <= 5  # each number is rounded
    own = weights[:, 16:25]  # of the decoder, layer 0
    assert own.triu(1).sum() == 0, "a French word sees no later one"
