"""Runs: trained from a pair file, kept safely in a folder, read again or refused by name."""

import dataclasses
import json

import pytest
import torch
from tiny import (
    SETTINGS,
    STORED_RUN,
    pair_lines,
    tiny_data,
    train_tiny,
    trained_run,
    weights_of,
    write_pairs,
)

from utils.corpus.splits import Example
from utils.seq2seq import Encoder, EncoderDecoder, FixedContextDecoder
from utils.translator.loop import Schedule
from utils.translator.runs import PairData, Rows, build_model, load_run, prepare, save_run, train_run

COLUMNS = ("en", "fr")
ONE_EPOCH = Schedule(epochs=1, batch_size=32, muon=0)


def test_a_model_is_built_by_its_settings_and_seed_alone():
    torch.manual_seed(0)
    first = weights_of(build_model(SETTINGS, 5, 7))
    torch.manual_seed(1)
    assert torch.equal(weights_of(build_model(SETTINGS, 5, 7)), first)
    assert not torch.equal(weights_of(build_model(dataclasses.replace(SETTINGS, seed=1), 5, 7)), first)
    deep = build_model(dataclasses.replace(SETTINGS, num_layers=2), 7, 19)
    assert deep.encoder.embedding.weight.shape == (7, 11)
    assert deep.decoder.output.weight.shape == (19, 13)
    assert len(deep.decoder.cells) == 2


def test_a_run_trains_and_keeps_what_it_needs(tmp_path):
    run, history = train_tiny(tmp_path, epochs=3)
    assert run.settings == SETTINGS
    assert len(run.test) == 7
    assert history.losses[-1] < history.losses[0]
    assert len(history.valid_losses) == 3
    held_out = {sentence for example in run.test for sentence in (example.source, *example.references)}
    assert len(held_out) == sum(1 + len(example.references) for example in run.test)


def test_a_run_of_an_earlier_version_is_read(tmp_path):
    """The stored run must stay readable, and is that of the pairs and settings beside it."""
    run = trained_run()
    prepared = prepare(tiny_data(tmp_path), SETTINGS, batch_size=32)
    assert run.settings == SETTINGS
    assert run.test == prepared.test
    assert run.src_vocabulary.to_json() == prepared.src_vocabulary.to_json()
    assert run.tgt_vocabulary.to_json() == prepared.tgt_vocabulary.to_json()
    save_run(run, tmp_path / "run")
    for path in STORED_RUN.iterdir():
        assert (tmp_path / "run" / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_same_settings_train_the_same_run(tmp_path):
    first, _ = train_tiny(tmp_path / "a", epochs=2)
    second, _ = train_tiny(tmp_path / "b", epochs=2)
    other, _ = train_tiny(tmp_path / "c", epochs=2, settings=dataclasses.replace(SETTINGS, seed=1))
    assert torch.equal(weights_of(first.model), weights_of(second.model))
    assert first.test == second.test != other.test


def test_a_run_survives_the_disk(tmp_path):
    run = trained_run()
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
    data = PairData(tmp_path / "pairs.txt", COLUMNS, num_test=3, num_valid=0)
    _, history, _ = train_run(data, SETTINGS, ONE_EPOCH, out=tmp_path / "run", overwrite=True)
    assert len(load_run(tmp_path / "run").test) == 3
    assert history.valid_losses == []


def test_long_sentences_are_left_out_of_training_and_counted(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt")
    pairs.write_text(pairs.read_text() + "long " * 4999 + "\t" + "long " * 4999 + "\n")
    data = PairData(pairs, COLUMNS, num_test=3, num_valid=0, max_tokens=40)
    run, history, rows = train_run(data, SETTINGS, ONE_EPOCH, out=tmp_path / "run")
    assert max(history.tokens) < 128 * 41
    num_test = sum(len(example.references) for example in run.test)
    num_pairs = len(pair_lines())
    assert rows == Rows(num_pairs + 1, bad=0, first_bad={}, train=num_pairs - num_test, too_long=1)


@pytest.mark.parametrize("stream", [False, True])
def test_bad_rows_are_counted_and_the_first_named(tmp_path, stream):
    lines = pair_lines() * 9
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("\n".join(["alone", "\tright", *lines, "left\t", "alone"]), encoding="utf-8")
    rows = prepare(
        PairData(pairs, COLUMNS, num_test=3, num_valid=0, stream=stream), SETTINGS, batch_size=128
    ).rows
    assert (rows.good, rows.bad, list(rows.first_bad)) == (len(lines), 4, [1, 2, len(lines) + 3])
    assert str(rows).endswith(f"line {len(lines) + 3}: the fr side is empty; ...)")


def test_columns_and_languages_must_agree(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt")
    with pytest.raises(ValueError, match="must be the two columns en and de, got en and fr"):
        train_run(PairData(pairs, ("en", "de")), SETTINGS, ONE_EPOCH, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.fixture
def saved(tmp_path):
    run = trained_run()
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
    run = trained_run()
    save_run(dataclasses.replace(run, test=[Example("a", ("b",))]), tmp_path / "other")
    (saved / "weights.safetensors").write_bytes((tmp_path / "other" / "weights.safetensors").read_bytes())
    with pytest.raises(ValueError, match="not of one run"):
        load_run(saved)


def test_weights_of_another_model_are_refused(tmp_path):
    run = trained_run()
    encoder = Encoder(len(run.src_vocabulary), 23, 29)
    decoder = FixedContextDecoder(len(run.tgt_vocabulary), 23, 29, encoder.d_out)
    save_run(dataclasses.replace(run, model=EncoderDecoder(encoder, decoder)), tmp_path)
    with pytest.raises(ValueError, match="holds the weights of another model"):
        load_run(tmp_path)


def test_settings_of_another_version_are_named(tmp_path, monkeypatch):
    run = trained_run()
    monkeypatch.setattr(
        "utils.translator.runs.asdict", lambda settings: dataclasses.asdict(settings) | {"heads": 8}
    )
    save_run(run, tmp_path)
    with pytest.raises(ValueError, match=r"settings\.json is of another version of this course: .*'heads'"):
        load_run(tmp_path)


def test_nothing_in_a_run_is_pickled(saved):
    for path in saved.glob("*.json"):
        json.loads(path.read_text())
    header = (saved / "weights.safetensors").read_bytes()
    size = int.from_bytes(header[:8], "little")
    assert "__metadata__" in json.loads(header[8 : 8 + size])
