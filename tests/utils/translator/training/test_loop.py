"""The full training loop: its budget, its choice of weights, its state, its products, its bar and its mistakes."""

import math
import signal
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
from tiny import check_the_seed, held_out_loss, model, sentences, weights_of

from utils.corpus.batches import ShuffledBatches
from utils.fast_training import fast_loss
from utils.training import fit
from utils.translator.recovery import STATE, Interrupted, load_state
from utils.translator.training.loop import Schedule, train_model

pytestmark = pytest.mark.trains

VALID = sentences(13, seed=2), sentences(13, seed=3)


def shuffled(num: int = 29, *, batch_size: int = 8, seed: int = 0) -> ShuffledBatches:
    return ShuffledBatches(sentences(num), sentences(num, seed=1), batch_size=batch_size, seed=seed)


def test_without_options_it_gives_the_weights_of_fit():
    by_fit, by_train = model().double(), model().double()
    expected = fit(by_fit, shuffled(seed=5), epochs=3, loss=fast_loss, lr=0.02, clip=0.5, seed=5)
    history = train_model(by_train, shuffled(), Schedule(epochs=3, lr=0.02, clip=0.5), seed=5)
    # One function computes the gradients for both, but only one of the two uses the fused Adam. In float64 they round
    # by parts of 1e-16, and a gradient's rounding changes a step by lr / eps = 2e6 times as much at the most.
    torch.testing.assert_close(weights_of(by_train), weights_of(by_fit), rtol=0, atol=1e-9)
    assert history.losses == pytest.approx(expected.losses, rel=1e-9)
    assert history.tokens == expected.tokens
    assert not by_train.training


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
    monkeypatch.setattr(
        "utils.translator.training.loop.time", SimpleNamespace(perf_counter=lambda: batches.now)
    )
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
    assert rates == pytest.approx([0, 0.4 * 0.9, 0.8 * 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])


def test_steps_end_with_a_learning_rate_of_0(rates):
    history = train_model(model(), shuffled(29, batch_size=8), Schedule(steps=5, warmup=0.2), valid=VALID)
    assert len(history.losses) == 5
    assert len(history.valid_losses) == 2  # after the four steps of the first epoch, and at the end
    assert rates == pytest.approx([0, 0.8, 0.6, 0.4, 0.2])


@pytest.mark.parametrize("schedule", [Schedule(minutes=1e-9), Schedule(steps=1), Schedule(epochs=1)])
def test_a_training_must_change_the_parameters(schedule):
    with pytest.raises(
        ValueError, match=r"ended after step [01], before the weights have changed.*--minutes"
    ):
        train_model(model(), shuffled(5), schedule)


# A training that ends early


class EndsAt(ShuffledBatches):
    """Batches of which one, counted over all epochs, is drawn together with an event."""

    number, event, drawn = 0, staticmethod(lambda: None), 0

    def epoch(self, generator):
        for batch in super().epoch(generator):
            self.drawn += 1
            if self.drawn == self.number:
                self.event()
            yield batch


def ends_at(number: int, event: Callable[[], object]) -> EndsAt:
    batches = EndsAt(sentences(29), sentences(29, seed=1), batch_size=8)
    batches.number, batches.event = number, event
    return batches


def throw(error: BaseException) -> None:
    raise error


SEVEN = Schedule(steps=7, lr=0.02)


@pytest.mark.parametrize(
    ("event", "error", "losses"),
    [
        (lambda: signal.raise_signal(signal.SIGINT), Interrupted, 5),
        (lambda: signal.raise_signal(signal.SIGTERM), Interrupted, 5),
        (lambda: throw(RuntimeError("another process died")), RuntimeError, 5),
    ],
)
def test_its_state_is_kept_whatever_ends_it(tmp_path, event, error, losses):
    before = signal.getsignal(signal.SIGINT)
    interrupted = ends_at(6, event)
    with pytest.raises(error):
        train_model(model(), interrupted, SEVEN, valid=VALID, folder=tmp_path)
    assert signal.getsignal(signal.SIGINT) is before
    assert interrupted.drawn == 6  # no batch is drawn after a signal
    assert len(load_state(tmp_path)["history"]["losses"]) == losses
    assert len(load_state(tmp_path)["history"]["valid_losses"]) == 1
    some_model = model(seed=1)
    history = train_model(some_model, ends_at(0, lambda: None), SEVEN, valid=VALID, folder=tmp_path)
    assert (len(history.losses), len(history.valid_losses)) == (7, 2)
    assert held_out_loss(some_model, *VALID) == pytest.approx(min(history.valid_losses), rel=1e-5)


