"""Training: the loss by hand and against a loop, a fit that learns and stops."""

import math
import time

import pytest
import torch
from tiny import VOCAB, check_the_seed, model, sentences, weights_of

from utils.corpus.batches import ShuffledBatches, make_batch
from utils.corpus.vocabulary import EOS, PAD
from utils.fast_training import fast_loss
from utils.search import greedy
from utils.seq2seq import EncoderDecoder
from utils.training import History, batch_loss, fit, sequence_loss, training_steps

pytestmark = pytest.mark.trains

# The loss


def test_loss_by_hand():
    logits = torch.tensor([[[0.0, 0.0, math.log(2), 0.0]] * 3])  # p = 1/5, 1/5, 2/5, 1/5
    tgt_out = torch.tensor([[2, 3, PAD]])
    wanted = -(math.log(2 / 5) + math.log(1 / 5)) / 2
    assert sequence_loss(logits, tgt_out).item() == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_the_loss_is_a_mean_over_real_tokens(label_smoothing):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(3, 5, 7, generator=generator, dtype=torch.float64)
    tgt_out = torch.tensor([[4, 5, 6, 4, EOS], [5, EOS, PAD, PAD, PAD], [4, 6, EOS, PAD, PAD]])
    terms = []
    for row, lengths in enumerate([5, 2, 3]):
        for step in range(lengths):
            log_p = logits[row, step] - logits[row, step].exp().sum().log()
            true = torch.full((7,), label_smoothing / 7, dtype=torch.float64)
            true[tgt_out[row, step]] += 1 - label_smoothing
            terms.append(-(true * log_p).sum())
    loss = sequence_loss(logits, tgt_out, label_smoothing=label_smoothing)
    torch.testing.assert_close(loss, torch.stack(terms).mean())


def test_padding_changes_neither_loss_nor_gradient():
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0), requires_grad=True)
    tgt_out = torch.tensor([[4, EOS, PAD], [5, 6, EOS]])
    loss = sequence_loss(logits, tgt_out, label_smoothing=0.1)
    loss.backward()
    assert logits.grad[0, 2].abs().max() == 0
    changed = logits.detach().clone()
    changed[0, 2] = 1e4
    assert sequence_loss(changed, tgt_out, label_smoothing=0.1) == loss
    # Each sentence by itself has no padding: two tokens, and three.
    first = sequence_loss(changed[:1, :2], tgt_out[:1, :2], label_smoothing=0.1)
    second = sequence_loss(changed[1:], tgt_out[1:], label_smoothing=0.1)
    torch.testing.assert_close((2 * first + 3 * second) / 5, loss)


# The loop


@pytest.fixture(scope="module")
def copier() -> tuple[EncoderDecoder, list[float]]:
    trained = model(dropout=0.0, d_hidden=32)
    src = sentences(397)
    batches = ShuffledBatches(src, src, batch_size=32)
    start = time.perf_counter()
    history = fit(trained, batches, epochs=25, loss=fast_loss, lr=2e-2, label_smoothing=0.0)
    assert history.seconds[-1] <= time.perf_counter() - start
    return trained, history


def test_it_learns_to_copy_new_sentences(copier):
    trained, history = copier
    assert not trained.training
    assert len(history.losses) == len(history.tokens) == len(history.seconds) == 25 * 13
    assert history.losses[0] == pytest.approx(math.log(VOCAB), abs=0.3)
    assert sum(history.losses[-13:]) / 13 < 0.1
    unseen = [ids for ids in sentences(97, seed=5) if ids not in sentences(397)]
    batch = make_batch(unseen, unseen)
    hypotheses = greedy(trained, batch.src, batch.src_lens, max_len=9)
    right = sum(hypothesis.tokens == ids for hypothesis, ids in zip(hypotheses, unseen, strict=True))
    assert right > 0.8 * len(unseen)


def test_the_history_counts_real_tokens_and_time(copier):
    _, history = copier
    assert sum(history.tokens) == 25 * sum(len(ids) + 1 for ids in sentences(397))
    assert history.seconds == sorted(history.seconds)
    assert history.tokens_per_second == sum(history.tokens) / history.seconds[-1]


def test_the_seed_alone_settles_the_parameters():
    def trained(seed: int) -> torch.Tensor:
        some_model = model()
        batches = ShuffledBatches(sentences(), sentences(), batch_size=16, seed=seed)
        fit(some_model, batches, epochs=2, seed=seed)
        return weights_of(some_model)

    check_the_seed(trained)


