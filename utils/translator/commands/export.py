"""``export``: write a page that translates with a run in the browser.

Explained in book/your_translator.
"""

from pathlib import Path
from typing import Annotated

import typer

from utils.errors import CourseError
from utils.translator.commands import shared

Out = Annotated[Path, typer.Option(help="The page to write, a file whose name ends in .html.")]
Title = Annotated[str, typer.Option(help="Title of the page; by default the two languages.")]
About = Annotated[str, typer.Option(help="Text below the title.")]
Examples = Annotated[
    Path | None,
    typer.Option(
        help="Offer the lines of this file as examples; by default ten short test sentences of the run."
    ),
]


def export(
    folder: shared.RunFolder,
    out: Out,
    title: Title = "",
    about: About = "",
    examples: Examples = None,
) -> None:
    """Write a web page that translates with a recurrent run: one file, which needs no network and no Python.

    The page opens from the disk, also on a phone. It translates while you type, shows where the decoder looks while it
    writes each word, and lets you choose another word, from which it writes the rest anew.

    Example: attention-course export runs/fr-en --out fr-en.html
    """
    from utils.corpus.text_files import check_characters
    from utils.translator.page.exported import check_export
    from utils.translator.page.exported import export as write_page
    from utils.translator.runs import load_run
    from utils.translator.using.evaluation import stored_evaluation

    shared.check_output(out, folder, examples)
    check_characters([title, about])
    sentences = _sentences(examples) if examples else []
    run = load_run(folder)
    check_export(run, out, sentences)
    size = write_page(
        run,
        out,
        title=title,
        about=about,
        examples=sentences,
        evaluation=stored_evaluation(folder, run),
    )
    typer.echo(f"{out}: {size / 1e6:.1f} MB")


def _sentences(path: Path) -> list[str]:
    """The lines of a file in which something can be seen."""
    from utils.corpus.pairs import clean

    with shared.open_lines(path) as text:
        sentences = [line.strip() for line in text.lines if clean(line, "en")]
    if not sentences:
        raise CourseError(f"{path} holds no sentence")
    return sentences
