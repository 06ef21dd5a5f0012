"""``translate``: translate sentences, the lines of a file or of standard input.

Explained in book/your_translator.
"""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from utils.errors import CourseError
from utils.translator.commands import shared
from utils.translator.options import GREEDY, Device, Search

Sentences = Annotated[
    list[str] | None, typer.Argument(metavar="[SENTENCE]...", help="Text; by default standard input.")
]
Input = Annotated[Path | None, typer.Option(help="Translate the lines of this file.")]
Output = Annotated[Path | None, typer.Option(help="Write to this file, not to standard output.")]


class WithSentences(TyperCommand):
    """A command that says how to give a sentence which begins like an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As of every command, with a longer message for an option that does not exist."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if (
                type(error).__name__ == "NoSuchOption"
            ):  # of click, or of the copy of click that some typers have
                error.message += (
                    ". Put -- before a sentence that begins with -, or give it by standard input."
                )
            raise


@shared.with_search
def translate(
    folder: shared.RunFolder,
    sentences: Sentences = None,
    search: Search = GREEDY,
    input: Input = None,
    output: Output = None,
    device: shared.OnDevice = Device.AUTO,
) -> None:
    """Translate each sentence, or each line of a file or of standard input, to one line.

    An empty line gives an empty line. A few hundred lines are translated at a time, so a file may be larger than
    memory.

    A translation that reaches the length limit is cut off there; its end is not forced. The limit is twice the number
    of source tokens, rounded up to a power of 2, and 10 more. Where a weak run repeats itself, --no-repeat-ngram 3
    helps.

    A sentence that begins with - needs -- before it: translate RUN -- "- Oui."

    Example: attention-course translate runs/fr-en "Où est la gare ?"

    Example: attention-course translate runs/fr-en --beam 5 --input french.txt --output english.txt
    """
    from tqdm import tqdm

    from utils.corpus.whole_files import open_whole
    from utils.translator.devices import choose_device, fast_products
    from utils.translator.runs import load_run
    from utils.translator.using.input_lines import Text
    from utils.translator.using.translating import translate_lines

    if sentences and input is not None:
        raise typer.BadParameter("give sentences or --input, not both")
    if not sentences and input is None and (sys.stdin is None or sys.stdin.isatty()):
        raise typer.BadParameter(
            "nothing to translate: give sentences, --input FILE, or text on standard input"
        )
    for number, sentence in enumerate(sentences or [], start=1):
        try:
            sentence.encode()
        except UnicodeEncodeError as error:
            raise CourseError(f"sentence {number} is not UTF-8") from error
    shared.check_output(output, folder, input)
    run = load_run(folder, device=choose_device(device))
    if sentences:
        lines = nullcontext(Text(iter(sentences), len(sentences)))
    else:
        lines = shared.open_lines(input)
    with (
        lines as text,
        open_whole(output, "w", encoding="utf-8", newline="\n") if output else nullcontext() as file,
        fast_products(),
        tqdm(
            translate_lines(run, text.lines, search),
            total=text.num_lines,
            disable=not shared.at_terminal(),
            unit=" sentences",
            dynamic_ncols=True,
        ) as translations,
    ):
        for translation in translations:
            typer.echo(translation.text, file=file)
