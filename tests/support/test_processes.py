"""What tests start ends with them."""

import signal
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent

#: Stands in for a test: it starts a program that computes for years in C code, and is killed.
KILLED_TEST = """
import os, signal, subprocess, sys
from processes import ENDS_WITH_ITS_TEST

deaf = "import hashlib\\nprint('deaf', flush=True)\\nhashlib.pbkdf2_hmac('sha256', b'', b'', 2**31 - 1)"
program = [sys.executable, "-c", ENDS_WITH_ITS_TEST + deaf]
process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
process.stdout.readline()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_deaf_program_ends_with_its_killed_test() -> None:
    # Both programs write their errors into one pipe, so this returns when both have ended.
    test = [sys.executable, "-c", KILLED_TEST]
    ended = subprocess.run(test, cwd=TESTS, stderr=subprocess.PIPE, timeout=300, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert ended.stderr == b""
