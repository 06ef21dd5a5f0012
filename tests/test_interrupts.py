"""Signals: obeyed at once, held back until a step is done, ignored where the user wants that."""

import os
import signal
import subprocess
import sys
import threading

import pytest
from processes import ENDS_WITH_ITS_TEST

from utils.translator.interrupts import SIGNALS, Interrupted, hold_signals, obey_signals

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.mark.parametrize("number", SIGNALS)
def test_every_signal_is_obeyed_and_the_handlers_are_put_back(number):
    before = [signal.getsignal(other) for other in SIGNALS]
    with pytest.raises(Interrupted) as interrupt, obey_signals():
        signal.raise_signal(number)
    assert interrupt.value.status == STATUS[number]
    assert [signal.getsignal(other) for other in SIGNALS] == before


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_is_held_back_and_the_second_is_not(number):
    with obey_signals(), hold_signals() as pending:
        signal.raise_signal(number)
        assert pending.number == number
        with pytest.raises(Interrupted):
            signal.raise_signal(signal.SIGTERM)


def test_a_signal_that_is_ignored_stays_ignored():
    """``nohup`` ignores SIGHUP, and a shell ignores Ctrl-C for what it starts in the background."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with obey_signals(), hold_signals() as pending:
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert pending.number == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_may_ask_for_it():
    def use() -> None:
        with obey_signals(), hold_signals() as pending:
            numbers.append(pending.number)

    numbers: list[int] = []
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert numbers == [0]


#: The main thread computes for years in C code, and during this time Python calls no handler of a signal. The program
#: prints a line just before. If the signal arrives between the two, the program begins the computation all the same.
DEAF = """
import hashlib, sys
from contextlib import nullcontext, suppress
from utils.translator.interrupts import hold_signals, obey_signals
with obey_signals(), (hold_signals() if sys.argv[1] == "2" else nullcontext()):
    for greeting in ("deaf", "still deaf"):
        with suppress(KeyboardInterrupt):
            print(greeting, flush=True)
            hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
"""


@pytest.mark.parametrize("presses", [1, 2])
def test_c_code_that_does_not_return_is_ended(presses):
    """While a signal is held back, it takes a second one."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", ENDS_WITH_ITS_TEST + DEAF, str(presses)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            assert process.stdout.readline() == b"deaf\n"
            numbers = [signal.SIGTERM, signal.SIGINT][2 - presses :]  # two of one kind may become one
            for number in numbers:
                os.kill(process.pid, number)
            # a busy machine may deliver both at once, in either order
            assert process.wait(timeout=60) in [128 + number for number in numbers]
            assert process.stderr.read() == b"interrupted\n"
        finally:
            process.kill()
