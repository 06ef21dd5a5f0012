"""From a pair file to what a training needs: a split without leaks, vocabularies, and ids in files on the disk.

The ids are mapped into memory, so a pair file may be larger than memory. The training is in ``runs`` and ``loop``.
Explained in book/your_translator.
"""

import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from utils.corpus.batches import ShuffledBatches
from utils.corpus.pair_warnings import shortened, warnings_about
from utils.corpus.pairs import PairFiles, check_share, choose_languages, find_files, read_rows
from utils.corpus.splits import TEST, TRAIN, VALID, Example, examples_of, parts_of_rows
from utils.corpus.text_files import refuse_text
from utils.corpus.vocabulary import Vocabulary, encode_pairs
from utils.corpus.whole_files import naming, write_whole
from utils.training import Ids
from utils.translator.models import Settings

#: The vocabularies are learned from at most so many pairs, which are spread evenly over the file.
LEARNED_FROM = 200_000
#: Longer sentences are left out when the vocabularies are learned: the time grows with the square of a word's length.
MAX_LEARNED = 5000
#: Pairs that are encoded together.
_AT_ONCE = 10_000

Pair = tuple[str, str]
#: Takes a message to the user.
Notify = Callable[[str], object]


def silent(_message: str) -> None:
    """Ignore the message."""


@dataclass(frozen=True)
class PairData:
    """A file of pairs, or two files, and which of the pairs to train on.

    Attributes:
        pairs: the file or the two files, as for :func:`utils.corpus.pairs.read_pairs`.
        columns: languages of the columns or of the files, in their order.
        num_test: groups of sentences for testing; by default as for :func:`utils.corpus.splits.group_split`.
        num_valid: groups for the held-out loss; by default likewise.
        max_tokens: pairs with a longer side are left out of training.
    """

    pairs: PairFiles
    columns: Sequence[str]
    num_test: int | None = None
    num_valid: int | None = None
    max_tokens: int = 100


@dataclass(frozen=True)
class Rows:
    """How the rows of a pair file were used.

    Attributes:
        good: rows that hold a pair.
        bad: rows that do not hold a pair and were left out.
        first_bad: what is wrong with the first three of them, by line number.
        train: pairs to train on.
        too_long: pairs that were left out because a side has too many tokens.
    """

    good: int
    bad: int
    first_bad: dict[int, str]
    train: int
    too_long: int

    def __str__(self) -> str:
        """The counts in words.

        >>> print(Rows(good=90, bad=2, first_bad={7: "one column", 8: "the fr side is empty"}, train=80, too_long=3))
        90 pairs, 80 to train on; left out: 3 too long, 2 bad rows (line 7: one column; line 8: the fr side is empty)
        """
        lines = "; ".join(f"line {number}: {reason}" for number, reason in self.first_bad.items())
        left_out = [f"{self.too_long} too long"] if self.too_long else []
        if self.bad:
            more = "; ..." if self.bad > len(self.first_bad) else ""
            left_out.append(f"{self.bad} bad rows ({lines}{more})")
        summary = f"{self.good} pairs, {self.train} to train on"
        return summary + (f"; left out: {', '.join(left_out)}" if left_out else "")


class TrainingData(NamedTuple):
    """The data for a training, which :func:`prepare` makes from a pair file.

    Attributes:
        src_vocabulary: of the source language.
        tgt_vocabulary: of the target language.
        batches: what to train on.
        valid: ids of the sources and targets for the held-out loss; None if there are none.
        test: the examples for testing.
        rows: how the rows of the file were used.
    """

    src_vocabulary: Vocabulary
    tgt_vocabulary: Vocabulary
    batches: ShuffledBatches
    valid: tuple[Ids, Ids] | None
    test: list[Example]
    rows: Rows


