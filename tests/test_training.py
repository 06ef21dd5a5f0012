"""Training: the loss by hand and against a loop, a fit that learns and stops."""

import dataclasses
import math
import random

import pytest
import torch
from tiny import weights_of

from utils.corpus.batches import make_batch
from utils.corpus.vocabulary import EOS, PAD
from utils.search import greedy
from utils.seq2seq import EncoderDecoder
from utils.training import fit, held_out_loss, matmul_precision, sequence_loss
from utils.translator.runs import Settings, build_model

VOCAB = 13
TINY = Settings("xx", "yy", d_embed=11, d_hidden=17, dropout=0.1)


def sentences(num: int = 97, seed: int = 0) -> list[list[int]]:
    numbers = random.Random(seed)
    return [[numbers.randrange(4, VOCAB) for _ in range(numbers.randrange(1, 6))] for _ in range(num)]


def model(settings: Settings = TINY) -> EncoderDecoder:
    return build_model(settings, VOCAB, VOCAB)


# The loss


def test_loss_by_hand():
    logits = torch.tensor([[[0.0, 0.0, math.log(2), 0.0]] * 3])  # p = 1/5, 1/5, 2/5, 1/5
    tgt_out = torch.tensor([[2, 3, PAD]])
    wanted = -(math.log(2 / 5) + math.log(1 / 5)) / 2
    assert sequence_loss(logits, tgt_out).item() == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_loss_is_the_mean_over_real_tokens_of_a_loop(label_smoothing):
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


def test_padding_has_no_part_in_the_loss_nor_in_its_gradient():
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0), requires_grad=True)
    tgt_out = torch.tensor([[4, EOS, PAD], [5, 6, EOS]])
    loss = sequence_loss(logits, tgt_out, label_smoothing=0.1)
    loss.backward()
    assert logits.grad[0, 2].abs().max() == 0
    changed = logits.detach().clone()
    changed[0, 2] = 1e4
    assert sequence_loss(changed, tgt_out, label_smoothing=0.1) == loss
    torch.testing.assert_close(
        sequence_loss(changed[:, :2], tgt_out[:, :2]), sequence_loss(changed[:, :2].clone(), tgt_out[:, :2])
    )


def test_held_out_loss_is_the_mean_over_all_tokens_whatever_the_batches():
    src, tgt = sentences(11), sentences(11, seed=1)
    some_model = model()
    batch = make_batch(src, tgt)
    logits, _ = some_model(batch.src, batch.src_lens, batch.tgt_in)
    wanted = sequence_loss(logits, batch.tgt_out).item()
    some_model.train()
    for batch_size in (1, 4, 11):
        assert held_out_loss(some_model, src, tgt, batch_size=batch_size) == pytest.approx(wanted, rel=1e-5)
    assert not some_model.training


# The loop


@pytest.fixture(scope="module")
def copier() -> tuple[EncoderDecoder, list[float]]:
    trained = build_model(dataclasses.replace(TINY, dropout=0.0, d_hidden=32), VOCAB, VOCAB)
    src = sentences(397)
    history = fit(trained, src, src, epochs=25, batch_size=32, lr=2e-2, label_smoothing=0.0)
    return trained, history


def test_it_learns_to_copy_sentences_it_has_not_seen(copier):
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
    assert history.valid_losses == []


def test_the_seed_alone_settles_the_weights_and_torch_s_generator_is_left_alone():
    def trained(seed: int) -> torch.Tensor:
        some_model = model()
        fit(some_model, sentences(), sentences(), epochs=2, batch_size=16, seed=seed)
        return weights_of(some_model)

    torch.manual_seed(5)
    first = trained(3)
    after = torch.rand(1)
    torch.manual_seed(5)
    assert torch.rand(1) == after
    torch.manual_seed(7)
    assert torch.equal(trained(3), first)
    assert not torch.equal(trained(4), first)


def test_the_first_steps_are_adam_on_clipped_gradients_with_a_rate_that_rises_and_falls():
    settings = dataclasses.replace(TINY, dropout=0.0)
    src, tgt = sentences(1), sentences(1, seed=1)
    fitted, stepped = model(settings), model(settings)
    fit(fitted, src, tgt, epochs=4, lr=0.02, warmup=0.4, clip=0.5, label_smoothing=0.1)
    optimizer = torch.optim.Adam(stepped.parameters())
    batch = make_batch(src, tgt)
    for lr in (0.0, 0.02 * 1 / 4 / 0.4 * 3 / 4, 0.02 * 2 / 4, 0.02 * 1 / 4):
        optimizer.param_groups[0]["lr"] = lr
        optimizer.zero_grad()
        logits, _ = stepped(batch.src, batch.src_lens, batch.tgt_in)
        sequence_loss(logits, batch.tgt_out, label_smoothing=0.1).backward()
        torch.nn.utils.clip_grad_norm_(stepped.parameters(), 0.5)
        optimizer.step()
    torch.testing.assert_close(weights_of(fitted), weights_of(stepped))


