"""The command line as a user meets it: what is printed, where, and with which status."""

import errno
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import termios
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import ANY

import pytest
import torch
from processes import ENDS_WITH_ITS_TEST
from tiny import SETTINGS, STORED_RUN, pair_lines, trained_run, write_pairs
from torch.optim.optimizer import register_optimizer_step_post_hook
from typer.testing import CliRunner

from utils.corpus.download import CORPORA, get_corpus
from utils.translator.alignment import align
from utils.translator.commands import NAME, app
from utils.translator.commands.get import CorpusName
from utils.translator.data import PairData, Rows
from utils.translator.devices import computing
from utils.translator.distributed import Processes
from utils.translator.gold_links import parse_links
from utils.translator.loop import FullHistory, Schedule
from utils.translator.models import Settings, build_model
from utils.translator.runs import load_run, save_run
from utils.translator.translating import n_best, translate

pytestmark = pytest.mark.trains

ROOT = Path(__file__).parents[3]
SMALL = ["--vocabulary-size", "360", "--width", "13", "--test-groups", "7", "--valid-groups", "5"]

#: The program in its own process. Most tests call it in theirs, which saves the seconds of the import.
PROGRAM = [sys.executable, "-m", "utils"]
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}

#: How the lines begin that say what a command does.
TOLD = ("warning: ", "reading ", "learning the vocabularies", "translating ", "  ")


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
    """The error of a command that must fail: one line after those that tell what it does, and no result."""
    result = invoke(*arguments, stdin=stdin)
    assert (result.exit_code, result.stdout) == (1, "")
    *told, error, end = result.stderr.split("\n")
    assert all(line.startswith(TOLD) for line in told), told
    assert error.startswith("error: ")
    assert end == ""
    return error


def train_options(folder: Path, *more: object) -> list[object]:
    pairs = write_pairs(folder / "pairs.txt")
    return ["train", "--pairs", pairs, "--src", "en", "--tgt", "fr", "--out", folder / "run", *SMALL, *more]


def swapped(text: str) -> str:
    """The same pairs with the columns in the other order."""
    return "".join("\t".join(reversed(line.split("\t"))) + "\n" for line in text.splitlines())


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("run")
    save_run(trained_run(), path)
    return path


@pytest.fixture
def own_folder(tmp_path) -> Path:
    save_run(trained_run(), tmp_path / "own")
    return tmp_path / "own"


@pytest.fixture
def gold_files(tmp_path) -> tuple[Path, Path]:
    """Four pairs, and links of which the diagonal has all, counted from 1."""
    pairs = ["I see two dogs .\tJe vois deux chiens .", "We have six books\tNous avons six livres"]
    pairs += ["They want three keys\tElles veulent trois clés", "\t"]
    links = ["1-1 2-2 3-3 4-4 5-5", "1-1 2-2 3-3 4p4", "1-1 2-2 3-3 4-4", ""]
    (tmp_path / "pairs").write_text("\n".join(pairs) + "\n", encoding="utf-8")
    (tmp_path / "gold").write_text("\n".join(links) + "\n", encoding="utf-8")
    return tmp_path / "pairs", tmp_path / "gold"


@pytest.fixture
def arguments(tmp_path, folder, gold_files, monkeypatch) -> Callable[[str], list[str]]:
    """Split a command as a shell does, and put paths in place of the names in braces."""
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path / "data"))
    os.mkfifo(tmp_path / "pipe")
    pairs, gold = write_pairs(tmp_path / "pairs.txt"), gold_files[1]
    paths = {"tmp": tmp_path, "run": folder, "pairs": pairs, "gold": gold, "pipe": tmp_path / "pipe"}
    return lambda command: [part.format(**paths) for part in shlex.split(command)]


# Bad commands