class IdsOnDisk(Sequence[list[int]]):
    """The sources or the targets of the pairs in a folder, as ids in a file that is mapped into memory.

    The file holds the ids of all sentences, each source before its target. A second file holds the place in the first
    at which each sentence ends.

    Args:
        folder: that :func:`prepare` has written.
        side: 0 for the sources, 1 for the targets.
    """

    def __init__(self, folder: Path, side: int):
        self._ids = np.memmap(folder / _IDS, np.uintc, mode="r")
        self._ends, self._side = np.memmap(folder / _ENDS, np.int64, mode="r"), side

    def __len__(self) -> int:
        return len(self._ends) // 2

    def __getitem__(self, number: int) -> list[int]:
        sentence = 2 * range(len(self))[number] + self._side
        return self._ids[self._ends[sentence - 1] if sentence else 0 : self._ends[sentence]].tolist()


#: The files of a folder; the facts are written last.
_SRC, _TGT, _IDS, _ENDS, _FACTS = "src.vocabulary.json", "tgt.vocabulary.json", "ids", "ends", "facts.json"


def prepare(
    data: PairData, settings: Settings, folder: Path, *, batch_size: int, notify: Notify = silent
) -> TrainingData:
    """Read a pair file, split it without leaks, learn its vocabularies, and write the ids of its pairs to a folder.

    If an earlier call has done this, the folder is loaded and the pair file is not read. The caller makes sure that the
    file and the arguments are still the same.

    Args:
        data: the file and its split.
        settings: languages, size of the vocabularies and seed of the split.
        folder: for the files of this module alone; made if it does not exist.
        batch_size: sentence pairs per batch.
        notify: gets a message before each part that may take long.

    Raises:
        FileNotFoundError, ValueError: as :func:`utils.corpus.pairs.read_pairs` and
            :func:`utils.corpus.splits.group_split`; or no pair is short enough to train or validate on.
    """
    if not (folder / _FACTS).exists():
        folder.mkdir(parents=True, exist_ok=True)
        _write(data, settings, folder, notify)
    facts = json.loads((folder / _FACTS).read_text("utf-8"))
    facts["rows"]["first_bad"] = {int(number): reason for number, reason in facts["rows"]["first_bad"]}
    return TrainingData(
        Vocabulary.load(folder / _SRC),
        Vocabulary.load(folder / _TGT),
        ShuffledBatches(IdsOnDisk(folder, 0), IdsOnDisk(folder, 1), batch_size=batch_size),
        tuple(facts["valid"]) if facts["valid"] else None,
        [Example(source, tuple(references)) for source, references in facts["test"]],
        Rows(**facts["rows"]),
    )


def _write(data: PairData, settings: Settings, folder: Path, notify: Notify) -> None:
    """Write all files that :func:`prepare` loads."""
    notify(f"reading {' and '.join(map(str, find_files(data.pairs)))}")
    copy = folder / "rows"
    num_good, num_bad, first_bad = _copy_good_rows(data, settings, copy)
    parts = parts_of_rows(_rows(copy), num_test=data.num_test, num_valid=data.num_valid, seed=settings.seed)
    test, valid, learn_from = _choose(copy, parts)
    if data.num_test is None or data.num_valid is None:
        notify(f"holding out {len(test)} pairs to test on and {len(valid)} to validate on")
    first = next(row for _, row in read_rows(data.pairs, data.columns) if not isinstance(row, str))
    show_pairs(data.columns, first, (settings.src, settings.tgt), learn_from, notify)
    learn_from = [pair for pair in learn_from if max(map(len, pair)) <= MAX_LEARNED]
    if not learn_from:
        raise ValueError(f"no pair to train on has at most {MAX_LEARNED} characters on both sides")
    notify(f"learning the vocabularies from {len(learn_from)} pairs")
    src, tgt = (Vocabulary.bpe(side, settings.vocabulary_size) for side in zip(*learn_from, strict=True))
    valid_ids = encode_pairs(valid, src, tgt, max_tokens=data.max_tokens)
    if valid and not valid_ids[0]:
        raise ValueError(f"no pair to validate on has at most {data.max_tokens} tokens on both sides")
    num_train = _write_ids(_train_rows(copy, parts), src, tgt, folder, max_tokens=data.max_tokens)
    if not num_train:
        raise ValueError(f"no pair to train on has at most {data.max_tokens} tokens on both sides")
    copy.unlink()
    rows = Rows(num_good, num_bad, first_bad, num_train, int((parts == TRAIN).sum()) - num_train)
    facts = {
        "rows": asdict(rows) | {"first_bad": list(first_bad.items())},
        "test": examples_of(test),
        "valid": valid_ids if valid else None,
    }
    src.save(folder / _SRC)
    tgt.save(folder / _TGT)
    write_whole(folder / _FACTS, json.dumps(facts, ensure_ascii=False).encode())


