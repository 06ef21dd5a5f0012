"""How many threads to compute with: the number that is fastest beside the other programs of the machine.

A product is cut into as many parts as there are threads, and all wait for the slowest. Beside another busy program two
threads may be many times slower than one, so several numbers are measured during the work.
Explained in book/scaling.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

#: Steps that measure a number of threads; fewer if they take longer than ``LONGEST`` seconds.
STEPS, LONGEST = 3, 2.0
#: Seconds until all numbers are measured again.
EVERY = 60.0
#: More threads are chosen only if they are this many times as fast.
WORTH = 1.1


class Threads:
    """Measure steps of a computation on different numbers of threads, and use the best number in between.

    Args:
        most: the largest number to try, together with the powers of 2 below it; None for torch's number.
        fixed: use ``most`` and measure nothing.

    Attributes:
        number: the number of threads now.

    Explained in book/scaling.
    """

    def __init__(self, most: int | None = None, *, fixed: bool = False):
        most = torch.get_num_threads() if most is None else most
        powers = [2**exponent for exponent in range(most.bit_length()) if 2**exponent < most]
        self._candidates = [most] if fixed else [*powers, most]
        self._rates: dict[int, float] = {}
        self._work, self._seconds, self._steps = 0.0, 0.0, -1  # the very first step is slow, and not counted
        self._next_round = 0.0
        # The smallest number: beside busy programs the first step on all threads may take minutes.
        self._use(self._candidates[0])

    @contextmanager
    def measured(self, work: float) -> Iterator[None]:
        """Measure the step in this block; ``work`` is its amount of work, in any unit."""
        start = time.perf_counter()
        yield
        if len(self._candidates) > 1:
            self._record(work, time.perf_counter() - start)

    def _use(self, number: int) -> None:
        self.number = number
        torch.set_num_threads(number)

    def _record(self, work: float, seconds: float) -> None:
        if time.perf_counter() < self._next_round:
            return
        self._steps += 1
        if not self._steps:
            return
        self._work, self._seconds = self._work + work, self._seconds + seconds
        rate, best = self._work / max(self._seconds, 1e-9), max(self._rates.values(), default=0.0)
        if self._steps < STEPS and self._seconds < LONGEST and rate > best / 2:
            return
        self._rates[self.number] = rate
        self._work, self._seconds, self._steps = 0.0, 0.0, 0
        untried = [number for number in self._candidates if number not in self._rates]
        if untried:
            self._use(untried[0])
            return
        choice = self._candidates[0]
        for number in self._candidates[1:]:
            if self._rates[number] > WORTH * self._rates[choice]:
                choice = number
        self._use(choice)
        self._rates, self._next_round = {}, time.perf_counter() + EVERY


@contextmanager
def chosen_threads(number: int | None) -> Iterator[Threads]:
    """Choose the number of threads within the block; afterwards torch's number is what it was.

    Args:
        number: of threads; None chooses the number by measuring.

    Explained in book/scaling.
    """
    before = torch.get_num_threads()
    try:
        yield Threads(number, fixed=number is not None)
    finally:
        torch.set_num_threads(before)
