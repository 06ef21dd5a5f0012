"""The number of threads with which a training is fastest: it is found by trying, again and again.

On an idle machine all threads together are fastest. Beside another busy program they wait for the one that has no
processor, and a single thread can be twice as fast. Explained in book/speed.
"""

from collections import deque
from collections.abc import Callable, Generator, Sequence

import torch

from utils.checks import check_count

#: Steps of a trial. Sentences of several batches have different lengths, so one step says little.
STEPS = 10
#: Seconds of training after which the other numbers are tried again, and how far this grows while nothing changes.
AGAIN, LONGEST = 60.0, 480.0
#: Another number of threads must be so many times as fast to be taken, since measurements differ by chance.
FASTER = 1.05
#: If the steps become slower than this share of the speed of the last trial, the machine has changed.
SLOWER = 0.7


def counts_to_try(most: int) -> list[int]:
    """One thread, and then more and more: all of them, half of them, and so on.

    >>> counts_to_try(2), counts_to_try(12)
    ([1, 2], [1, 3, 6, 12])
    """
    check_count(1, most=most)
    counts = [most]
    while counts[0] > 1:
        counts.insert(0, counts[0] // 2)
    return counts


def threads_to_find(*, notify: Callable[[str], object]) -> "FasterThreads | None":
    """What finds the number of threads on this machine; None where there is only one."""
    counts = counts_to_try(torch.get_num_threads())
    return FasterThreads(counts, notify=notify) if len(counts) > 1 else None


class FasterThreads:
    """Chooses a number of threads while a model is trained; it is told of each step.

    The steps of a trial are steps of the training, so nothing is computed twice. A trial ends early when it can no
    longer win: a number of threads that is far too slow costs the time of ten steps, or of one slow step. So the first
    one should be a number that is never far too slow, a single thread.

    Args:
        counts: numbers of threads to try, the first one first.
        use: gets the number of threads that the next step should take.
        notify: gets a line whenever another number is chosen.
    """

    def __init__(
        self,
        counts: Sequence[int],
        *,
        use: Callable[[int], object] = torch.set_num_threads,
        notify: Callable[[str], object] = lambda _line: None,
    ):
        check_count(1, counts=len(counts))
        self._counts, self._use, self._notify = list(counts), use, notify
        self._choosing = self._choose()
        next(self._choosing)

    def step_done(self, tokens: int, seconds: float) -> None:
        """Take note of a step: how many target tokens it read, and how long it took."""
        self._choosing.send((tokens, seconds))

    def _choose(self) -> Generator[None, tuple[int, float], None]:
        chosen, told, wait = self._counts[0], 0, AGAIN
        while True:
            speed = yield from self._speed_with(chosen, to_beat=0.0)
            best, fastest = chosen, speed
            for count in self._counts:
                if count != chosen:
                    speed = yield from self._speed_with(count, to_beat=fastest)
                    if speed > fastest * (FASTER if best == chosen else 1):
                        best, fastest = count, speed
            self._use(best)
            if best != told:
                self._notify(f"training with {best} thread{'s' * (best > 1)}")
            wait = min(2 * wait, LONGEST) if best == told else AGAIN
            chosen = told = best
            yield from self._until_it_may_have_changed(fastest, wait)

    def _speed_with(self, count: int, *, to_beat: float) -> Generator[None, tuple[int, float], float]:
        """Tokens per second of the next steps, after a first one that wakes the threads; 0 if they cannot be faster."""
        self._use(count)
        all_tokens, all_seconds = yield
        tokens, seconds = 0, 0.0
        for step in range(1, STEPS + 1):
            if all_seconds * to_beat > (STEPS + 1) * all_tokens / step:
                return 0.0
            more = yield
            tokens, seconds = tokens + more[0], seconds + more[1]
            all_tokens, all_seconds = all_tokens + more[0], all_seconds + more[1]
        return tokens / seconds

    def _until_it_may_have_changed(
        self, speed: float, wait: float
    ) -> Generator[None, tuple[int, float], None]:
        recent: deque[tuple[int, float]] = deque(maxlen=STEPS)
        while wait > 0:
            recent.append((yield))
            wait -= recent[-1][1]
            tokens, seconds = map(sum, zip(*recent, strict=True))
            if len(recent) == STEPS and tokens / seconds < SLOWER * speed:
                return
