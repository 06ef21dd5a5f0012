"""Lists of texts: a text in place of one is refused, since its characters would be taken for words; and an iterator,
which can be read once, gives what a list gives.
"""

import dataclasses
import importlib
import inspect
import pathlib
import pkgutil
from collections.abc import Callable, Iterator

import pytest
from tiny import trained_run

from utils import corpus
from utils.corpus import batches, pairs, splits, vocabulary
from utils.corpus.grammar import join_words
from utils.figures import Alignment
from utils.metrics import alignment_error_rate, bleu, bleu_by_length, chrf, paired_bootstrap
from utils.sentence_encoder import SentenceEncoder
from utils.translator.page import exported
from utils.translator.page.chapter import live_translator
from utils.translator.using import translating

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
    "sentences to translate": lambda: translating.translate_sentences(trained_run(), TEXT),
    "lines to translate": lambda: list(translating.translate_lines(trained_run(), TEXT)),
}


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_text_in_place_of_a_list_is_refused(call):
    with pytest.raises(ValueError, match=r"must be a list|this vocabulary encodes|must be pairs of pos"):
        call()


PAIRS, IDS = [("a b", "b"), ("c", "d")], [[5, 4], [6]]
PAIRS_OF_WORDS = [(WORDS, ["b"]), (["b"], WORDS)]
#: Arguments for every function of ``corpus`` that takes a list; see below.
ARGUMENTS = {
    "batches.make_batch": lambda f, many: f(many(IDS), many(IDS)).tgt.tolist(),
    "batches.pad_ids": lambda f, many: f(many(IDS)).tolist(),
    "batches.batches": lambda f, many: [batch.src.tolist() for batch in f(many(IDS), many(IDS))],
    "batches.ShuffledBatches.__init__": lambda _, many: len(batches.ShuffledBatches(many(IDS), many(IDS))),
    "grammar.join_words": lambda f, many: f(many(WORDS), "en"),
    "pair_warnings.check_sentences": lambda f, many: f(("en", "fr"), many(PAIRS)),
    "pair_warnings.warnings_about": lambda f, many: list(f(("en", "xx"), many([("&amp;", "&lt;")] * 7))),
    "pairs.choose_languages": lambda f, many: f(many(["en", "fr"]), None, "en"),
    "pairs.read_pairs": lambda f, many: f(SAMPLE, many(["en", "zh"])).rows[:3],
    "pairs.read_rows": lambda f, many: next(f(SAMPLE, many(["en", "zh"]))),
    "splits.group_split": lambda f, many: f(many(PAIRS), num_test=1, num_valid=0),
    "splits.parts_of_rows": lambda f, many: f(many(PAIRS), num_test=1, num_valid=0, seed=0).tolist(),
    "splits.groups_of_rows": lambda f, many: f(many(PAIRS)).tolist(),
    "splits.examples_of": lambda f, many: f(many(PAIRS)),
    "text_files.check_characters": lambda f, many: f(many(TEXTS)),
    "vocabulary.Vocabulary.words": lambda f, many: f(many([many(WORDS)])).to_json(),
    "vocabulary.Vocabulary.bpe": lambda f, many: f(many(TEXTS), 300).to_json(),
    "vocabulary.Vocabulary.encode": lambda f, many: (
        f(OF_WORDS, many([many(WORDS), many(["b"])])), f(OF_PIECES, many(TEXTS))
    ),
    "vocabulary.Vocabulary.spans": lambda f, many: f(OF_PIECES, many(TEXTS)),
    "vocabulary.Vocabulary.decode": lambda f, many: f(OF_WORDS, many([4, 5])),
    "vocabulary.Vocabulary.tokens": lambda f, many: f(OF_WORDS, many([4, 5])),
    "vocabulary.encode_pairs": lambda f, many: f(many(PAIRS_OF_WORDS), OF_WORDS, OF_WORDS, max_tokens=3),
}  # fmt: skip
#: They read their lists in each epoch.
READ_AGAIN = {"batches.batches", "batches.ShuffledBatches.__init__"}
SAMPLE = pathlib.Path(corpus.__path__[0], "sample", "cmn.txt")


def functions_of_lists() -> Iterator[tuple[str, Callable]]:
    """The public functions and methods of ``corpus`` that take a sequence or an iterable, by their names."""
    for info in pkgutil.iter_modules(corpus.__path__):
        module = importlib.import_module(f"utils.corpus.{info.name}")
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
                continue
            named = {name: value} if inspect.isfunction(value) else {}
            if inspect.isclass(value) and not dataclasses.is_dataclass(value):
                methods = (method for method in vars(value) if method == "__init__" or method[0] != "_")
                named = {f"{name}.{method}": getattr(value, method) for method in methods}
            for called, function in named.items():
                if inspect.isroutine(function) and any(
                    word in str(parameter.annotation)
                    for parameter in inspect.signature(function).parameters.values()
                    for word in ("abc.Sequence[", "abc.Iterable[")
                ):
                    yield f"{info.name}.{called}", function


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(("name", "function"), list(functions_of_lists()))
def test_an_iterator_is_a_list_or_refused(name, function):
    """A check must not use up what the function reads after it."""
    call = ARGUMENTS[name]
    expected = call(function, list)
    if name in READ_AGAIN:
        with pytest.raises(ValueError, match="src_ids must be a list, got list_iterator"):
            call(function, iter)
    else:
        assert call(function, iter) == expected


def test_every_function_of_lists_is_tried():
    assert {name for name, _ in functions_of_lists()} == set(ARGUMENTS)
