"""The command line as a user meets it: what is printed, where, and with which status."""

import errno
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from inspect import signature
from pathlib import Path

import pytest
import typer
from tiny import STORED_RUN, pair_lines, trained_run, write_pairs
from torch.optim.optimizer import register_optimizer_step_post_hook
from typer.testing import CliRunner

from utils.corpus.download import CORPORA
from utils.translator.commands import NAME, app
from utils.translator.devices import fast_products
from utils.translator.options import Search
from utils.translator.runs import load_run, save_run
from utils.translator.using.translating import translate_sentences

pytestmark = pytest.mark.trains

ROOT = Path(__file__).parents[3]
SMALL = ["--vocabulary-size", "360", "--width", "13"]


def invoke(*arguments: object, stdin: str | bytes | None = None):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def output(*arguments: object, stdin: str | bytes | None = None) -> str:
    """The result of a command that must succeed."""
    result = invoke(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def mistake(*arguments: object, stdin: str | bytes | None = None) -> str:
    """The error of a command that must fail: the last line of what it tells, and no result."""
    result = invoke(*arguments, stdin=stdin)
    assert (result.exit_code, result.stdout) == (1, "")
    *told, error, end = result.stderr.split("\n")
    assert not any(line.startswith("error: ") for line in told)
    assert error.startswith("error: ")
    assert end == ""
    return error


def train_options(folder: Path, *more: object) -> list[object]:
    pairs = write_pairs(folder / "pairs.txt")
    return ["train", "--pairs", pairs, "--src", "en", "--tgt", "fr", "--out", folder / "run", *SMALL, *more]


def swapped(text: str) -> str:
    """The same pairs with the columns in the other order."""
    return "".join("\t".join(reversed(line.split("\t"))) + "\n" for line in text.splitlines())


@pytest.fixture
def folder(tmp_path) -> Path:
    save_run(trained_run(), tmp_path / "own")
    return tmp_path / "own"


@pytest.fixture
def arguments(tmp_path, folder, monkeypatch) -> Callable[[str], list[str]]:
    """Split a command as a shell does, and put paths in place of the names in braces."""
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    paths = {"tmp": tmp_path, "run": folder, "pairs": write_pairs(tmp_path / "pairs.txt")}
    return lambda command: [part.format(**paths) for part in shlex.split(command)]


# Bad commands

EN_FR = "train --pairs {pairs} --out new --src en --tgt fr " + " ".join(SMALL)
MISTAKES = [
    ("train --pairs {pairs} --out new --columns en,en", "columns must be two different language codes"),
    ("train --pairs {pairs} --out new --columns en,fr --src de", "the two columns en and fr, got de"),
    ("train --pairs {pairs} --out new", "name the columns, or both source and target"),
    (f"{EN_FR} --src english", "two or three letters, such as en, zh, pt-BR; got 'english'"),
    (f"{EN_FR} --width 1000000", "allocate memory"),
    (f"{EN_FR} --out {{pairs}}", "pairs.txt exists already: name a new folder"),
    (f"{EN_FR} --out {{run}}", "exists already: name a new folder"),
    (f"{EN_FR} --pairs pipe", "not a regular file"),
    (f"{EN_FR} --pairs none.txt", "none.txt"),
    ("translate nowhere a", "holds no trained run"),
    ("translate {run} a \udcff", "error: sentence 2 is not UTF-8"),
    ("translate {run} --input {pairs} --output {pairs}", "pairs.txt: name another file"),
    ("translate {run} a --output {run}/run.json", "own/run.json: name another file"),
    ("translate {run} a --output own/src.vocabulary.json", "src.vocabulary.json: name another file"),
    ("export {run} --examples {pairs} --out {pairs}", "pairs.txt: name another file"),
    (f"translate {{run}} '{'dogs ' * 1001}'", "tokens, the limit is 1000: split 'dogs dogs"),
    (f"translate {{run}} {'x' * 100_001}", "a sentence has 100001 characters"),
    ("evaluate {run} --on {pairs} --columns de,en", "must be the two columns"),
    ("export {run} --out new.txt", "the name of the page must end in .html, got 'new.txt'"),
    ("export {run} --out new.html --examples /dev/null", "/dev/null holds no sentence"),
    ("export {run} --out new.html --title \udcff", "a text must hold whole characters, got U+DCFF"),
]


@pytest.mark.parametrize(("command", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_a_mistake_is_one_line(arguments, tmp_path, command, message):
    assert message in mistake(*arguments(command))
    assert not list(tmp_path.glob("new*"))


def test_a_fault_of_the_program_keeps_its_traceback(folder, monkeypatch):
    """Only the course's own errors, and those of the system, are mistakes of a user."""
    monkeypatch.setattr("utils.translator.runs.load_run", lambda *_, **__: int("no number"))
    with pytest.raises(ValueError, match="invalid literal"):
        invoke("translate", folder, "a")


def test_debug_shows_every_traceback(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no trained run"):
        invoke("--debug", "translate", tmp_path, "a")
    assert "holds no trained run" in mistake("translate", tmp_path, "a")  # and the next command none


def words_with_a_path() -> Iterator[tuple[list[str], str]]:
    """For each parameter of each command that is a path: a command with a place in it for this path."""
    waiting = [([], typer.main.get_command(app))]
    while waiting:
        words, command = waiting.pop()
        parts = getattr(command, "commands", {})
        waiting += [([*words, name], part) for name, part in parts.items()]
        if parts:
            continue
        types = {name: str(p.annotation) for name, p in signature(command.callback).parameters.items()}
        for path in command.params:
            if "Path" in types.get(path.name, ""):
                all_words = list(words)
                for parameter in command.params:  # the arguments come in their order
                    if parameter is path or parameter.required:
                        of_option = parameter.opts[:1] if parameter.param_type_name == "option" else []
                        value = "cmn" if "DataName" in types[parameter.name] else "x"
                        all_words += [*of_option, NOBODY if parameter is path else value]
                yield all_words


NOBODY = "~nobody-has-this-name/x"
WITH_A_PATH = list(words_with_a_path())


def test_the_paths_are_found() -> None:
    assert len(WITH_A_PATH) >= 11
    assert ["train", "--pairs", "x", "--out", NOBODY] in WITH_A_PATH


@pytest.mark.parametrize("words", WITH_A_PATH, ids=shlex.join)
def test_every_path_may_begin_at_a_home(words):
    """In one that nobody has, so that the error shows that this path was looked at."""
    result = invoke(*words)
    assert result.exit_code == 2
    assert f"{NOBODY}: there is no such home folder" in in_one_line(result)


def test_the_home_of_the_user_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lines").write_text("I see two dogs.\n", encoding="utf-8")
    output("translate", STORED_RUN, "--input=~/lines", "--output=~/translated")
    assert {path.name for path in tmp_path.iterdir()} == {"lines", "translated"}


def in_one_line(result) -> str:
    """What a command has printed, without the frame around it."""
    return " ".join((result.stdout + result.stderr).replace("│", "").split())


WRONG_OPTIONS = [
    (f"{EN_FR} --minutes 0", "minutes must be positive and finite, got 0.0"),
    (f"{EN_FR} --minutes nan", "minutes must be positive and finite, got nan"),
    (f"{EN_FR} --steps=1", "--steps"),
    (f"{EN_FR} --model=lstm", "--model"),
    (f"{EN_FR} --steps 2 --minutes 2", "give --minutes or --steps, not both"),
    (f"{EN_FR} --model transformer --width 14", "the width of a Transformer must be"),
    ("translate {run} a --beam 0", "beam must be from 1 to 100, got 0"),
    ("evaluate {run} --length-penalty nan", "length_penalty must be from 0 to 10, got nan"),
    ("evaluate {run} --no-repeat-ngram=-1", "no_repeat_ngram must be from 0 to 1000, got -1"),
    ("translate {run} a --input {pairs}", "give sentences or --input, not both"),
    ("evaluate {run} --columns fr,en", "--columns needs --on"),
    (
        "translate {run} '- Two dogs.'",
        "Put -- before a sentence that begins with -, or give it by standard input",
    ),
    ("translate {run} -Two", "Put -- before a sentence that begins with -"),
    ("export {run}", "--out"),
    ("data get deu", "cmn"),
    ("", "Usage"),
]


@pytest.mark.parametrize(("command", "message"), WRONG_OPTIONS, ids=[command for command, _ in WRONG_OPTIONS])
def test_a_wrong_option_has_status_2(arguments, tmp_path, command, message):
    result = invoke(*arguments(command))
    assert result.exit_code == 2
    assert message in in_one_line(result)
    assert not list(tmp_path.glob("new*"))


def test_a_sentence_may_begin_like_an_option():
    sentence = "- I see two dogs."
    [text] = [translation.text for translation in translate_sentences(trained_run(), [sentence])]
    assert output("translate", STORED_RUN, "--", sentence) == f"{text}\n"
    assert output("translate", STORED_RUN, stdin=sentence) == f"{text}\n"


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (RuntimeError("not enough memory:\nyou tried"), 1, "error: not enough memory: you tried\n"),
        (
            OSError(errno.EROFS, "Read-only file system", "/disc/run"),
            1,
            "error: /disc/run cannot be used: read-only file system\n",
        ),
        (
            OSError(errno.EXDEV, "Invalid cross-device link", "a", None, "b"),
            1,
            "error: a and b cannot be used: invalid cross-device link\n",
        ),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            1,
            "error: the system says: no space left on device\n",
        ),
        (OSError("a cable is missing"), 1, "error: a cable is missing\n"),
    ],
)
def test_what_ends_a_command_is_one_line(monkeypatch, error, status, message):
    monkeypatch.setattr("utils.translator.runs.load_run", raising(error))
    result = invoke("translate", STORED_RUN, "a")
    assert (result.exit_code, result.stdout, result.stderr) == (status, "", message)
    monkeypatch.setattr("utils.translator.runs.load_run", raising(RuntimeError("a bug")))
    with pytest.raises(RuntimeError, match="a bug"):  # a fault of the program is not hidden
        invoke("translate", STORED_RUN, "a")


def raising(error: BaseException) -> Callable[..., None]:
    def raise_it(*_: object, **__: object) -> None:
        raise error

    return raise_it


# data get


@pytest.fixture
def small_corpora(monkeypatch, tmp_path) -> None:
    """The corpora of the course, of a few sentences and without an address, and an empty data folder."""
    corpora = {name: replace(corpus, num_rows=11, ways=()) for name, corpus in CORPORA.items()}
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("utils.corpus.download.CORPORA", corpora)


@pytest.mark.usefixtures("small_corpora")
def test_data_get_tells_the_terms_of_a_file(tmp_path):
    printed = output("data", "get", "fra", "--from", write_pairs(tmp_path / "mine.txt"))
    path = tmp_path / "data" / "tatoeba" / "fra.txt"
    first, edition, _, licence, attribution = printed.splitlines()
    assert first == f"{path}: {len(pair_lines())} pairs"
    assert edition == "not the edition of 2019-04-07, on which this course measures"
    assert licence.startswith("licence CC BY 2.0 FR")
    assert attribution == "attribution tatoeba.org and www.manythings.org/anki"
    assert output("data", "get", "fra") == printed  # there already
    path.write_text("I see.\tJe vois.\n" * 13, encoding="utf-8")
    assert "add --replace to write over it" in mistake("data", "get", "fra", "--from", tmp_path / "mine.txt")
    assert output("data", "get", "fra", "--from", path, "--replace").startswith(f"{path}: 13 pairs\n")
    result = invoke("data", "get", "cmn")  # no address gives it
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("error: no address gave cmn.txt:\n")


# train


def test_any_pair_of_languages_needs_no_code(tmp_path):
    """German, which ``utils`` does not mention: read, trained and translated."""
    verbs = {
        "Ich höre": "I hear",
        "Wir grüßen": "We greet",
        "Ihr sucht": "You seek",
        "Sie malt": "She paints",
    }
    things = {"Mädchen": "girls", "Vögel": "birds", "Straßen": "streets", "Äpfel": "apples", "Züge": "trains"}
    numbers = {"zwei": "two", "drei": "three", "fünf": "five"}
    lines = [
        f"{verb} {number} {thing}.\t{verbs[verb]} {numbers[number]} {things[thing]}.\tCC BY"
        for verb in verbs
        for number in numbers
        for thing in things
    ]
    (tmp_path / "deu.tsv").write_text("\r\n".join(lines), encoding="utf-8-sig")
    out = tmp_path / "runs" / "de-en"
    options = ["--pairs", tmp_path / "deu.tsv", "--src", "de", "--tgt", "en", "--steps", 3]
    printed = output("train", *options, "--out", out, *SMALL)
    assert f"60 pairs, {60 - 6 - 6} to train on\n" in printed
    assert re.search(r"3 steps, \d+ target tokens per second\nheld-out loss \d\.\d{3} nats", printed)
    assert (load_run(out).settings.src, load_run(out).settings.tgt) == ("de", "en")
    assert load_run(out).test[0].source.split()[0] in {"Ich", "Wir", "Ihr", "Sie"}
    assert len(output("translate", out, "Ich höre fünf Vögel.").splitlines()) == 1


def test_a_transformer_is_used_like_the_other_model(tmp_path):
    size = ["--model", "transformer", "--width", 12, "--layers", 2]
    output(*train_options(tmp_path, *size, "--steps", 6))
    out = tmp_path / "run"
    texts = [translation.text for translation in translate_sentences(load_run(out), ["I see two dogs.", ""])]
    assert output("translate", out, "I see two dogs.", "").splitlines() == texts
    assert "\n7 sentences\n" in output("evaluate", out)


def test_ctrl_c_keeps_the_state_for_resume(tmp_path):
    options, out = train_options(tmp_path), tmp_path / "run"
    is_third = iter([False, False, True])
    interrupt = register_optimizer_step_post_hook(
        lambda *_: signal.raise_signal(signal.SIGINT) if next(is_third, False) else None
    )
    try:
        result = invoke(*options, "--steps", "5")
    finally:
        interrupt.remove()
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-2:] == [
        "the same command with --resume continues from here",
        "interrupted",
    ]
    assert "--resume" in mistake(*options, "--steps", "5")
    assert "dropout was 0.1, now 0.3" in mistake(*options, "--steps", "5", "--resume", "--dropout", "0.3")
    assert f"{out}: 5 steps, " in output(*options, "--steps", "5", "--resume")
    assert len(output("translate", out, "I see two dogs.").splitlines()) == 1


