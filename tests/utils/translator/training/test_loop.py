"""What the command line adds to a training: a budget, a choice of weights, a state, products, a bar; and mistakes."""

import math
from functools import partial
from itertools import islice
from types import SimpleNamespace

import pytest
import torch
from tiny import check_the_seed, held_out_loss, model, sentences, weights_of

from utils.corpus.batches import ShuffledBatches
from utils.translator.training.loop import Schedule, load_state, save_state, train_model

pytestmark = pytest.mark.trains

VALID = sentences(13, seed=2), sentences(13, seed=3)


def shuffled(num: int = 29, *, batch_size: int = 8, seed: int = 0) -> ShuffledBatches:
    return ShuffledBatches(sentences(num), sentences(num, seed=1), batch_size=batch_size, seed=seed)


def test_the_seed_alone_decides_the_parameters():
    def trained(seed: int) -> torch.Tensor:
        some_model = model()
        train_model(some_model, shuffled(), Schedule(epochs=1), seed=seed)
        return weights_of(some_model)

    check_the_seed(trained)


def test_bfloat16_products_give_about_the_same_loss():
    def trained(products: torch.dtype) -> tuple[list[float], torch.dtype]:
        some_model = model(dropout=0.0)
        history = train_model(some_model, shuffled(), Schedule(epochs=2), products=products)
        return history.losses, weights_of(some_model).dtype

    (fine, _), (coarse, dtype) = trained(torch.float32), trained(torch.bfloat16)
    assert dtype == torch.float32
    # Before the first step the weights are the same. bfloat16 rounds to 8 bits, so by 0.4 % at each of the five
    # products between a word and its loss.
    assert coarse[0] == pytest.approx(fine[0], rel=5 * 2**-8)
    # Afterwards they differ a little, and both trainings learn.
    assert coarse != fine
    assert coarse[-1] < coarse[0]
    assert fine[-1] < fine[0]


# The budget of time


class TimedBatches(ShuffledBatches):
    """Each batch takes six seconds of a clock that otherwise stands still, the first one also those of reading."""

    now, reading = 1000.0, 0

    def epoch(self, generator):
        self.now += self.reading
        self.reading = 0
        for batch in super().epoch(generator):
            self.now += 6
            yield batch


@pytest.fixture
def timed(monkeypatch) -> TimedBatches:
    batches = TimedBatches(sentences(29), sentences(29, seed=1), batch_size=8)
    for module in ("utils.training", "utils.translator.training.loop"):
        monkeypatch.setattr(f"{module}.time", SimpleNamespace(perf_counter=lambda: batches.now))
    return batches


@pytest.fixture
def rates(monkeypatch) -> list[float]:
    """The learning rates of all steps, as shares of the highest."""
    rates: list[float] = []
    monkeypatch.setattr(
        torch.optim.Adam, "step", lambda self: rates.append(self.param_groups[0]["lr"] / Schedule.lr)
    )
    return rates


def test_minutes_are_kept_and_settle_the_learning_rate(timed, rates):
    timed.reading = 3600  # reading a large file and sorting its sentences does not use up the minutes
    history = train_model(model(), timed, Schedule(minutes=1, warmup=0.25))
    assert history.seconds == pytest.approx([0, 6, 12, 18, 24, 30, 36, 42, 48, 54])
    assert rates == pytest.approx([0.01, 0.41 * 0.9, 0.81 * 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])


def test_steps_end_with_a_learning_rate_of_0(rates):
    history = train_model(model(), shuffled(29, batch_size=8), Schedule(steps=5, warmup=0.2), valid=VALID)
    assert len(history.losses) == 5
    assert len(history.valid_losses) == 2  # after the four steps of the first epoch, and at the end
    assert rates == pytest.approx([0.01, 0.8, 0.6, 0.4, 0.2])


def test_a_training_must_have_a_step():
    with pytest.raises(ValueError, match="ended before its first step: give it more --minutes"):
        train_model(model(), shuffled(5), Schedule(minutes=1e-9))


@pytest.mark.parametrize("schedule", [Schedule(steps=1), Schedule(epochs=1)])
def test_a_single_step_changes_the_parameters(schedule):
    some_model, states = model(), []
    before = weights_of(some_model)
    train_model(some_model, shuffled(5), schedule, save=states.append)
    assert not torch.equal(weights_of(some_model), before)
    assert len(states) == 1


# A training that ends early


class EndsAt(ShuffledBatches):
    """Batches of which one, counted over all epochs, is an error in place of a batch."""

    number, error, drawn = 0, KeyboardInterrupt, 0

    def epoch(self, generator):
        for batch in super().epoch(generator):
            self.drawn += 1
            if self.drawn == self.number:
                raise self.error
            yield batch


