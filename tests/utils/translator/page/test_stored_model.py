"""Stored weights and vocabularies, and the scripts that read them in V8, against torch and `tokenizers`."""

import pytest
import torch
from page_engine import Engine, check_searches, odd_strings, random_model
from tiny import STORED_RUN, sentences, trained_run

from utils.corpus.pairs import normalise, tokenise
from utils.corpus.vocabulary import BOS, EOS, PAD, UNK, Vocabulary
from utils.translator.page.stored_model import pack_weights, unpack_weights, vocabulary_facts

TEXTS = [
    "Va !",
    "J'ai mangé une pomme, hier.",
    "Aujourd'hui, c'est l'été.",
    "Don't stop -- it's 1990!",
    "我们喜欢你。",
    "我们不喜欢他们。",
]
BOTH_CELLS = pytest.mark.parametrize("cell", ["gru", "gated"])


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


# The forward pass


@BOTH_CELLS
@pytest.mark.parametrize("num_layers", [1, 2])
def test_both_searches_write_what_torch_writes(engine, cell, num_layers):
    model = random_model(cell=cell, num_layers=num_layers)
    engine.load(model)
    for src in sentences(7):
        check_searches(engine, model, src, max_len=6)


def test_a_trained_run_translates_alike(engine):
    run = trained_run()
    engine.load(run.model)
    for [src] in (run.src_vocabulary.encode([example.source]) for example in run.test):
        check_searches(engine, run.model, src, max_len=26)


def test_chosen_words_are_kept_and_continued(engine):
    model = random_model()
    engine.load(model)
    src, prefix = [4, 5, 6], [7, 8]
    [told] = engine.call("search", {"src": src, "maxLen": 6, "beam": 1, "prefix": prefix})
    assert told["ids"][:2] == prefix
    logits, weights = model(torch.tensor([src]), torch.tensor([3]), torch.tensor([[BOS, *told["ids"][:-1]]]))
    log_p = logits[0].log_softmax(dim=-1)
    assert told["ids"][2:] == log_p[2:].index_fill(1, torch.tensor([PAD, BOS]), -torch.inf).argmax(1).tolist()
    picked = log_p[torch.arange(len(log_p)), told["ids"]]
    assert told["logProb"] == pytest.approx(picked.sum().item(), abs=1e-4)
    torch.testing.assert_close(torch.tensor(told["weights"]), weights[0], rtol=0, atol=1e-4)


def test_each_step_has_its_likeliest_words(engine):
    model = random_model()
    engine.load(model)
    [told] = engine.call("search", {"src": [4, 5, 6], "maxLen": 6, "beam": 1})
    logits, _ = model(torch.tensor([[4, 5, 6]]), torch.tensor([3]), torch.tensor([[BOS, *told["ids"][:-1]]]))
    log_p = logits[0].log_softmax(dim=-1)
    log_p[:, [PAD, BOS]] = -torch.inf
    expected = log_p.topk(5)
    assert [[word["id"] for word in words] for words in told["choices"]] == expected.indices.tolist()
    probabilities = torch.tensor([[word["logP"] for word in words] for words in told["choices"]])
    torch.testing.assert_close(probabilities, expected.values, rtol=0, atol=1e-4)


# Stored weights


def test_the_page_has_the_unpacked_weights(engine):
    model = random_model(num_layers=2)
    engine.load(model, exact=False)
    model.load_state_dict(unpack_weights(*pack_weights(model)))
    for src in sentences(7):
        check_searches(engine, model, src, max_len=6)


# The tokenizer

#: Numbers in the digits of Thai, Lao, Khmer and Myanmar, and what keyboards write for an apostrophe.
WRITTEN = ["๑๒๓ บาท", "ราคา๑๒๓บาท", "໑໒໓", "១២៣", "၁၂၃", "Mary’s", "Maryʼs", "Mary＇s", "l‘été"]
VOCABULARIES = {
    "few subwords": (lambda: Vocabulary.bpe(TEXTS * 3, 420), "fr"),
    "a trained run": (lambda: Vocabulary.load(STORED_RUN / "src.vocabulary.json"), "en"),
    "Chinese": (lambda: Vocabulary.bpe([normalise(text, "zh") for text in TEXTS * 3], 420), "zh"),
}


@pytest.mark.parametrize("name", VOCABULARIES)
def test_subwords_have_the_ids_of_tokenizers(engine, name):
    make, lang = VOCABULARIES[name]
    vocabulary = make()
    texts = [*odd_strings(1000), *TEXTS, *(example.source for example in trained_run().test)]
    cleaned = [normalise(text, lang) for text in texts]
    expected = vocabulary.encode(cleaned)
    for told, text, ids in zip(engine.read(vocabulary, lang, texts), cleaned, expected, strict=True):
        assert (told["text"], told["ids"]) == (text, ids)


@pytest.mark.parametrize("lang", ["en", "fr", "zh", "th", "lo", "km", "my"])
def test_words_have_the_ids_of_the_vocabulary(engine, lang):
    texts = [*TEXTS, *WRITTEN, "<pad> l'homme", "汤姆买了3本book。", "e\u0301te\u0301 👩\u200d👧🏽!"]
    words = [tokenise(normalise(text, lang), lang) for text in texts]
    vocabulary = Vocabulary.words(words[: len(TEXTS) + len(WRITTEN)])
    expected = vocabulary.encode(words)
    assert [told["ids"] for told in engine.read(vocabulary, lang, texts)] == expected
    assert UNK in expected[-1]


def test_digits_form_numbers_and_apostrophes_are_one_sign(engine):
    numbers = ["๑๒๓", "໑໒໓", "១២៣", "၁၂၃"]
    told = engine.read(Vocabulary.words([numbers]), "th", numbers)
    assert [reading["unknown"] for reading in told] == [[]] * 4
    told = engine.read(Vocabulary.words([["Mary's"]]), "en", ["Mary’s Maryʼs Mary＇s Mary's"])
    assert told[0]["ids"] == [4] * 4


def test_unknown_characters_are_named(engine):
    vocabulary = Vocabulary.bpe(TEXTS * 3, 420)
    told = engine.read(
        vocabulary, "fr", ["J'ai Ω et Ω, 😀", "J'ai mangé", "👨\u200d👩\u200d👧 1\ufe0f\u20e3 हि"]
    )
    family = ["👨\u200d👩\u200d👧", "1\ufe0f\u20e3", "हि"]
    assert [reading["unknown"] for reading in told] == [["Ω", "😀"], [], family]
    words = Vocabulary.words([["le", "chat"]])
    assert engine.read(words, "fr", ["le chien <eos>"])[0]["unknown"] == ["chien", "<", "eos", ">"]


@pytest.mark.parametrize("text", [*TEXTS, "😀 naïve 日本", "<0x41>B", "a  b"])
def test_ids_become_the_text_again(engine, text):
    vocabulary = Vocabulary.bpe(TEXTS * 3, 420)
    [ids] = vocabulary.encode([text])
    broken = [*ids, *vocabulary.encode(["日"])[0][1:3]]  # bytes that are no character
    rows = [[BOS, *ids, EOS, PAD], broken]
    engine.call("writes", vocabulary_facts(vocabulary, reads=False))
    assert engine.call("decode", rows) == [" ".join(vocabulary.decode(row).split()) for row in rows]
