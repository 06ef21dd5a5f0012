"""One HTML file that holds a trained run and translates in the reader's browser, without any other computer.

``html`` makes the page of its content, and of a translator that comes with the course :func:`stored_run` makes a run
again. Explained in book/your_translator.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from utils.checks import check_list
from utils.corpus.languages import name as language_name
from utils.corpus.pairs import normalise
from utils.corpus.whole_files import write_whole
from utils.errors import CourseError
from utils.translator.models import Settings, build_model
from utils.translator.options import Model, Search
from utils.translator.page.html import (
    MAX_CHARACTERS,
    MAX_TOKENS,
    Content,
    content_of,
    page_of,
    stored_content,
    stored_example,
)
from utils.translator.page.stored_model import unpack_weights, vocabulary_of
from utils.translator.runs import Run
from utils.translator.using.translating import source_ids, translate_sentences

#: The number of examples that are taken from the test sentences.
NUM_EXAMPLES = 10
#: How many tokens such an example has.
SHORT = range(6, 13)


def check_export(run: Run, out: Path, examples: Sequence[str]) -> None:
    """Raise an error if a run cannot be exported to a path, before any other work.

    Args:
        examples: sentences to offer; none takes those of the run.

    Raises:
        ValueError: a Transformer, a name that does not end in .html or is a folder's, no examples and no test
            sentences, a text in place of the examples, or an example that the page does not translate.
        FileNotFoundError: a folder that does not exist.
    """
    check_list(examples=examples)
    if run.settings.model != Model.RECURRENT:
        raise CourseError(
            f"only a recurrent translator can be exported, this run is a {run.settings.model}: "
            f"train one without --model {run.settings.model}"
        )
    if out.suffix.lower() != ".html":
        raise CourseError(f"the name of the page must end in .html, got {out.name!r}")
    if out.is_dir():
        raise CourseError(f"{out} is a folder: name a file")
    if not out.parent.is_dir():
        raise FileNotFoundError(f"no folder {out.parent} to write the page to")
    if not examples and not run.test:
        raise CourseError("the run has no test sentences: name a file with --examples")
    for example, ids in zip(examples, source_ids(run, examples), strict=True):
        if not ids:
            raise CourseError(f"an example must have something to translate, got {example!r}")
        if len(example) > MAX_CHARACTERS or len(ids) > MAX_TOKENS:
            raise CourseError(
                f"an example may have {MAX_CHARACTERS} characters and {MAX_TOKENS} tokens, "
                f"got {len(example)} and {len(ids)}: {example[:40]!r}"
            )


def export(
    run: Run,
    out: Path,
    *,
    title: str = "",
    about: str = "",
    examples: Sequence[str] = (),
    evaluation: Mapping[str, Any] | None = None,
) -> int:
    """Write a page that translates with this run; an existing file is replaced.

    Args:
        run: a recurrent translator.
        out: the file, whose name ends in .html.
        title: of the page; by default the two languages.
        about: a text below the title.
        examples: sentences that the reader can choose; by default short ones of the test sentences.
        evaluation: the stored scores of the run, as JSON.

    Returns:
        The size of the file in bytes.

    Raises:
        ValueError, FileNotFoundError: as :func:`check_export`.
    """
    check_export(run, out, examples)
    options = {"title": title, "about": about, "examples": examples, "evaluation": evaluation}
    page = page_of(*run_content(run, **options)).encode()
    write_whole(out, page)
    return len(page)


def run_content(
    run: Run,
    *,
    title: str = "",
    about: str = "",
    examples: Sequence[str] = (),
    evaluation: Mapping[str, Any] | None = None,
) -> tuple[Content, bytes]:
    """What :func:`utils.translator.page.html.page_of` makes a page of; arguments as for :func:`export`."""
    check_list(examples=examples)
    examples = list(examples) or short_examples(run)
    src, tgt = run.settings.src, run.settings.tgt
    names = [language_name(code) or code for code in (src, tgt)]
    [example] = translate_sentences(run, examples[:1], Search(beam=5))
    return content_of(
        run.model,
        {src: run.src_vocabulary, tgt: run.tgt_vocabulary},
        examples,
        stored_example(examples[0], example.text, example.src_tokens, example.tgt_tokens, example.weights),
        title=title,
        about=about
        or f"A small neural translator from {names[0]} to {names[1]}, with attention. It runs in this page: "
        "type a sentence, and see where the decoder looks while it writes each word.",
        facts=_facts(run, evaluation),
        longestInTraining=(run.record or {}).get("data", {}).get("max_tokens"),
    )


def short_examples(run: Run) -> list[str]:
    """Ten short test sentences of the run, evenly spaced, so that the same run gives the same examples.

    Files of pairs are often in order of length, so the last one comes first: the page opens with it.
    """
    sources = list(dict.fromkeys(normalise(example.source, run.settings.src) for example in run.test))
    lengths = map(len, source_ids(run, sources))
    short = [text for text, length in zip(sources, lengths, strict=True) if length in SHORT] or sources
    num = min(NUM_EXAMPLES, len(short))
    return [short[number * len(short) // num] for number in reversed(range(num))]


def _facts(run: Run, evaluation: Mapping[str, Any] | None) -> dict[str, str]:
    """What the page says of the run's training and scores, each fact under its name."""
    facts = {"training": "not recorded", "BLEU": "not measured"}
    if run.record is not None:
        result, pairs = run.record["result"], Path(run.record["data"]["pairs"])
        minutes = f"{round(result['minutes'], 1):g} minutes, {result['steps']:,} steps"
        facts |= {"training": f"{minutes}, on {pairs.name}", "date": result["date"][:10]}
    if evaluation is not None:
        bleu, of = evaluation["bleu"], evaluation["of"]
        facts["BLEU"] = (
            f"{bleu['value']:.1f} on {evaluation['num_sentences']:,} sentences that were held out, with beam "
            f"{of['beam']} ({bleu['signature']}; measured before the weights were rounded to one byte each)"
        )
    return facts


def stored_run(name: str) -> Run:
    """A translator that comes with the course, such as ``zh-en``, without test sentences.

    Its weights are those of its page, which are rounded to one byte each.

    Raises:
        FileNotFoundError: no translator has this name.

    >>> from utils.translator.using.translating import translate_sentences
    >>> translate_sentences(stored_run("zh-en"), ["如果明天下雨，我们就待在家里。"], Search(beam=5))[0].text
    "If it rains tomorrow, we'll stay at home."

    Explained in chapters/chinese_english.
    """
    content, packed = stored_content(name)
    weights = unpack_weights(content["layout"], packed)
    src, tgt = (vocabulary_of(content[side]) for side in ("src", "tgt"))
    settings = Settings(
        *name.split("-"),
        vocabulary_size=len(src),
        d_embed=weights["encoder.embedding.weight"].shape[1],
        d_hidden=weights["encoder.gru.weight_hh_l0"].shape[1],
    )
    model = build_model(settings, len(src), len(tgt))
    model.load_state_dict(weights)
    return Run(settings, model, src, tgt, test=[])
