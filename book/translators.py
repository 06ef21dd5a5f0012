"""Train the translators that come with the course: `make translators`.

One whose files are there is left as it is: remove its files to train it again. Its training reads the files of pairs
that book/data_and_licences describes, in the folder `$ATTENTION_DATA/tatoeba`. When the book is built, `page_mending`
makes the pages.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from utils.corpus.whole_files import write_whole
from utils.translator.page.exported import run_content
from utils.translator.page.html import as_json
from utils.translator.runs import load_run
from utils.translator.using.evaluation import stored_evaluation

STORED = Path("utils", "translator", "page", "translators")
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
    """Train, score and store each translator that has no files."""
    for name in TRANSLATORS:
        if not (STORED / f"{name}.json").exists():
            store(name)


def store(name: str) -> None:
    """Train a translator, if there is no run yet, score it, and write what its page is made of."""
    pairs, options, examples = TRANSLATORS[name]
    folder = RUNS / name
    if not folder.exists():
        source = Path(os.environ["ATTENTION_DATA"], "tatoeba", pairs)
        course("train", "--pairs", source, *shlex.split(options), "--out", folder)
    course("evaluate", folder, "--beam", 5)
    run = load_run(folder)
    content, weights = run_content(run, examples=examples, evaluation=stored_evaluation(folder, run))
    content["facts"]["sentences"] = SENTENCES
    write_whole(STORED / f"{name}.weights", weights)
    write_whole(STORED / f"{name}.json", as_json(content).encode() + b"\n")


def course(*words: object) -> None:
    """Run a command of the course."""
    subprocess.run([sys.executable, "-m", "utils", *map(str, words)], check=True)


if __name__ == "__main__":
    main()