def test_train_shows_pairs_and_what_is_odd(tmp_path):
    options = train_options(tmp_path, "--steps", 2, "--tgt", "cmn", "--resume")
    text = (tmp_path / "pairs.txt").read_text("utf-8")
    (tmp_path / "pairs.txt").write_text(f"English\tChinese\n{text.replace('.', '&quot;')}", encoding="utf-8")
    told = invoke(*options).stderr.splitlines()
    assert told[:4] == [
        f"warning: no training into {tmp_path / 'run'} was interrupted: this one begins anew",
        f"reading {tmp_path / 'pairs.txt'}",
        "holding out 8 pairs to test on and 8 to validate on",
        "  column 1 is en: English  column 2 is zh: Chinese",
    ]
    assert sum(line.startswith("  en: ") and "  zh: " in line for line in told) == 3
    assert any("pairs hold HTML entities, such as &quot;" in line for line in told)


# translate


def test_sentences_are_translated_one_line_each(tmp_path):
    sentences = ["I see two dogs.", "", "We have six books."]
    texts = [translation.text for translation in translate_sentences(trained_run(), sentences)]
    assert output("translate", STORED_RUN, *sentences).splitlines() == texts
    assert output("translate", STORED_RUN, stdin="\n".join(sentences)).splitlines() == texts
    assert output("translate", STORED_RUN, stdin="") == ""
    source, target = tmp_path / "source.txt", tmp_path / "target.txt"
    source.write_text("\n".join(sentences), encoding="utf-8")
    assert output("translate", STORED_RUN, "--input", source, "--output", target) == ""
    assert target.read_bytes().decode() == "\n".join(texts) + "\n"


