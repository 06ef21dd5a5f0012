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
#: Seconds that a program has to end by itself after a signal. A call of C code may be deaf to signals for longer.
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


class Held:
    """A signal that is held back.

    Attributes:
        number: of the signal; 0 if there is none.
        rescue: what a thread calls if the program has not ended by itself some time after the signal: it saves what it
            can and returns what the user is told; then the thread ends the program. It returns None if nothing can be
            saved now. Without ``rescue``, nothing can be saved before the block is done.
    """

    def __init__(self):
        self.number = 0
        self.rescue: Callable[[], str | None] | None = None


_held: list[Held] = []  # the innermost is the last


@contextmanager
def held() -> Iterator[Held]:
    """Hold a signal back within this block; a second one ends the program at once (main thread only)."""
    pending = Held()

    def hold(number: int, _frame: object) -> None:
        if pending.number:
            raise Interrupted(number)
        pending.number = number

    with _handlers(hold):
        _held.append(pending)
        try:
            yield pending
        finally:
            _held.remove(pending)


@contextmanager
def obeyed() -> Iterator[None]:
    """Within this block every signal raises :class:`Interrupted` (main thread only).

    If the program has not ended ``PATIENCE`` seconds later, because C code does not return, a thread ends it. While
    a signal is :func:`held`, the thread does this only after ``rescue`` or a second signal.
    """

    def obey(number: int, _frame: object) -> None:
        raise Interrupted(number)

    with _handlers(obey) as installed:
        if not installed:
            yield
            return
        read, write = os.pipe()
        os.set_blocking(write, False)
        before, left = signal.set_wakeup_fd(write, warn_on_full_buffer=False), threading.Event()
        watcher = threading.Thread(target=_watch, args=(read, left), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            left.set()
            signal.set_wakeup_fd(before)
            os.close(write)
            watcher.join()
            os.close(read)


def _watch(pipe: int, left: threading.Event) -> None:
    """End the process some time after a signal, whatever its main thread does; return once the block is left."""
    signals = 0
    while number := os.read(pipe, 1):
        signals += number[0] in SIGNALS
        if number[0] not in SIGNALS:
            continue
        told = None
        if _held and signals == 1:  # a training ends by itself, when its step is done
            told = _rescued(pipe, left)
            if told is None:
                continue
        if told is not None or not left.wait(PATIENCE):
            with suppress(OSError, ValueError, AttributeError):
                os.write(sys.stderr.fileno(), ("interrupted\n" if told is None else told).encode())
            os._exit(Interrupted(number[0]).status)


def _rescued(pipe: int, left: threading.Event) -> str | None:
    """Give a block that holds a signal back some time; then rescue what can be saved, unless a second signal came."""
    while not left.wait(PATIENCE / 2):  # the other half is for saving
        rescue = _held[-1].rescue if _held else None
        if rescue is None or select.select([pipe], [], [], 0)[0]:
            return None
        if (told := rescue()) is not None:
            return told
    return None


@contextmanager
def _handlers(handler: object) -> Iterator[bool]:
    """Install a handler for all signals that are not ignored, as ``nohup`` ignores one; whether any was installed."""
    if threading.current_thread() is not threading.main_thread():
        yield False
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    ours = [number for number, previous in before.items() if previous is not signal.SIG_IGN]
    for number in ours:
        signal.signal(number, handler)
    try:
        yield bool(ours)
    finally:
        for number in ours:
            signal.signal(number, before[number])
