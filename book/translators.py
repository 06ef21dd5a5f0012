"""Write the pages of the translators with today's scripts and styles: `make translators`.

A stored page holds its translator. Where there is no page, the translator is trained first: remove a page to train its
translator again. Those of real sentences need the files of pairs that book/data_and_licences describes, in the folder
`$ATTENTION_DATA/tatoeba`.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import growing
import nbformat
from bs4 import BeautifulSoup

from utils.corpus.whole_files import write_whole
from utils.translator.page.frame import Frame, upright
from utils.translator.page.growing_sentence import growing_page
from utils.translator.page.html import held, page_of, read_page

ASSETS = Path(__file__).parent / "_assets"
#: A notebook that holds a page.
CHAPTER = Path("chapters", "bahdanau_decoder.ipynb")
PAGES = ASSETS / "translators"
#: The sentence with which the page from English to French opens: its translation and weights, which a chapter shows.
#: It lies in the package, which readers have where they have no book.
SENTENCE = Path("utils", "translator", "page", "en-fr.json")
RUNS = Path("_build") / "translators"
#: What the pages say of their sentences, as the licence asks.
SENTENCES = "of Tatoeba (tatoeba.org), CC BY 2.0 FR, collected by ManyThings (manythings.org/anki)"
#: The file of pairs, the options of `attention-course train`, and sentences to begin with.
TRANSLATORS = {
    # The first page of the book loads this one, so it is small.
    "en-fr": (
        "fra.txt",
        "--columns en,fr --src en --tgt fr --vocabulary-size 1500 --width 80 --steps 41200",
        [
            "He does not want to see you today.",
            "My friend bought a new house last year.",
            "She bought a white car last week.",
            "He told me that he would come back.",
            "Mary found the small white flower yesterday.",
        ],
    ),
    "zh-en": (
        "cmn.txt",
        "--columns en,zh --src zh --tgt en --vocabulary-size 4000 --dropout 0.3 --steps 14400",
        [
            "如果明天下雨，我们就待在家里。",
            "汤姆昨天买了一本新书。",
            "我不知道他为什么生气。",
            "她每天早上喝一杯咖啡。",
            "我们坐火车去上海。",
        ],
    ),
    "en-zh": (
        "cmn.txt",
        "--columns en,zh --src en --tgt zh --vocabulary-size 4000 --dropout 0.3 --steps 14400",
        [
            "If it rains tomorrow, we will stay at home.",
            "She drinks a cup of coffee every morning.",
            "It is very cold today.",
            "I do not know why he is angry.",
            "We went to Shanghai by train.",
        ],
    ),
}


def main() -> None:
    """Write each page anew; train, score and export first where there is none."""
    for name in TRANSLATORS:
        path = PAGES / f"{name}.html"
        if not path.exists():
            make_page(name, path)
        write_whole(path, written_anew(path).encode())
    write_whole(SENTENCE, sentence_anew())
    path = PAGES / "bottleneck.html"
    write_whole(path, growing_anew(path).encode())
    notebook = nbformat.read(CHAPTER, as_version=4)
    [output] = [cell.outputs[0] for cell in notebook.cells if cell.id == "bd-live"]
    output.data["text/html"] = frame_anew(output.data["text/html"])
    write_whole(CHAPTER, nbformat.writes(notebook) + "\n")


def written_anew(path: Path) -> str:
    """A stored page of a translator of real sentences, with today's scripts and styles."""
    content, weights = read_page(path.read_text("utf-8"))
    content["facts"]["sentences"] = SENTENCES
    return page_of(content, weights, font=font())


def sentence_anew() -> str:
    """The first sentence of the page from English to French, as JSON."""
    content, _ = read_page((PAGES / "en-fr.html").read_text("utf-8"))
    return json.dumps(content["stored"], ensure_ascii=False, indent=1) + "\n"


def growing_anew(path: Path) -> str:
    """The page of the growing sentence; its translators are trained if there is no page."""
    content = json.loads(held(path.read_text("utf-8"), "facts")) if path.exists() else growing.content()
    return growing_page(content, font=font())


def frame_anew(frame: str) -> str:
    """The page that a chapter has trained, in its frame."""
    held_frame = BeautifulSoup(frame, "html.parser").iframe
    content, weights = read_page(held_frame["srcdoc"])
    return Frame(held_frame["title"], srcdoc=page_of(content, weights, font=font()))._repr_html_()


def font() -> str:
    """The typeface of the book."""
    return upright((ASSETS / "fonts" / "text.css").read_text("utf-8"))


def make_page(name: str, path: Path) -> None:
    """Train a translator, if there is no run yet, score it, and export its page."""
    pairs, options, examples = TRANSLATORS[name]
    run = RUNS / name
    if not run.exists():
        source = Path(os.environ["ATTENTION_DATA"], "tatoeba", pairs)
        course("train", "--pairs", source, *shlex.split(options), "--out", run)
    course("evaluate", run, "--beam", 5)
    listed = run.with_suffix(".txt")
    write_whole(listed, "\n".join(examples) + "\n")
    course("export", run, "--out", path, "--examples", listed)


def course(*words: object) -> None:
    """Run a command of the course."""
    subprocess.run([sys.executable, "-m", "utils", *map(str, words)], check=True)


if __name__ == "__main__":
    main()