TRAIN = "train --pairs {pairs} --out {tmp}/new " + " ".join(SMALL)
EN_FR = f"{TRAIN} --src en --tgt fr"
MISTAKES = [
    (f"{TRAIN} --columns en,en", "columns must be two different language codes"),
    (f"{TRAIN} --columns en", "columns must be two different language codes"),
    (f"{TRAIN} --columns en,fr --src de", "must be the two columns en and fr, got de"),
    (TRAIN, "name the columns, or both source and target"),
    (f"{EN_FR} --src english", "two or three letters, such as en, zh, pt-BR; got 'english'"),
    (f"{EN_FR} --minutes 0", "minutes must be positive"),
    (f"{EN_FR} --minutes 0.0000001 --json", "before the weights have changed: give it more --minutes"),
    (f"{EN_FR} --vocabulary-size 99", "--vocabulary-size"),
    (f"{EN_FR} --test-groups 1000", "smaller --test-groups and --valid-groups leave more"),
    (f"{EN_FR} --width 1000000", "choose a smaller --width"),
    (f"{EN_FR} --out ''", "cannot become a run: name a new folder"),
    (f"{EN_FR} --out {{pairs}}", "pairs.txt is a file: name a new folder"),
    (f"{EN_FR} --out {{run}}", "holds a trained run already"),
    (f"{EN_FR} --pairs {{pipe}}", "not a regular file"),
    (f"{EN_FR} --pairs {{tmp}}/none.txt", "manythings.org/anki"),
    ("data get fra --from {pipe}", "not a regular file"),
    ("data get cmn --from {tmp}/none.zip", "none.zip"),
    ("translate {tmp}/nowhere a", "holds no trained run"),
    ("evaluate {tmp}/nowhere", "holds no trained run"),
    ("translate \udcff a", "holds no trained run"),
    ("translate {run} a \udcff", "error: sentence 2 is not UTF-8"),
    ("translate {run} --input {tmp}/none.txt", "none.txt"),
    ("translate {run} --input {pairs} --output {pairs}", "pairs.txt is the input: name another file"),
    ("translate {run} a b --heatmap {tmp}/map.html", "a heat map shows one sentence, got 2"),
    ("translate {tmp}/nowhere a --heatmap map.gif", "must end in .png, .svg, .html, got 'map.gif'"),
    (f"translate {{run}} '{'dogs ' * 1001}'", "tokens, the limit is 1000: split 'dogs dogs"),
    (f"translate {{run}} {'x' * 100_001}", "a sentence has 100001 characters"),
    ("align {run} none.tsv", "no file"),
    ("align {run} {pairs} --columns de,en", "must be the two columns"),
    ("align {run} {tmp}/pairs --gold {gold}", "counted from 0"),
    ("align {run} {gold}", "gold, line 1: a line must have two columns"),
    ("evaluate {run} --on {pairs} --columns de,en", "must be the two columns"),
    ("export {tmp}/nowhere --out {tmp}/new.html", "holds no trained run"),
    ("export {run} --out {tmp}/new.txt", "the name of the page must end in .html, got 'new.txt'"),
    ("export {run} --out {tmp}/nowhere/new.html", "no folder"),
    ("export {run} --out {tmp}/new.html --examples {tmp}/none.txt", "none.txt"),
    ("export {run} --out {tmp}/new.html --examples /dev/null", "/dev/null holds no sentence"),
]


@pytest.mark.parametrize(("command", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_a_mistake_is_one_line(arguments, tmp_path, command, message):
    assert message in mistake(*arguments(command))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("new")]


WRONG_OPTIONS = [
    *(
        (f"train --pairs none.txt --columns en,fr --out new {option}", option.split("=")[0])
        for option in (
            *("--minutes=-1", "--minutes=nan", "--steps=1", "--epochs=0", "--seed=-1", "--dropout=1.5"),
            *("--muon=-1", "--muon=1e300", "--muon=nan", "--width=0", "--batch-size=0", "--model=lstm"),
            *("--vocabulary-size=0", "--vocabulary-size=1000000000", "--test-groups=-1", "--valid-groups=-1"),
        )
    ),
    (f"{EN_FR} --steps 2 --epochs 2", "give one of --minutes, --epochs and --steps"),
    (f"{EN_FR} --minutes 1 --steps 2", "give one of --minutes, --epochs and --steps"),
    (f"{EN_FR} --heads 2", "a recurrent translator has none, got 2 for recurrent"),
    (f"{EN_FR} --model transformer --width 14", "the width of a Transformer must be .* got 14 and 4"),
    *(
        (f"{command} {option}", option.split("=")[0])
        for command in ("translate {run} a", "evaluate {run}", "compare {run} {run}")
        for option in (
            *("--beam=0", "--beam=101", "--no-repeat-ngram=-1"),
            *("--length-penalty=-0.5", "--length-penalty=11", "--length-penalty=nan"),
        )
    ),
    ("translate {run} a --input {pairs}", "give sentences or --input, not both"),
    ("translate {run} a --at-once 0", "--at-once"),
    ("align {run} {pairs} --first 2", "--first"),
    ("evaluate {run} --columns fr,en", "--columns needs --on"),
    ("export {run}", "--out"),
    ("data get deu", "cmn"),
    ("", "Usage"),
    ("data", "Usage"),
]


@pytest.mark.parametrize(("command", "message"), WRONG_OPTIONS)
def test_a_wrong_option_has_status_2(arguments, tmp_path, monkeypatch, command, message):
    monkeypatch.chdir(tmp_path)
    result = invoke(*arguments(command))
    assert result.exit_code == 2
    assert re.search(message, " ".join((result.stdout + result.stderr).replace("│", "").split()))
    assert not list(tmp_path.glob("new*"))


@pytest.mark.parametrize(
    ("command", "ways"), [("translate", "sentences, --input FILE"), ("align", "a pair file")]
)
def test_only_a_terminal_must_be_given_text(folder, monkeypatch, capsys, command, ways):
    """An empty pipe gives an empty output; a user at a terminal who gives nothing has forgotten something."""
    assert output(command, folder, stdin="") == ""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    keyboard, terminal = pty.openpty()
    with os.fdopen(keyboard, "wb"), os.fdopen(terminal) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with pytest.raises(SystemExit) as ended:
            app([command, str(folder)])
    assert ended.value.code == 2
    assert f"nothing to {command}: give {ways}, or text on standard input" in capsys.readouterr().err


def test_a_closed_standard_input_is_named(folder, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SystemExit) as ended:
        app(["translate", str(folder)])
    assert ended.value.code == 1
    assert capsys.readouterr().err == "error: standard input is closed: name a file\n"


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 1, ""),  # the reader of the output has closed it
        (MemoryError(), 1, "error: MemoryError\n"),
        (RuntimeError("not enough memory:\nyou tried"), 1, "error: not enough memory: you tried\n"),
    ],
)
def test_what_ends_a_command_is_one_line(folder, monkeypatch, error, status, message):
    monkeypatch.setattr("utils.translator.lines.translate_lines", raising(error))
    result = invoke("translate", folder, "a")
    assert (result.exit_code, result.stdout, result.stderr) == (status, "", message)