def test_it_continues_with_its_weights_optimizer_and_rate(tmp_path, rates):
    """The steps that are left do not change the weights: Adam is replaced."""
    with pytest.raises(Interrupted):
        train_model(model(), ends_at(6, lambda: signal.raise_signal(signal.SIGINT)), SEVEN, folder=tmp_path)
    weights = load_state(tmp_path)["model"]
    rates.clear()
    some_model = model(seed=1)
    train_model(some_model, shuffled(), SEVEN, folder=tmp_path)
    assert rates == pytest.approx([0.02 / Schedule.lr * share for share in (2 / 7, 1 / 7)])
    assert all(torch.equal(value, weights[name]) for name, value in some_model.state_dict().items())


def test_the_state_is_saved_from_time_to_time(timed, tmp_path, monkeypatch):
    saved: list[int] = []
    monkeypatch.setattr("utils.translator.training.loop.SAVE_AFTER", 17)
    monkeypatch.setattr(
        "utils.translator.training.loop.save_state",
        lambda _, state: saved.append(len(state["history"]["losses"])),
    )
    train_model(model(), timed, SEVEN, folder=tmp_path)
    assert saved == [3, 6, 7]  # a step takes 6 seconds


def test_minutes_before_an_interruption_count(timed, tmp_path, monkeypatch):
    epoch = timed.epoch

    def cut(generator):
        for number, batch in enumerate(epoch(generator), 1):
            yield throw(InterruptedError()) if number == 4 else batch

    with monkeypatch.context() as patch:
        patch.setattr(timed, "epoch", cut)
        with pytest.raises(InterruptedError):
            train_model(model(), timed, Schedule(minutes=1), folder=tmp_path)
    timed.now += 3600  # nobody trains in this hour
    history = train_model(model(), timed, Schedule(minutes=1), folder=tmp_path)
    assert history.seconds == pytest.approx([0, 6, 12, 12, 18, 24, 30, 36, 42, 48, 54])


def test_one_step_leaves_nothing_to_continue(tmp_path):
    """The learning rate of the first step is 0, so the weights are those of the beginning."""
    with pytest.raises(Interrupted):
        train_model(model(), ends_at(2, lambda: signal.raise_signal(signal.SIGINT)), SEVEN, folder=tmp_path)
    assert not (tmp_path / STATE).exists()


# Held-out sentences


def test_the_best_epoch_is_kept():
    some_model = model(dropout=0.0)  # these sentences can only be learned by heart
    history = train_model(some_model, shuffled(13), Schedule(epochs=20, lr=0.03), valid=VALID)
    best = min(history.valid_losses)
    assert history.valid_losses.index(best) < len(history.valid_losses) - 1
    assert held_out_loss(some_model, *VALID) == pytest.approx(best, rel=1e-5)


# What a user sees


def test_the_progress_bar_tells_loss_and_speed(capsys):
    train_model(model(), shuffled(), Schedule(epochs=1), progress=True)
    bar = capsys.readouterr().err
    assert "training 100%" in bar
    assert "loss=" in bar
    assert "tokens_s=" in bar
    train_model(model(), shuffled(), Schedule(epochs=1))
    assert capsys.readouterr().err == ""


def test_an_infinite_loss_stops_before_its_step():
    some_model = model()
    with torch.no_grad():
        some_model.decoder.output.bias[5] = math.nan
    before = weights_of(some_model)
    with pytest.raises(
        FloatingPointError, match=r"step 1: loss nan with gradient norm nan; try a smaller lr$"
    ):
        train_model(some_model, shuffled(), Schedule(epochs=1))
    assert torch.equal(weights_of(some_model).nan_to_num(), before.nan_to_num())


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
