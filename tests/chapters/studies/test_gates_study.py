"""The gates study: its units, and its stored results."""

import json

import pytest

from studies.gates_study import KINDS, RESULTS, GatesSettings, num_recurrent, translator


@pytest.mark.parametrize("kind", KINDS)
def test_the_stored_results_are_of_these_units(kind):
    stored = json.loads(RESULTS.read_text("utf-8"))
    part = stored["parts"][kind]
    assert part["parameters"] == num_recurrent(translator(kind, 7, 11))
    assert [run["seed"] for run in part["runs"]] == list(GatesSettings().seeds)
    assert [trial["lr"] for trial in part["validation"]] == list(GatesSettings().lrs)


def test_parameters_by_hand():
    # Two readings of the encoder, words of 64 numbers, two biases; the decoder reads a word and the summary.
    encoder, decoder = 2 * 64 * (64 + 64 + 2), 128 * (64 + 128 + 128 + 2)
    assert num_recurrent(translator("plain", 7, 11)) == encoder + decoder
    assert num_recurrent(translator("gates", 7, 11)) == 3 * (encoder + decoder)
    wide = num_recurrent(translator("plain, wide", 7, 11))
    assert abs(wide / num_recurrent(translator("gates", 7, 11)) - 1) < 0.005