def test_a_fault_of_the_program_is_not_hidden(folder, monkeypatch):
    monkeypatch.setattr("utils.translator.lines.translate_lines", raising(RuntimeError("a bug")))
    with pytest.raises(RuntimeError, match="a bug"):
        invoke("translate", folder, "a")


def raising(error: BaseException) -> Callable[..., None]:
    def raise_it(*_: object, **__: object) -> None:
        raise error

    return raise_it


# Options


def test_the_options_of_train_reach_the_training(tmp_path, monkeypatch):
    calls = []

    def train_run(*arguments, **options):
        calls.append((*arguments, options))
        history = FullHistory(losses=[2.0, 1.0], tokens=[30, 30], seconds=[1.0, 2.0])
        return None, history, Rows(90, 0, {}, 80, 10)

    monkeypatch.setattr("utils.translator.runs.train_run", train_run)
    pairs, out = tmp_path / "pairs.txt", tmp_path / "run"
    assert output("train", "--pairs", pairs, "--src", "en", "--tgt", "fr", "--out", out) == (
        f"{pairs}: 90 pairs, 80 to train on; left out: 10 too long\n"
        f"{out}: 2 steps, 30 target tokens per second\n"
    )
    options = {"out": out, "overwrite": False, "resume": False, "progress": False, "notify": ANY}
    options["processes"] = Processes()
    data = PairData(pairs, ("en", "fr"))
    assert calls.pop() == (data, Settings("en", "fr"), Schedule(minutes=3), options)

    numbers = {"test-groups": 7, "valid-groups": 5, "vocabulary-size": 360, "width": 13, "layers": 2}
    numbers |= {"dropout": 0.3, "seed": 3, "minutes": 0.5, "batch-size": 31, "muon": 0}
    given = [*(f"--{name}={number}" for name, number in numbers.items()), "--overwrite", "--resume"]
    invoke("train", "--pairs", pairs, "--columns", "en,fr", "--tgt", "en", "--out", out, *given)
    settings = Settings("fr", "en", 360, d_embed=13, d_hidden=13, num_layers=2, dropout=0.3, seed=3)
    assert calls.pop() == (
        PairData(pairs, ("en", "fr"), num_test=7, num_valid=5),
        settings,
        Schedule(minutes=0.5, batch_size=31, muon=0),
        options | {"overwrite": True, "resume": True},
    )
    invoke("train", "--pairs", pairs, "--columns", "en,fr", "--out", out, "--model", "transformer")
    transformer = Settings("en", "fr", d_hidden=4 * 192, num_layers=3, model="transformer", num_heads=4)
    assert calls.pop()[1:3] == (transformer, Schedule(minutes=3, lr=2e-3, warmup=0.1))


@pytest.mark.parametrize("command", ["train", "translate", "align", "evaluate", "compare"])
def test_each_command_takes_a_number_of_threads(tmp_path, folder, monkeypatch, command):
    set_to: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    arguments = {
        "train": train_options(tmp_path, "--steps", 2)[1:],
        "translate": [folder, "I see two dogs."],
        "align": [folder, write_pairs(tmp_path / "pairs.txt")],
        "evaluate": [folder],
        "compare": [folder, folder],
    }
    before = torch.get_num_threads()
    output(command, *arguments[command], "--threads", before + 1)
    assert set_to == [before + 1, before]
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.parametrize(("option", "number", "steps"), [("--steps", 5, 5), ("--epochs", 2, 6)])
def test_a_training_has_so_many_steps_or_epochs(tmp_path, option, number, steps):
    facts = output(*train_options(tmp_path, option, number, "--batch-size", "32", "--json"))
    assert json.loads(facts)["steps"] == steps


def test_the_options_of_the_search_reach_it(folder):
    sentences = ["They want three keys and two dogs.", "dogs dogs"]
    search = {"beam": 3, "length_penalty": 0.0, "no_repeat_ngram": 1}
    options = ["--beam", 3, "--length-penalty", 0, "--no-repeat-ngram", 1]
    lines = output("translate", folder, *sentences, *options, "--n-best").splitlines()
    expected = [t.text for best in n_best(load_run(folder), sentences, **search) for t in best]
    assert [line.split("\t")[2] for line in lines] == expected
    facts = json.loads(output("evaluate", folder, *options, "--json"))
    assert search.items() <= facts["of"].items()
    assert output("compare", folder, folder, *options).startswith("7 sentences\n")


# data get


@pytest.fixture
def small_corpora(monkeypatch, tmp_path) -> None:
    """The corpora of the course, of a few sentences and without an address, and an empty data folder."""
    corpora = {name: replace(corpus, num_rows=11, pinned=(), rolling=()) for name, corpus in CORPORA.items()}
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("utils.corpus.download.get_corpus", partial(get_corpus, corpora=corpora))


