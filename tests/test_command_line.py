"""The command line as a user meets it: what is printed, where, and with which status."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial

import pytest
import torch
from tiny import pair_lines, trained_run, write_pairs
from typer.testing import CliRunner

from utils.__main__ import app
from utils.corpus.download import CORPORA, get_corpus
from utils.evaluation import translate
from utils.runs import load_run, save_run

SMALL = ["--vocabulary-size", "360", "--width", "13", "--test-groups", "7", "--valid-groups", "5"]


def invoke(*arguments: object, stdin: str | None = None):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def mistake(*arguments: object) -> str:
    """The error of a command that must fail: one line, nothing else printed."""
    result = invoke(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("run")
    save_run(trained_run()[0], path)
    return path


def test_help_names_the_commands_and_every_option_is_explained():
    text = invoke("--help").stdout
    assert all(command in text for command in ("data", "train", "translate", "evaluate"))
    for nothing in ([], ["data"]):
        assert invoke(*nothing).exit_code == 2  # nothing asked for: the same help, as a mistake
    text = invoke("data", "get", "--help").stdout
    assert all(option in text for option in ("cmn|fra", "--from", "--replace", "--json", "ATTENTION_DATA"))
    for command, options in (
        ("train", ["--pairs", "--columns", "--src", "--tgt", "--minutes", "--out", "--seed"]),
        ("translate", ["--heatmap", "SENTENCE", "--beam", "--n-best"]),
        ("evaluate", ["RUN", "--beam"]),
    ):
        text = invoke(command, "--help").stdout
        assert all(option in text for option in options)


@pytest.fixture
def small_corpora(monkeypatch, tmp_path):
    """The corpora of the course, of a few sentences and without an address, and an empty data folder."""
    corpora = {name: replace(corpus, num_rows=11, pinned=(), rolling=()) for name, corpus in CORPORA.items()}
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("utils.__main__.get_corpus", partial(get_corpus, corpora=corpora))


@pytest.mark.usefixtures("small_corpora")
def test_data_get_puts_a_file_where_train_finds_it_and_tells_its_terms(tmp_path):
    result = invoke("data", "get", "fra", "--from", write_pairs(tmp_path / "mine.txt"))
    assert result.exit_code == 0
    path = tmp_path / "data" / "tatoeba" / "fra.txt"
    first, edition, sha256, source, licence, attribution = result.stdout.splitlines()
    assert first == f"{path}: {len(pair_lines())} pairs"
    assert edition == "edition unknown, not the one of 2019-04-07 that this course measures on"
    assert sha256.startswith("sha256 ")
    assert source.startswith(f"source {tmp_path / 'mine.txt'}, recorded 20")
    assert licence == "licence CC BY 2.0 FR, https://creativecommons.org/licenses/by/2.0/fr/"
    assert attribution == "attribution tatoeba.org and www.manythings.org/anki"

    assert invoke("data", "get", "fra").stdout == result.stdout  # there already
    facts = json.loads(invoke("data", "get", "fra", "--json").stdout)
    assert (facts["path"], facts["is_pinned"], facts["edition"]) == (str(path), False, None)
    assert facts["sha256"] == sha256.removeprefix("sha256 ")
    known = json.loads((path.parent / "fra.source.json").read_text("utf-8"))
    assert known.items() <= facts.items()

    path.write_text("I see.\tJe vois.\n" * 13, encoding="utf-8")
    assert "ask to replace it (--replace)" in mistake("data", "get", "fra")
    result = invoke("data", "get", "fra", "--from", path, "--replace")
    assert result.stdout.startswith(f"{path}: 13 pairs\n")


@pytest.mark.usefixtures("small_corpora")
def test_data_get_has_a_status_for_what_no_address_gives(tmp_path):
    result = invoke("data", "get", "cmn")
    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr.startswith("error: no address gave cmn.txt:\n")
    assert str(tmp_path / "data" / "tatoeba") in result.stderr
    assert CORPORA["cmn"].sha256 in result.stderr
    assert list((tmp_path / "data" / "tatoeba").iterdir()) == []

    assert "none.zip" in mistake("data", "get", "cmn", "--from", tmp_path / "none.zip")
    result = invoke("data", "get", "deu")
    assert result.exit_code == 2
    assert "cmn" in result.stderr


def test_data_get_as_a_program_without_a_terminal_shows_no_bar(tmp_path):
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    (folder / "fra.txt").write_text("<html>", encoding="utf-8")  # wrong, and there: nobody is asked
    done = subprocess.run(
        [sys.executable, "-m", "utils", "data", "get", "fra"],
        capture_output=True,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1", "ATTENTION_DATA": str(tmp_path)},
    )
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: ")
    assert b"fra.txt: 1 of 1 rows are bad" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_train_translate_evaluate_from_a_pair_file(tmp_path):
    pairs, out = write_pairs(tmp_path / "pairs.txt"), tmp_path / "runs" / "fr-en"
    before = torch.get_float32_matmul_precision()
    common = ["train", "--pairs", pairs, "--columns", "en,fr", "--minutes", "0.02", "--out", out, *SMALL]
    result = invoke(*common, "--src", "fr", "--tgt", "en", "--seed", "3")
    assert result.exit_code == 0
    assert "target tokens a second" in result.stdout
    assert "held-out loss" in result.stdout
    run = load_run(out)
    assert (run.settings.src, run.settings.tgt, run.settings.seed) == ("fr", "en", 3)
    assert (run.settings.d_embed, run.settings.d_hidden) == (13, 13)
    assert len(run.test) >= 7
    assert torch.get_float32_matmul_precision() == before

    assert "holds a trained run already" in mistake(*common, "--src", "fr")
    result = invoke(*common, "--tgt", "fr", "--overwrite", "--valid-groups", "0")
    assert result.exit_code == 0
    assert "held-out loss" not in result.stdout
    assert load_run(out).settings.src == "en"

    result = invoke("evaluate", out)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == f"{len(load_run(out).test)} sentences"
    assert re.fullmatch(r"BLEU \d+\.\d\d \[\d+\.\d, \d+\.\d\]  \S+\|tok:13a\|\S+", lines[1])
    assert lines[2].startswith("chrF")
    assert re.fullmatch(r" +0 to 5 +\d+  \d+\.\d\d \[.*\]", lines[4])
    assert "empty 0.0%" in result.stdout
    assert sum(line.startswith("translation ") for line in lines) == 5
    shown = json.loads(invoke("evaluate", out, "--beam", "2", "--json").stdout)
    assert shown == json.loads((out / "evaluation.json").read_text())
    assert sum(bucket["num_sentences"] for bucket in shown["by_length"]) == shown["num_sentences"]


def test_languages_name_the_columns_where_they_are_not_named(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt")
    result = invoke(
        "train",
        "--pairs",
        pairs,
        "--src",
        "de",
        "--tgt",
        "nl",
        "--minutes",
        "0.005",
        "--out",
        tmp_path / "run",
        *SMALL,
    )
    assert result.exit_code == 0
    run = load_run(tmp_path / "run")
    assert (run.settings.src, run.settings.tgt) == ("de", "nl")
    assert run.test[0].source.split()[0] in {"I", "We", "They"}


def test_sentences_are_translated_one_line_each(folder):
    run = load_run(folder)
    sentences = ["I see two dogs.", "", "We have six books."]
    wanted = [translation.text for translation in translate(run, sentences)]
    assert wanted[1] == ""
    assert invoke("translate", folder, *sentences).stdout.splitlines() == wanted
    assert invoke("translate", folder, stdin="\n".join(sentences) + "\n").stdout.splitlines() == wanted
    assert invoke("translate", folder, stdin="").stdout == ""
    assert invoke("translate", folder, stdin="\n\n").stdout == "\n\n"


def test_a_beam_gives_the_best_or_all_with_their_scores(folder):
    sentences = ["I see two dogs.", ""]
    best = invoke("translate", folder, *sentences, "--beam", "3").stdout.splitlines()
    assert best == [translation.text for translation in translate(load_run(folder), sentences, beam=3)]
    lines = invoke("translate", folder, *sentences, "--beam", "3", "--n-best").stdout.splitlines()
    scores, texts = zip(*(line.split("\t") for line in lines), strict=True)
    assert len(lines) == 3 + 1
    assert [texts[0], texts[3]] == best
    assert 0 > float(scores[0]) > float(scores[1]) > float(scores[2])
    assert invoke("translate", folder, "a", "--beam", "0").exit_code == 2


def test_lines_end_where_the_file_says_so(folder):
    text = "I see\u2028two dogs.\r\nsix\x0bkeys\n"
    assert len(invoke("translate", folder, stdin=text).stdout.splitlines()) == 2


def test_a_heat_map_is_drawn_of_one_sentence(folder, tmp_path):
    path = tmp_path / "map.png"
    result = invoke("translate", folder, "They want three keys.", "--heatmap", path)
    assert result.exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    for sentences in (["one", "two"], [""]):
        result = invoke("translate", folder, *sentences, "--heatmap", path)
        assert result.exit_code == 1
        assert "a heat map shows one sentence" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--columns", "en,en"], "columns must be two different language codes"),
        (["--columns", "en"], "columns must be two different language codes"),
        (["--columns", "en,fr", "--src", "de"], "must be the two columns en and fr, got de"),
        ([], "name the columns, or both source and target"),
        (["--columns", "en,fr", "--minutes", "0"], "minutes must be positive"),
        (["--columns", "en,fr", "--batch-size", "0"], "batch_size must be positive"),
        (["--columns", "en,fr", "--vocabulary-size", "99"], "size must be at least"),
        (["--columns", "en,fr", "--test-groups", "1000"], "too few to keep 1000"),
    ],
)
def test_mistakes_in_training_are_one_line(tmp_path, arguments, message):
    pairs = write_pairs(tmp_path / "pairs.txt")
    assert message in mistake("train", "--pairs", pairs, "--out", tmp_path / "run", *SMALL, *arguments)


def test_ctrl_c_keeps_the_training_and_resume_goes_on(tmp_path):
    pairs, out = write_pairs(tmp_path / "pairs.txt"), tmp_path / "run"
    options = ["train", "--pairs", str(pairs), "--columns", "en,fr", "--out", str(out), *SMALL]
    running = subprocess.Popen(
        [sys.executable, "-m", "utils", *options, "--minutes", "60"],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    while not out.exists():  # it is made right before the training
        assert running.poll() is None
        time.sleep(0.1)
    time.sleep(3)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said == "interrupted: the same command with --resume goes on from here\n"
    assert "holds an interrupted training" in mistake(*options, "--minutes", "0.01")
    finished = invoke(*options, "--minutes", "0.01", "--resume")  # that time is spent already
    assert finished.exit_code == 0
    assert int(finished.stdout.split(" steps")[0].split()[-1]) > 1
    assert load_run(out).settings.d_hidden == 13
    assert not list(out.glob("checkpoint*"))


def test_files_that_are_not_there_or_not_right_are_one_line(tmp_path):
    missing = mistake(
        "train", "--pairs", tmp_path / "none.txt", "--columns", "en,fr", "--out", tmp_path / "run"
    )
    assert "ATTENTION_DATA" in missing
    assert "manythings.org/anki" in missing
    assert not (tmp_path / "run").exists()
    (tmp_path / "file").write_text("")
    pairs = write_pairs(tmp_path / "pairs.txt")
    assert "file" in mistake(
        "train", "--pairs", pairs, "--columns", "en,fr", "--out", tmp_path / "file", *SMALL
    )
    assert "holds no trained run" in mistake("translate", tmp_path / "nowhere", "a")
    assert "holds no trained run" in mistake("evaluate", tmp_path / "nowhere")


def test_the_program_runs_as_a_module_and_reads_utf_8(folder):
    program = [sys.executable, "-m", "utils"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    done = subprocess.run(
        [*program, "translate", str(folder)],
        input="We have four birds.\n\nÇa ?\n".encode(),
        capture_output=True,
        check=True,
        env=environment,
    )
    lines = done.stdout.decode().split("\n")
    assert lines[0] == translate(trained_run()[0], ["We have four birds."])[0].text
    assert lines[1] == ""
    assert len(lines) == 4
    assert done.stderr == b""
    failed = subprocess.run(
        [*program, "evaluate", "/nowhere"], capture_output=True, env=environment, check=False
    )
    assert failed.returncode == 1
    assert failed.stderr.startswith(b"error: ")
    assert b"Traceback" not in failed.stderr
