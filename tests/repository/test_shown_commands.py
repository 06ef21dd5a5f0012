"""Each command that a page, a help text or a docstring shows is run, in a folder with the files that the texts name.

Commands of make are tested elsewhere. A training has two steps here, whatever time the text gives to it.
"""

import json
import re
import runpy
import shlex
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny import STORED_RUN, pair_lines
from torch.distributed.run import get_args_parser as torchrun_parser
from typer.testing import CliRunner

from utils.translator.commands import app

pytestmark = pytest.mark.trains

ROOT = Path(__file__).parents[2]
Command = tuple[str, ...]

#: How the commands begin that are not run, and why not.
NOT_RUN = {
    "python tests/benchmarks/": "they measure for minutes, so they are only imported",
    "attention-course data get minilm": "it downloads 83 to 91 MB; tests/utils/corpus/test_download.py tests it",
    "attention-course data get smollm2": "it downloads 93 to 98 MB; tests/utils/corpus/test_download.py tests it",
    "attention-course data get whisper": "it downloads 133 to 147 MB; tests/utils/corpus/test_download.py tests it",
}
#: What a text writes in place of something that the reader chooses.
PLACEHOLDERS = {"COMMAND": "train", "RUN": "runs/fr-en"}
#: A block of code in Markdown, or a directive, and the word after its backticks.
BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: Options of `train` that say how long it takes.
LENGTHS = ("--minutes", "--steps", "--epochs")


def shown_in_pages() -> Iterator[tuple[str, str]]:
    """The names and the Markdown of the pages, a notebook's without its code."""
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("book/**/*.md"))]:
        yield str(path.relative_to(ROOT)), path.read_text("utf-8")
    for path in sorted(ROOT.glob("chapters/*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        yield path.name, "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def lines_of(text: str) -> Iterator[str]:
    """The lines of blocks for the shell, and the pieces of code within sentences."""
    for language, block in BLOCK.findall(text):
        if language == "bash":
            yield from block.replace("\\\n", " ").splitlines()
    yield from re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))


def commands_in(line: str) -> Iterator[Command]:
    """The commands of the course in a line for the shell: also a part of a pipe, or one with a launcher before it."""
    reader = shlex.shlex(line, posix=True, punctuation_chars="|")
    reader.whitespace_split = True
    try:
        words = [PLACEHOLDERS.get(word, word) for word in reader]
    except ValueError:  # a piece of code with half a quote
        return
    for start, word in enumerate(words):
        after = words[start + 1 : start + 3]
        is_ours = (
            word in ("attention-course", "torchrun")
            or after == ["-m", "utils"]
            or (word == "python" and after[:1] and after[0].startswith("tests/benchmarks/"))
        )
        if is_ours:
            end = words.index("|", start) if "|" in words[start:] else len(words)
            yield tuple(words[start:end])
            if word == "torchrun":  # the command that it starts is a part of it
                return


def shown_commands() -> dict[Command, str]:
    """Each command with the name of the first text that shows it."""
    found: dict[Command, str] = {}
    for name, text in shown_in_pages():
        for line in lines_of(text):
            for words in commands_in(line):
                found.setdefault(words, name)
    for path in sorted([*ROOT.glob("utils/**/*.py"), *ROOT.glob("tests/benchmarks/*.py")]):
        examples = re.findall(r"Example[\w ]*: (.+?)\n *(?:\n|\"\"\")", path.read_text("utf-8"), re.DOTALL)
        for line in [*examples, *re.findall(r"``(.+?)``", path.read_text("utf-8"))]:
            for words in commands_in(" ".join(line.split())):
                found.setdefault(words, str(path.relative_to(ROOT)))
    return found


COMMANDS = shown_commands()
PAGES = dict(shown_in_pages())


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The reader's folder: trained runs, the reader's own files, and the data folder."""
    english_french = "\n".join(pair_lines()) + "\n"
    sample = (ROOT / "utils" / "corpus" / "sample" / "cmn.txt").read_text("utf-8")
    english_chinese = "".join(sample.splitlines(keepends=True)[2000:2150])
    files = {
        "data/tatoeba/fra.txt": english_french,
        "data/tatoeba/cmn.txt": english_chinese,
        "french.txt": "Je vois deux chiens.\n\nNous avons six livres.\n",
        "my.txt": english_chinese,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "cmn-eng.zip", "w") as archive:
        archive.writestr("cmn.txt", english_chinese)
    for run in ("fr-en", "zh-en", "mine", "my_translator"):
        shutil.copytree(STORED_RUN, tmp_path / "runs" / run)
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(words: list[str], folder: Path) -> None:
    """Run a command of the program. One without arguments is only named by the text, so its help is asked for."""
    if words[:1] == ["train"] and "--help" not in words[1:] and len(words) > 1:
        for length in {*LENGTHS}.intersection(words):
            del words[words.index(length) : words.index(length) + 2]
        words += ["--steps", "2"]
        shutil.rmtree(words[words.index("--out") + 1], ignore_errors=True)
    if not words or words in (["train"], ["export"], ["data", "get"]):
        words = [*words, "--help"]
    result = CliRunner().invoke(app, words, input="Je vois deux chiens.\n")
    assert result.exit_code == 0, result.output
    for option in {"--out", "--output"}.intersection(words):
        assert Path(words[words.index(option) + 1]).exists()


@pytest.mark.parametrize(
    "words", COMMANDS, ids=[f"{COMMANDS[words]}: {shlex.join(words)}" for words in COMMANDS]
)
def test_a_shown_command_runs(words: Command, folder: Path, monkeypatch: pytest.MonkeyPatch):
    line = shlex.join(words)
    parts = list(words)
    if line.startswith("python tests/benchmarks/"):
        monkeypatch.syspath_prepend(ROOT / "tests" / "benchmarks")
        assert callable(runpy.run_path(str(ROOT / parts[1]))["main"])
    elif parts[0] == "torchrun":
        started = torchrun_parser().parse_args(parts[1:] or ["--no-python", "attention-course"])
        assert (started.no_python, started.training_script) == (True, "attention-course")
        run(started.training_script_args, folder)
    elif not line.startswith(tuple(NOT_RUN)):
        run(parts[1:] if parts[0] == "attention-course" else parts[3:], folder)


def test_no_line_with_a_command_is_overlooked():
    begins = re.compile(
        r"^ *((?:attention-course|torchrun|python -m utils|python tests/benchmarks)\b.*?)\\?$", re.M
    )
    for name, text in PAGES.items():
        read = list(lines_of(text))
        for start in begins.findall(text):
            assert any(line.strip().startswith(start.strip()) for line in read), f"{name}: {start}"


def test_the_python_of_the_page_on_own_files_runs(folder: Path, capsys):
    (block,) = [
        block for language, block in BLOCK.findall(PAGES["book/your_translator.md"]) if language == "python"
    ]
    exec(block, {})
    assert len(capsys.readouterr().out.splitlines()) >= 3
