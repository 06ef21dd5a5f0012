"""The sample of real sentences: how it is chosen, and the file that the course ships."""

import re

from studies.sample import MOST_CHARACTERS, MOST_WORDS, NUM_ROWS, SAMPLE, choose
from utils.corpus.pairs import tokenise

ROWS = [
    "I run.\t我跑。\ta",
    "I run!\t我在跑。\tb",  # linked with the first, and with the next
    "Run, I say.\t我在跑。\tc",
    "I see.\t我明白。\td",
    "I run and see.\t我跑，我明白。\te",  # too many characters
    "Indeed.\t的确。\tf",  # a rare word
]


def rows_of(chosen: list[str]) -> str:
    return "".join(row.rpartition("\t")[2] for row in chosen)


def test_whole_groups_of_short_common_rows_are_drawn():
    sizes = {"most_words": 5, "most_characters": 5, "num_common": 8}
    assert rows_of(choose(ROWS, num_rows=99, **sizes)) == "abcd"
    assert rows_of(choose(ROWS, num_rows=99, **sizes | {"most_characters": 7})) == "abcde"
    assert rows_of(choose(ROWS, num_rows=1, **sizes)) in ("abc", "d")
    # The third row is too long now, and its group is left out.
    assert rows_of(choose(ROWS, num_rows=99, **sizes | {"most_words": 4})) == "d"


def test_the_sample_is_short_and_names_its_authors():
    rows = [line.split("\t") for line in SAMPLE.read_text("utf-8").splitlines()]
    assert NUM_ROWS <= len(rows) < NUM_ROWS + 50
    for english, chinese, attribution in rows:
        assert len(tokenise(english, "en")) <= MOST_WORDS
        assert len(tokenise(chinese, "zh")) <= MOST_CHARACTERS
        assert re.fullmatch(
            r"CC-BY 2\.0 \(France\) Attribution: tatoeba\.org #\d+ \(.+\) & #\d+ \(.+\)", attribution
        )
