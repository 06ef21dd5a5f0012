"""The page that shows what one vector loses: a sentence grows clause by clause under two translators.

One has attention, the other writes from one vector. The page holds what they wrote and which words are right.
`make translators` trains them and writes the page. Explained in chapters/encoder_decoder.
"""

from collections.abc import Container, Mapping, Sequence
from functools import cache
from html import escape
from itertools import groupby
from string import Template
from typing import NamedTuple

import torch

from utils.corpus.text_files import refuse_text
from utils.corpus.vocabulary import UNK, Vocabulary
from utils.search import greedy
from utils.seq2seq import EncoderDecoder
from utils.translator.page.html import Content, around_drawing, as_json, facts_html, read, style


class Step(NamedTuple):
    """A sentence at one of its lengths, and its right translation, both as words of the grammar corpus."""

    english: Sequence[str]
    french: Sequence[str]


def growing_content(
    translators: Sequence[EncoderDecoder],
    vocabularies: tuple[Vocabulary, Vocabulary],
    stories: Mapping[str, Sequence[Step]],
    facts: Mapping[str, str],
) -> Content:
    """What :func:`growing_page` makes a page of: each sentence at each length, with both translations.

    Args:
        translators: with attention, and from one vector.
        vocabularies: of English and of French words.
        stories: sentences by their names, each from its shortest form to its longest.
        facts: what the page says of itself, each fact under its name.

    Raises:
        ValueError: a word that is not in the vocabularies.
    """
    src, tgt = vocabularies
    for step in (step for steps in stories.values() for step in steps):
        if UNK in src.encode([step.english])[0] + tgt.encode([step.french])[0]:
            raise ValueError(f"the vocabularies lack a word of {' '.join(step.english)!r}")
    num_numbers = 2 * translators[1].encoder.gru.hidden_size
    return {
        "translators": [
            {"name": "with attention", "sees": "sees every word at each step", "colour": "brown"},
            {
                "name": "from one vector",
                "sees": f"sees the same {num_numbers} numbers at each step",
                "colour": "violet",
            },
        ],
        "stories": [
            {
                "name": name,
                "steps": [
                    {
                        "english": list(step.english),
                        "french": list(step.french),
                        "translations": [_translation(model, vocabularies, step) for model in translators],
                    }
                    for step in steps
                ],
            }
            for name, steps in stories.items()
        ],
        "facts": dict(facts),
    }


def _translation(model: EncoderDecoder, vocabularies: tuple[Vocabulary, Vocabulary], step: Step) -> Content:
    """The words that greedy search writes, and the places of those that are right."""
    src, tgt = vocabularies
    [ids] = src.encode([step.english])
    [best] = greedy(model, torch.tensor([ids]), torch.tensor([len(ids)]), max_len=2 * len(ids) + 10)
    words = tgt.tokens(best.tokens)
    return {"words": words, "right": right_places(words, step.french)}


def right_places(words: Sequence[str], reference: Sequence[str]) -> list[int]:
    """The places of the words that are also in the reference, in the same order: as many as there can be.

    >>> right_places(["la", "fleur", "blanche", "la"], ["la", "petite", "fleur"])
    [0, 1]
    """

    refuse_text(words=words, reference=reference)

    @cache
    def longest(i: int, j: int) -> tuple[int, ...]:
        if i == len(words) or j == len(reference):
            return ()
        if words[i] == reference[j]:
            return (i, *longest(i + 1, j + 1))
        return max(longest(i + 1, j), longest(i, j + 1), key=len)

    return list(longest(0, 0))


def growing_page(content: Content, *, font: str = "") -> str:
    """The whole page. Before its script runs, it shows the first sentence at its full length.

    Args:
        content: from :func:`growing_content`, or what the page holds under ``facts``.
        font: CSS that declares the typeface ``Course Sans``.
    """
    english, cards, french = [], [], []
    for s, story in enumerate(content["stories"]):
        for k, step in enumerate(story["steps"]):
            is_shown = s == 0 and k == len(story["steps"]) - 1
            place = f'data-step="{s} {k}"' + ("" if is_shown else " hidden")
            shorter = story["steps"][k - 1]["english"] if k else step["english"]
            text = _text(step["english"], _new_places(step["english"], shorter), "<b>", "</b>")
            english.append(f'<p class="english" lang="en" translate="no" {place}>{text}</p>')
            both = map(_card, content["translators"], step["translations"], [step["french"]] * 2)
            cards.append(f'<div class="cards" {place}>{"".join(both)}</div>')
            text = _text(step["french"])
            french.append(f'<p class="french" lang="fr" translate="no" {place}>{text}</p>')
    return Template(read("growing_sentence.html")).substitute(
        english="".join(english),
        cards="".join(cards),
        french="".join(french),
        facts=facts_html(content["facts"]),
        style=style("page.css", "growing_sentence.css", font=font),
        data=as_json(content),
        script=around_drawing("growing_sentence.js", "frame.js"),
    )


def _new_places(words: Sequence[str], shorter: Sequence[str]) -> range:
    """The places of a new clause: those before it are the shorter sentence without its full stop."""
    begins_anew = words[: len(shorter) - 1] != shorter[:-1]
    return range(0) if begins_anew else range(len(shorter) - 1, len(words) - 1)


def _card(translator: Content, translation: Content, reference: Sequence[str]) -> str:
    """What a translator wrote, with its wrong words marked."""
    words, right = translation["words"], translation["right"]
    wrong = set(range(len(words))) - set(right)
    text = _text(words, wrong, '<mark><span class="spoken">wrong: </span>', "</mark>")
    name = translator["name"][:1].upper() + translator["name"][1:]
    return (
        f'<section class="card" style="--colour:var(--{translator["colour"]});'
        f'--share:{len(right) / len(reference):.4f}">'
        f'<h2>{name}</h2><p class="how">{translator["sees"]}</p>'
        f'<p class="french" lang="fr" translate="no">{text}</p>'
        f'<p class="count">{len(right)} of {len(reference)} words right</p></section>'
    )


def _text(words: Sequence[str], marked: Container[int] = (), opening: str = "", closing: str = "") -> str:
    """Words as people write them, as HTML; marked neighbours stand together between the two tags."""

    def written(i: int) -> str:
        if i == 0:
            return words[0][:1].upper() + words[0][1:]
        return words[i] if words[i - 1].endswith("'") or words[i] in (",", ".") else f" {words[i]}"

    html = ""
    for is_marked, places in groupby(range(len(words)), key=marked.__contains__):
        text = "".join(map(written, places))
        inside = escape(text.lstrip(" "), quote=False)
        html += " " * text.startswith(" ") + (f"{opening}{inside}{closing}" if is_marked else inside)
    return html