@pytest.mark.usefixtures("small_corpora")
def test_data_get_tells_the_terms_of_a_file(tmp_path):
    printed = output("data", "get", "fra", "--from", write_pairs(tmp_path / "mine.txt"))
    path = tmp_path / "data" / "tatoeba" / "fra.txt"
    first, edition, sha256, source, licence, attribution = printed.splitlines()
    assert first == f"{path}: {len(pair_lines())} pairs"
    assert edition == "edition unknown, not the one of 2019-04-07 that this course measures on"
    assert sha256.startswith("sha256 ")
    assert source.startswith(f"source {tmp_path / 'mine.txt'}, recorded 20")
    assert licence == "licence CC BY 2.0 FR, https://creativecommons.org/licenses/by/2.0/fr/"
    assert attribution == "attribution tatoeba.org and www.manythings.org/anki"

    assert output("data", "get", "fra") == printed  # there already
    facts = json.loads(output("data", "get", "fra", "--json"))
    assert (facts["path"], facts["is_pinned"], facts["edition"]) == (str(path), False, None)
    assert facts["sha256"] == sha256.removeprefix("sha256 ")

    path.write_text("I see.\tJe vois.\n" * 13, encoding="utf-8")
    assert "add --replace to accept this edition" in mistake("data", "get", "fra")
    assert output("data", "get", "fra", "--from", path, "--replace").startswith(f"{path}: 13 pairs\n")


@pytest.mark.usefixtures("small_corpora")
def test_an_address_that_fails_has_status_3(tmp_path):
    result = invoke("data", "get", "cmn")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("error: no address gave cmn.txt:\n")
    assert CORPORA["cmn"].sha256 in result.stderr
    assert list((tmp_path / "data" / "tatoeba").iterdir()) == []


# train


def test_any_pair_of_languages_needs_no_code(tmp_path):
    """German, which ``utils`` does not mention: read, trained, measured, translated, aligned."""
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
    common = ["train", "--pairs", tmp_path / "deu.tsv", "--steps", "3", "--out", out, *SMALL]
    facts = json.loads(output(*common, "--src", "de", "--tgt", "en", "--seed", 3, "--json"))
    assert (facts["run"], facts["src"], facts["tgt"], facts["steps"]) == (str(out), "de", "en", 3)
    assert facts["target_tokens_per_second"] == pytest.approx(facts["target_tokens"] / facts["seconds"])
    assert 0 < facts["held_out_loss"] < 9
    assert facts["rows"] == {"good": 60, "bad": 0, "first_bad": {}, "train": 60 - 7 - 5, "too_long": 0}
    run = load_run(out)
    assert (run.settings.src, run.settings.tgt, run.settings.seed) == ("de", "en", 3)
    assert run.test[0].source.split()[0] in {"Ich", "Wir", "Ihr", "Sie"}
    assert len(output("translate", out, "Ich höre fünf Vögel.").splitlines()) == 1
    links = output("align", out, stdin="Ich höre Vögel\tI hear birds\n").split()
    assert sorted(link[-1] for link in links) == list("012")

    printed = output(*common, "--columns", "de,en", "--src", "en", "--overwrite")
    assert re.search(r"3 steps, \d+ target tokens per second\nheld-out loss \d\.\d{3} nats", printed)
    assert load_run(out).settings.tgt == "de"
    assert "held-out loss" not in output(*common, "--columns", "de,en", "--overwrite", "--valid-groups", 0)


def test_a_transformer_is_used_like_the_other_model(tmp_path):
    size = ["--model", "transformer", "--width", 12, "--heads", 3, "--layers", 2]
    output(*train_options(tmp_path, *size, "--steps", 3))
    out = tmp_path / "run"
    run = load_run(out)
    assert run.settings == Settings(
        "en", "fr", 360, d_embed=12, d_hidden=48, num_layers=2, model="transformer", num_heads=3
    )
    sentences = ["I see two dogs.", ""]
    texts = [translation.text for translation in translate(run, sentences)]
    assert output("translate", out, *sentences).splitlines() == texts
    output("translate", out, sentences[0], "--heatmap", tmp_path / "map.svg")
    assert re.fullmatch(r"\d-\d( \d-\d){2}\n", output("align", out, stdin="I see dogs\tJe vois chiens\n"))
    assert json.loads(output("evaluate", out, "--json"))["num_sentences"] == len(run.test)
    lines = output("info", out).splitlines()
    assert lines[1].endswith("num_layers 2, dropout 0.1, seed 0, model transformer, num_heads 3")
    assert lines[-1].startswith("scores    BLEU")


@contextmanager
def signal_at_step(step: int, number: int) -> Iterator[None]:
    """Send a signal to this process at a step of the training; the training must not go on."""
    steps = 0

    def send(*_: object) -> None:
        nonlocal steps
        steps += 1
        assert steps <= step, "the training goes on after the signal"
        if steps == step:
            signal.raise_signal(number)

    hook = register_optimizer_step_post_hook(send)
    try:
        yield
    finally:
        hook.remove()


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.mark.parametrize(
    ("number", "status"),
    [SIGNALS[0], *(pytest.param(*other, marks=pytest.mark.slow) for other in SIGNALS[1:])],
)
def test_a_signal_keeps_the_state_for_resume(tmp_path, number, status):
    options, out = train_options(tmp_path, "--muon", "0"), tmp_path / "run"
    with signal_at_step(3, number):
        result = invoke(*options, "--minutes", "60")
    assert result.exit_code == status
    assert result.stderr.endswith("\ninterrupted: the same command with --resume continues from here\n")
    assert not out.exists()
    assert "was interrupted: continue it with --resume" in mistake(*options, "--minutes", "60")
    different = mistake(*options, "--minutes", "60", "--resume", "--dropout", "0.3", "--seed", "1")
    assert "dropout was 0.1, now 0.3; seed was 0, now 1" in different
    options[2] = options[2].rename(tmp_path / "moved.txt")
    resumed = output(*options, "--minutes", "0.00001", "--resume")  # three steps have taken longer than this
    assert f"{out}: 3 steps, " in resumed
    assert len(load_run(out).record["resumed"]) == 1
    assert not list(out.glob("checkpoint*"))
    assert not out.with_name("run.training").exists()
    assert re.search(r"\nresumed   20", output("info", out))


