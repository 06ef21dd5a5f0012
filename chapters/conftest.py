"""Chapters that read a file of real sentences are skipped, with the reason, where that file is not.

A stored run belongs to one edition of its file: another edition gives other numbers, and is skipped as well.
"""

import hashlib

import pytest

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
