"""One HTML file that holds a trained translator and runs it in the reader's browser, without any other computer.

``live`` makes the page, ``packed`` turns weights and vocabularies into bytes and JSON.
Explained in book/api/command_line.
"""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from utils.corpus.languages import name as language_name
from utils.corpus.pairs import normalise
from utils.figures import Alignment
from utils.translator.live import about_model, page_of, parts_of_page
from utils.translator.options import Model, Precision, Search
from utils.translator.recovery import write_atomically
from utils.translator.runs import Record, Run
from utils.translator.translating import Translation, source_ids, translate_sentences

#: The number of examples that are taken from the test sentences.
NUM_EXAMPLES = 10
#: How many tokens such an example has.
SHORT = range(6, 13)
#: The columns of pixels of the stored picture, on a desk and on a phone.
_WIDTHS = (720, 336)


def check_export(run: Run, out: Path, examples: Sequence[str]) -> None:
    """Raise an error if a run cannot be exported to a path, before any other work.

    Args:
        examples: sentences to offer; none takes those of the run.

    Raises:
        ValueError: a Transformer, a name that does not end in .html, or no examples and no test sentences.
        FileNotFoundError: a folder that does not exist.
    """
    if run.settings.model != Model.RECURRENT:
        raise ValueError(
            f"only a recurrent translator can be exported, this run is a {run.settings.model}: "
            f"train one without --model {run.settings.model}"
        )
    if out.suffix.lower() != ".html":
        raise ValueError(f"the name of the page must end in .html, got {out.name!r}")
    if not out.parent.is_dir():
        raise FileNotFoundError(f"no folder {out.parent} to write the page to")
    if not examples and not run.test:
        raise ValueError("the run has no test sentences: name a file with --examples")


def export(
    run: Run,
    out: Path,
    *,
    title: str = "",
    about: str = "",
    examples: Sequence[str] = (),
    precision: Precision = Precision.INT8,
    evaluation: Mapping[str, Any] | None = None,
) -> int:
    """Write a page that translates with this run; an existing file is replaced.

    Args:
        run: a recurrent translator.
        out: the file, whose name ends in .html.
        title: of the page; by default the two languages.
        about: a text below the title.
        examples: sentences that the reader can choose; by default short ones of the test sentences.
        precision: of the stored weights.
        evaluation: the stored scores of the run, as JSON.

    Returns:
        The size of the file in bytes.

    Raises:
        ValueError, FileNotFoundError: as :func:`check_export`, a record of another version of this course, or as
            :func:`utils.translator.translating.translate_sentences` for the first example.
    """
    check_export(run, out, examples)
    examples = list(examples) or short_examples(run)
    names = {side: language_name(code) or code for side, code in _languages(run).items()}
    [example] = translate_sentences(run, examples[:1], Search(beam=5))
    facts = _facts(run, names, precision, evaluation)
    parts = parts_of_page(
        run.model,
        {run.settings.src: run.src_vocabulary, run.settings.tgt: run.tgt_vocabulary},
        examples,
        example.text,
        title=title,
        about=about or _default_about(names),
        picture=_still_picture(example),
        precision=precision,
        maxTokens=(run.record or {}).get("data", {}).get("max_tokens"),
    )
    facts["size"] = f"{len(page_of(parts, facts).encode()) / 1e6:.1f} MB"
    page = page_of(parts, facts).encode()
    write_atomically(out, page)
    return len(page)


def short_examples(run: Run) -> list[str]:
    """Ten short test sentences of the run, evenly spaced, so that the same run gives the same examples.

    Files of pairs are often in order of length, so the last one comes first: the page opens with it.
    """
    sources = list(dict.fromkeys(normalise(example.source, run.settings.src) for example in run.test))
    lengths = map(len, source_ids(run, sources))
    short = [text for text, length in zip(sources, lengths, strict=True) if length in SHORT] or sources
    num = min(NUM_EXAMPLES, len(short))
    return [short[number * len(short) // num] for number in reversed(range(num))]


def _languages(run: Run) -> dict[str, str]:
    return {"src": run.settings.src, "tgt": run.settings.tgt}


def _default_about(names: Mapping[str, str]) -> str:
    return (
        f"A small neural translator from {names['src']} to {names['tgt']}, with attention. It runs in this page: "
        "type a sentence, and see where the decoder looks while it writes each word."
    )


def _facts(
    run: Run,
    names: Mapping[str, str],
    precision: Precision,
    evaluation: Mapping[str, Any] | None,
) -> dict[str, str]:
    """What the page says of itself, each fact under its name."""
    settings = run.settings
    facts = {
        "languages": f"{names['src']} ({settings.src}) to {names['tgt']} ({settings.tgt})",
        "model": about_model(run.model, precision),
        "training": "not recorded",
        "BLEU": "not measured",
    }
    if run.record is not None:
        facts |= _training(run.record)
    if evaluation is not None:
        bleu, of = evaluation["bleu"], evaluation["of"]
        facts["BLEU"] = (
            f"{bleu['value']:.1f} on {evaluation['num_sentences']:,} sentences that were held out, with beam "
            f"{of['beam']} ({bleu['signature']}; measured before the weights were stored as {precision})"
        )
    return facts


def _training(record: Record) -> dict[str, str]:
    try:
        result, pairs = record["result"], Path(record["data"]["pairs"])
        minutes = f"{round(result['minutes'], 1):g} minutes, {result['steps']:,} steps"
        return {"training": f"{minutes}, on {pairs.name}", "date": result["date"][:10]}
    except (KeyError, TypeError) as error:
        raise ValueError(f"the record of the run is of another version of this course: {error}") from error


def _still_picture(translation: Translation) -> str:
    """The alignment of a translation as a picture, for a reader without scripts, on a desk and on a phone."""
    if translation.weights is None:
        return ""
    weights = translation.weights.double().round(decimals=4)
    figure = Alignment(
        lambda: {"weights": weights},
        {},
        source=_as_written(translation.src_tokens),
        target=_as_written(translation.tgt_tokens),
        name="stored",
        alt="",
        say="",
    )
    desk, phone = (
        "data:image/svg+xml;base64," + base64.b64encode(figure.draw(width).encode()).decode()
        for width in _WIDTHS
    )
    alt = f"Bands from the first word of the translation to the tokens that it looks at: {translation.text}"
    return (
        f'<picture><source media="(max-width: 30rem)" srcset="{phone}">'
        f'<img alt="{escape(alt)}" src="{desk}"></picture>'
    )


def _as_written(tokens: Sequence[str]) -> list[str]:
    """The tokens of a picture, about as the script of the page writes them."""
    return ["end" if token == "<eos>" else token.removeprefix("▁") or "␣" for token in tokens]