@pytest.mark.parametrize(("number", "status"), SIGNALS)
def test_a_signal_before_training_keeps_nothing(tmp_path, monkeypatch, number, status):
    monkeypatch.setattr("utils.translator.data.read_rows", lambda *_: signal.raise_signal(number))
    result = invoke(*train_options(tmp_path))
    assert result.exit_code == status
    assert result.stderr.splitlines()[-1] == "interrupted before the first step: nothing is kept"
    assert not (tmp_path / "run.training").exists()


@pytest.mark.slow
def test_ctrl_c_ends_a_process_with_status_130(tmp_path):
    terminal, stderr = pty.openpty()  # at a terminal there is a progress bar, if it has a size
    termios.tcsetwinsize(terminal, (24, 80))
    program = f"{ENDS_WITH_ITS_TEST}from utils.translator.commands import main\nmain()"
    command = [sys.executable, "-c", program, *map(str, train_options(tmp_path, "--minutes", "60"))]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=stderr, env=ENVIRONMENT)
    try:
        os.close(stderr)
        printed = b""
        while b"loss=" not in printed:  # the bar shows the loss of a step, so the training has begun
            assert select.select([terminal], [], [], 300)[0], "the process prints nothing"
            printed += os.read(terminal, 1 << 16)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) == 130
    finally:
        process.kill()
        process.communicate()
        os.close(terminal)
    assert list((tmp_path / "run.training").glob("checkpoint*"))


def test_resume_without_an_interrupted_training_warns(tmp_path):
    """So a user sees a mistyped name at once, and a job on a cluster may give the option at its first start too."""
    result = invoke(*train_options(tmp_path, "--steps", 2, "--resume"))
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == (
        f"warning: there is no interrupted training into {tmp_path / 'run'}: this training begins anew"
    )


def test_train_shows_pairs_and_what_is_odd(tmp_path):
    options = train_options(tmp_path, "--steps", 2, "--tgt", "cmn")
    text = (tmp_path / "pairs.txt").read_text("utf-8")
    (tmp_path / "pairs.txt").write_text(f"English\tFrench\n{text}", encoding="utf-8")
    told = invoke(*options).stderr.splitlines()
    assert told[0] == f"reading {tmp_path / 'pairs.txt'}"
    assert told[1] == "  column 1 is en: English  column 2 is zh: French"
    assert sum(line.startswith("  en: ") and "  zh: " in line for line in told) == 3
    assert told[5:] == [
        "warning: the first row looks like a header (tail -n +2 FILE leaves it out): English, French",
        "warning: the zh column does not look like Chinese: 100% of its letters are Latin",
        "learning the vocabularies from 87 pairs",
    ]


# translate


def test_sentences_are_translated_one_line_each(folder, tmp_path):
    sentences = ["I see two dogs.", "", "We have six books."]
    texts = [translation.text for translation in translate(load_run(folder), sentences)]
    assert output("translate", folder, *sentences).splitlines() == texts
    assert output("translate", folder, stdin="\n".join(sentences)).splitlines() == texts
    assert output("translate", folder, stdin="\n\n") == "\n\n"
    source, target = tmp_path / "source.txt", tmp_path / "target.txt"
    source.write_text("\n".join(sentences), encoding="utf-8")
    assert output("translate", folder, "--input", source, "--output", target, "--at-once", "2") == ""
    assert target.read_bytes().decode() == "\n".join(texts) + "\n"


def test_n_best_prints_numbers_and_scores(folder):
    sentences = ["I see two dogs.", ""]
    best = output("translate", folder, *sentences, "--beam", "3").splitlines()
    assert best == [translation.text for translation in translate(load_run(folder), sentences, beam=3)]
    lines = output("translate", folder, *sentences, "--beam", "3", "--n-best").splitlines()
    numbers, scores, texts = zip(*(line.split("\t") for line in lines), strict=True)
    assert numbers == ("1", "1", "1", "2")
    assert [texts[0], texts[3]] == best
    assert 0 > float(scores[0]) > float(scores[1]) > float(scores[2])


def test_json_gives_one_object_per_sentence(folder):
    sentences = ["I see two dogs.", ""]
    with computing():  # as the command does; it differs on processors with bfloat16 products
        [expected, _] = translate(load_run(folder), sentences, beam=3)
    lines = output("translate", folder, *sentences, "--beam", "3", "--json").splitlines()
    first, empty = map(json.loads, lines)
    [best] = first.pop("translations")
    assert first == {"source": sentences[0], "source_tokens": expected.src_tokens}
    assert best == {
        "text": expected.text,
        "score": pytest.approx(expected.score),
        "tokens": expected.tgt_tokens,
        "finished": expected.finished,
    }
    assert empty["translations"] == [{"text": "", "score": 0.0, "tokens": [], "finished": True}]


def test_padding_is_not_among_a_hundred_hypotheses(folder):
    line = output("translate", folder, "dogs", "--beam", 100, "--n-best", "--json")
    translations = json.loads(line)["translations"]
    assert len(translations) == 100
    assert not {"<pad>", "<bos>"} & {token for t in translations for token in t["tokens"]}


