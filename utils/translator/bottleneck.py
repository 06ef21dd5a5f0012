"""The page that shows what one vector loses: a sentence grows clause by clause under two translators.

One has attention, the other writes from one vector, and both run in the page. `make translators` trains them.
Explained in chapters/encoder_decoder.
"""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import NamedTuple

import torch
from torch import nn

from utils.corpus.grammar import join_words
from utils.corpus.vocabulary import UNK, Vocabulary
from utils.search import greedy
from utils.seq2seq import EncoderDecoder
from utils.translator.options import Precision
from utils.translator.packed import pack_weights
from utils.translator.page_parts import as_json, drawing, read, style
from utils.translator.recovery import write_atomically

TITLE = "A sentence that grows"
ABOUT = (
    "Two translators from English to French have learned from the same sentences. One looks back at every English word "
    "while it writes. The other must write from one vector. Make the sentence longer and watch both."
)
CAPTION = "A wavy line marks each wrong word. Commas and the full stop count as words."


class Step(NamedTuple):
    """A sentence at one of its lengths, and its right translation, both as words of the grammar corpus."""

    english: Sequence[str]
    french: Sequence[str]


class Look(NamedTuple):
    """How the page shows one of the translators: its name, what it sees of the sentence, and its colour."""

    name: str
    sees: str
    colour: str


LOOKS = (
    Look("with attention", "sees every word at each step", "brown"),
    Look("from one vector", "sees the same {num} numbers at each step", "violet"),
)


def write_bottleneck(
    out: Path,
    translators: Sequence[EncoderDecoder],
    vocabularies: tuple[Vocabulary, Vocabulary],
    stories: Mapping[str, Sequence[Step]],
    facts: Mapping[str, str],
) -> int:
    """Write the page; an existing file is replaced.

    Args:
        out: the file.
        translators: with attention, and from one vector.
        vocabularies: of English and of French words.
        stories: sentences by their names, each from its shortest form to its longest.
        facts: what the page says of itself, each fact under its name.

    Returns:
        The size of the file in bytes.

    Raises:
        ValueError: a word that is not in the vocabularies.
    """
    src, tgt = vocabularies
    for step in (step for steps in stories.values() for step in steps):
        if UNK in src.encode([step.english])[0] + tgt.encode([step.french])[0]:
            raise ValueError(f"the vocabularies lack a word of {' '.join(step.english)!r}")
    names = [f"{number}" for number, _ in enumerate(translators)]
    layout, weights = pack_weights(nn.ModuleDict(dict(zip(names, translators, strict=True))), Precision.INT8)
    example = list(next(iter(stories.values())))[-1]
    num_numbers = 2 * translators[1].encoder.gru.hidden_size
    looks = [look._replace(sees=look.sees.format(num=num_numbers)) for look in LOOKS]
    data = {
        "layout": layout,
        "translators": names,
        "labels": [look.name for look in looks],
        "colours": [look.colour for look in looks],
        "tokens": tgt.tokens(range(len(tgt))),
        "stories": [
            {
                "name": name,
                "steps": [step._asdict() | {"ids": src.encode([step.english])[0]} for step in steps],
            }
            for name, steps in stories.items()
        ],
    }
    cards = [
        _card(look, translation(model, vocabularies, example.english))
        for look, model in zip(looks, translators, strict=True)
    ]
    parts = {
        "title": escape(TITLE),
        "about": escape(ABOUT),
        "english": escape(join_words(example.english, "en")),
        "french": escape(join_words(example.french, "fr")),
        "cards": "".join(cards),
        "facts": "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts.items()),
        "style": f"{style({})}\n{read('bottleneck.css')}",
        "data": as_json(data),
        "weights": base64.b64encode(weights).decode(),
        "script": _script(),
    }
    page = Template(read("bottleneck.html")).substitute(parts).encode()
    write_atomically(out, page)
    return len(page)


def _script() -> str:
    forward = f"{read('forward.js')}\nreturn {{ EOS, greedy, makeModel, unpackWeights }};"
    translating = f"const translating = (() => {{\n{forward}\n}})();"
    return f"(() => {{\n{drawing()}\n{translating}\n{{\n{read('bottleneck.js', 'frame.js')}}}\n}})()"


def translation(
    model: EncoderDecoder, vocabularies: tuple[Vocabulary, Vocabulary], english: Sequence[str]
) -> str:
    """What greedy search writes, as in the page."""
    src, tgt = vocabularies
    [ids] = src.encode([english])
    [hypothesis] = greedy(model, torch.tensor([ids]), torch.tensor([len(ids)]), max_len=2 * len(ids) + 10)
    return join_words(tgt.tokens(hypothesis.tokens), "fr")


def _card(look: Look, text: str) -> str:
    """A translation as the page shows it before its script runs."""
    return (
        f'<section class="card" style="--colour:var(--{look.colour})">'
        f'<h2>{look.name[:1].upper() + look.name[1:]}</h2><p class="how">{escape(look.sees)}</p>'
        f'<p class="french" lang="fr">{escape(text, quote=False)}</p><p class="count"></p></section>'
    )
