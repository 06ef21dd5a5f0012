"""Of many cases of one kind `make test` takes a few, `make test CHAPTER=name` that chapter's, `make test-all` all."""

import os
from collections.abc import Sequence

import pytest

#: The chapter that alone is tested, if `make test CHAPTER=name` runs.
CHAPTER = os.environ.get("ATTENTION_CHAPTER")


def a_few(pages: Sequence[str], every: int = 6) -> list:
    """Values for ``parametrize``: each sixth page and that of the chapter, and the others as slow tests."""
    return [
        page
        if i % every == 0 or page.split("/")[-1] == CHAPTER
        else pytest.param(page, marks=pytest.mark.slow)
        for i, page in enumerate(pages)
    ]
