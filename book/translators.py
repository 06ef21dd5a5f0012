"""Train the translators of the pages and write these pages: `make translators`.

Those of real sentences need the files of pairs that book/data_and_licences describes, in the folder
`$ATTENTION_DATA/tatoeba`.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import growing

PAGES = Path(__file__).parent / "_assets" / "translators"
RUNS = Path("_build") / "translators"
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
        "--columns en,zh --src zh --tgt en --vocabulary-size 4000 --dropout 0.3 --steps 3600",
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
        "--columns en,zh --src en --tgt zh --vocabulary-size 4000 --dropout 0.3 --steps 3600",
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
    """Train, where there is no run yet, then score and export."""
    growing.make_page()
    for name, (pairs, options, examples) in TRANSLATORS.items():
        run = RUNS / name
        if not run.exists():
            path = Path(os.environ["ATTENTION_DATA"], "tatoeba", pairs)
            course("train", "--pairs", path, *shlex.split(options), "--out", run)
        course("evaluate", run, "--beam", 5)
        listed = run.with_suffix(".txt")
        listed.write_text("\n".join(examples) + "\n", "utf-8")
        course("export", run, "--out", PAGES / f"{name}.html", "--examples", listed)


def course(*words: object) -> None:
    """Run a command of the course."""
    subprocess.run([sys.executable, "-m", "utils", *map(str, words)], check=True)


if __name__ == "__main__":
    main()
