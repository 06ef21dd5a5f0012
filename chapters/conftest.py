"""What nbval lacks: kernels that start soon, and surely, and a comparison of the numbers of figures."""

import json
import os
import re
import sys
from collections.abc import Iterator

import pytest
from jupyter_client.provisioning import local_provisioner
from kernels import KernelProcess
from nbval import plugin
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell

# The stored outputs are those of a reader who has done no exercise; see utils/exercises/progress.py.
os.environ["ATTENTION_PROGRESS"] = ""

#: Not collected as a module with examples to run: tests/conftest.py has the same name.
collect_ignore = ["conftest.py"]


class KernelThatStarts(RunningKernel):
    """It starts a second kernel where the first never answers, as happened once on a busy machine."""

    def __init__(self, *args: object, **options: object):
        with pytest.MonkeyPatch.context() as patched:
            if sys.platform == "linux":  # elsewhere a copy of a process may not use all libraries
                patched.setattr(local_provisioner, "launch_kernel", KernelProcess)
                # A kernel sets it before matplotlib is imported; in a copy it is imported already.
                patched.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
            try:
                super().__init__(*args, **options)
            except RuntimeError:
                super().__init__(*args, **options)


plugin.RunningKernel = KernelThatStarts


def stored_arrays(outputs: list) -> Iterator[tuple[str, dict]]:
    """Name and record of each packed array in the figures of a cell's outputs."""
    for output in outputs:
        html = "".join(output.get("data", {}).get("text/html", ""))
        for store in re.findall(
            r'<figure class="xp".*?<script type="application/json">(.*?)</script>', html, re.S
        ):
            spec = json.loads(store)["spec"]
            yield from ((f"{spec['name']}: {key}", record) for key, record in spec["arrays"].items())


def allowed(record: dict) -> dict[str, float]:
    """How much the numbers of an array may differ on another processor."""
    if record["dtype"] == "f4":
        # Some are computed in float16 and rounded twice, each time by at most 2^-11 of the number. Numbers near 0 are
        # computed from numbers of about 1, which float32 rounds by 6e-8.
        return {"rel": 2 * 2**-11, "abs": 1e-6}
    # A number that is stored in steps may be rounded to the next step, and an integer is exact.
    return {"rel": 0, "abs": 1.01 * record["step"] if record["step"] < 1 else 0}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips the cells of a chapter on a published network where the network is not there."""
    networks = {
        "real_network.ipynb": "minilm",
        "chat_model.ipynb": "smollm2",
        "listening.ipynb": "whisper",
    }
    for chapter, network in networks.items():
        cells = [item for item in items if item.path.name == chapter]
        if cells:
            # Not above, as below.
            from utils.corpus.download import has_network

            if not has_network(network):
                reason = f"the network is not there: attention-course data get {network}"
                for cell in cells:
                    cell.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fails a cell whose figure has other numbers than the stored one, unless nbval ignores the cell's output."""
    yield
    if isinstance(item, IPyNbCell) and item.options["check"]:
        # Not above: tests/conftest.py must come before anything imports utils, and this file is read first.
        from utils.figures.packing import unpack

        stored, computed = (
            dict(stored_arrays(outputs)) for outputs in (item.cell.outputs, item.test_outputs)
        )
        for key, record in computed.items():
            near = pytest.approx(unpack(stored[key]), **allowed(record))
            if unpack(record) != near:
                item.raise_cell_error(f"other numbers than stored in {key}", f"{near} != {unpack(record)}")
