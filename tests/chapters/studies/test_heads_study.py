"""The study of the heads, with a small training; and its stored results."""

import json

import pytest

from studies.heads_study import RESULTS, HeadsSettings

pytestmark = pytest.mark.trains


def test_the_stored_results_are_those_of_these_settings():
    assert json.loads(RESULTS.read_text("utf-8"))["settings"] == json.loads(json.dumps(vars(HeadsSettings())))