def test_translations_replace_a_file_when_they_are_complete(tmp_path):
    source, target = tmp_path / "source.txt", tmp_path / "target.txt"
    target.write_text("mine")
    source.write_bytes(b"I see two dogs.\n\xff\n")
    result = invoke("translate", STORED_RUN, "--input", source, "--output", target)
    assert (result.exit_code, target.read_text()) == (1, "mine")
    source.write_bytes(b"\n")
    assert output("translate", STORED_RUN, "--input", source, "--output", target) == ""
    assert target.read_text() == "\n"
    assert {path.name for path in tmp_path.iterdir()} == {"source.txt", "target.txt"}


def test_the_options_of_a_search_reach_it(folder):
    sentences = ["dogs dogs dogs dogs", ""]
    search = Search(beam=3, length_penalty=0.0, no_repeat_ngram=1)
    options = ["--beam", 3, "--length-penalty", 0, "--no-repeat-ngram", 1]
    with fast_products():  # as the command does; it differs on processors with bfloat16 products
        expected = [translation.text for translation in translate_sentences(trained_run(), sentences, search)]
    assert output("translate", folder, *sentences, *options).splitlines() == expected
    assert expected != output("translate", folder, *sentences).splitlines()
    output("evaluate", folder, *options)
    of = json.loads((folder / "evaluation.json").read_text("utf-8"))["of"]
    assert (of["beam"], of["length_penalty"], of["no_repeat_ngram"]) == (3, 0, 1)