def _copy_good_rows(data: PairData, settings: Settings, copy: Path) -> tuple[int, int, dict[int, str]]:
    """Write the good rows as normalised (source, target); return their number, that of bad rows, and the first bad."""
    columns, src, _ = choose_languages(data.columns, settings.src, settings.tgt)
    num_good = num_bad = 0
    first_bad: dict[int, str] = {}
    with naming(copy), copy.open("w", encoding="utf-8", newline="\n") as file:
        for number, row in read_rows(data.pairs, columns):
            if isinstance(row, str):
                num_bad += 1
                if len(first_bad) < 3:
                    first_bad[number] = row
            else:
                num_good += 1
                file.write("\t".join(row if src == columns[0] else row[::-1]) + "\n")
    check_share(data.pairs, num_good, num_bad, first_bad)
    return num_good, num_bad, first_bad


def _rows(copy: Path) -> Iterator[Pair]:
    """The good rows as (source, target); a normalised sentence holds no tab and no line end."""
    with copy.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            source, target = line.removesuffix("\n").split("\t")
            yield source, target


def _train_rows(copy: Path, parts: np.ndarray) -> Iterator[Pair]:
    return (pair for pair, part in zip(_rows(copy), parts, strict=True) if part == TRAIN)


def _choose(copy: Path, parts: np.ndarray) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """The rows to test on, to validate on, and to learn the vocabularies from."""
    held_out = [(pair, part) for pair, part in zip(_rows(copy), parts, strict=True) if part != TRAIN]
    test, valid = ([pair for pair, part in held_out if part == wanted] for wanted in (TEST, VALID))
    every = int((parts == TRAIN).sum()) // LEARNED_FROM + 1
    return test, valid, list(islice(_train_rows(copy, parts), 0, None, every))


def show_pairs(
    columns: Sequence[str],
    first: tuple[str, str],
    languages: tuple[str, str],
    pairs: Sequence[tuple[str, str]],
    notify: Notify,
) -> None:
    """Say which columns of a file are read, show its first row and three pairs, and warn of what is odd in them.

    Args:
        columns: the languages of the file's columns.
        first: the first row, in that order.
        languages: source and target.
        pairs: of the file, in the order of ``languages``.
        notify: gets each message.
    """
    refuse_text(columns=columns, pairs=pairs)
    notify("  " + "  ".join(f"column {n} is {columns[n - 1]}: {shortened(first[n - 1], 60)}" for n in (1, 2)))
    examples = pairs[:: len(pairs) // 1000 + 1]
    for source, target in examples[:: len(examples) // 3 or 1][:3]:
        notify(f"  {languages[0]}: {shortened(source, 60)}  {languages[1]}: {shortened(target, 60)}")
    for warning in warnings_about(languages, first, examples):
        notify(f"warning: {warning}")


def _write_ids(
    pairs: Iterator[Pair], src: Vocabulary, tgt: Vocabulary, folder: Path, *, max_tokens: int
) -> int:
    """Write the ids of the pairs that are short enough; return their number."""
    ends, end = array("q"), 0
    with naming(folder / _IDS), (folder / _IDS).open("wb") as file:
        while some := list(islice(pairs, _AT_ONCE)):
            for pair_ids in zip(*encode_pairs(some, src, tgt, max_tokens=max_tokens), strict=True):
                for ids in pair_ids:
                    array("I", ids).tofile(file)
                    ends.append(end := end + len(ids))
    with naming(folder / _ENDS), (folder / _ENDS).open("wb") as file:
        ends.tofile(file)
    return len(ends) // 2
