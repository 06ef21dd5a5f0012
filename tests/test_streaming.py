"""Streamed pair files: nothing lost, nothing leaked, nothing kept in memory that grows with the file."""

import math
import tracemalloc
from collections import Counter
from itertools import count, product
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from test_command_line import SMALL, invoke
from tiny import SETTINGS, pair_lines, weights_of, write_pairs

from utils.corpus.batches import ShuffledBatches
from utils.corpus.pairs import read_pairs
from utils.corpus.splits import folded, group_split
from utils.corpus.vocabulary import EOS, PAD, Vocabulary
from utils.translator.checkpoints import Checkpoints
from utils.translator.loop import Schedule, train
from utils.translator.runs import PairData, Rows, build_model, load_run, train_run
from utils.translator.streaming import BatchStream, PairStream, survey

COLUMNS = ("en", "fr")


@pytest.fixture
def path(tmp_path) -> Path:
    return write_pairs(tmp_path / "pairs.txt")


def surveyed(path: Path, **options) -> PairStream:
    return survey(path, COLUMNS, "fr", "en", **{"num_test": 7, "num_valid": 5} | options)


def streamed(pairs: PairStream, **options) -> BatchStream:
    vocabularies = [Vocabulary.bpe(side, 360) for side in zip(*pairs.sample, strict=True)]
    return BatchStream(pairs, *vocabularies, **options)


def sides(pairs: list[tuple[str, str]]) -> list[set[str]]:
    return [{folded(pair[side]) for pair in pairs} for side in (0, 1)]


@pytest.mark.parametrize("seed", [0, 1])
def test_no_sentence_stands_in_two_parts(path, seed):
    path.write_text(
        path.read_text() + "I SEE two cats!\tJe vois deux chats\nI see two cats.\tVoir deux chats\n"
    )
    every = read_pairs(path, COLUMNS).between("fr", "en")
    stream = surveyed(path, seed=seed)
    test = [(example.source, reference) for example in stream.test for reference in example.references]
    train = list(stream.train())
    for one, other in ((test, stream.valid), (test, train), (stream.valid, train)):
        assert one
        assert all(not a & b for a, b in zip(sides(one), sides(other), strict=True))
    assert len(sides(test)[0]) == 7
    assert set(train) | set(test) | set(stream.valid) <= set(every)
    left_out = set(every) - set(train) - set(test) - set(stream.valid)
    held_out = sides(test + stream.valid)
    assert all(any(folded(s) in side for s, side in zip(p, held_out, strict=True)) for p in left_out)
    for source in {
        example.source for example in stream.test
    }:  # all its translations, though found in one reading
        expected = {target for other, target in every if other == source}
        assert {target for other, target in test if other == source} == expected
    assert set(stream.sample) <= set(train)


def test_the_seed_draws_what_is_held_out_and_the_order_of_the_file_does_not(path, tmp_path):
    backwards = tmp_path / "backwards.txt"
    backwards.write_text("\n".join(reversed(pair_lines())) + "\n")
    first = {example.source for example in surveyed(path).test}
    assert {example.source for example in surveyed(backwards).test} == first
    assert {example.source for example in surveyed(path, seed=1).test} != first


