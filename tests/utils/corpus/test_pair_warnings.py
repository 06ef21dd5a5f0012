"""Warnings about pairs: a header, a column without sentences, broken text; and no warning about good pairs."""

import pytest
from tiny import pair_lines

from utils.corpus.pair_warnings import check_sentences, shortened, warnings_about

CHINESE = [("Yes.", "我们今天晚上去看电影。"), ("Yes.", "他在火车站等了两个小时。")]
ENGLISH_FRENCH = [tuple(line.split("\t")) for line in pair_lines()]


@pytest.mark.parametrize(
    ("languages", "sample"),
    [(("en", "fr"), ENGLISH_FRENCH), (("en", "zh"), CHINESE), (("zh", "en"), CHINESE)],
)
def test_good_pairs_are_not_doubted(languages, sample):
    check_sentences(languages, sample)
    assert list(warnings_about(languages, sample)) == []


def test_a_code_that_no_language_has_is_doubted():
    assert list(warnings_about(("en", "xx"), ENGLISH_FRENCH)) == [
        "xx is not a known language code: its text is cut into words at blanks"
    ]


def changed(change) -> list[tuple[str, str]]:
    return [(change(number, first), second) for number, (first, second) in enumerate(ENGLISH_FRENCH)]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda n, _: str(n + 1276),
            "100% of the en column are no sentences but cells such as 1276: the sentences",
        ),
        (lambda n, _: f"TED_{n}", "100% of the en column are no sentences but cells such as TED_0: "),
        (
            lambda n, text: "—" if n % 2 else text,
            "50% of the en column are no sentences but cells such as —: ",
        ),
    ],
)
def test_a_column_without_sentences_is_refused(change, expected):
    with pytest.raises(ValueError, match=expected):
        check_sentences(("en", "fr"), changed(change))
    check_sentences(("xx", "fr"), changed(change))  # no language: dates or sums, for example


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda n, text: f"&quot;{text}&#39;", "100% of the pairs hold HTML entities, such as &quot;"),
        (lambda n, text: f"<div>{text}</div>",
         "100% of the pairs hold tags of HTML or names of sounds, such as <div>"),
        (lambda n, text: text + "[sound:a 1.mp3]" * (n < 12), "names of sounds, such as [sound:a 1.mp3]"),
        (lambda n, text: text + "\ufffd" * (n < 12), "12% of the pairs hold the mark of characters that were"),
        (lambda n, text: text + "clÃ©" * (n < 12), "a wrong decoding, such as Ã© in place of é"),
        (lambda n, text: text + "itâ€™s" * (n < 12), "a wrong decoding, such as â€™ in place of ’"),
        (lambda n, text: text + "â\x80\x99" * (n < 12), "a wrong decoding, such as â\x80\x99 in place of ’"),
    ],
)  # fmt: skip
def test_what_is_odd_in_the_cells_is_said(change, expected):
    [doubt] = warnings_about(("en", "fr"), changed(change))
    assert expected in doubt


@pytest.mark.parametrize(
    "change",
    [
        lambda n, text: text if n % 3 else "12:30",  # a third of the cells
        lambda n, text: f"{text} Q&A, AT&T; R&D; &x;",
        lambda n, text: f"{text} a < b > c, [sic]",
        lambda n, text: f"{text} Spaß, Ça, « CAFÉ », naïve, Привет, 你好",
        lambda n, text: text + "Ã©" * (n == 0),  # a single odd row
        lambda n, text: f"{text} 7",
    ],
)
def test_good_cells_are_not_doubted(change):
    sample = changed(change)
    check_sentences(("en", "fr"), sample)
    assert list(warnings_about(("en", "fr"), sample)) == []


@pytest.mark.parametrize(
    ("text", "num", "expected"),
    [
        ("abc", 5, "abc"),
        ("abc", 2, "ab"),
        ("👨\u200d👩\u200d👧👍🏽🇫🇷e\u0301x", 4, "👨\u200d👩\u200d👧👍🏽🇫🇷e\u0301"),
    ],
)
def test_a_text_is_cut_between_what_a_person_counts(text, num, expected):
    assert shortened(text, num) == expected
