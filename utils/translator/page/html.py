"""The page of a translator, made of its content and its weights.

``exported`` and ``chapter`` make the content, and ``translators`` has that of the stored translators. The template, the
style and the scripts lie beside this file.
Explained in book/your_translator.
"""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import torch
from torch import Tensor

from utils.checks import check_list
from utils.corpus.languages import has_blanks, script
from utils.corpus.languages import name as language_name
from utils.corpus.vocabulary import Vocabulary
from utils.figures import Alignment
from utils.figures.chinese import font_face
from utils.figures.colours import COLOURS
from utils.figures.live import script as figure_script
from utils.figures.still import read as without_comments
from utils.seq2seq import EncoderDecoder
from utils.translator.page.stored_model import language_facts, pack_weights, vocabulary_facts

#: What a page is made of, in types that JSON can hold.
Content = dict[str, Any]
#: The most characters of a text that the page translates, and the most tokens: more would keep a phone busy for long.
MAX_CHARACTERS, MAX_TOKENS = 2000, 200
#: The columns of pixels of the stored picture, on a desk and on a phone.
_WIDTHS = (720, 336)


def content_of(
    model: EncoderDecoder,
    vocabularies: Mapping[str, Vocabulary],
    examples: Sequence[str],
    stored: Content,
    *,
    title: str = "",
    about: str = "",
    facts: Mapping[str, str],
    **more: object,
) -> tuple[Content, bytes]:
    """What :func:`page_of` makes a page of.

    Args:
        model: an encoder with a :class:`utils.seq2seq.BahdanauDecoder`, in evaluation mode.
        vocabularies: of the source and of the target, each under the code of its language.
        examples: sentences that the reader can choose; the page opens with the first.
        stored: the first example, from :func:`stored_example`.
        title: by default the two languages.
        about: a text below the title.
        facts: what else the page says of itself, each fact under its name.
        more: content for the scripts. ``reading`` has what is different from
            :func:`utils.translator.page.stored_model.language_facts` of the source.

    Returns:
        The content and the weights.
    """
    check_list(examples=examples)
    (src, src_vocabulary), (tgt, tgt_vocabulary) = vocabularies.items()
    names = {side: [code, language_name(code) or code] for side, code in (("src", src), ("tgt", tgt))}
    layout, weights = pack_weights(model)
    num_weights = sum(parameter.numel() for parameter in model.parameters())
    content = {
        "title": title or f"{names['src'][1]} to {names['tgt'][1]}",
        "about": about,
        "names": names,
        "examples": list(examples),
        "stored": stored,
        "facts": {
            "languages": f"{names['src'][1]} ({src}) to {names['tgt'][1]} ({tgt})",
            "model": f"recurrent, with additive attention: {num_weights:,} weights of one byte each",
            **facts,
        },
        "src": vocabulary_facts(src_vocabulary, reads=True),
        "tgt": vocabulary_facts(tgt_vocabulary, reads=False),
        "targetHasBlanks": has_blanks(tgt),
        "layout": layout,
        **more,
    }
    return content, weights


def stored_example(
    text: str, translation: str, src_tokens: Iterable[str], tgt_tokens: Iterable[str], weights: Tensor
) -> Content:
    """An example with its translation and its attention weights, for a reader whose browser runs no translator.

    Args:
        text: the example.
        translation: of the example.
        src_tokens: the columns of the weights.
        tgt_tokens: the rows of the weights, with the end of sentence.
        weights: tgt x src.
    """
    check_list(src_tokens=src_tokens, tgt_tokens=tgt_tokens)
    return {
        "text": text,
        "translation": translation,
        "source": [_as_written(token) for token in src_tokens],
        "target": [_as_written(token) for token in tgt_tokens],
        "weights": weights.double().round(decimals=4).tolist(),
    }


def stored_content(name: str) -> tuple[Content, bytes]:
    """What :func:`page_of` makes the page of a stored translator of, such as ``en-fr``."""
    folder = files("utils.translator.page") / "translators"
    return json.loads((folder / f"{name}.json").read_text("utf-8")), (folder / f"{name}.weights").read_bytes()


