"""The kernels in which the chapters are tested."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

SUPPORT = Path(__file__).parents[1] / "support"

STARTS_AND_DIES = """
import os
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import local_provisioner
from kernels import KernelProcess

local_provisioner.launch_kernel = KernelProcess
manager = KernelManager()
manager.start_kernel(cwd=".")
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=60)
ran = client.execute_interactive("assert 'torch' in __import__('sys').modules and 'torch' not in globals()", timeout=60)
print(manager.provisioner.pid, ran["content"]["status"], flush=True)
os._exit(0)
"""


@pytest.mark.slow
def test_a_kernel_has_no_names_of_the_process_it_was_copied_from_and_ends_with_the_tests(
    tmp_path: Path,
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", STARTS_AND_DIES],
        cwd=tmp_path, env={"PYTHONPATH": str(SUPPORT), "HOME": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    pid, status = ran.stdout.split()
    assert status == "ok"
    _, alive = psutil.wait_procs([one for one in psutil.process_iter() if one.pid == int(pid)], timeout=30)
    assert not alive
