"""Ctrl-C and other signals that end a program: a training first ends its step and saves its state.

What is saved is decided in ``loop``.
Explained in book/api/command_line.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

#: Ctrl-C, the request of a scheduler or of ``kill``, and a terminal that was closed.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


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
    """

    number = 0


@contextmanager
def hold_signals() -> Iterator[PendingSignal]:
    """Hold a signal back within this block; a second one raises :class:`Interrupted` at once."""
    pending = PendingSignal()

    def hold(number: int, _frame: FrameType | None) -> None:
        if pending.number:
            raise Interrupted(number)
        pending.number = number

    with _handled_by(hold):
        yield pending


@contextmanager
def obey_signals() -> Iterator[None]:
    """Within this block every signal raises :class:`Interrupted`."""

    def obey(number: int, _frame: FrameType | None) -> None:
        raise Interrupted(number)

    with _handled_by(obey):
        yield


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Install a handler for all signals that are not ignored (``nohup`` ignores one), in the main thread only."""
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in SIGNALS if is_main}
    handled = {number: old for number, old in before.items() if old is not signal.SIG_IGN}
    for number in handled:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in handled.items():
            signal.signal(number, old)
