"""Training: the loss by hand and against a loop, a fit that learns and stops, runs that are kept safely."""

import dataclasses
import json
import math
import random

import pytest
import torch
from tiny import SETTINGS, train_tiny, trained_run, write_pairs

from utils.corpus.batches import make_batch
from utils.corpus.pairs import Example
from utils.corpus.vocabulary import EOS, PAD
from utils.search import greedy
from utils.seq2seq import Encoder, EncoderDecoder, FixedContextDecoder
from utils.training import (
    Settings,
    build_model,
    fit,
    held_out_loss,
    load_run,
    matmul_precision,
    save_run,
    sequence_loss,
    train_run,
    write_atomically,
)

VOCAB = 13
TINY = Settings("xx", "yy", d_embed=11, d_hidden=17, dropout=0.1)


def sentences(num: int = 97, seed: int = 0) -> list[list[int]]:
    numbers = random.Random(seed)
    return [[numbers.randrange(4, VOCAB) for _ in range(numbers.randrange(1, 6))] for _ in range(num)]


def model(settings: Settings = TINY) -> EncoderDecoder:
    return build_model(settings, VOCAB, VOCAB)


def weights_of(some_model: EncoderDecoder) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in some_model.parameters()])


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


# Models and runs


def test_a_model_is_built_by_its_settings_and_seed_alone():
    torch.manual_seed(0)
    first = weights_of(model())
    torch.manual_seed(1)
    assert torch.equal(weights_of(model()), first)
    assert not torch.equal(weights_of(model(dataclasses.replace(TINY, seed=1))), first)
    deep = build_model(dataclasses.replace(TINY, num_layers=2), 7, 19)
    assert deep.encoder.embedding.weight.shape == (7, 11)
    assert deep.decoder.output.weight.shape == (19, 17)
    assert len(deep.decoder.cells) == 2


def test_precision_is_given_back():
    before = torch.get_float32_matmul_precision()
    with matmul_precision("medium"):
        assert torch.get_float32_matmul_precision() == "medium"
    assert torch.get_float32_matmul_precision() == before


def test_a_run_trains_and_keeps_what_it_needs():
    run, history = trained_run()
    assert run.settings == SETTINGS
    assert len(run.test) == 7
    assert history.losses[-1] < 0.5 * history.losses[0]
    assert len(history.valid_losses) == 90
    held_out = {sentence for example in run.test for sentence in (example.source, *example.references)}
    assert len(held_out) == sum(1 + len(example.references) for example in run.test)


def test_the_same_settings_train_the_same_run(tmp_path):
    first, _ = train_tiny(tmp_path / "a", epochs=2)
    second, _ = train_tiny(tmp_path / "b", epochs=2)
    other, _ = train_tiny(tmp_path / "c", epochs=2, settings=dataclasses.replace(SETTINGS, seed=1))
    assert torch.equal(weights_of(first.model), weights_of(second.model))
    assert first.test == second.test != other.test


def test_a_run_survives_the_disk(tmp_path):
    run, _ = trained_run()
    save_run(run, tmp_path / "new" / "run")
    loaded = load_run(tmp_path / "new" / "run")
    assert loaded.settings == run.settings
    assert loaded.test == run.test
    assert not loaded.model.training
    for name, tensor in run.model.state_dict().items():
        assert torch.equal(loaded.model.state_dict()[name], tensor)
    texts = [example.source for example in run.test]
    assert loaded.src_vocabulary.encode(texts) == run.src_vocabulary.encode(texts)
    assert loaded.tgt_vocabulary.to_json() == run.tgt_vocabulary.to_json()
    assert not list((tmp_path / "new" / "run").glob("*.part"))


def test_the_run_that_was_trained_lies_in_its_folder_and_is_not_replaced_unasked(tmp_path):
    run, _ = train_tiny(tmp_path, epochs=1)
    assert load_run(tmp_path / "run").test == run.test
    with pytest.raises(FileExistsError, match="holds a trained run already"):
        train_tiny(tmp_path, epochs=1)
    options = {"out": tmp_path / "run", "overwrite": True, "num_test": 3, "num_valid": 0, "epochs": 1}
    run, history = train_run(tmp_path / "pairs.txt", ("en", "fr"), SETTINGS, **options)
    assert len(load_run(tmp_path / "run").test) == 3
    assert history.valid_losses == []


def test_long_sentences_are_left_out_of_training(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt")
    pairs.write_text(pairs.read_text() + "long " * 4999 + "\t" + "long " * 4999 + "\n")
    options = {"epochs": 1, "num_test": 3, "num_valid": 0, "max_tokens": 40}
    _, history = train_run(pairs, ("en", "fr"), SETTINGS, out=tmp_path / "run", **options)
    assert max(history.tokens) < 32 * 41


def test_columns_and_languages_must_agree(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt")
    with pytest.raises(ValueError, match="must be the two columns en and de, got en and fr"):
        train_run(pairs, ("en", "de"), SETTINGS, out=tmp_path / "run", epochs=1)
    assert not (tmp_path / "run").exists()


@pytest.fixture
def saved(tmp_path):
    run, _ = trained_run()
    save_run(run, tmp_path)
    return tmp_path


def test_a_missing_run_or_file_is_named(saved, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere holds no trained run: settings\.json is missing"):
        load_run(tmp_path / "nowhere")
    (saved / "weights.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"weights\.safetensors is missing"):
        load_run(saved)


@pytest.mark.parametrize("keep", [0, 4, 100, -1])
def test_cut_off_weights_are_named(saved, keep):
    path = saved / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"weights\.safetensors is damaged"):
        load_run(saved)


@pytest.mark.parametrize(
    "name",
    ["settings.json", "src.vocabulary.json", "tgt.vocabulary.json", "test.json", "weights.safetensors"],
)
def test_one_changed_byte_is_noticed(saved, name):
    content = bytearray((saved / name).read_bytes())
    content[-20] ^= 1
    (saved / name).write_bytes(content)
    with pytest.raises(ValueError, match=r"are damaged or not of one run"):
        load_run(saved)


def test_files_of_two_runs_do_not_mix(saved, tmp_path):
    run, _ = trained_run()
    save_run(dataclasses.replace(run, test=[Example("a", ("b",))]), tmp_path / "other")
    (saved / "weights.safetensors").write_bytes((tmp_path / "other" / "weights.safetensors").read_bytes())
    with pytest.raises(ValueError, match="not of one run"):
        load_run(saved)


def test_weights_of_another_model_are_refused(tmp_path):
    run, _ = trained_run()
    encoder = Encoder(len(run.src_vocabulary), 23, 29)
    decoder = FixedContextDecoder(len(run.tgt_vocabulary), 23, 29, encoder.d_out)
    save_run(dataclasses.replace(run, model=EncoderDecoder(encoder, decoder)), tmp_path)
    with pytest.raises(ValueError, match="holds the weights of another model"):
        load_run(tmp_path)


def test_nothing_in_a_run_is_pickled(saved):
    for path in saved.glob("*.json"):
        json.loads(path.read_text())
    header = (saved / "weights.safetensors").read_bytes()
    size = int.from_bytes(header[:8], "little")
    assert "__metadata__" in json.loads(header[8 : 8 + size])


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
