"""The Transformer study: its stored results are complete."""

import json
from itertools import product

from studies.length_study import RESULTS as RECURRENT
from studies.length_study import LengthSettings
from studies.transformer_study import RESULTS, TRAINED, TransformerSettings


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
