"""A text where a list of texts is meant is refused by name: otherwise its characters would be taken for words."""

import pytest
from tiny import trained_run

from utils.corpus import pairs, splits, vocabulary
from utils.corpus.grammar import join_words
from utils.figures import Alignment
from utils.metrics import alignment_error_rate, bleu, bleu_by_length, chrf, paired_bootstrap
from utils.sentence_encoder import SentenceEncoder
from utils.translator.page import exported
from utils.translator.page.chapter import live_translator
from utils.translator.using import aligning, translating

TEXT, WORDS, TEXTS, LINKS = "ab", ["a", "b"], ["a b", "b"], [[(0, 0)]] * 2
OF_WORDS, OF_PIECES = vocabulary.Vocabulary.words([WORDS]), vocabulary.Vocabulary.bpe(TEXTS, 300)

#: Functions of a text. It has as many characters as a list would have items.
CALLS = {
    "words": lambda: join_words(TEXT, "en"),
    "columns": lambda: pairs.read_pairs("none.txt", "en,fr"),
    "pairs of a split": lambda: splits.group_split(TEXT, num_test=0),
    "a pair of a split": lambda: splits.group_split([TEXT, TEXT], num_test=0),
    "sentences to learn words from": lambda: vocabulary.Vocabulary.words([TEXT]),
    "texts to learn pieces from": lambda: vocabulary.Vocabulary.bpe(TEXT, 300),
    "sentences to encode": lambda: OF_WORDS.encode([TEXT]),
    "texts to encode": lambda: OF_PIECES.encode(TEXT),
    "words as texts to encode": lambda: OF_PIECES.encode([WORDS]),
    "source": lambda: Alignment(None, {}, source=TEXT, target=WORDS, name="a", alt="", say=""),
    "target": lambda: Alignment(None, {}, source=WORDS, target=TEXT, name="a", alt="", say=""),
    "hypotheses": lambda: bleu(TEXT, [WORDS, WORDS]),
    "references": lambda: bleu(TEXTS, TEXTS),
    "references of chrF": lambda: chrf(TEXTS, TEXTS),
    "references by length": lambda: bleu_by_length(TEXTS, TEXTS, [3, 5]),
    "first": lambda: paired_bootstrap(TEXT, TEXTS, [WORDS, WORDS]),
    "second": lambda: paired_bootstrap(TEXTS, TEXT, [WORDS, WORDS]),
    "predicted": lambda: alignment_error_rate(["0-0", "1-1"], LINKS),
    "sentences for vectors": lambda: SentenceEncoder.vectors(None, TEXT),
    "examples of a page": lambda: exported.run_content(trained_run(), examples=TEXT),
    "examples of a chapter": lambda: live_translator(None, OF_WORDS, OF_WORDS, title="", examples=TEXT),
    "pairs to align": lambda: aligning.align_pairs(trained_run(), TEXT),
    "a pair to align": lambda: aligning.align_pairs(trained_run(), [TEXT, TEXT]),
    "sentences to translate": lambda: translating.translate_sentences(trained_run(), TEXT),
    "lines to translate": lambda: list(translating.translate_lines(trained_run(), TEXT)),
}


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_text_in_place_of_a_list_is_refused(call):
    with pytest.raises(ValueError, match=r"must be a list|this vocabulary encodes|must be pairs of pos"):
        call()
