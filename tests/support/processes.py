"""Processes that tests start. They end with their test, even if the test's own process is killed."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

#: The first lines of a program that a test starts with a pipe as its standard input. When the test ends, whatever ends
#: it, the system closes the pipe. Then the program ends too, even while it computes in C code.
ENDS_WITH_ITS_TEST = """
import os as _os, threading as _threading
_threading.Thread(target=lambda: (_os.read(0, 1), _os._exit(1)), daemon=True).start()
"""


def run_script(*arguments: object) -> None:
    """Run a script that starts processes of its own. Whatever happens, all of them end with the call."""
    command = [sys.executable, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # it imports what the tests import
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    try:
        _, errors = process.communicate()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == 0, errors
