"""Ctrl-C and other signals that end a program: held back until a step of the training is saved, or obeyed at once.

What is saved is decided in ``loop``.
Explained in book/api/command_line.
"""

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

#: Ctrl-C, the request of a scheduler or of ``kill``, and a terminal that was closed.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
#: Seconds that a program has to end by itself after a signal. During a long call of C code it sees no signal.
PATIENCE = 1.0


class Interrupted(KeyboardInterrupt):
    """A signal asked the program to end.

    Attributes:
        number: of the signal.
    """

    def __init__(self, number: int = signal.SIGINT):
        super().__init__()
        self.number = number

    @property
    def status(self) -> int:
        """The exit status that shells give to a program that ended by this signal.

        >>> Interrupted().status
        130
        """
        return 128 + self.number


class PendingSignal:
    """A signal that is held back.

    Attributes:
        number: of the signal; 0 if there is none.
        rescue: function that a thread calls if the program has not ended by itself some time after the signal. It saves
            what it can and returns the message for the user; then the thread ends the program. It returns None if
            nothing can be saved now. Without ``rescue``, nothing can be saved before the block is done.
    """

    def __init__(self):
        self.number = 0
        self.rescue: Callable[[], str | None] | None = None


_pending: list[PendingSignal] = []  # the innermost is the last


@contextmanager
def hold_signals() -> Iterator[PendingSignal]:
    """Hold a signal back within this block; a second one ends the program at once (main thread only)."""
    pending = PendingSignal()

    def hold(number: int, _frame: object) -> None:
        if pending.number:
            raise Interrupted(number)
        pending.number = number

    with _handlers(hold):
        _pending.append(pending)
        try:
            yield pending
        finally:
            _pending.remove(pending)


@contextmanager
def obey_signals() -> Iterator[None]:
    """Within this block every signal raises :class:`Interrupted` (main thread only).

    If the program has not ended ``PATIENCE`` seconds later, because C code does not return, a thread ends it. While
    a signal is held back (:func:`hold_signals`), the thread does this only after ``rescue`` or a second signal.
    """

    def obey(number: int, _frame: object) -> None:
        raise Interrupted(number)

    with _handlers(obey) as installed:
        if not installed:
            yield
            return
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        before, is_over = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False), threading.Event()
        watcher = threading.Thread(target=_watch, args=(read_end, is_over), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            is_over.set()
            signal.set_wakeup_fd(before)
            os.close(write_end)
            watcher.join()
            os.close(read_end)


def _watch(pipe: int, is_over: threading.Event) -> None:
    """End the process some time after a signal, whatever its main thread does; return once the block is left."""
    signals = 0
    while number := os.read(pipe, 1):
        signals += number[0] in SIGNALS
        if number[0] not in SIGNALS:
            continue
        message = None
        if _pending and signals == 1:  # a training ends by itself, when its step is done
            message = _rescued(pipe, is_over)
            if message is None:
                continue
        if message is not None or not is_over.wait(PATIENCE):
            with suppress(OSError, ValueError, AttributeError):
                os.write(sys.stderr.fileno(), ("interrupted\n" if message is None else message).encode())
            os._exit(Interrupted(number[0]).status)


def _rescued(pipe: int, is_over: threading.Event) -> str | None:
    """Give a block that holds a signal back some time; then rescue what can be saved, unless a second signal came."""
    while not is_over.wait(PATIENCE / 2):  # the other half is for saving
        rescue = _pending[-1].rescue if _pending else None
        if rescue is None or select.select([pipe], [], [], 0)[0]:
            return None
        if (message := rescue()) is not None:
            return message
    return None


@contextmanager
def _handlers(handler: object) -> Iterator[bool]:
    """Install a handler for all signals that are not ignored (``nohup`` ignores one); yield whether there are any."""
    if threading.current_thread() is not threading.main_thread():
        yield False
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    numbers = [number for number, previous in before.items() if previous is not signal.SIG_IGN]
    for number in numbers:
        signal.signal(number, handler)
    try:
        yield bool(numbers)
    finally:
        for number in numbers:
            signal.signal(number, before[number])
