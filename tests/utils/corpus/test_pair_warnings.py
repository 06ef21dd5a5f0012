"""Warnings about pairs: a header, a column without sentences, broken text; and no warning about good pairs."""

import pytest
from tiny import pair_lines

from utils.corpus.pair_warnings import shortened, warnings_about

CHINESE = [("Yes.", "我们今天晚上去看电影。"), ("Yes.", "他在火车站等了两个小时。")]
ENGLISH_FRENCH = [tuple(line.split("\t")) for line in pair_lines()]


@pytest.mark.parametrize(
    ("languages", "sample"),
    [(("en", "fr"), ENGLISH_FRENCH), (("en", "zh"), CHINESE), (("zh", "en"), CHINESE)],
)
def test_good_pairs_are_not_doubted(languages, sample):
    assert list(warnings_about(languages, sample[0], sample)) == []


def test_a_code_that_no_language_has_is_doubted():
    assert list(warnings_about(("en", "xx"), ENGLISH_FRENCH[0], ENGLISH_FRENCH)) == [
        "xx is not a known language code: its text is cut into words at blanks"
    ]


@pytest.mark.parametrize(
    ("languages", "sample", "header"),
    [
        *((("en", "fr"), ENGLISH_FRENCH, tuple(header.split("|"))) for header in (
            "source|target", "src |TGT", "source_text|targetText", "id|Sentences", "lang1|lang2", "English|French",
            '"English"|"French"', "English sentence|French translations", "English (UK)|French (Canada)",
            "en|fr", "eng|fra", "en-US|fr-FR", "[EN]|[FR]", "Sentence (en)|Sentence (fr)", "eng_Latn|fra_Latn",
            "translation.en|translation.fr",
        )),
        (("xx", "en"), [("a", "b")], ("xx", "en")),
    ],
)  # fmt: skip
def test_a_header_is_doubted(languages, sample, header):
    doubt = next(warnings_about(languages, header, sample))
    assert doubt == f"the first row looks like a header, which is no pair: {', '.join(header)}"


@pytest.mark.parametrize(
    "first",
    [
        "English|Anglais", "I speak French.|Je parle français.", "No!|Non !", "12|12", "Text me.|Écris-moi.",
        "It is so.|C'est ça.", "He is French.|Il est français.", "Speak French|Parlez français",
    ],
)  # fmt: skip
def test_a_pair_is_no_header(first):
    assert list(warnings_about(("en", "fr"), tuple(first.split("|")), ENGLISH_FRENCH)) == []


def changed(change) -> list[tuple[str, str]]:
    return [(change(number, first), second) for number, (first, second) in enumerate(ENGLISH_FRENCH)]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda n, _: str(n + 1276),
         "100% of the en column are no sentences but cells such as 1276: the sentences must be"),
        (lambda n, _: f"TED_{n}", "100% of the en column are no sentences but cells such as TED_0"),
        (lambda n, text: "—" if n % 2 else text, "50% of the en column are no sentences but cells such as —:"),
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
    [doubt] = warnings_about(("en", "fr"), ("Go.", "Va !"), changed(change))
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
    assert list(warnings_about(("en", "fr"), ("Go.", "Va !"), sample)) == []


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