# evaluate


def test_evaluate_prints_what_it_stores(folder, monkeypatch):
    result = invoke("evaluate", folder)
    head, *lines = result.stdout.splitlines()
    assert head == f"{folder}: en to fr, not trained by this command line"
    assert result.stderr == "translating 7 sentences\n"
    assert lines[0] == "7 sentences"
    assert re.fullmatch(r"BLEU \d+\.\d\d \[\d+\.\d, \d+\.\d\]  \S+\|case:lc\|\S+\|tok:13a\|\S+", lines[1])
    assert re.fullmatch(r"BLEU \d+\.\d\d \[\d+\.\d, \d+\.\d\]  \S+\|case:mixed\|\S+\|tok:13a\|\S+", lines[2])
    assert lines[3].startswith("chrF")
    assert re.fullmatch(r" +0 to 5 +\d+  \d+\.\d\d \[.*\]", lines[5])
    assert re.search(r"\nempty \d+\.\d%, cut off \d+\.\d%\n", result.stdout)
    assert [line[:12] for line in lines].count("translation ") == 5
    assert "translation " not in output("evaluate", folder, "--examples", 0)
    stored = json.loads((folder / "evaluation.json").read_text("utf-8"))
    low, high = stored["bleu"]["interval"]
    assert lines[1].startswith(f"BLEU {stored['bleu']['value']:.2f} [{low:.1f}, {high:.1f}]")
    denied = PermissionError(13, "Permission denied")
    monkeypatch.setattr("utils.translator.using.evaluation.write_whole", raising(denied))
    result = invoke("evaluate", folder)
    assert (result.exit_code, result.stdout.splitlines()) == (0, [head, *lines])
    assert result.stderr.splitlines()[-1].startswith(f"warning: nothing can be written to {folder}")


