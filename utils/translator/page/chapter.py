"""The page of a translator, made of a model and two vocabularies, and this page in a frame of a chapter.

``export`` writes the page of a run into a file. The scripts of the page lie in the folder ``page``.
Explained in book/api/command_line.
"""

import base64
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from string import Template

import torch

from utils.corpus.grammar import join_words
from utils.corpus.languages import has_blanks
from utils.corpus.languages import name as language_name
from utils.corpus.vocabulary import BOS, Vocabulary
from utils.search import beam_search
from utils.seq2seq import BahdanauDecoder, EncoderDecoder
from utils.translator.frames import Frame
from utils.translator.options import Precision
from utils.translator.packed import language_facts, pack_weights, vocabulary_facts
from utils.translator.page_parts import as_json, drawing, read, style

#: How the page cuts an English sentence of the grammar into its words: "Mary's" is two, and "The" is "the".
READING = {"words": "possessives", "firstLetters": "either"}
#: The most words that are offered as the next one.
NUM_NEXT = 10
#: Two words lead to a list of their own if they are followed by a word at least so often.
OFTEN = 30


def live_translator(
    model: EncoderDecoder,
    src_vocabulary: Vocabulary,
    tgt_vocabulary: Vocabulary,
    *,
    title: str,
    examples: Sequence[Sequence[str]],
    sentences: Sequence[Sequence[str]] = (),
) -> Frame:
    """A page in a frame that translates the reader's own English sentences of :mod:`utils.corpus.grammar` into French.

    Args:
        model: an encoder with a :class:`utils.seq2seq.BahdanauDecoder`, in evaluation mode.
        src_vocabulary: the English words.
        tgt_vocabulary: the French words.
        title: says what the frame holds.
        examples: the words of sentences that the reader can choose; the page opens with the first.
        sentences: the words of the training sentences, from which the page learns which words to offer next; without
            them it offers none.

    Raises:
        ValueError: another decoder, vocabularies of subwords, or no example.

    Explained in chapters/bahdanau_decoder.
    """
    if not isinstance(model.decoder, BahdanauDecoder):
        raise ValueError(f"the page runs a BahdanauDecoder, got a {type(model.decoder).__name__}")
    if not (src_vocabulary.of_words and tgt_vocabulary.of_words):
        raise ValueError("the vocabularies must be of words, got subwords")
    if not examples:
        raise ValueError("examples must hold at least one sentence, got none")
    ids = torch.tensor(src_vocabulary.encode(examples[:1]))
    [[best, *_]] = beam_search(
        model, ids, torch.tensor([ids.shape[1]]), beam=5, max_len=2 * ids.shape[1] + 10
    )
    parts = parts_of_page(
        model,
        {"en": src_vocabulary, "fr": tgt_vocabulary},
        [join_words(words, "en") for words in examples],
        join_words(tgt_vocabulary.tokens(best.tokens), "fr"),
        title=title,
        reading=READING,
        followers=followers(src_vocabulary.encode(sentences)) or None,
        numNext=NUM_NEXT,
    )
    return Frame(title, srcdoc=page_of(parts, {"model": about_model(model, Precision.INT8)}))


def followers(sentences: Sequence[Sequence[int]]) -> dict[str, list[int]]:
    """The words that follow a word, or two words, in sentences of token ids, the most frequent first.

    Returns:
        At most ``NUM_NEXT`` ids under the id of the word before, or under two ids with a blank between them if these
        two are followed by a word at least ``OFTEN`` times. The beginning of a sentence is the word ``BOS``.

    >>> followers([[4, 5, 6], [4, 5], [4, 6]])
    {'1': [4], '4': [5, 6], '5': [6]}
    """
    counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for sentence in sentences:
        before = [BOS, *sentence]
        for place, word in enumerate(sentence):
            counts[f"{before[place]}"][word] += 1
            if place:
                counts[f"{before[place - 1]} {before[place]}"][word] += 1
    often = {key: words for key, words in counts.items() if " " not in key or words.total() >= OFTEN}
    return {key: [word for word, _ in words.most_common(NUM_NEXT)] for key, words in often.items()}


def parts_of_page(
    model: EncoderDecoder,
    vocabularies: Mapping[str, Vocabulary],
    examples: Sequence[str],
    translation: str,
    *,
    title: str = "",
    about: str = "",
    picture: str = "",
    precision: Precision = Precision.INT8,
    reading: Mapping[str, str] | None = None,
    **data: object,
) -> dict[str, str]:
    """What the template ``page.html`` needs, but for the facts that the page states.

    Args:
        vocabularies: of the source and of the target, each under the code of its language.
        examples: sentences that the reader can choose; the page opens with the first.
        translation: of the first example, for a reader without scripts.
        title: by default the two languages.
        about: a text below the title.
        picture: HTML that stands below the translation for a reader without scripts.
        precision: of the stored weights.
        reading: what is different from :func:`utils.translator.packed.language_facts` of the source.
        data: more of what the scripts of the page need.
    """
    (src, src_vocabulary), (tgt, tgt_vocabulary) = vocabularies.items()
    names = {side: [code, language_name(code) or code] for side, code in (("src", src), ("tgt", tgt))}
    layout, weights = pack_weights(model, precision)
    data |= {
        "layout": layout,
        "src": vocabulary_facts(src_vocabulary, reads=True),
        "tgt": vocabulary_facts(tgt_vocabulary, reads=False),
        "language": language_facts(src) | dict(reading or {}),
        "targetHasBlanks": has_blanks(tgt),
        "names": names,
        "examples": examples[:1],
    }
    return {
        "title": escape(title or f"{names['src'][1]} to {names['tgt'][1]}"),
        "about": escape(about),
        "src": escape(src),
        "tgt": escape(tgt),
        "src_name": escape(names["src"][1]),
        "examples": "".join(f'<button type="button">{escape(text)}</button>' for text in examples),
        "example": escape(examples[0]),
        "translation": escape(translation),
        "picture": picture,
        "style": style(vocabularies),
        "data": as_json(data),
        "weights": base64.b64encode(weights).decode(),
        "worker": read("forward.js", "tokenizer.js", "worker.js"),
        "script": f"(() => {{\n{drawing()}\n{{\n{read('page.js', 'frame.js')}}}\n}})()",
    }


def page_of(parts: Mapping[str, str], facts: Mapping[str, str]) -> str:
    """The whole page.

    Args:
        parts: from :func:`parts_of_page`.
        facts: what the page says of itself, each fact under its name.
    """
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts.items())
    return Template(read("page.html")).substitute(parts, facts=rows)


def about_model(model: EncoderDecoder, precision: Precision) -> str:
    """What the page says of the model."""
    num_weights = sum(parameter.numel() for parameter in model.parameters())
    return f"recurrent, with additive attention: {num_weights:,} weights, stored as {precision}"