def ends_at(number: int, error: type[BaseException] = KeyboardInterrupt) -> EndsAt:
    batches = EndsAt(sentences(29), sentences(29, seed=1), batch_size=8)
    batches.number, batches.error = number, error
    return batches


SEVEN = Schedule(steps=7, lr=0.02)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_its_state_is_saved_whatever_ends_it(tmp_path, error):
    with pytest.raises(error):
        train_model(model(), ends_at(6, error), SEVEN, valid=VALID, save=partial(save_state, tmp_path))
    state = load_state(tmp_path)
    assert (len(state["history"]["losses"]), len(state["history"]["valid_losses"])) == (5, 1)
    some_model = model(seed=1)
    history = train_model(some_model, shuffled(), SEVEN, valid=VALID, state=state)
    assert (len(history.losses), len(history.valid_losses)) == (7, 2)
    assert held_out_loss(some_model, *VALID) == pytest.approx(min(history.valid_losses), rel=1e-5)


def test_it_continues_with_its_weights_optimizer_and_rate(rates):
    """The steps that are left do not change the weights: Adam is replaced."""
    states: list[dict] = []
    with pytest.raises(KeyboardInterrupt):
        train_model(model(), ends_at(6), SEVEN, save=states.append)
    [state], weights = states, states[0]["model"]
    rates.clear()
    some_model = model(seed=1)
    train_model(some_model, shuffled(), SEVEN, state=state)
    assert rates == pytest.approx([0.02 / Schedule.lr * share for share in (2 / 7, 1 / 7)])
    assert all(torch.equal(value, weights[name]) for name, value in some_model.state_dict().items())


def test_a_training_that_goes_on_takes_another_order(monkeypatch):
    orders, states, batches = [], [], shuffled()
    epoch = batches.epoch

    def noted(generator):
        orders.append(generator.initial_seed())
        return epoch(generator)

    monkeypatch.setattr(batches, "epoch", noted)
    train_model(model(), batches, Schedule(steps=3), seed=11, save=states.append)
    train_model(model(), batches, Schedule(steps=5), seed=11, state=states[0])
    assert orders == [11, 11 + 3]


def test_the_state_is_saved_from_time_to_time(timed, monkeypatch):
    saved: list[int] = []
    monkeypatch.setattr("utils.translator.training.loop.SAVE_AFTER", 17)
    train_model(model(), timed, SEVEN, save=lambda state: saved.append(len(state["history"]["losses"])))
    assert saved == [3, 6, 7]  # a step takes 6 seconds


def test_minutes_before_an_interruption_count(timed, monkeypatch):
    epoch, states = timed.epoch, []

    def cut(generator):
        yield from islice(epoch(generator), 3)
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(timed, "epoch", cut)
        with pytest.raises(InterruptedError):
            train_model(model(), timed, Schedule(minutes=1), save=states.append)
    timed.now += 3600  # nobody trains in this hour
    history = train_model(model(), timed, Schedule(minutes=1), state=states[0])
    assert history.seconds == pytest.approx([0, 6, 12, 12, 18, 24, 30, 36, 42, 48, 54])


# Held-out sentences


def test_the_best_epoch_is_kept():
    some_model = model(dropout=0.0)  # these sentences can only be learned by heart
    history = train_model(some_model, shuffled(13), Schedule(epochs=20, lr=0.03), valid=VALID)
    best = min(history.valid_losses)
    assert history.valid_losses.index(best) < len(history.valid_losses) - 1
    assert held_out_loss(some_model, *VALID) == pytest.approx(best, rel=1e-5)


# What a user sees


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of minutes, epochs and steps"),
        ({"minutes": 1.0, "epochs": 1}, "exactly one of minutes, epochs and steps"),
        ({"epochs": 1, "steps": 1}, "exactly one of minutes, epochs and steps"),
        ({"steps": 0}, "steps must be positive and finite, got 0"),
        ({"minutes": 0.0}, "minutes must be positive and finite, got 0.0"),
        ({"minutes": math.inf}, "minutes must be positive and finite, got inf"),
        ({"epochs": -1}, "epochs must be positive and finite, got -1"),
        ({"epochs": 1, "lr": math.nan}, "lr must be positive and finite, got nan"),
        ({"epochs": 1, "clip": 0.0}, "clip must be positive and finite, got 0.0"),
        ({"epochs": 1, "batch_size": 0}, "batch_size must be positive and finite, got 0"),
        ({"epochs": 1, "warmup": 1.0}, "warmup must be a share between 0 and 1, got 1.0"),
    ],
)
def test_mistakes_in_a_schedule_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        Schedule(**options)
