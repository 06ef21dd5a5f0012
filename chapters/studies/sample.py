"""The sample of real sentences that the course ships: short English-Chinese pairs of Tatoeba in common words.

Run as ``PYTHONPATH=chapters python -m studies.sample``. It needs ``tatoeba/cmn.txt`` in the data folder
(book/data_and_licences) and writes ``utils/corpus/sample/cmn.txt``. Each row is a line of the file as it is: English,
Chinese, and the attribution that the licence asks for.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib.resources import files

from utils.corpus.pairs import find_file, tokenise
from utils.corpus.splits import groups_of_rows
from utils.corpus.whole_files import write_whole
from utils.translator.using.input_lines import read_lines

SOURCE = "tatoeba/cmn.txt"
SAMPLE = files("utils.corpus").joinpath("sample", "cmn.txt")
NUM_ROWS, MOST_WORDS, MOST_CHARACTERS, NUM_COMMON = 6_000, 8, 12, 1_000


def choose(
    lines: Iterable[str],
    *,
    num_rows: int = NUM_ROWS,
    most_words: int = MOST_WORDS,
    most_characters: int = MOST_CHARACTERS,
    num_common: int = NUM_COMMON,
) -> list[str]:
    """Lines of a pair file in their order: whole groups of linked rows, drawn at random with a fixed seed.

    In a group that can be drawn, all rows are short, and all their English words are common in the file. The last group
    may bring more rows than ``num_rows``.

    Args:
        lines: rows of English, Chinese and attribution, with tabs between them.
        num_rows: drawing ends with the group that reaches this number.
        most_words: English words and punctuation marks of a row.
        most_characters: Chinese characters and punctuation marks of a row.
        num_common: how many of the file's English words are common; a word counts once per row.
    """
    lines = list(lines)
    pairs = [tuple(line.split("\t")[:2]) for line in lines]
    words = [tokenise(english.lower(), "en") for english, _ in pairs]
    counts = Counter(word for row in words for word in sorted(set(row)))
    common = {word for word, _ in counts.most_common(num_common)}
    rows_of_group: dict[int, list[int]] = defaultdict(list)
    for row, group in enumerate(groups_of_rows(pairs).tolist()):
        rows_of_group[group].append(row)

    def fits(row: int) -> bool:
        return (
            len(words[row]) <= most_words
            and len(tokenise(pairs[row][1], "zh")) <= most_characters
            and common.issuperset(words[row])
        )

    groups = [rows for rows in rows_of_group.values() if all(map(fits, rows))]
    random.Random(0).shuffle(groups)
    chosen: list[int] = []
    while groups and len(chosen) < num_rows:
        chosen += groups.pop()
    return [lines[row] for row in sorted(chosen)]


def main() -> None:
    """Write the sample."""
    with find_file(SOURCE).open("rb") as file:
        lines = choose(read_lines(file, SOURCE))
    write_whole(SAMPLE, ("\n".join(lines) + "\n").encode("utf-8"))


if __name__ == "__main__":
    main()
