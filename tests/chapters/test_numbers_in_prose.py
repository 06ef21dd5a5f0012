"""A number in the prose of a chapter stands in its code, in an output or in a formula of the page, or has its source.

Whole numbers up to 12 and years are free. Questions and exercises are left out: the numbers of their answers are
computed (see ``test_notebooks.py``), and those of their tasks are given.
"""

import bisect
import json
import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

CHAPTERS = sorted((Path(__file__).parents[2] / "chapters").glob("*.ipynb"))

QUIZ = re.compile(r"^<!-- quiz .*?^</details>$", re.MULTILINE | re.DOTALL)
EXERCISE = re.compile(r"^### Exercise .*", re.MULTILINE | re.DOTALL)
#: Worked on the page: blocks of code, formulas, inline code.
SHOWN = re.compile(r"^```.*?^```|\$\$.*?\$\$|\$[^$]+\$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
#: A link to a source or to another chapter; and a table whose introduction has the link.
CITED = re.compile(r"\]\([^)]+\)|<a href")
#: The names of places, versions and names that hold a number.
NAMED = re.compile(
    r"(?:[Ss]ections?|[Tt]ables?|[Ff]igures?|PyTorch|[A-Z][\w.]*-)\s?\d[\d.]*(?: and \d[\d.]*)?"
)
NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?!\w)")
ANY_NUMBER = re.compile(r"\d[\d,_]*(?:\.\d+)?(?:e-?\d+)?")


def shown_numbers(notebook: NotebookNode) -> list[float]:
    """All numbers in code, outputs and formulas, in order."""
    texts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            texts += SHOWN.findall(cell.source)
            continue
        texts.append(cell.source)
        texts += [json.dumps([output.get("text"), output.get("data")]) for output in cell.outputs]
    found = ANY_NUMBER.findall(" ".join(texts).replace("{,}", ","))
    return sorted({float(number.rstrip(",_").replace(",", "").replace("_", "")) for number in found})


def sentences(notebook: NotebookNode) -> Iterator[str]:
    """The prose before the exercises, without headings, formulas and what has its source."""
    cells = takewhile(lambda cell: not cell.source.startswith("## Exercises"), notebook.cells)
    for text in [cell.source for cell in cells if cell.cell_type == "markdown"]:
        text = SHOWN.sub(" ", EXERCISE.sub("", QUIZ.sub("", text)))
        for paragraph in re.split(r"\n{2,}(?!\|)", text):
            if paragraph.startswith("#") or ("\n|" in paragraph and CITED.search(paragraph)):
                continue
            for sentence in re.split(r"(?<=[.!?:;])\s|\n", paragraph):
                if not CITED.search(sentence):
                    yield NAMED.sub("", sentence)


def is_shown(number: str, shown: list[float]) -> bool:
    """Whether a number of the page rounds to it, as it stands or as a part of 1 for a number per cent."""
    value, digits = float(number.replace(",", "")), len(number.partition(".")[2])
    half = 0.5 * 10**-digits + 1e-9
    at = [bisect.bisect_left(shown, (value - half) * scale) for scale in (1, 0.01)]
    return any(
        i < len(shown) and shown[i] <= (value + half) * scale for i, scale in zip(at, (1, 0.01), strict=True)
    )


def without_source(notebook: NotebookNode) -> list[str]:
    shown = shown_numbers(notebook)
    return [
        f"{number}: {sentence.strip()}"
        for sentence in sentences(notebook)
        for number in NUMBER.findall(sentence)
        if not re.fullmatch(r"\d|1[0-2]|19\d\d|20[0-3]\d", number.rstrip(","))
        and not is_shown(number.rstrip(","), shown)
    ]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_number_in_prose_is_shown_or_has_its_source(path: Path) -> None:
    assert without_source(nbformat.read(path, as_version=4)) == []


def test_a_number_that_nothing_shows_is_found() -> None:
    prose = [
        "We draw 1,300 pairs. BLEU rises to 41.7, by 43 %.",
        "It was 28.4 in [the paper](https://example.org), in 2017 and in section 3.2.",
        "$2 \\cdot 77 = 154$ words, and 154 again.",
        "<!-- quiz a -->\n\n99?\n\n</details>",
        "### Exercise 1: a name (25 minutes)\n\nTake 88 words.",
        "## Exercises\n\nTake 77 words.",
    ]
    output = nbformat.v4.new_output("stream", text="0.434 12\n")
    cells = [nbformat.v4.new_markdown_cell(text) for text in prose]
    cells[1:1] = [nbformat.v4.new_code_cell("draw(1_300)", outputs=[output])]
    assert without_source(nbformat.v4.new_notebook(cells=cells)) == ["41.7: BLEU rises to 41.7, by 43 %."]