def test_lines_before_a_bad_line_are_translated(folder, tmp_path):
    (tmp_path / "text").write_bytes(b"I see two dogs.\n\xff\n")
    for options in ({"stdin": b"I see two dogs.\n\xff\n"}, {}):
        name = "standard input" if options else tmp_path / "text"
        result = invoke("translate", folder, *([] if options else ["--input", name]), **options)
        assert (result.exit_code, result.stdout.count("\n")) == (1, 1)
        assert result.stderr.startswith(f"error: {name}, line 2: byte 1 is not UTF-8; it looks like text of")


def test_a_heat_map_shows_one_sentence(folder, tmp_path, monkeypatch):
    path, picture = tmp_path / "map.html", tmp_path / "map.png"
    for sentence, stdin in (["They want three keys."], None), ([], "They want three keys.\n"):
        output("translate", folder, *sentence, "--heatmap", path, stdin=stdin)
        assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
        path.unlink()
    for sentence, stdin in ([""], None), ([], "a\nb\n"):
        result = invoke("translate", folder, *sentence, "--heatmap", path, stdin=stdin)
        assert result.exit_code == 1
        assert "a heat map shows one sentence, which must not be empty" in result.stderr
        assert not path.exists()
    monkeypatch.setattr("utils.figures.plotting.letters_without_font", lambda texts: ["न"])
    warning, end = invoke("translate", folder, "a", "--heatmap", picture).stderr.split("\n")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert warning.startswith("warning: the fonts of a picture lack letters of this text (Devanagari)")
    assert end == ""


# align


def test_pairs_are_aligned_one_line_each(folder, gold_files):
    text = gold_files[0].read_text("utf-8")
    alignments = align(load_run(folder), [tuple(line.split("\t")) for line in text.splitlines()])
    printed = output("align", folder, gold_files[0], "--at-once", "2")
    links = [parse_links(line) for line in printed.removesuffix("\n").split("\n")]
    assert [of_pair.sure for of_pair in links] == [alignment.links for alignment in alignments]
    assert output("align", folder, stdin=text.replace("\t", " ||| ")) == printed
    in_other_order = output("align", folder, "--columns", "fr,en", stdin=swapped(text)).split("\n")
    assert [parse_links(line).swapped() for line in in_other_order[:-1]] == links
    objects = [json.loads(line) for line in output("align", folder, gold_files[0], "--json").splitlines()]
    assert objects[0]["source"] == ["I", "see", "two", "dogs", "."]
    assert objects[0]["target"] == ["Je", "vois", "deux", "chiens", "."]
    assert {tuple(link) for link in objects[0]["links"]} == alignments[0].links
    assert objects[3] == {"source": [], "target": [], "links": []}
    tokenised = output("align", folder, "--tokenise", stdin="I see two dogs.\tJe vois deux chiens.\n")
    assert parse_links(tokenised) == links[0]


def test_gold_links_give_scores_beside_the_diagonal(folder, gold_files):
    pairs, gold = gold_files
    options = ["--gold", gold, "--first", "1"]
    first, head, attention, diagonal = output("align", folder, pairs, *options).splitlines()
    assert first == "4 sentences"
    assert head.split() == ["AER", "precision", "recall", "links"]
    assert re.fullmatch(r"attention +\d+\.\d% +\d+\.\d% +\d+\.\d% +13", attention)
    assert diagonal.split() == ["diagonal", "0.0%", "100.0%", "100.0%", "13"]
    scores = json.loads(output("align", folder, pairs, *options, "--json"))
    assert scores["num_sentences"] == 4
    assert scores["diagonal"] == {"aer": 0, "precision": 1, "recall": 1, "num_links": 13}
    assert f"{scores['attention']['aer']:.1%}" == attention.split()[1]
    # These links are the same either way.
    text = swapped(pairs.read_text("utf-8"))
    assert json.loads(output("align", folder, "--columns", "fr,en", *options, "--json", stdin=text)) == scores


def test_pairs_to_align_may_come_through_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    text = "I see dogs\tJe vois chiens\n"
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(text, "utf-8"), daemon=True)
    writer.start()
    assert output("align", STORED_RUN, tmp_path / "pipe") == output("align", STORED_RUN, stdin=text)
    writer.join()


# evaluate, compare and info


def test_evaluate_prints_what_it_stores(own_folder):
    result = invoke("evaluate", own_folder)
    lines = result.stdout.splitlines()
    assert result.stderr == "translating 7 sentences\n"
    assert lines[0] == "7 sentences"
    assert re.fullmatch(r"BLEU \d+\.\d\d \[\d+\.\d, \d+\.\d\]  \S+\|case:lc\|\S+\|tok:13a\|\S+", lines[1])
    assert re.fullmatch(r"BLEU \d+\.\d\d \[\d+\.\d, \d+\.\d\]  \S+\|case:mixed\|\S+\|tok:13a\|\S+", lines[2])
    assert lines[3].startswith("chrF")
    assert re.fullmatch(r" +0 to 5 +\d+  \d+\.\d\d \[.*\]", lines[5])
    assert re.search(r"\nempty \d+\.\d%, cut off \d+\.\d%\n", result.stdout)
    assert [line[:12] for line in lines].count("translation ") == 5
    assert "translation " not in output("evaluate", own_folder, "--examples", 0)
    printed = output("evaluate", own_folder, "--beam", "2", "--json")
    assert json.loads(printed) == json.loads((own_folder / "evaluation.json").read_text())


