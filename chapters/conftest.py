"""Chapters that read a file of real sentences are skipped, with the reason, where that file is not.

A stored run belongs to one edition of its file: another edition gives other numbers, and is skipped as well.
The packed numbers of figures with sliders, which nbval leaves out, are compared here up to their rounding.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator

import pytest
from nbval.plugin import IPyNbCell

# The stored outputs are those of a reader who has done no exercise; see utils/exercises/progress.py.
os.environ["ATTENTION_PROGRESS"] = ""

#: Not collected as a module with examples to run: tests/conftest.py has the same name.
collect_ignore = ["conftest.py"]
#: Chapter -> name of the corpus that its stored run was made with.
READS = {"chinese_english.ipynb": "cmn"}
#: Chapters that train for more than three minutes are left to `make test-all`.
SLOW = {"chinese_english.ipynb"}


def why_not(name: str) -> str | None:
    """Why a chapter on this corpus cannot be compared with its stored run; None if it can."""
    # Not above: tests/conftest.py must come before anything imports utils, and this file is read first.
    from utils.corpus.download import CORPORA
    from utils.corpus.pairs import find_file

    corpus = CORPORA[name]
    path = f"tatoeba/{corpus.member}"
    get = f"`python -m utils data get {name}` fetches it"
    try:
        text = find_file(path).read_bytes()
    except FileNotFoundError:
        return f"{path} is not in the data folder; {get}"
    if hashlib.sha256(text).hexdigest() != corpus.sha256:
        return f"{path} is not the edition of {corpus.edition}, with which the stored run was made"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reasons = {chapter: why_not(name) for chapter, name in READS.items()}
    for item in items:
        if item.path.name in SLOW:
            item.add_marker(pytest.mark.slow)
        if reason := reasons.get(item.path.name):
            item.add_marker(pytest.mark.skip(reason=reason))


def stored_arrays(outputs: list) -> Iterator[tuple[str, dict]]:
    """Name and record of each packed array in the figures of a cell's outputs."""
    for output in outputs:
        html = "".join(output.get("data", {}).get("text/html", ""))
        for store in re.findall(
            r'<figure class="xp".*?<script type="application/json">(.*?)</script>', html, re.S
        ):
            spec = json.loads(store)["spec"]
            yield from ((f"{spec['name']}: {key}", record) for key, record in spec["arrays"].items())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fails a cell whose figure has other numbers than the stored one, unless nbval ignores the cell's output."""
    yield
    if isinstance(item, IPyNbCell) and item.options["check"]:
        from utils.explorables.packing import unpack  # not above: see why_not

        stored, computed = (
            dict(stored_arrays(outputs)) for outputs in (item.cell.outputs, item.test_outputs)
        )
        for key, record in computed.items():
            # Another processor may round a number that is stored in steps to the next step; integers are exact.
            last_digit = record["step"] if record["step"] < 1 else 0.0
            near = pytest.approx(unpack(stored[key]), rel=1e-3, abs=max(2e-4, 1.01 * last_digit))
            if unpack(record) != near:
                item.raise_cell_error(f"other numbers than stored in {key}", f"{near} != {unpack(record)}")
