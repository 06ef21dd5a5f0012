"""``align``: align the words of sentence pairs, and score the links if gold links are given.

Explained in book/your_translator.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utils.translator.commands import shared
from utils.translator.options import Device

if TYPE_CHECKING:
    from utils.translator.runs import Run
    from utils.translator.using.aligning import WordAlignment

PairFile = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="Pair file; by default standard input.")
]
Columns = Annotated[
    str | None, typer.Option(help="Languages of the two columns; by default source,target of the run.")
]
Tokenise = Annotated[
    bool, typer.Option("--tokenise", help="Split the sentences into words and marks; by default at blanks.")
]
Gold = Annotated[
    Path | None,
    typer.Option(
        help="File of links by human annotators, one line per pair: print the scores of the run's links."
    ),
]
First = Annotated[int, typer.Option(min=0, max=1, help="Number of the first word in the gold file.")]


def align(
    folder: shared.RunFolder,
    path: PairFile = None,
    columns: Columns = None,
    tokenise: Tokenise = False,
    gold: Gold = None,
    first: First = 0,
    as_json: shared.AsJson = False,
    device: shared.OnDevice = Device.AUTO,
) -> None:
    """Align the words of sentence pairs by the attention of a run, with one line of links per pair.

    A pair is two sentences separated by a tab or by |||. A link i-j joins word i of the first column and word j of the
    second, counted from 0: each target word is linked with the one source word that gets the largest weight. The
    weights are those of the step that predicts the target word, given the true words before it. A line that is no pair
    gets an empty line and a warning; if more than one line in a hundred is none, this is an error.

    With --gold prints the alignment error rate, precision and recall of the links, and those of the diagonal. The gold
    file has i-j for sure links and ipj for possible ones.

    Example: attention-course align runs/en-fr hansards/enfr.src-tgt --gold hansards/enfr.gold --first 1
    """
    from utils.corpus.pairs import choose_languages
    from utils.translator.devices import choose_device, fast_products
    from utils.translator.runs import load_run

    shared.require_text(path, "align", "a pair file")
    run = load_run(folder, device=choose_device(device))
    src, tgt = run.settings.src, run.settings.tgt
    languages, src, _ = choose_languages(columns.split(",") if columns else (src, tgt), src, tgt)
    swapped = languages[0] != src
    with fast_products():
        alignments = _alignments(run, path, swapped=swapped, tokenised=not tokenise)
        if gold is None:
            for alignment in alignments:
                typer.echo(_line(alignment, swapped=swapped, as_json=as_json))
        else:
            _print_scores(list(alignments), gold, first=first, swapped=swapped, as_json=as_json)


def _alignments(
    run: "Run", path: Path | None, *, swapped: bool, tokenised: bool
) -> Iterator["WordAlignment"]:
    """Align the pairs of the file or of standard input; ``swapped`` if the target is the first column."""
    from utils.corpus.pairs import find_file
    from utils.translator.using.aligning import align_lines
    from utils.translator.using.input_lines import read_pair_lines

    if path is not None and not path.is_fifo():  # a pipe is read once, as standard input is
        path = find_file(path)
    with shared.open_lines(path) as text:
        pairs: Iterable[tuple[str, str]] = read_pair_lines(text.file, text.name, shared.tell)
        if swapped:
            pairs = ((source, target) for target, source in pairs)
        with shared.with_progress(align_lines(run, pairs, tokenised=tokenised), text.num_lines) as results:
            yield from results


def _line(alignment: "WordAlignment", *, swapped: bool, as_json: bool) -> str:
    from utils.translator.using.gold_links import format_links

    links = sorted((j, i) if swapped else (i, j) for i, j in alignment.links)
    if not as_json:
        return format_links(links)
    facts = {"source": alignment.src_words, "target": alignment.tgt_words, "links": links}
    return json.dumps(facts, ensure_ascii=False)


def _print_scores(
    alignments: list["WordAlignment"], path: Path, *, first: int, swapped: bool, as_json: bool
) -> None:
    """Print the scores of the links against those of a gold file."""
    from utils.translator.using.aligning import score_alignments
    from utils.translator.using.gold_links import read_gold

    sizes = [(len(alignment.src_words), len(alignment.tgt_words)) for alignment in alignments]
    gold = read_gold(path, [size[::-1] if swapped else size for size in sizes], first=first)
    scores = score_alignments(alignments, [links.swapped() if swapped else links for links in gold])
    if as_json:
        facts = {name: score._asdict() for name, score in scores.items()}
        shared.print_json({"num_sentences": len(alignments)} | facts)
        return
    typer.echo(f"{len(alignments)} sentences\n{'':9}    AER  precision  recall  links")
    for name, score in scores.items():
        typer.echo(
            f"{name:9}  {score.aer:5.1%}  {score.precision:9.1%}  {score.recall:6.1%}  {score.num_links:5}"
        )