def test_a_run_is_measured_on_any_file(folder, tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt")
    before = sorted(path.name for path in folder.iterdir())
    facts = json.loads(output("evaluate", folder, "--on", pairs, "--json"))
    assert facts["num_sentences"] == 75
    references = {entry["source"]: entry["references"] for entry in facts["translations"]}
    assert len(references["I see two dogs."]) == 2
    assert facts["bleu"]["value"] > 90
    assert sorted(path.name for path in folder.iterdir()) == before
    text = pairs.read_text("utf-8")
    pairs.write_text(swapped(text), encoding="utf-8")
    again = output("evaluate", folder, "--on", pairs, "--columns", "fra,eng", "--json")
    assert json.loads(again)["bleu"] == facts["bleu"]
    pairs.write_bytes(f"eng\tfra\r{text}".encode("utf-16"))
    told = invoke("evaluate", folder, "--on", pairs).stderr
    assert "  column 1 is en: eng  column 2 is fr: fra\n" in told
    assert "warning: the first row looks like a header" in told


def test_scores_that_cannot_be_stored_are_printed(own_folder, monkeypatch):
    denied = raising(PermissionError(errno.EACCES, "Permission denied"))
    with monkeypatch.context() as patch:  # a disk that is full in the end
        patch.setattr("utils.translator.translating.write_atomically", denied)
        result = invoke("evaluate", own_folder)
    assert (result.exit_code, result.stdout[:12]) == (1, "7 sentences\n")
    assert result.stderr.splitlines()[-1] == "error: [Errno 13] Permission denied"
    monkeypatch.setattr("utils.translator.checkpoints.write_part", denied)
    result = invoke("evaluate", own_folder)
    assert (result.exit_code, result.stdout[:12]) == (0, "7 sentences\n")
    assert result.stderr.splitlines()[0] == (
        f"warning: nothing can be written to {own_folder} (Permission denied): the scores are only printed"
    )


def test_two_runs_are_compared_by_a_bootstrap(folder, tmp_path):
    run, other = load_run(folder), tmp_path / "other"
    sizes = len(run.src_vocabulary), len(run.tgt_vocabulary)
    save_run(replace(run, model=build_model(SETTINGS, *sizes)), other)
    lines = output("compare", folder, other).splitlines()
    assert lines[0] == "7 sentences"
    assert [line.split()[0] for line in lines[1:5]] == ["BLEU", str(folder), str(other), "p-value"]
    facts = json.loads(output("compare", folder, other, "--json"))
    assert facts["num_sentences"] == 7
    assert facts["bleu"]["first"] > 50 > facts["bleu"]["second"]
    assert facts["bleu"]["p_value"] < 0.05
    assert "bs:1000" in facts["bleu"]["signature"]
    save_run(replace(run, test=run.test[1:]), other)
    message = "other test sentences: name a file of pairs with --on"
    assert message in mistake("compare", folder, other)
    pairs = write_pairs(tmp_path / "pairs.txt")
    assert output("compare", folder, other, "--on", pairs).startswith("75 sentences\n")
    save_run(replace(run, settings=replace(run.settings, tgt="de")), other)
    assert "the same languages, got en-fr and en-de" in mistake("compare", folder, other)
    save_run(replace(run, test=[]), other)
    for command in (["evaluate", other], ["compare", other, other]):
        assert "no test sentences (--test-groups 0): name a file" in mistake(*command)


def test_a_tokenizer_that_is_missing_is_named(own_folder, monkeypatch):
    monkeypatch.setattr("utils.metrics.find_spec", lambda _: None)
    run = load_run(own_folder)
    save_run(replace(run, settings=replace(run.settings, tgt="ja")), own_folder)
    for command in (["evaluate", own_folder], ["compare", own_folder, own_folder]):
        result = invoke(*command)
        assert result.exit_code == 0
        assert "|tok:char|" in result.stdout
        assert "is not installed (pip install 'sacrebleu[ja]')" in result.stderr.splitlines()[0]


@pytest.mark.parametrize(("muon", "batch_size"), [(0, 32), (0.02, 128)])
def test_info_tells_how_a_run_was_trained(tmp_path, muon, batch_size):
    """Where Adam trains all weights on a CPU, a batch is smaller."""
    output(*train_options(tmp_path, "--steps", 3, "--muon", muon, "--device", "cpu"))
    out = tmp_path / "run"
    lines = dict(line.split(maxsplit=1) for line in output("info", out).splitlines()[1:])
    assert "num_heads" not in lines["settings"]
    assert lines["data"].startswith(f"{tmp_path / 'pairs.txt'}, sha256 ")
    assert lines["rows"] == "100 pairs, 86 to train on"
    assert f"steps 3, batch_size {batch_size}, " in lines["schedule"]
    assert lines["trained"].startswith("3 steps in 0.0")
    assert lines["loss"].count(",") == 2
    assert "threads 1, " in lines["with"]
    facts = json.loads(output("info", out, "--json"))
    assert facts["record"] == json.loads((out / "run.json").read_text("utf-8"))
    save_run(replace(load_run(out), record={"data": {}}), out)
    assert "run.json is of another version of this course" in invoke("info", out).stderr
    assert "record    none: an earlier version" in output("info", STORED_RUN)


def test_info_tells_scores_that_belong_to_the_run(own_folder, tmp_path):
    assert "scores    none" in output("info", own_folder)
    output("evaluate", own_folder, "--length-penalty", 0.5, "--no-repeat-ngram", 2)
    assert "with beam 1, length penalty 0.5, no repeat ngram 2\n" in output("info", own_folder)
    output("evaluate", own_folder, "--beam", 2)
    evaluation = own_folder / "evaluation.json"
    stored = evaluation.read_text("utf-8")
    facts = json.loads(stored)
    for name in ("length_penalty", "no_repeat_ngram"):  # as an earlier version wrote it
        del facts["of"][name]
    evaluation.write_text(json.dumps(facts), "utf-8")
    assert re.search(r"scores    BLEU \d+\.\d\d, chrF \d+\.\d\d with beam 2\n", output("info", own_folder))
    run = load_run(own_folder)
    untrained = build_model(SETTINGS, len(run.src_vocabulary), len(run.tgt_vocabulary))
    for other in (replace(run, test=run.test[1:]), replace(run, model=untrained)):
        save_run(other, tmp_path / "other")
        assert not (tmp_path / "other" / "evaluation.json").exists()
        (tmp_path / "other" / "evaluation.json").write_text(stored, "utf-8")
        assert "belongs to another run" in mistake("info", tmp_path / "other")
    for damaged in ("{", "[]", '{"of": 3}'):
        evaluation.write_text(damaged, "utf-8")
        assert "is damaged: run evaluate again" in mistake("info", own_folder)


# export


def test_export_writes_a_page(folder, tmp_path):
    (tmp_path / "sentences").write_text("We have two keys.\n\u200b\n\nI see two dogs.\n", encoding="utf-8")
    options = ["--title", "Keys & dogs", "--examples", tmp_path / "sentences"]
    printed = output("export", folder, "--out", tmp_path / "keys.html", *options)
    page = (tmp_path / "keys.html").read_text(encoding="utf-8")
    assert printed == f"{tmp_path / 'keys.html'}: {len(page.encode()) / 1e6:.1f} MB\n"
    assert "<h1>Keys &amp; dogs</h1>" in page
    assert page.count('<button type="button"') == 2


# The program

OPTIONS = {
    "data get": "cmn|fra --from --replace --json ATTENTION_DATA",
    "train": "--pairs --columns --src --tgt --minutes --epochs --steps --out --seed --model --heads --resume",
    "translate": "SENTENCE --beam --length-penalty --n-best --input --output --at-once --json --heatmap",
    "align": "RUN FILE --columns --gold --first --tokenise --json",
    "evaluate": "RUN --beam --length-penalty --no-repeat-ngram --on --examples --json",
    "compare": "RUN1 RUN2 --beam --on --columns",
    "export": "RUN --out --title --about --examples",
    "info": "RUN --json",
}


def test_help_names_commands_and_options():
    text = output("--help")
    assert all(command.split()[0] in text for command in OPTIONS)
    assert all(f"{status} " in text for status in (0, 1, 2, 3, 130))
    for command, options in OPTIONS.items():
        text = output(*command.split(), "--help")
        assert all(option in text for option in options.split())


def test_help_does_not_wait_for_torch():
    script = f"""
import sys
from typer.testing import CliRunner
from utils.translator.commands import app

for command in {["--version", *(f"{command} --help" for command in OPTIONS)]}:
    assert CliRunner().invoke(app, command.split()).exit_code == 0
sys.exit("torch" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)


def test_the_choices_of_data_get_are_the_corpora():
    assert list(CorpusName) == list(CORPORA)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("data get ", "cmn fra"), ("train --st", "--steps")],
)
def test_a_shell_completes_commands_and_options(typed, offered):
    words = f"{NAME} {typed}"
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    asked["_ATTENTION_COURSE_COMPLETE"] = "complete_bash"
    result = subprocess.run(
        PROGRAM, env=ENVIRONMENT | asked, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.stdout.split() == offered.split()


def test_the_program_reads_and_writes_utf_8(folder):
    text = "We have four birds.\n\nÇa ?\n".encode()
    command = [*PROGRAM, "translate", str(folder)]
    result = subprocess.run(command, input=text, capture_output=True, check=True, env=ENVIRONMENT)
    lines = result.stdout.decode().split("\n")
    assert lines[0] == translate(trained_run(), ["We have four birds."])[0].text
    assert (lines[1], len(lines), result.stderr) == ("", 4, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "arguments",
    [pytest.param(["translate", STORED_RUN, "I see two dogs."], marks=pytest.mark.slow), ["--help"]],
)
def test_a_full_output_is_one_line(arguments):
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False
        )
    assert result.returncode == 1
    assert result.stderr == b"error: [Errno 28] No space left on device\n"


def test_a_file_named_utils_is_not_run(tmp_path):
    """A script in a folder of programs, as pip installs it, beside a folder with the reader's own utils.py."""
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"][NAME]
    module, function = entry.split(":")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "program").write_text(f"from {module} import {function}\n{function}()\n")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "utils.py").write_text("raise SystemExit('this is the file of the reader')\n")
    result = subprocess.run(
        [sys.executable, tmp_path / "bin" / "program", "--version"],
        cwd=tmp_path / "here",
        env=ENVIRONMENT | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.startswith(NAME)
