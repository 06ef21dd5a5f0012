"""Vocabularies: ids that do not change, text that comes back, mistakes that are named."""

import pytest
from tokenizers import Tokenizer, models

from utils.corpus.vocabulary import BOS, EOS, PAD, SPECIAL_TOKENS, UNK, Vocabulary

WORDS = [["le", "chat", "dort"], ["le", "chien", "dort"], ["le", "bel", "arbre"]]
TEXTS = [
    "Va !",
    "J'ai mangé une pomme, hier.",
    "Aujourd'hui, c'est l'été.",
    "Don't stop -- it's 1990!",
    "我们喜欢你。",
    "我们不喜欢他们。",
]


def test_every_vocabulary_has_the_four_special_ids():
    assert (PAD, BOS, EOS, UNK) == (0, 1, 2, 3)
    for vocabulary in (Vocabulary.words(WORDS), Vocabulary.bpe(TEXTS, 400)):
        assert tuple(vocabulary.tokens([PAD, BOS, EOS, UNK])) == SPECIAL_TOKENS


def test_words_are_numbered_by_frequency_then_alphabet():
    vocabulary = Vocabulary.words(WORDS)
    assert vocabulary.tokens(range(len(vocabulary))) == [
        *SPECIAL_TOKENS, "le", "dort", "arbre", "bel", "chat", "chien",
    ]  # fmt: skip


def test_words_encode_decode_and_unknown_ones():
    vocabulary = Vocabulary.words(WORDS)
    ids = vocabulary.encode([["le", "chien", "aboie"], []])
    assert ids == [[4, 9, UNK], []]
    assert vocabulary.decode([BOS, *ids[0], EOS, PAD]) == "le chien <unk>"


def test_words_spelled_like_special_tokens_are_unknown_words():
    vocabulary = Vocabulary.words([["<pad>", "<eos>", "a"]])
    assert len(vocabulary) == 5
    assert vocabulary.encode([["<pad>", "<bos>", "<eos>", "a"]]) == [[UNK, UNK, UNK, 4]]


@pytest.fixture(scope="module")
def bpe() -> Vocabulary:
    return Vocabulary.bpe(TEXTS * 3, 420)


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS,
        "",
        "x  y ",
        "😀 naïve 日本",
        "<eos> <pad>x",
        "<0x41>B",
        "a\nb\tc",
    ],
)
def test_subwords_decode_to_the_very_text(bpe, text):
    [ids] = bpe.encode([text])
    assert bpe.decode([BOS, *ids, EOS, PAD]) == text
    assert UNK not in ids


def test_frequent_words_and_punctuation_are_single_subwords(bpe):
    [ids] = bpe.encode(["J'ai mangé une pomme, hier."])
    assert bpe.tokens(ids) == ["▁J'ai", "▁mangé", "▁une", "▁pomme", ",", "▁hier", "."]
    assert bpe.tokens(bpe.encode(["Va !"])[0]) == ["▁Va", "▁!"]
    assert bpe.tokens(bpe.encode(["我们喜欢他们。"])[0])[-1] == "。"


def test_the_size_is_what_was_asked_for():
    texts = [" ".join(f"{i}{j}" for i in "abcdefg") for j in "hijklmnop"] * 2
    assert len(Vocabulary.bpe(texts, 300)) == 300
    assert len(Vocabulary.bpe(["ab ab"], 5000)) < 300


@pytest.mark.parametrize("make", [lambda: Vocabulary.words(WORDS), lambda: Vocabulary.bpe(TEXTS, 400)])
def test_what_was_saved_is_loaded(make, tmp_path):
    vocabulary = make()
    vocabulary.save(tmp_path / "v.json")
    loaded = Vocabulary.load(tmp_path / "v.json")
    assert len(loaded) == len(vocabulary)
    sentences = [["le", "<eos>"]] if vocabulary.tokens([4]) == ["le"] else ["le <eos> 'chat'"]
    assert loaded.encode(sentences) == vocabulary.encode(sentences)
    assert loaded.to_json() == vocabulary.to_json()


@pytest.mark.parametrize("text", ["a\ud83d", "\ude00b", "\ude00\ud83d"])
def test_half_of_a_character_is_named(bpe, text):
    for call in (bpe.encode, bpe.spans, lambda texts: Vocabulary.bpe(texts, 300)):
        with pytest.raises(ValueError, match=r"got U\+D[8E]\w\w, half of a surrogate pair, in '"):
            call(["le chat", text])
    for call in (Vocabulary.words(WORDS).encode, Vocabulary.words):
        with pytest.raises(ValueError, match=r"got U\+D[8E]\w\w, half of a surrogate pair, in '"):
            call([["le", text]])
    assert bpe.decode(bpe.encode(["\U0001f600"])[0]) == "\U0001f600"


def test_mistakes_are_named(bpe, tmp_path):
    words = Vocabulary.words(WORDS)
    with pytest.raises(ValueError, match="sentences must hold at least one word, got none"):
        Vocabulary.words([])
    with pytest.raises(ValueError, match=r"sentences\[0\] must be a list, got the text 'le chat'"):
        Vocabulary.words(["le chat"])
    with pytest.raises(ValueError, match="texts must hold at least one character, got none"):
        Vocabulary.bpe(["", ""], 400)
    with pytest.raises(ValueError, match=r"size must be at least 263 .* 3 characters .*got 262"):
        Vocabulary.bpe(["ab a"], 262)
    with pytest.raises(ValueError, match="encodes sequences of words, got 'le chat'"):
        words.encode(["le chat"])
    with pytest.raises(ValueError, match=r"encodes texts, got \['le'\]"):
        bpe.encode([["le"]])
    with pytest.raises(FileNotFoundError):
        Vocabulary.load(tmp_path / "none.json")
    for content in ("{}", words.to_json()[:50]):
        (tmp_path / "broken.json").write_text(content)
        with pytest.raises(ValueError, match=r"broken\.json does not hold a vocabulary"):
            Vocabulary.load(tmp_path / "broken.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"binary\.json does not hold a vocabulary"):
        Vocabulary.load(tmp_path / "binary.json")
    Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="b")).save(str(tmp_path / "foreign.json"))
    with pytest.raises(ValueError, match=r"foreign\.json .*ids 0 to 3 differ"):
        Vocabulary.load(tmp_path / "foreign.json")


@pytest.mark.parametrize("wrong", [-1, 6, 10**12])
def test_ids_that_a_vocabulary_does_not_have_are_named(wrong):
    vocabulary = Vocabulary.words([["a", "b"]])
    for read in (vocabulary.decode, vocabulary.tokens):
        with pytest.raises(ValueError, match=rf"ids of this vocabulary are from 0 to 5, got {wrong}$"):
            read([4, wrong])