def test_the_first_steps_are_adam_on_clipped_gradients():
    src, tgt = sentences(1), sentences(1, seed=1)
    # In float64, since Adam divides small gradients by their own size: rounding of 1e-7 becomes steps of 1e-5.
    fitted, stepped = model(dropout=0.0).double(), model(dropout=0.0).double()
    batches = ShuffledBatches(src, tgt)
    fit(fitted, batches, epochs=4, lr=0.02, warmup=0.4, clip=0.5)  # smooths by 0.1 where nothing is said
    optimizer = torch.optim.Adam(stepped.parameters())
    batch = make_batch(src, tgt)
    for lr in (0.02 * 0.01, 0.02 * (0.01 + 1 / 4 / 0.4) * 3 / 4, 0.02 * 2 / 4, 0.02 * 1 / 4):
        optimizer.param_groups[0]["lr"] = lr
        optimizer.zero_grad()
        logits, _ = stepped(batch.src, batch.src_lens, batch.tgt_in)
        sequence_loss(logits, batch.tgt_out, label_smoothing=0.1).backward()
        torch.nn.utils.clip_grad_norm_(stepped.parameters(), 0.5)
        optimizer.step()
    torch.testing.assert_close(weights_of(fitted), weights_of(stepped))


def test_fit_takes_any_loss_and_tells_every_step():
    losses, tokens = [], []
    some_model, batches = model(), ShuffledBatches(sentences(7), sentences(7), batch_size=3)

    def doubled(translator, batch, *, label_smoothing):
        assert translator.training
        return 2 * fast_loss(translator, batch, label_smoothing=label_smoothing)

    def note(history):
        losses.append(history.losses[-1])
        tokens.append(history.tokens[-1])

    history = fit(some_model, batches, epochs=2, loss=doubled, on_step=note)
    assert losses == history.losses
    assert tokens == history.tokens
    assert len(losses) == 2 * 3
    assert losses[0] == pytest.approx(2 * math.log(VOCAB), abs=0.6)


def test_an_infinite_loss_stops_with_the_parameters_before():
    some_model = model()
    with torch.no_grad():
        some_model.decoder.output.bias[5] = math.nan
    before = weights_of(some_model)
    with pytest.raises(
        FloatingPointError, match=r"step 1: loss nan with gradient norm nan; try a smaller lr"
    ):
        fit(some_model, ShuffledBatches(sentences(), sentences()), epochs=1)
    assert torch.equal(weights_of(some_model).nan_to_num(), before.nan_to_num())


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_a_model_is_left_in_evaluation_mode_after_an_error(error):
    some_model, modes = model(), []

    def stop(_history: History) -> None:
        modes.append(some_model.training)
        raise error

    with pytest.raises(error):
        fit(some_model, ShuffledBatches(sentences(), sentences()), epochs=1, on_step=stop)
    assert modes == [True]
    assert not some_model.training


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs must be at least 1, got 0"),
        ({"epochs": 1, "lr": math.nan}, "lr must be positive and finite, got nan"),
        ({"epochs": 1, "clip": 0.0}, "clip must be positive and finite, got 0.0"),
        ({"epochs": 1, "warmup": 0.0}, "warmup must be a share between 0 and 1, got 0.0"),
        ({"epochs": 1, "warmup": 1.0}, "warmup must be a share between 0 and 1, got 1.0"),
        ({"epochs": 2, "seed": -(2**63) - 1}, "seed must be from -9223372036854775808 to"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        fit(model(), ShuffledBatches(sentences(3), sentences(3)), **options)


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_label_smoothing_is_a_share(share):
    with pytest.raises(ValueError, match=f"label_smoothing must be from 0 to 1, got {share}"):
        sequence_loss(torch.zeros(1, 2, 7), torch.tensor([[4, 5]]), label_smoothing=share)


def test_seconds_go_on_from_those_of_the_history():
    some_model, history, asked = model(), History(losses=[2.0], tokens=[3], seconds=[7.0]), []
    options = {"lr": 1e-3, "warmup": 0.5, "clip": 1.0, "share": lambda seconds: asked.append(seconds) or 0.5}
    optimizer = torch.optim.Adam(some_model.parameters())
    batches = [make_batch([[5]], [[5]])]
    assert list(training_steps(some_model, batches, optimizer, history, loss=batch_loss, **options)) == [None]
    assert 7 <= asked[0] <= history.seconds[1]


def test_a_single_step_changes_every_group_of_parameters():
    some_model = model()
    before = [p.detach().clone() for p in some_model.parameters()]
    fit(some_model, [make_batch([[5, 6]], [[5, 6]])], epochs=1)
    assert any(not torch.equal(p, old) for p, old in zip(some_model.parameters(), before, strict=True))
    groups = [{"params": [p]} for p in some_model.parameters()]
    optimizer = torch.optim.Adam(groups, lr=99.0)
    options = {"lr": 1.0, "warmup": 0.5, "clip": 1.0, "share": lambda _: 0.25}
    list(
        training_steps(
            some_model, [make_batch([[5]], [[5]])], optimizer, History(), loss=batch_loss, **options
        )
    )
    assert {group["lr"] for group in optimizer.param_groups} == {0.51 * 0.75}


def test_no_batch_is_an_error():
    with pytest.raises(ValueError, match="batches must be positive and finite, got 0"):
        fit(model(), [], epochs=1)
