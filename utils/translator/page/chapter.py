"""The page of a translator that a chapter has trained, in a frame of this chapter.

``exported`` writes the page of a run into a file. Explained in chapters/bahdanau_decoder.
"""

from collections.abc import Sequence

import torch

from utils.checks import check_list
from utils.corpus.grammar import join_words
from utils.corpus.vocabulary import EOS, Vocabulary
from utils.errors import CourseError
from utils.search import beam_search
from utils.seq2seq import BahdanauDecoder, EncoderDecoder
from utils.translator.page.frame import Frame, own_translator
from utils.translator.page.html import content_of, stored_example

#: How the page cuts an English sentence of the grammar into its words: "Mary's" is two, and "The" is "the".
READING = {"words": "possessives", "firstLetters": "either"}


def live_translator(
    model: EncoderDecoder,
    src_vocabulary: Vocabulary,
    tgt_vocabulary: Vocabulary,
    *,
    title: str,
    examples: Sequence[Sequence[str]],
) -> Frame:
    """A page in a frame that translates the reader's own English sentences of :mod:`utils.corpus.grammar` into French.

    Args:
        model: an encoder with a :class:`utils.seq2seq.BahdanauDecoder`, in evaluation mode.
        src_vocabulary: the English words.
        tgt_vocabulary: the French words.
        title: says what the frame holds.
        examples: the words of sentences that the reader can choose; the page opens with the first.

    Raises:
        ValueError: another decoder, vocabularies of subwords, no example, or a text in place of a list.
    """
    check_list(examples=examples)
    if not isinstance(model.decoder, BahdanauDecoder):
        raise CourseError(f"the page runs a BahdanauDecoder, got a {type(model.decoder).__name__}")
    if not (src_vocabulary.of_words and tgt_vocabulary.of_words):
        raise CourseError("the vocabularies must be of words, got subwords")
    if not examples:
        raise CourseError("examples must hold at least one sentence, got none")
    ids = torch.tensor(src_vocabulary.encode(examples[:1]))
    [[best, *_]] = beam_search(
        model, ids, torch.tensor([ids.shape[1]]), beam=5, max_len=2 * ids.shape[1] + 10
    )
    sources = [join_words(words, "en") for words in examples]
    content, weights = content_of(
        model,
        {"en": src_vocabulary, "fr": tgt_vocabulary},
        sources,
        stored_example(
            sources[0],
            join_words(tgt_vocabulary.tokens(best.tokens), "fr"),
            src_vocabulary.tokens(ids[0].tolist()),
            tgt_vocabulary.tokens(best.tokens + [EOS] * best.finished),
            best.weights,
        ),
        title=title,
        facts={},
        reading=READING,
    )
    return own_translator(title, content, weights)
