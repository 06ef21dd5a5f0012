"""The number of threads: found by measuring, on machines of which each step has a known duration."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch

from utils.translator import threads as module
from utils.translator.threads import EVERY, Threads, chosen_threads


class Machine:
    """A clock that only training steps move, by a time that depends on the number of threads."""

    def __init__(self, seconds: Callable[[int], float]):
        self.seconds, self.now, self.used = seconds, 1000.0, 0

    def step(self, threads: Threads) -> None:
        with threads.measured(1000):
            self.now += self.seconds(self.used)


@pytest.fixture
def on(monkeypatch):
    def make(seconds: Callable[[int], float]) -> Machine:
        machine = Machine(seconds)
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: machine.now))
        monkeypatch.setattr(torch, "set_num_threads", lambda number: setattr(machine, "used", number))
        return machine

    return make


def steps(machine: Machine, threads: Threads, num: int) -> list[int]:
    used = []
    for _ in range(num):
        used.append(machine.used)
        machine.step(threads)
    return used


def test_on_a_free_machine_all_threads_are_used(on):
    machine = on(lambda number: 0.4 / number)
    used = steps(machine, Threads(4), 20)
    assert used == [1] * 4 + [2] * 3 + [4] * 13


def test_beside_another_busy_program_one_thread_is_used(on):
    """The numbers that were measured beside a program with two threads: 444 and 2,962 tokens per second."""
    machine = on(lambda number: {1: 1000 / 2962, 2: 1000 / 444}[number])
    used = steps(machine, Threads(2), 12)
    assert used == [1] * 4 + [2] + [1] * 7  # one step shows that two threads are less than half as fast


def test_a_number_that_is_much_slower_than_the_best_is_tried_for_one_step(on):
    machine = on(lambda number: 0.1 * number)
    threads = Threads(4)
    machine.now += EVERY
    steps(machine, threads, 20)
    machine.now += EVERY
    used = steps(machine, threads, 8)
    assert used == [1, 1, 1, 2, 4, 1, 1, 1]


def test_the_number_follows_the_machine(on):
    machine = on(lambda number: 0.1 / number)
    threads = Threads(2)
    steps(machine, threads, 20)
    assert machine.used == 2
    machine.seconds = lambda number: 0.1 * number
    assert set(steps(machine, threads, 100)) == {2}  # a minute is not over yet
    machine.now += EVERY
    steps(machine, threads, 20)
    assert machine.used == 1


def test_a_training_keeps_most_of_what_the_best_number_reaches(on):
    machine = on(lambda number: {1: 0.34, 2: 0.8, 4: 2.3}[number])
    threads = Threads(4)
    start = machine.now
    num = 2000
    steps(machine, threads, num)
    assert num * 0.34 / (machine.now - start) > 0.9


def test_one_thread_or_a_fixed_number_is_never_changed(on):
    machine = on(lambda number: float(number))
    assert set(steps(machine, Threads(1), 9)) == {1}
    assert set(steps(machine, Threads(3, fixed=True), 9)) == {3}


def test_candidates_are_powers_of_two_and_the_most(on):
    machine = on(lambda number: 0.4 / number)
    assert sorted(set(steps(machine, Threads(6), 30))) == [1, 2, 4, 6]


def test_torch_s_number_is_put_back():
    before = torch.get_num_threads()
    with chosen_threads(3) as threads:
        assert threads.number == torch.get_num_threads() == 3
    assert torch.get_num_threads() == before
