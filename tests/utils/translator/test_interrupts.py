"""Signals: obeyed at once, held back until a step is done, ignored where the user wants that."""

import signal
import threading

import pytest

from utils.translator.interrupts import SIGNALS, Interrupted, hold_signals, obey_signals

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.mark.parametrize("number", SIGNALS)
def test_signals_are_obeyed_and_handlers_put_back(number):
    before = [signal.getsignal(other) for other in SIGNALS]
    with pytest.raises(Interrupted) as interrupt, obey_signals():
        signal.raise_signal(number)
    assert interrupt.value.status == STATUS[number]
    assert [signal.getsignal(other) for other in SIGNALS] == before


@pytest.mark.parametrize("number", SIGNALS)
def test_only_the_first_signal_is_held_back(number):
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
