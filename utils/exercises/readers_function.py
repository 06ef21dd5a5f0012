"""A reader's function, which a check calls as if it were its own: whatever it does becomes a message.

Explained in book/teaching.
"""

import contextlib
import copy
import signal
import threading
from collections.abc import Callable, Iterator

from utils.exercises.checking import Unfinished, Wrong, equal, expect, show

#: Seconds after which a check says that a reader's function does not come to an end.
TIME_LIMIT = 30.0


class TimeUp(BaseException):
    """The time limit; not an ``Exception``, so that an answer's own ``except Exception`` lets it pass."""


def first_lines(text: str, *, limit: int = 5, width: int = 200) -> str:
    """The first lines of a text, none of them long."""
    lines = text.splitlines()
    more = ["..."] if len(lines) > limit else []
    return "\n".join([line[:width] for line in lines[:limit]] + more)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`TimeUp` in the code of this block after this time.

    Only the main thread, where a notebook runs its cells, can be interrupted; in other threads there is no limit.
    """

    def ring(*_: object) -> None:
        raise TimeUp

    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class ReadersFunction:
    """A reader's function; an error in it becomes a :class:`~utils.exercises.checking.Wrong`."""

    def __init__(self, function: Callable) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *args: object, **options: object) -> object:
        """Call the function on copies of the arguments, and return its result.

        Raises:
            Unfinished: it returns nothing.
            Wrong: it raised, did not end in time, or changed its arguments.
        """
        own_args, own_options = copy.deepcopy((args, options))
        shown = [show(argument, most=8) for argument in args]
        shown += [f"{name}={show(option, most=8)}" for name, option in options.items()]
        call = f"`{self.name}({', '.join(shown)})`"
        try:
            with time_limit(TIME_LIMIT):
                result = self.function(*own_args, **own_options)
        except TimeUp:
            message = f"{call} does not come to an end within {TIME_LIMIT:.0f} seconds."
            raise Wrong(message, "Does each loop have an end that it reaches?") from None
        except (Exception, SystemExit) as error:
            # A stub raises it without a message; torch's errors have one.
            if isinstance(error, NotImplementedError) and not str(error):
                raise Unfinished(
                    "Write the body of your function, run its cell, then run this one again."
                ) from None
            raise Wrong(
                f"{call} raised {type(error).__name__}: {first_lines(str(error), limit=2)}",
                "Call your function on these inputs in a cell of your own, and look at the shape of each step.",
            ) from None
        if result is None or result is ...:
            raise Unfinished(
                f"`{self.name}` returns nothing. Write its body, and end it with `return` and the result."
            )
        expect(
            equal((args, options), (own_args, own_options)),
            f"{call} changes what it is given.",
            "Make a new object instead of writing into the old one: the caller may need it again.",
        )
        return result
