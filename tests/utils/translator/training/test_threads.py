"""The number of threads: a machine that the tests make says how long each step takes."""

from collections.abc import Callable

import pytest

from utils.translator.commands import shared
from utils.translator.training.threads import AGAIN, STEPS, FasterThreads, counts_to_try

#: Target tokens of a step.
TOKENS = 400


class Machine:
    """Takes steps whose seconds depend on the number of threads and on the time."""

    def __init__(self, seconds_of_step: Callable[[int, float], float], most: int):
        self.seconds_of_step, self.now, self.steps, self.lines = seconds_of_step, 0.0, [], []
        self.threads = FasterThreads(counts_to_try(most), use=self.use, notify=self.lines.append)

    def use(self, count: int) -> None:
        self.count = count

    def train(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            took = self.seconds_of_step(self.count, self.now)
            self.now += took
            self.steps.append((self.count, took))
            self.threads.step_done(TOKENS, took)

    def lost(self, seconds_of_step: float) -> float:
        """The seconds that the training took longer than with steps of that length."""
        return self.now - len(self.steps) * seconds_of_step


@pytest.mark.parametrize(("most", "fastest"), [(2, 1), (2, 2), (4, 2), (12, 3)])
def test_the_fastest_number_is_taken(most, fastest):
    machine = Machine(lambda count, _: 0.1 if count == fastest else 0.15, most)
    machine.train(50)
    assert machine.count == fastest
    assert machine.lines == [f"training with {fastest} thread{'s' * (fastest > 1)}"]
    assert machine.lost(0.1) <= 0.05 * (STEPS + 1) * (len(counts_to_try(most)) - 1) + 1e-6


def test_a_number_that_is_far_too_slow_costs_one_step():
    machine = Machine(lambda count, _: 3.0 if count == 2 else 0.1, 2)
    machine.train(40)
    assert [count for count, _ in machine.steps].count(2) == 1
    machine.train(1000)
    slow = [count for count, _ in machine.steps].count(2)
    assert 3 <= slow <= 6  # one in each look, and looks become rare
    assert machine.lines == ["training with 1 thread"]


def test_a_little_faster_is_not_worth_a_change():
    machine = Machine(lambda count, _: 0.1 if count == 1 else 0.097, 2)
    machine.train(300)
    assert machine.lines == ["training with 1 thread"]


def test_a_machine_that_becomes_busy_is_seen_soon():
    def seconds(count, now):
        is_busy = 100 <= now < 1000
        return {1: 0.13, 2: 0.3 if is_busy else 0.1}[count]

    machine = Machine(seconds, 2)
    machine.train(99)
    assert machine.count == 2
    machine.train(15)
    assert machine.count == 1
    machine.train(1500)
    assert machine.count == 2
    assert machine.lines == ["training with 2 threads", "training with 1 thread", "training with 2 threads"]


def test_looks_are_cheap():
    machine = Machine(lambda count, _: 0.1 if count == 2 else 0.2, 2)
    machine.train(20 * AGAIN)
    assert machine.lost(0.1) < 0.01 * machine.now


def test_nothing_is_tried_twice_on_one_processor():
    assert counts_to_try(1) == [1]
    with pytest.raises(ValueError, match=r"most must be .* got 0"):
        counts_to_try(0)
    with pytest.raises(ValueError, match="counts"):
        FasterThreads([])


@pytest.mark.parametrize(("busy", "free"), [(0.0, True), (53.0, True), (98.0, False)])
def test_threads_wait_asleep_where_every_processor_is_busy(monkeypatch, busy, free):
    monkeypatch.setattr(shared.psutil, "cpu_percent", lambda interval: busy)
    assert shared.a_processor_is_free() is free