def test_the_sample_is_even(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("".join(f"{row}\t{row}\n" for row in range(20)))
    counts: Counter[int] = Counter()
    for seed in range(200):
        stream = survey(path, COLUMNS, "en", "fr", num_test=0, num_valid=0, num_sample=5, seed=seed)
        counts.update(int(source) for source, _ in stream.sample)
    assert sum(counts.values()) == 200 * 5
    assert all(
        20 < counts[row] < 80 for row in range(20)
    )  # 50 expected; the bounds are five standard deviations


def test_an_epoch_holds_every_pair_once_in_an_order_of_its_own(path):
    stream = streamed(surveyed(path), buffer=17, batch_size=4)
    expected = Counter(
        tuple(ids) for ids in stream.tgt_vocabulary.encode([target for _, target in stream.pairs.train()])
    )
    generator = torch.Generator().manual_seed(0)
    epochs = []
    for _ in range(2):
        rows = [row for batch in stream.epoch(generator) for row in batch.tgt_out]
        epochs.append([tuple(i for i in row.tolist() if i not in (PAD, EOS)) for row in rows])
    assert Counter(epochs[0]) == Counter(epochs[1]) == expected
    assert epochs[0] != epochs[1]
    assert len(stream) == math.ceil(len(pair_lines()) / 4)


def test_a_file_that_fits_gives_the_batches_of_lists_of_ids(path):
    stream = streamed(surveyed(path), batch_size=8)
    pairs = list(stream.pairs.train())
    ids = [
        vocabulary.encode([pair[side] for pair in pairs])
        for side, vocabulary in enumerate((stream.src_vocabulary, stream.tgt_vocabulary))
    ]
    in_memory = ShuffledBatches(*ids, batch_size=8)
    generators = [torch.Generator().manual_seed(3) for _ in range(2)]
    for ours, theirs in zip(stream.epoch(generators[0]), in_memory.epoch(generators[1]), strict=True):
        assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_a_training_that_was_interrupted_goes_on_to_the_same_weights(path, tmp_path):
    class Ends(Checkpoints):
        steps = 0

        @property
        def due(self) -> bool:
            self.steps += 1
            if self.steps == 9:
                raise InterruptedError
            return True

    def trained(checkpoints: Checkpoints | None) -> torch.Tensor:
        stream = streamed(surveyed(path), buffer=17, batch_size=16)
        model = build_model(SETTINGS, len(stream.src_vocabulary), len(stream.tgt_vocabulary))
        train(model, stream, Schedule(epochs=2), checkpoints=checkpoints)
        return weights_of(model)

    with pytest.raises(InterruptedError):
        trained(Ends(tmp_path))
    assert torch.equal(trained(Checkpoints(tmp_path)), trained(None))
    path.write_text(path.read_text() + "One more.\tUne de plus.\n")
    with pytest.raises(ValueError, match="belongs to another training"):
        trained(Checkpoints(tmp_path))


@pytest.mark.parametrize("buffer", [17, 100])
def test_so_many_epochs_are_so_many_passes_over_the_stream(path, buffer):
    """A small buffer leaves batches half full, and held-out pairs make no batch: the stream cannot count them all."""
    stream = streamed(surveyed(path), buffer=buffer, batch_size=8)
    tokens = sum(
        len(ids) + 1 for ids in stream.tgt_vocabulary.encode([tgt for _, tgt in stream.pairs.train()])
    )
    model = build_model(SETTINGS, len(stream.src_vocabulary), len(stream.tgt_vocabulary))
    history = train(model, stream, Schedule(epochs=2), valid=([[4]], [[5]]))
    assert len(history.losses) != 2 * len(stream)
    assert sum(history.tokens) == 2 * tokens
    assert len(history.valid_losses) == 2


@pytest.mark.parametrize(("encoding", "end"), [("utf-8", "\r"), ("utf-16", "\r\n"), ("utf-16", "\r")])
def test_other_line_ends_and_utf16_give_the_same_pairs(path, encoding, end):
    expected = surveyed(path)
    path.write_bytes(path.read_text().replace("\n", end).encode(encoding))
    stream = surveyed(path)
    assert (stream.num_rows, stream.num_bad) == (100, 0)
    assert (stream.test, stream.valid, stream.sample) == (expected.test, expected.valid, expected.sample)
    assert list(stream.train()) == list(expected.train())


def numbered_pairs(path: Path, num: int) -> Path:
    """Sentences that are all different."""
    words = [f"{a}{b}{c}" for a, b, c in product("bcdfglmnprst", "aeiou", "lnrst")]
    with path.open("w") as file:
        for row in range(num):
            numbers = (row % 300, row // 300 % 300, row // 90_000)
            sentence = " ".join(words[number] for number in numbers)
            file.write(f"{sentence} here\t{sentence} ici\n")
    return path


def test_memory_does_not_grow_with_the_file(tmp_path):
    vocabularies = [
        Vocabulary.bpe(side, 360) for side in zip(*(line.split("\t") for line in pair_lines()), strict=True)
    ]

    def peak(num: int) -> int:
        path = numbered_pairs(tmp_path / f"{num}.txt", num)
        tracemalloc.start()
        stream = BatchStream(surveyed(path, num_sample=50), *vocabularies, buffer=50)
        rows = sum(len(batch.src) for batch in stream.epoch(torch.Generator().manual_seed(0)))
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert rows == num - 12
        return memory

    peak(100)  # what is imported and cached at the first call
    # If anything were kept of each pair, it would need two references of 8 bytes at the least.
    assert peak(1600) < peak(200) + (1600 - 200) * 2 * 8


def test_the_command_trains_on_a_stream(path, tmp_path, monkeypatch):
    clock = SimpleNamespace(
        perf_counter=count().__next__
    )  # ticks when it is read, whatever the machine's speed
    monkeypatch.setattr("utils.translator.loop.time", clock)
    out = tmp_path / "run"
    result = invoke(
        *("train", "--pairs", path, "--src", "en", "--tgt", "fr", "--out", out, "--minutes", 0.2),
        *("--stream", "--device", "cpu", *SMALL),
    )
    assert result.exit_code == 0
    assert "held-out loss" in result.stdout
    assert len(load_run(out).test) == 7


def test_mistakes_are_named(path, tmp_path):
    with pytest.raises(ValueError, match="too few different sentences to keep 7 for testing and 999"):
        surveyed(path, num_valid=999)
    with pytest.raises(ValueError, match="must not be negative, got -1 and 5"):
        surveyed(path, num_test=-1)
    with pytest.raises(ValueError, match="must be the two columns en and fr, got de and en"):
        survey(path, COLUMNS, "de", "en")
    path.write_text(path.read_text() + "one side\n" * 20)
    with pytest.raises(ValueError, match=r"20 of 120 rows are bad.*line 101: a row must have two columns"):
        surveyed(path)
    path.write_text("\n")
    with pytest.raises(ValueError, match="holds no sentence pair"):
        surveyed(path)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("num_valid", [0, 3])
def test_sentences_that_are_all_too_long_are_an_error_and_no_endless_training(
    path, tmp_path, stream, num_valid
):
    data = PairData(path, COLUMNS, num_test=3, num_valid=num_valid, stream=stream, max_tokens=2)
    with pytest.raises(
        ValueError, match=r"no pair to (train|validate) on has at most 2 tokens on both sides"
    ):
        train_run(data, SETTINGS, Schedule(steps=5, muon=0), out=tmp_path / "run")


def test_nothing_need_be_held_out(path):
    stream = surveyed(path, num_test=0, num_valid=0)
    assert stream.test == stream.valid == []
    assert len(list(stream.train())) == len(pair_lines()) == stream.num_rows
    assert group_split(list(stream.train()), num_test=0, num_valid=0).train == list(stream.train())


def test_a_stream_need_not_be_validated(path, tmp_path):
    data = PairData(path, COLUMNS, num_test=3, num_valid=0, stream=True)
    _, history, rows = train_run(data, SETTINGS, Schedule(epochs=2, muon=0), out=tmp_path / "run")
    assert history.valid_losses == []
    assert rows == Rows(len(pair_lines()), bad=0, first_bad={}, train=None, too_long=None)
