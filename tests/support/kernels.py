"""Kernels for the tests of chapters, as copies of one process that has imported PyTorch and matplotlib already.

Importing them takes each of two dozen kernels eight seconds of a processor. A copy runs `ipykernel_launcher` as a
process of Jupyter would, in the folder and with the variables that Jupyter gives it, and has no names but its own.
"""

import multiprocessing
import os
from multiprocessing.connection import Connection
from threading import Thread

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["ipykernel.kernelapp", "matplotlib.pyplot", "torch._dynamo"])


def end_with_the_tests() -> None:
    """Wait for the process that asked for this copy; Jupyter's way would wait for that of the copies, its parent."""
    multiprocessing.parent_process().join()
    os._exit(1)


def run_kernel(arguments: list[str], cwd: str, env: dict[str, str], ready: Connection) -> None:
    """What a copy does: it becomes a kernel in a session of its own, which prints nothing."""
    os.setsid()
    ready.send(True)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))
    Thread(target=end_with_the_tests, daemon=True).start()

    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance(argv=arguments)


class KernelProcess:
    """A copy, with what Jupyter asks of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, cmd: list[str], *, cwd: str, env: dict[str, str], **streams: object):
        program, *arguments = cmd[2:]
        assert program == "ipykernel_launcher"
        here, there = PROCESSES.Pipe(duplex=False)
        self.process = PROCESSES.Process(target=run_kernel, args=(arguments, cwd, env, there))
        self.process.start()
        there.close()
        self.pid = self.process.pid
        here.recv()  # before that, its session is ours, and a signal for it would end the tests

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self) -> int | None:
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)
