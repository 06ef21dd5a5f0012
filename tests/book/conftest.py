"""The book is built by the first process that tests it, while the others run notebooks."""

import os
import subprocess
import sys

import pytest
from built_book import BOOK, ROOT
from filelock import FileLock


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """All is built, since Sphinx repeats no warning; for `make test CHAPTER=name` only what has changed."""
    target = BOOK / (".updated" if os.environ.get("ATTENTION_CHAPTER") else ".built")
    (ROOT / "_build").mkdir(exist_ok=True)
    with FileLock(ROOT / "_build" / "book.lock"):
        command = ["make", "--silent", f"VENV={sys.prefix}", str(target.relative_to(ROOT))]
        subprocess.run(command, cwd=ROOT, check=True)
