"""Train the translators of `growing` and the one that opens the book, and write their pages: `make translators`.

The last one needs the files of sentence pairs that book/data_and_licences describes, in the folder
`$ATTENTION_DATA/tatoeba`.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import growing

PAGE = Path(__file__).parent / "_assets" / "translators" / "en-fr.html"
RUN = Path("_build") / "translators" / "en-fr"
#: A small model, since the first page loads it.
OPTIONS = shlex.split(
    "--columns en,fr --src en --tgt fr --vocabulary-size 1500 --width 80 --epochs 8 --threads 1"
)
EXAMPLES = [
    "The little girl is eating a red apple.",
    "I found the small key yesterday.",
    "He told me that he would come back.",
    "My mother gave me a new book yesterday.",
    "Mary found the small white flower yesterday.",
]


def main() -> None:
    """Train, where there is no run yet, then score and export."""
    growing.make_page()
    if not RUN.exists():
        course(
            "train",
            "--pairs",
            Path(os.environ["ATTENTION_DATA"], "tatoeba", "fra.txt"),
            *OPTIONS,
            "--out",
            RUN,
        )
    course("evaluate", RUN)
    examples = RUN.with_suffix(".txt")
    examples.write_text("\n".join(EXAMPLES) + "\n", "utf-8")
    course("export", RUN, "--out", PAGE, "--examples", examples)


def course(*words: object) -> None:
    """Run a command of the course."""
    subprocess.run([sys.executable, "-m", "utils", *map(str, words)], check=True)


if __name__ == "__main__":
    main()
