"""``translate``: translate sentences, the lines of a file or of standard input.

Explained in book/your_translator.
"""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utils.errors import CourseError
from utils.translator.commands import shared
from utils.translator.options import GREEDY, Device, Search

if TYPE_CHECKING:
    from utils.translator.using.translating import Translation

Sentences = Annotated[
    list[str] | None, typer.Argument(metavar="[SENTENCE]...", help="Text; by default standard input.")
]
NBest = Annotated[
    bool,
    typer.Option(
        "--n-best",
        help="Print all hypotheses, the best first, with the number of the sentence and their scores.",
    ),
]
Input = Annotated[Path | None, typer.Option(help="Translate the lines of this file.")]
Output = Annotated[Path | None, typer.Option(help="Write to this file, not to standard output.")]
HeatMap = Annotated[
    Path | None,
    typer.Option(
        help="Draw the attention weights of a single sentence to this file, for example a .png, .svg or .pdf."
    ),
]


@shared.with_search
def translate(
    folder: shared.RunFolder,
    sentences: Sentences = None,
    search: Search = GREEDY,
    n_best: NBest = False,
    input: Input = None,
    output: Output = None,
    as_json: shared.AsJson = False,
    heatmap: HeatMap = None,
    device: shared.OnDevice = Device.AUTO,
) -> None:
    """Translate each sentence, or each line of a file or of standard input, to one line.

    An empty line gives an empty line. With --n-best each sentence gives several lines, each with the number of the
    sentence, a score and a translation, separated by tabs; the score is the mean log-probability per token. With
    --json each sentence gives one line, an object with its tokens and its translations.

    A translation that reaches the length limit is cut off there; its end is not forced. The limit is twice the number
    of source tokens, rounded up to a power of 2, and 10 more. With --json, "finished" is then false. Where a weak run
    repeats itself, --no-repeat-ngram 3 helps.

    A few hundred lines are translated at a time, so a file may be larger than memory.

    Example: attention-course translate runs/fr-en "Où est la gare ?" --heatmap gare.png

    Example: attention-course translate runs/fr-en --beam 5 --input french.txt --output english.txt
    """
    from utils.corpus.whole_files import open_whole
    from utils.translator.devices import choose_device, fast_products
    from utils.translator.runs import load_run
    from utils.translator.using.heatmaps import save_heatmap
    from utils.translator.using.input_lines import Text
    from utils.translator.using.translating import translate_lines

    if sentences and input is not None:
        raise typer.BadParameter("give sentences or --input, not both")
    if not sentences:
        shared.require_text(input, "translate", "sentences, --input FILE")
    for number, sentence in enumerate(sentences or [], start=1):
        try:
            sentence.encode()
        except UnicodeEncodeError as error:
            raise CourseError(f"sentence {number} is not UTF-8") from error
    if heatmap is not None:
        if len(sentences or []) > 1:
            raise CourseError("a heat map shows one sentence, and there are more")
        if not heatmap.suffix:
            raise CourseError(f"{heatmap} must end in a format of pictures, such as .png or .svg")
    shared.check_output(output, folder, input)
    shared.check_output(heatmap, folder, input, output)
    run = load_run(folder, device=choose_device(device))
    if sentences:
        lines = nullcontext(Text(iter(sentences), "arguments", len(sentences)))
    else:
        lines = shared.open_lines(input)
    with (
        lines as text,
        open_whole(output, "w", encoding="utf-8", newline="\n") if output else nullcontext() as file,
        fast_products(),
        shared.with_progress(
            translate_lines(run, text.lines, search, keep_weights=heatmap is not None), text.num_lines
        ) as results,
    ):
        for number, (source, translations) in enumerate(results, start=1):
            if heatmap is not None:
                if number > 1:
                    raise CourseError("a heat map shows one sentence, and there are more")
                save_heatmap(translations[0], heatmap)
            to_print = translations if n_best else translations[:1]
            if as_json:
                typer.echo(_json_line(source, to_print), file=file)
            else:
                for best in to_print:
                    scored = f"{number}\t{best.score:.4f}\t" if n_best else ""
                    typer.echo(scored + best.text, file=file)


def _json_line(source: str, translations: "Sequence[Translation]") -> str:
    objects = [
        {
            "text": translation.text,
            "score": translation.score,
            "tokens": translation.tgt_tokens,
            "finished": translation.finished,
        }
        for translation in translations
    ]
    facts = {"source": source, "source_tokens": translations[0].src_tokens, "translations": objects}
    return json.dumps(facts, ensure_ascii=False)
