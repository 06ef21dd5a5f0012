"""For all tests: shapes in the signatures of `utils` are checked at run time, and there is a browser."""

import os
import signal
from collections.abc import Iterator

import pytest
from chromium import PATIENCE, launch
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook
from playwright.sync_api import Browser, expect, sync_playwright

#: Commands that measure.
collect_ignore = ["benchmarks"]

# Products this small are slower on two threads than on one, above all where tests run side by side.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# `nohup make test` ignores SIGHUP and `make test &` in a script ignores Ctrl-C, and every process that a test starts
# would inherit that. A handler is not inherited; the one for SIGHUP does nothing, as the user wants.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, lambda *_: None)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

# Tests store no progress on the exercises.
os.environ["ATTENTION_PROGRESS"] = ""

# This must come before anything imports utils. Subprocesses and kernels run without the check, as for readers.
# By PEP 484 an int is a float.
install_import_hook("utils", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")

# The same examples in every run and on every machine, also a slow one. `--hypothesis-profile=default` tries new ones.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")

expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """First a test that builds the book, beside notebooks, then tests in a browser; the last ones are short."""
    items.sort(
        key=lambda item: (
            item.path.name != "test_book.py",
            item.path.suffix != ".ipynb" and "browser" not in item.keywords,
        )
    )


# One per module, not one per session: an open Playwright runs an event loop, and beside it nbval and nbclient fail.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """This machine's Chromium."""
    with sync_playwright() as playwright, launch(playwright) as launched:
        yield launched


@pytest.fixture(autouse=True, scope="module")
def _let_go(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a file of tests has kept for its own tests, corpora for example, is let go of after its last one."""
    yield
    for kept in vars(request.module).values():
        if hasattr(kept, "cache_clear") and not kept.__module__.startswith("utils.figures"):
            kept.cache_clear()