def _as_written(token: str) -> str:
    """A token of a picture, about as the script of the page writes it."""
    return "end" if token == "<eos>" else token.removeprefix("▁") or "␣"


def page_of(content: Content, weights: bytes, *, font: str = "") -> str:
    """The whole page.

    Args:
        content: from :func:`content_of` or :func:`stored_content`.
        weights: likewise.
        font: CSS that declares the typeface ``Course Sans``.
    """
    (src, src_name), (tgt, _) = content["names"]["src"], content["names"]["tgt"]
    stored = content["stored"]
    content = content | {
        "language": language_facts(src) | content.get("reading", {}),
        "maxCharacters": MAX_CHARACTERS,
        "maxTokens": MAX_TOKENS,
    }
    buttons = (
        f'<button type="button" lang="{escape(src)}" dir="auto" translate="no">{escape(text)}</button>'
        for text in content["examples"]
    )
    # Examples and what the page says of itself may have characters that no token has.
    chinese = [side for side in ("src", "tgt") if script(content["names"][side][0]) == "Hans"]
    written = [token for side in chinese for token in content[side]["tokens"]]
    written += content["examples"] if "src" in chinese else []
    written += [content["title"], content["about"], *content["facts"].values()] if chinese else []
    return Template(read("page.html")).substitute(
        title=escape(content["title"]),
        about=escape(content["about"]),
        src=escape(src),
        tgt=escape(tgt),
        src_name=escape(src_name),
        examples="".join(buttons),
        example=escape(stored["text"]),
        translation=escape(stored["translation"]),
        picture=_still_picture(stored),
        facts=facts_html(content["facts"]),
        style=style("page.css", font=font + font_face("Chinese", "".join(written))),
        data=as_json(content),
        weights=base64.b64encode(weights).decode(),
        worker=read("forward.js", "tokenizer.js", "worker.js"),
        script=around_drawing("wording.js", "picture.js", "page.js", "frame.js"),
    )


def _still_picture(stored: Content) -> str:
    """The alignment of the stored example as a picture, on a desk and on a phone."""
    figure = Alignment(
        lambda: {"weights": torch.tensor(stored["weights"], dtype=torch.float64)},
        {},
        source=stored["source"],
        target=stored["target"],
        name="stored",
        alt="",
        say="",
    )
    desk, phone = (
        "data:image/svg+xml;base64," + base64.b64encode(figure.draw(width).encode()).decode()
        for width in _WIDTHS
    )
    alt = f"Bands from the first word of the translation to the tokens that it looks at: {stored['translation']}"
    return (
        f'<picture><source media="(max-width: 30rem)" srcset="{phone}">'
        f'<img alt="{escape(alt)}" src="{desk}"></picture>'
    )


def facts_html(facts: Mapping[str, str]) -> str:
    """What a page says of itself, as the rows of a list of descriptions."""
    return "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts.items())


def style(*names: str, font: str = "") -> str:
    """The style sheets with these names, after the colours of the roles and a font.

    A browser without ``light-dark()`` has the colours of light pages.
    """
    light = "".join(f"--{name}:{pair[0]};" for name, pair in COLOURS.items())
    both = "".join(f"--{name}:light-dark({light},{dark});" for name, (light, dark) in COLOURS.items())
    supported = f"@supports (color:light-dark(red,red)){{:root{{{both}}}}}"
    return f"{font}:root{{{light}}}{supported}\n{read(*names)}"


def around_drawing(*names: str) -> str:
    """The scripts with these names in one function, after those of the course's figures, which they draw with."""
    return f"(() => {{\n{figure_script(kinds=['alignment'])}{read(*names)}}})()"


def read(*names: str) -> str:
    """The files of this folder with these names, one after the other, without comments and indents."""
    return "\n".join(without_comments(name, files("utils.translator.page")) for name in names)


def as_json(value: object) -> str:
    """JSON that cannot close the element that it stands in."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
