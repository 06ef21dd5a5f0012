"""For the tests of `utils`."""

from collections.abc import Iterator

import jaxtyping
import pytest


@pytest.fixture(scope="module")
def unchecked_shapes() -> Iterator[None]:
    """Shapes and types are not checked at run time, as for readers."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)