def test_the_fast_form_trains_to_the_same_weights():
    plain, fast, coarse = (model(dataclasses.replace(TINY, dropout=0.0)) for _ in range(3))
    options = {"epochs": 2, "batch_size": 16, "valid": (sentences(13, seed=1), sentences(13, seed=1))}
    wanted = fit(plain, sentences(), sentences(), **options)
    history = fit(fast, sentences(), sentences(), fast=True, **options)
    assert history.losses == pytest.approx(wanted.losses, rel=1e-4)
    assert history.valid_losses == pytest.approx(wanted.valid_losses, rel=1e-4)
    torch.testing.assert_close(weights_of(fast), weights_of(plain), rtol=1e-3, atol=1e-4)
    rounded = fit(coarse, sentences(), sentences(), fast=True, products=torch.bfloat16, **options)
    assert rounded.losses == pytest.approx(wanted.losses, rel=2e-2)
    assert rounded.losses != history.losses
    assert weights_of(coarse).dtype == torch.float32


def test_minutes_are_kept():
    src = sentences(997)
    history = fit(model(), src, src, minutes=1.0 / 60, batch_size=8)
    assert 0.8 < history.seconds[-1] < 3
    assert len(history.losses) > 5


def test_the_weights_with_the_lowest_held_out_loss_are_kept_and_patience_ends_training():
    src, tgt = sentences(31), sentences(31, seed=1)  # nothing to learn here but by heart
    valid = sentences(29, seed=2), sentences(29, seed=3)
    some_model = model()
    history = fit(some_model, src, tgt, epochs=300, valid=valid, patience=4, batch_size=8, lr=1e-2)
    best = min(history.valid_losses)
    assert len(history.valid_losses) < 60
    assert history.valid_losses.index(best) == len(history.valid_losses) - 5
    assert held_out_loss(some_model, *valid) == pytest.approx(best, rel=1e-5)
    assert history.valid_losses[-1] > best


def test_a_loss_that_is_not_finite_stops_at_its_step_with_the_weights_before_it():
    some_model = model()
    with torch.no_grad():
        some_model.decoder.output.bias[5] = math.nan
    before = weights_of(some_model)
    with pytest.raises(
        FloatingPointError, match=r"step 1: loss nan with gradient norm nan; try a smaller lr"
    ):
        fit(some_model, sentences(), sentences(), epochs=1)
    assert torch.equal(weights_of(some_model).nan_to_num(), before.nan_to_num())


def test_a_learning_rate_beyond_reason_is_told_with_its_step():
    with pytest.raises(FloatingPointError, match=r"step \d+: loss"):
        fit(model(), sentences(), sentences(), epochs=50, lr=1e38)


def test_the_progress_bar_tells_loss_and_speed(capsys):
    fit(model(), sentences(), sentences(), epochs=1, progress=True)
    shown = capsys.readouterr().err
    assert "training 100%" in shown
    assert "loss=" in shown
    assert "tokens_s=" in shown
    fit(model(), sentences(), sentences(), epochs=1)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of minutes and epochs"),
        ({"minutes": 1.0, "epochs": 1}, "exactly one of minutes and epochs"),
        ({"minutes": 0.0}, "minutes must be positive and finite, got 0.0"),
        ({"minutes": math.inf}, "minutes must be positive and finite, got inf"),
        ({"epochs": -1}, "epochs must be positive and finite, got -1"),
        ({"epochs": 1, "lr": math.nan}, "lr must be positive and finite, got nan"),
        ({"epochs": 1, "clip": 0.0}, "clip must be positive and finite, got 0.0"),
        ({"epochs": 1, "patience": 2}, "patience needs valid"),
        ({"epochs": 1, "products": torch.bfloat16}, "products in torch.bfloat16 need fast=True"),
        ({"epochs": 1, "batch_size": 0}, "batch_size must be positive and finite, got 0"),
        ({"epochs": 1, "warmup": 1.0}, "warmup must be a share between 0 and 1, got 1.0"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        fit(model(), sentences(), sentences(), **options)


def test_no_sentences_or_unequal_numbers_of_them_are_errors():
    with pytest.raises(ValueError, match="src_ids hold no sentence to train on"):
        fit(model(), [], [], epochs=1)
    with pytest.raises(ValueError, match="got 2 and 1"):
        fit(model(), [[4], [5]], [[4]], epochs=1)


def test_precision_is_given_back():
    before = torch.get_float32_matmul_precision()
    with matmul_precision("medium"):
        assert torch.get_float32_matmul_precision() == "medium"
    assert torch.get_float32_matmul_precision() == before
