"""A text where a list of texts is meant is refused by name, by every function that takes such a list."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from tiny import trained_run

import utils
from utils.corpus import grammar, pair_warnings, pairs, splits, text_files, vocabulary
from utils.figures import Alignment
from utils.metrics import (
    alignment_error_rate,
    bleu,
    bleu_by_length,
    chrf,
    paired_bootstrap,
    reference_streams,
)
from utils.sentence_encoder import SentenceEncoder
from utils.translator.page import exported, html
from utils.translator.page.chapter import live_translator
from utils.translator.training import data
from utils.translator.using import aligning, evaluation, translating
from utils.unknown_words import learn_dictionary, point_at_source, read_pointers, replace_unknown

TEXT, WORDS, TEXTS = "ab", ["a", "b"], ["a b", "b"]
BOTH = [("a", "b"), ("b", "a")]
OF_WORDS, OF_PIECES = vocabulary.Vocabulary.words([WORDS]), vocabulary.Vocabulary.bpe(TEXTS, 300)


def both(call: Callable) -> list[Callable]:
    """A text in place of the pairs, and in place of a pair."""
    return [lambda: call(TEXT), lambda: call([TEXT, TEXT])]


#: From a function and the name of its parameter to calls with a text, which has as many characters as a list has items.
TABLE = {
    "corpus.grammar.join_words words": [lambda: grammar.join_words(TEXT, "en")],
    "corpus.pair_warnings.warnings_about languages": [
        lambda: list(pair_warnings.warnings_about(TEXT, ("a", "b"), BOTH))
    ],
    "corpus.pair_warnings.warnings_about first": [
        lambda: list(pair_warnings.warnings_about(("en", "fr"), TEXT, BOTH))
    ],
    "corpus.pair_warnings.warnings_about sample": [
        lambda: list(pair_warnings.warnings_about(("en", "fr"), ("a", "b"), TEXT))
    ],
    "corpus.pairs.choose_languages columns": [lambda: pairs.choose_languages("en,fr", None, None)],
    "corpus.pairs.read_pairs columns": [lambda: pairs.read_pairs("none.txt", "en,fr")],
    "corpus.pairs.read_rows columns": [lambda: next(pairs.read_rows("none.txt", "en,fr"))],
    "corpus.splits.group_split pairs": both(lambda given: splits.group_split(given, num_test=0)),
    "corpus.splits.parts_of_rows pairs": both(
        lambda given: splits.parts_of_rows(given, num_test=0, num_valid=0, seed=0)
    ),
    "corpus.splits.groups_of_rows pairs": both(splits.groups_of_rows),
    "corpus.splits.examples_of pairs": both(splits.examples_of),
    "corpus.text_files.check_characters texts": [lambda: text_files.check_characters(TEXT)],
    "corpus.vocabulary.Vocabulary.words sentences": both(vocabulary.Vocabulary.words),
    "corpus.vocabulary.Vocabulary.bpe texts": [lambda: vocabulary.Vocabulary.bpe(TEXT, 300)],
    "corpus.vocabulary.Vocabulary.encode sentences": [
        *both(OF_WORDS.encode),
        lambda: OF_PIECES.encode(TEXT),
        lambda: OF_PIECES.encode([WORDS]),
    ],
    "corpus.vocabulary.Vocabulary.spans texts": [lambda: OF_PIECES.spans(TEXT)],
    "corpus.vocabulary.encode_pairs pairs": both(
        lambda given: vocabulary.encode_pairs(given, OF_PIECES, OF_PIECES, max_tokens=7)
    ),
    "figures.kinds.alignment.Alignment source": [
        lambda: Alignment(None, {}, source=TEXT, target=WORDS, name="a", alt="", say="")
    ],
    "figures.kinds.alignment.Alignment target": [
        lambda: Alignment(None, {}, source=WORDS, target=TEXT, name="a", alt="", say="")
    ],
    "metrics.bleu hypotheses": [lambda: bleu(TEXT, [WORDS, WORDS])],
    "metrics.bleu references": both(lambda given: bleu(TEXTS, given)),
    "metrics.chrf hypotheses": [lambda: chrf(TEXT, [WORDS, WORDS])],
    "metrics.chrf references": both(lambda given: chrf(TEXTS, given)),
    "metrics.reference_streams references": both(reference_streams),
    "metrics.bleu_by_length hypotheses": [lambda: bleu_by_length(TEXT, [WORDS, WORDS], [3, 5])],
    "metrics.bleu_by_length references": both(lambda given: bleu_by_length(TEXTS, given, [3, 5])),
    "metrics.paired_bootstrap first": [lambda: paired_bootstrap(TEXT, TEXTS, [WORDS, WORDS])],
    "metrics.paired_bootstrap second": [lambda: paired_bootstrap(TEXTS, TEXT, [WORDS, WORDS])],
    "metrics.paired_bootstrap references": both(lambda given: paired_bootstrap(TEXTS, TEXTS, given)),
    "metrics.alignment_error_rate predicted": [
        lambda: alignment_error_rate(TEXT, [[(0, 0)]] * 2),
        lambda: alignment_error_rate(["0-0", "1-1"], [[(0, 0)]] * 2),
    ],
    "sentence_encoder.SentenceEncoder.vectors sentences": both(
        lambda given: SentenceEncoder.vectors(None, given)
    ),
    "translator.page.exported.check_export examples": [
        lambda: exported.check_export(trained_run(), Path("x.html"), TEXT)
    ],
    "translator.page.exported.export examples": [
        lambda: exported.export(trained_run(), Path("x.html"), examples=TEXT)
    ],
    "translator.page.exported.run_content examples": [
        lambda: exported.run_content(trained_run(), examples=TEXT)
    ],
    "translator.page.chapter.live_translator examples": [
        lambda: live_translator(trained_run().model, OF_WORDS, OF_WORDS, title="", examples=TEXT)
    ],
    "translator.page.chapter.live_translator sentences": [
        lambda: live_translator(
            trained_run().model, OF_WORDS, OF_WORDS, title="", examples=[WORDS], sentences=TEXT
        )
    ],
    "translator.page.html.content_of examples": [lambda: html.content_of(None, {}, TEXT, {}, facts={})],
    "translator.page.html.stored_example src_tokens": [
        lambda: html.stored_example("a", "b", TEXT, WORDS, torch.ones(2, 2))
    ],
    "translator.page.html.stored_example tgt_tokens": [
        lambda: html.stored_example("a", "b", WORDS, TEXT, torch.ones(2, 2))
    ],
    "translator.training.data.show_pairs columns": [
        lambda: data.show_pairs(TEXT, ("a", "b"), ("en", "fr"), BOTH, print)
    ],
    "translator.training.data.show_pairs pairs": [
        lambda: data.show_pairs(("en", "fr"), ("a", "b"), ("en", "fr"), TEXT, print)
    ],
    "translator.using.aligning.align_pairs pairs": both(
        lambda given: aligning.align_pairs(trained_run(), given)
    ),
    "translator.using.aligning.align_lines pairs": both(
        lambda given: list(aligning.align_lines(trained_run(), given))
    ),
    "translator.using.aligning.detokenise words": [lambda: aligning.detokenise(TEXT, "en")],
    "translator.using.aligning.text_for_model words": [lambda: aligning.text_for_model(TEXT, "en")],
    "translator.using.evaluation.examples_in columns": [
        lambda: evaluation.examples_in(trained_run(), "none.txt", "en,fr")
    ],
    "translator.using.translating.check_sizes texts": [lambda: translating.check_sizes(TEXT)],
    "translator.using.translating.source_ids sentences": [
        lambda: translating.source_ids(trained_run(), TEXT)
    ],
    "translator.using.translating.translate_sentences sentences": [
        lambda: translating.translate_sentences(trained_run(), TEXT)
    ],
    "translator.using.translating.translate_lines lines": [
        lambda: list(translating.translate_lines(trained_run(), TEXT))
    ],
    "translator.using.translating.n_best sentences": [
        lambda: translating.n_best(trained_run(), TEXT, translating.GREEDY)
    ],
    "unknown_words.learn_dictionary sources": both(
        lambda given: learn_dictionary(given, [WORDS, WORDS], [[(0, 0)]] * 2)
    ),
    "unknown_words.learn_dictionary targets": both(
        lambda given: learn_dictionary([WORDS, WORDS], given, [[(0, 0)]] * 2)
    ),
    "unknown_words.replace_unknown tokens": [lambda: replace_unknown(TEXT, WORDS, torch.ones(2, 2))],
    "unknown_words.replace_unknown src_words": [lambda: replace_unknown(WORDS, TEXT, torch.ones(2, 2))],
    "unknown_words.point_at_source tgt_words": [lambda: point_at_source([3, 3], TEXT, WORDS, vocab_size=5)],
    "unknown_words.point_at_source src_words": [lambda: point_at_source([3, 3], WORDS, TEXT, vocab_size=5)],
    "unknown_words.read_pointers src_words": [lambda: read_pointers([5], list, TEXT, vocab_size=5)],
}


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("calls", TABLE.values(), ids=TABLE)
def test_a_text_in_place_of_a_list_is_refused(calls):
    for call in calls:
        with pytest.raises(ValueError, match=r"must be a list|this vocabulary encodes|must be pairs of pos"):
            call()


def public_functions() -> Iterator[tuple[str, Callable]]:
    """All functions and methods with their names, but for those that take labels, word tables or answers."""
    left_out = re.compile(r"utils\.(__main__|exercises|figures|translator\.commands|corpus\.grammar\.)")
    for module in pkgutil.walk_packages(utils.__path__, "utils."):
        if left_out.match(module.name):
            continue
        for name, thing in vars(importlib.import_module(module.name)).items():
            if getattr(thing, "__module__", "") != module.name or name.startswith("_"):
                continue
            members = vars(thing).items() if inspect.isclass(thing) else [(None, thing)]
            for member, function in members:
                function = getattr(function, "__func__", function)  # of a class method
                if inspect.isfunction(function) and not (member or "").startswith("_"):
                    path = [module.name.removeprefix("utils."), name, *([member] if member else [])]
                    yield ".".join(path), function


def test_no_function_is_forgotten():
    """A parameter that is a list of texts stands in the table."""
    a_list = re.compile(r"(collections\.abc\.)?(Sequence|Iterable|list)\[(?!dict).*\bstr\b")
    found = {
        f"{name} {parameter.name}"
        for name, function in public_functions()
        for parameter in inspect.signature(function).parameters.values()
        if a_list.match(str(parameter.annotation))
    }
    assert sorted(found - TABLE.keys()) == []