def test_a_run_is_measured_on_any_file(folder, tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt")
    printed = output("evaluate", folder, "--on", pairs, "--examples", 75)
    _, num, bleu, *_ = printed.splitlines()
    assert num == "75 sentences"
    assert float(bleu.split()[1]) > 90
    assert printed.count(" | ") == 25  # sentences with two references
    assert not (folder / "evaluation.json").exists()
    text = pairs.read_text("utf-8")
    pairs.write_text(swapped(text), encoding="utf-8")
    assert bleu in output("evaluate", folder, "--on", pairs, "--columns", "fra,eng").splitlines()
    save_run(replace(trained_run(), test=[]), folder)
    assert "no test sentences: name a file of pairs with --on" in mistake("evaluate", folder)


def test_evaluate_says_how_a_run_was_trained(tmp_path, monkeypatch):
    options = train_options(tmp_path, "--steps", 3, "--device", "cpu", "--dropout", 0.3)
    monkeypatch.setattr("sys.argv", ["/somewhere/attention-course", *map(str, options)])
    output(*options)
    out = tmp_path / "run"
    first = output("evaluate", out).splitlines()[0]
    trained = re.fullmatch(
        rf"{out}: en to fr, 84 pairs, 3 steps, \d\.\d+ minutes: attention-course (.*)", first
    )
    assert shlex.split(trained[1]) == list(map(str, options))
    record = json.loads((out / "run.json").read_text("utf-8"))
    assert record["data"]["sha256"] == sha256((tmp_path / "pairs.txt").read_bytes()).hexdigest()
    assert record["versions"]["torch"] == version("torch")
    assert record["machine"]["processes"] == record["machine"]["threads"] == 1
    assert [step for step, _ in record["result"]["losses"]] == [1, 2, 3]


# export and the program


def test_export_writes_a_page(tmp_path):
    (tmp_path / "sentences").write_text("We have two keys.\n\u200b\n\nI see two dogs.\n", encoding="utf-8")
    options = ["--title", "Keys & dogs", "--examples", tmp_path / "sentences"]
    printed = output("export", STORED_RUN, "--out", tmp_path / "keys.html", *options)
    page = (tmp_path / "keys.html").read_text(encoding="utf-8")
    assert printed == f"{tmp_path / 'keys.html'}: {len(page.encode()) / 1e6:.1f} MB\n"
    assert "<h1>Keys &amp; dogs</h1>" in page
    assert page.count('<button type="button"') == 2


WORDS = ("translate {run}", "translate {run} --input {lines}", "evaluate {run}")
STREAMS = ("<&-", "<&- >&- 2>&-", "<&- >&-")


@pytest.mark.parametrize(
    ("words", "closed"),
    [
        pytest.param(words, closed, marks=() if i == j else pytest.mark.slow)
        for i, words in enumerate(WORDS)
        for j, closed in enumerate(STREAMS)
    ],
)
def test_a_closed_stream_is_no_fault(tmp_path, folder, closed, words):
    (tmp_path / "lines").write_text("I see two dogs.\n", encoding="utf-8")
    line = f"{words.format(run=folder, lines=tmp_path / 'lines')} {closed}"
    result = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m utils {line}"],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    has_nothing = words == "translate {run}"
    assert result.returncode == (2 if has_nothing else 0), result.stderr
    assert "Traceback" not in result.stderr
    if closed == "<&-":
        shown = result.stderr if has_nothing else result.stdout
        assert (
            "nothing to translate" if has_nothing else "deux chiens" if "--input" in words else "BLEU"
        ) in shown


def test_the_program_reads_utf_8_beside_a_file_named_utils(tmp_path):
    """A script in a folder of programs, as pip installs it, run in a folder with the reader's own utils.py."""
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"][NAME]
    module, function = entry.split(":")
    for name in ("bin", "here"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin" / "program").write_text(f"from {module} import {function}\n{function}()\n")
    (tmp_path / "here" / "utils.py").write_text("raise SystemExit('this is the file of the reader')\n")
    result = subprocess.run(
        [sys.executable, tmp_path / "bin" / "program", "translate", STORED_RUN],
        input="We have four birds.\n\nÇa ?\n".encode(),
        cwd=tmp_path / "here",
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        check=True,
    )
    lines = result.stdout.decode().split("\n")
    assert lines[0] == translate_sentences(trained_run(), ["We have four birds."])[0].text
    assert (lines[1], len(lines), result.stderr) == ("", 4, b"")
