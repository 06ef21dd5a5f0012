"""The command line as a user meets it: what is printed, where, and with which status."""

import errno
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import threading
import tomllib
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
from utils.translator.devices import matmul_precision
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


def mistake(*arguments: object, stdin: str | bytes | None = None) -> str:
    """The error of a command that must fail: one line after those that tell what it does, and no result."""
    result = invoke(*arguments, stdin=stdin)
    assert result.exit_code == 1
    assert result.stdout == ""
    *told, error, end = result.stderr.split("\n")
    assert all(line.startswith(TOLD) for line in told), told
    assert error.startswith("error: ")
    assert end == ""
    return error


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("run")
    save_run(trained_run(), path)
    return path


def test_help_names_the_commands_and_every_option_is_explained():
    text = invoke("--help").stdout
    assert all(command in text for command in ("data", "train", "translate", "evaluate", "align"))
    assert all(f"{status} " in text for status in (0, 1, 2, 3, 130))
    for nothing in ([], ["data"]):
        assert invoke(*nothing).exit_code == 2  # nothing asked for: the same help, as a mistake
    text = invoke("data", "get", "--help").stdout
    assert all(option in text for option in ("cmn|fra", "--from", "--replace", "--json", "ATTENTION_DATA"))
    for command, options in (
        ("train", ["--pairs", "--columns", "--src", "--tgt", "--minutes", "--out", "--seed"]),
        (
            "translate",
            ["--heatmap", "SENTENCE", "--beam", "--n-best", "--input", "--output", "--at-once", "--json"],
        ),
        ("translate", ["--length-penalty", "--no-repeat-ngram", "is then false"]),
        ("align", ["RUN", "FILE", "--columns", "--gold", "--first", "--tokenise", "--json"]),
        ("evaluate", ["RUN", "--beam", "--length-penalty", "--no-repeat-ngram"]),
    ):
        text = invoke(command, "--help").stdout
        assert all(option in text for option in options)


@pytest.mark.parametrize("command", ["train", "translate", "align", "evaluate", "compare"])
def test_every_command_that_computes_takes_a_number_of_threads(tmp_path, folder, monkeypatch, command):
    set_to: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    arguments = {
        "train": train_options(tmp_path, "--steps", 2)[1:],
        "translate": [folder, "I see two dogs."],
        "align": [folder, write_pairs(tmp_path / "pairs.txt")],
        "evaluate": [folder, "--on", write_pairs(tmp_path / "pairs.txt")],
        "compare": [folder, folder],
    }
    before = torch.get_num_threads()
    assert invoke(command, *arguments[command], "--threads", before + 1).exit_code == 0
    assert set_to == [before + 1, before]


@pytest.mark.parametrize(
    "option",
    [
        *(f"--{name}=-1" for name in ("minutes", "muon", "dropout", "width", "batch-size", "test-groups")),
        *("--dropout=1.5", "--vocabulary-size=0", "--batch-size=0"),
    ],
)
def test_a_number_out_of_its_range_is_refused_before_anything_is_read(tmp_path, option):
    result = invoke(
        "train", "--pairs", tmp_path / "nowhere.txt", "--columns=en,fr", "--out", tmp_path / "run", option
    )
    assert result.exit_code == 2
    assert option.split("=")[0] in result.stderr


def test_the_options_of_train_reach_the_training(tmp_path, monkeypatch):
    calls = []

    def train_run(*arguments, **options):
        calls.append((*arguments, options))
        return (
            None,
            FullHistory(losses=[2.0, 1.0], tokens=[30, 30], seconds=[1.0, 2.0]),
            Rows(90, 0, {}, 80, 10),
        )

    monkeypatch.setattr("utils.translator.runs.train_run", train_run)
    pairs, out = tmp_path / "pairs.txt", tmp_path / "run"
    result = invoke("train", "--pairs", pairs, "--src", "en", "--tgt", "fr", "--out", out)
    assert result.exit_code == 0
    assert result.stdout == (
        f"{pairs}: 90 pairs, 80 to train on; left out: 10 too long\n"
        f"{out}: 2 steps, 30 target tokens per second\n"
    )
    data, settings, schedule, options = calls[0]
    assert data == PairData(pairs, ("en", "fr"))
    assert settings == Settings("en", "fr")
    assert schedule == Schedule(minutes=3)
    assert options == {
        "out": out, "overwrite": False, "resume": False, "progress": False, "notify": ANY,
        "processes": Processes(),
    }  # fmt: skip
    numbers = {"test-groups": 7, "valid-groups": 5, "vocabulary-size": 360, "width": 13, "dropout": 0.3}
    numbers |= {"seed": 3, "minutes": 0.5, "batch-size": 31, "muon": 0}
    flags = [
        *(f"--{name}={number}" for name, number in numbers.items()),
        "--overwrite",
        "--resume",
    ]
    invoke("train", "--pairs", pairs, "--columns", "en,fr", "--tgt", "en", "--out", out, *flags)
    data, settings, schedule, options = calls[1]
    assert data == PairData(pairs, ("en", "fr"), num_test=7, num_valid=5)
    assert settings == Settings("fr", "en", vocabulary_size=360, d_embed=13, d_hidden=13, dropout=0.3, seed=3)
    assert schedule == Schedule(minutes=0.5, batch_size=31, muon=0)
    assert (options["overwrite"], options["resume"]) == (True, True)


@pytest.fixture
def small_corpora(monkeypatch, tmp_path):
    """The corpora of the course, of a few sentences and without an address, and an empty data folder."""
    corpora = {name: replace(corpus, num_rows=11, pinned=(), rolling=()) for name, corpus in CORPORA.items()}
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("utils.corpus.download.get_corpus", partial(get_corpus, corpora=corpora))


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
    assert "add --replace to accept this edition" in mistake("data", "get", "fra")
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


def test_data_get_without_a_terminal_shows_no_bar(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path))
    (tmp_path / "tatoeba").mkdir()
    (tmp_path / "tatoeba" / "fra.txt").write_text("<html>", encoding="utf-8")  # bad, so nothing is downloaded
    assert "fra.txt: 1 of 1 rows are bad" in mistake("data", "get", "fra")


def test_train_translate_evaluate_from_a_pair_file(tmp_path):
    pairs, out = write_pairs(tmp_path / "pairs.txt"), tmp_path / "runs" / "fr-en"
    before = torch.get_float32_matmul_precision()
    common = ["train", "--pairs", pairs, "--columns", "en,fr", "--steps", "30", "--out", out, *SMALL]
    result = invoke(*common, "--src", "fr", "--tgt", "en", "--seed", "3")
    assert result.exit_code == 0
    assert "target tokens per second" in result.stdout
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
    assert re.fullmatch(r"BLEU \d+\.\d\d \[\d+\.\d, \d+\.\d\]  \S+\|case:mixed\|\S+\|tok:13a\|\S+", lines[2])
    assert lines[3].startswith("chrF")
    assert re.fullmatch(r" +0 to 5 +\d+  \d+\.\d\d \[.*\]", lines[5])
    assert re.search(r"\nempty \d+\.\d%, cut off \d+\.\d%\n", result.stdout)
    assert sum(line.startswith("translation ") for line in lines) == 5
    printed = json.loads(invoke("evaluate", out, "--beam", "2", "--json").stdout)
    assert printed == json.loads((out / "evaluation.json").read_text())
    assert sum(bucket["num_sentences"] for bucket in printed["by_length"]) == printed["num_sentences"]


@pytest.fixture
def transformer(tmp_path) -> list:
    """The command that trains a small Transformer."""
    pairs, out = write_pairs(tmp_path / "pairs.txt"), tmp_path / "run"
    size = ["--model", "transformer", "--width", 12, "--heads", 3, "--layers", 2, "--dropout", 0.1]
    groups = ["--vocabulary-size", 360, "--test-groups", 7, "--valid-groups", 5]
    return ["train", "--pairs", pairs, "--columns", "en,fr", "--out", out, *size, *groups]


def test_a_transformer_is_trained_measured_and_used_like_the_other_model(transformer, tmp_path):
    out = tmp_path / "run"
    facts = json.loads(invoke(*transformer, "--steps", 12, "--json").stdout)
    assert facts["steps"] == 12
    run = load_run(out)
    assert run.settings == Settings(
        "en", "fr", 360, d_embed=12, d_hidden=48, num_layers=2, model="transformer", num_heads=3
    )
    assert run.record["settings"] == json.loads((out / "settings.json").read_text())
    sentences = ["I see two dogs.", ""]
    texts = invoke("translate", out, *sentences).stdout.splitlines()
    assert texts == [translation.text for translation in translate(run, sentences)]
    beam = invoke("translate", out, *sentences, "--beam", 3, "--n-best").stdout.splitlines()
    assert [line.split("\t")[0] for line in beam] == ["1", "1", "1", "2"]
    object_, _ = map(json.loads, invoke("translate", out, *sentences, "--json").stdout.splitlines())
    assert object_["translations"][0]["text"] == texts[0]
    assert invoke("translate", out, sentences[0], "--heatmap", tmp_path / "map.svg").exit_code == 0
    links = invoke("align", out, stdin="I see dogs\tJe vois chiens\n").stdout
    assert re.fullmatch(r"\d-\d( \d-\d){2}\n", links)
    scores = json.loads(invoke("evaluate", out, "--beam", 2, "--json").stdout)
    assert scores["num_sentences"] == len(run.test)
    lines = invoke("info", out).stdout.splitlines()
    assert lines[1].endswith("num_layers 2, dropout 0.1, seed 0, model transformer, num_heads 3")
    assert lines[-1].startswith("scores    BLEU")
    recurrent = tmp_path / "recurrent"
    invoke("train", *transformer[1:4], "en,fr", "--out", recurrent, "--steps", 3, *SMALL)
    assert "num_heads" not in invoke("info", recurrent).stdout
    compared = json.loads(invoke("compare", out, recurrent, "--json").stdout)
    assert compared["num_sentences"] == len(run.test)


def test_a_transformer_that_was_interrupted_ends_with_the_same_weights(transformer, tmp_path):
    transformer = [*transformer, "--steps", 6, "--threads", 1]
    once = tmp_path / "once"
    invoke(*(once if argument == tmp_path / "run" else argument for argument in transformer))
    steps = 0

    def press_ctrl_c_at_step_4(*_: object) -> None:
        nonlocal steps
        steps += 1
        if steps == 4:
            signal.raise_signal(signal.SIGINT)

    hook = register_optimizer_step_post_hook(press_ctrl_c_at_step_4)
    try:
        assert invoke(*transformer).exit_code == 130
    finally:
        hook.remove()
    other = mistake(*transformer, "--resume", "--heads", 2, "--layers", 1)
    assert "num_layers was 2, now 1" in other
    assert "num_heads was 3, now 2" in other
    assert invoke(*transformer, "--resume").exit_code == 0
    for name, weight in load_run(once).model.state_dict().items():
        assert torch.equal(load_run(tmp_path / "run").model.state_dict()[name], weight)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--heads", 2], "a recurrent translator has none, got 2 for recurrent"),
        (["--model", "transformer", "--width", 14], "the width of a Transformer must be .* got 14 and 4"),
        (["--model", "transformer", "--width", 9, "--heads", 3], "must be even and .* got 9 and 3"),
        (["--model", "lstm"], "recurrent"),
    ],
)
def test_a_model_that_cannot_be_is_a_wrong_option(tmp_path, options, message):
    pairs = write_pairs(tmp_path / "pairs.txt")
    result = invoke("train", "--pairs", pairs, "--columns", "en,fr", "--out", tmp_path / "run", *options)
    assert result.exit_code == 2
    assert re.search(message, " ".join(result.stderr.replace("│", "").split()))
    assert not (tmp_path / "run").exists()


def test_a_pair_of_languages_never_seen_before_needs_no_code(tmp_path):
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
    out = tmp_path / "run"
    options = ["--src", "de", "--tgt", "en", "--steps", "30", "--out", out, "--json"]
    result = invoke("train", "--pairs", tmp_path / "deu.tsv", *options, *SMALL)
    assert result.exit_code == 0
    facts = json.loads(result.stdout)
    assert (facts["run"], facts["src"], facts["tgt"]) == (str(out), "de", "en")
    assert facts["steps"] > 0
    assert facts["target_tokens_per_second"] == pytest.approx(facts["target_tokens"] / facts["seconds"])
    assert 0 < facts["held_out_loss"] < 9
    assert facts["rows"] == {"good": 60, "bad": 0, "first_bad": {}, "train": 60 - 7 - 5, "too_long": 0}
    run = load_run(out)
    assert (run.settings.src, run.settings.tgt) == ("de", "en")
    assert run.test[0].source.split()[0] in {"Ich", "Wir", "Ihr", "Sie"}
    assert json.loads(invoke("evaluate", out, "--json").stdout)["num_sentences"] == len(run.test)
    assert len(invoke("translate", out, "Ich höre fünf Vögel.").stdout.splitlines()) == 1
    links = invoke("align", out, stdin="Ich höre Vögel\tI hear birds\n").stdout
    assert re.fullmatch(r"\d-\d( \d-\d){2}\n", links)
    assert [link.split("-")[1] for link in sorted(links.split(), key=lambda link: link[-1])] == list("012")


def test_sentences_are_translated_one_line_each(folder):
    run = load_run(folder)
    sentences = ["I see two dogs.", "", "We have six books."]
    texts = [translation.text for translation in translate(run, sentences)]
    assert texts[1] == ""
    assert invoke("translate", folder, *sentences).stdout.splitlines() == texts
    assert invoke("translate", folder, stdin="\n".join(sentences) + "\n").stdout.splitlines() == texts
    assert invoke("translate", folder, stdin="").stdout == ""
    assert invoke("translate", folder, stdin="\n\n").stdout == "\n\n"


def test_a_beam_gives_the_best_or_all_with_their_scores(folder):
    sentences = ["I see two dogs.", ""]
    best = invoke("translate", folder, *sentences, "--beam", "3").stdout.splitlines()
    assert best == [translation.text for translation in translate(load_run(folder), sentences, beam=3)]
    lines = invoke("translate", folder, *sentences, "--beam", "3", "--n-best").stdout.splitlines()
    numbers, scores, texts = zip(*(line.split("\t") for line in lines), strict=True)
    assert numbers == ("1", "1", "1", "2")
    assert [texts[0], texts[3]] == best
    assert 0 > float(scores[0]) > float(scores[1]) > float(scores[2])
    for beam in ("0", "101", "1000", str(10**12)):
        for command in (["translate", folder, "a"], ["evaluate", folder], ["compare", folder, folder]):
            result = invoke(*command, "--beam", beam)
            assert result.exit_code == 2
            assert "--beam" in result.stderr


def test_the_options_of_the_search_are_those_of_the_library(folder):
    sentences = ["They want three keys and two dogs.", "dogs dogs"]
    options = {"beam": 3, "length_penalty": 0.0, "no_repeat_ngram": 1}
    lines = invoke("translate", folder, *sentences, *as_arguments(options), "--n-best").stdout.splitlines()
    expected = [t.text for best in n_best(load_run(folder), sentences, **options) for t in best]
    assert [line.split("\t")[2] for line in lines] == expected
    greedily = invoke("translate", folder, *sentences, "--no-repeat-ngram", 1, "--json").stdout.splitlines()
    for line in greedily:
        [best] = json.loads(line)["translations"]
        assert len(set(best["tokens"])) == len(best["tokens"])
    assert invoke("compare", folder, folder, *as_arguments(options)).exit_code == 0
    for option, number in (
        ("--length-penalty", "-0.5"),
        ("--length-penalty", "11"),
        ("--length-penalty", "nan"),
        ("--no-repeat-ngram", "-1"),
    ):
        for command in (["translate", folder, "a"], ["evaluate", folder], ["compare", folder, folder]):
            result = invoke(*command, option, number)
            assert result.exit_code == 2
            assert option in result.stderr


def as_arguments(options: dict[str, float]) -> list[str]:
    return [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]


def test_padding_is_not_among_a_hundred_hypotheses(folder):
    [line] = invoke("translate", folder, "dogs", "--beam", 100, "--n-best", "--json").stdout.splitlines()
    translations = json.loads(line)["translations"]
    assert len(translations) == 100
    assert not {"<pad>", "<bos>"} & {token for t in translations for token in t["tokens"]}


def test_lines_end_where_the_file_says_so(folder):
    text = "I see\u2028two dogs.\r\nsix\x0bkeys\n"
    assert len(invoke("translate", folder, stdin=text).stdout.splitlines()) == 2


def test_a_file_is_translated_into_a_file(folder, tmp_path):
    source, target = tmp_path / "source.txt", tmp_path / "target.txt"
    sentences = ["I see two dogs.", "", "We have six books."]
    source.write_text("\n".join(sentences), encoding="utf-8")
    texts = [translation.text for translation in translate(load_run(folder), sentences)]
    result = invoke("translate", folder, "--input", source, "--output", target, "--at-once", "2")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert target.read_bytes().decode() == "\n".join(texts) + "\n"
    assert f"{source} is the input" in mistake("translate", folder, "--input", source, "--output", source)
    assert source.read_text("utf-8").splitlines() == sentences
    assert "none.txt" in mistake("translate", folder, "--input", tmp_path / "none.txt")
    assert invoke("translate", folder, "a", "--input", source).exit_code == 2
    assert invoke("translate", folder, "a", "--at-once", "0").exit_code == 2


def test_json_gives_one_object_per_sentence(folder):
    sentences = ["I see two dogs.", ""]
    with matmul_precision("medium"):  # as the command does; it differs on processors with bfloat16 products
        [expected, _] = translate(load_run(folder), sentences, beam=3)
    result = invoke("translate", folder, *sentences, "--beam", "3", "--json")
    first, empty = map(json.loads, result.stdout.splitlines())
    assert first["source"] == sentences[0]
    assert first["source_tokens"] == expected.src_tokens
    [best] = first["translations"]
    assert best["text"] == expected.text
    assert best["tokens"] == expected.tgt_tokens
    assert best["score"] == pytest.approx(expected.score)
    assert best["finished"] is expected.finished
    assert empty["translations"] == [{"text": "", "score": 0.0, "tokens": [], "finished": True}]
    many = json.loads(invoke("translate", folder, sentences[0], "--beam", "3", "--n-best", "--json").stdout)
    scores = [translation["score"] for translation in many["translations"]]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


def test_text_that_cannot_be_read_is_named_by_its_line(folder, tmp_path):
    result = invoke("translate", folder, stdin=b"I see two dogs.\n\xff\n")
    assert result.exit_code == 1
    assert result.stdout.count("\n") == 1  # the line before it is translated
    assert result.stderr.startswith(
        "error: standard input, line 2: byte 1 is not UTF-8; it looks like text of"
    )
    (tmp_path / "nul.txt").write_bytes(b"a\n\na\0b\n")
    result = invoke("translate", folder, "--input", tmp_path / "nul.txt")
    assert (result.exit_code, result.stdout.count("\n")) == (1, 2)
    assert "nul.txt, line 3: a NUL byte" in result.stderr
    assert "line 1: a NUL byte" in mistake("align", folder, stdin=b"a\0\tb\n")


def test_a_sentence_of_ten_thousand_words_is_refused_before_it_fills_memory(folder):
    long = "dogs " * 10_000
    assert re.search(
        r"a sentence has \d{5} tokens, the limit is 1000: split 'dogs dogs",
        mistake("translate", folder, long),
    )
    assert "tokens, the limit is 1000" in mistake("align", folder, stdin=f"I see\t{long}\n")
    assert invoke("translate", folder, "dogs " * 100).exit_code == 0


@pytest.mark.parametrize(
    ("command", "ways"), [("translate", "sentences, --input FILE"), ("align", "a pair file")]
)
def test_nothing_to_translate_is_a_mistake_only_at_a_terminal(folder, monkeypatch, capsys, command, ways):
    """An empty pipe gives an empty output; a user at a terminal who gives nothing has forgotten something."""
    assert invoke(command, folder, stdin="").stdout == ""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    keyboard, terminal = pty.openpty()
    with os.fdopen(keyboard, "wb"), os.fdopen(terminal) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with pytest.raises(SystemExit) as ended:
            app([command, str(folder)])
    assert ended.value.code == 2
    assert f"nothing to {command}: give {ways}, or text on standard input" in capsys.readouterr().err


def test_ctrl_c_and_a_closed_pipe_end_a_translation_quietly(folder, monkeypatch):
    def ended(error):
        def raising(*_, **__):
            raise error

        monkeypatch.setattr("utils.translator.lines.translate_lines", raising)
        return invoke("translate", folder, "a")

    result = ended(KeyboardInterrupt)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")
    result = ended(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "")


# Alignment


@pytest.fixture
def gold_files(tmp_path):
    """Four pairs, and links of which the diagonal has all, counted from 1."""
    pairs = ["I see two dogs .\tJe vois deux chiens .", "We have six books\tNous avons six livres"]
    pairs += ["They want three keys\tElles veulent trois clés", "\t"]
    links = ["1-1 2-2 3-3 4-4 5-5", "1-1 2-2 3-3 4p4", "1-1 2-2 3-3 4-4", ""]
    (tmp_path / "pairs").write_text("\n".join(pairs) + "\n", encoding="utf-8")
    (tmp_path / "gold").write_text("\n".join(links) + "\n", encoding="utf-8")
    return tmp_path / "pairs", tmp_path / "gold"


def test_pairs_are_aligned_one_line_each(folder, gold_files):
    pairs, _ = gold_files
    read = [tuple(line.split("\t")) for line in pairs.read_text("utf-8").splitlines()]
    alignments = align(load_run(folder), read)
    result = invoke("align", folder, pairs, "--at-once", "2")
    assert result.exit_code == 0
    lines = result.stdout.split("\n")
    assert [parse_links(line).sure for line in lines] == [alignment.links for alignment in alignments] + [
        frozenset()
    ]
    assert (
        invoke("align", folder, stdin=pairs.read_text("utf-8").replace("\t", " ||| ")).stdout == result.stdout
    )

    objects = [json.loads(line) for line in invoke("align", folder, pairs, "--json").stdout.splitlines()]
    assert objects[0]["source"] == ["I", "see", "two", "dogs", "."]
    assert objects[0]["target"] == ["Je", "vois", "deux", "chiens", "."]
    assert {tuple(link) for link in objects[0]["links"]} == alignments[0].links
    assert objects[3] == {"source": [], "target": [], "links": []}

    tokenised = invoke("align", folder, "--tokenise", stdin="I see two dogs.\tJe vois deux chiens.\n").stdout
    assert parse_links(tokenised).sure == alignments[0].links


def test_columns_in_the_other_order_give_links_in_that_order(folder, gold_files):
    pairs, _ = gold_files
    swapped = "".join(
        "\t".join(reversed(line.split("\t"))) + "\n" for line in pairs.read_text("utf-8").splitlines()
    )
    straight = invoke("align", folder, pairs).stdout.splitlines()
    result = invoke("align", folder, "--columns", "fr,en", stdin=swapped)
    for one, other in zip(straight, result.stdout.splitlines(), strict=True):
        assert parse_links(one).swapped() == parse_links(other)
    assert "must be the two columns" in mistake("align", folder, pairs, "--columns", "de,en")


def test_gold_links_give_scores_beside_the_diagonal(folder, gold_files):
    pairs, gold = gold_files
    result = invoke("align", folder, pairs, "--gold", gold, "--first", "1")
    assert result.exit_code == 0
    first, head, attention, diagonal = result.stdout.splitlines()
    assert first == "4 sentences"
    assert head.split() == ["AER", "precision", "recall", "links"]
    assert re.fullmatch(r"attention +\d+\.\d% +\d+\.\d% +\d+\.\d% +13", attention)
    assert diagonal.split() == ["diagonal", "0.0%", "100.0%", "100.0%", "13"]
    scores = json.loads(invoke("align", folder, pairs, "--gold", gold, "--first", "1", "--json").stdout)
    assert scores["num_sentences"] == 4
    assert scores["diagonal"] == {"aer": 0, "precision": 1, "recall": 1, "num_links": 13}
    assert f"{scores['attention']['aer']:.1%}" == attention.split()[1]
    swapped = "".join("\t".join(reversed(line.split("\t"))) + "\n" for line in pairs.read_text().splitlines())
    again = invoke(
        "align", folder, "--columns", "fr,en", "--gold", gold, "--first", "1", "--json", stdin=swapped
    )
    assert json.loads(again.stdout) == scores  # these links are the same either way


def test_mistakes_in_aligning_are_one_line(folder, gold_files):
    pairs, gold = gold_files
    assert "counted from 0" in mistake("align", folder, pairs, "--gold", gold)  # it counts from 1
    assert "one line per sentence pair, got 4 lines and 1 pairs" in mistake(
        "align", folder, "--gold", gold, stdin="a\tb\n"
    )
    assert "standard input, line 1: a line must have two columns" in mistake(
        "align", folder, stdin="a b\nc\td\n"
    )
    assert "no file" in mistake("align", folder, "none.tsv")
    assert invoke("align", folder, pairs, "--first", "2").exit_code == 2


def test_a_heat_map_is_drawn_of_one_sentence(folder, tmp_path, monkeypatch):
    path = tmp_path / "map.html"
    for sentence, stdin in (["They want three keys."], None), ([], "They want three keys.\n"):
        assert invoke("translate", folder, *sentence, "--heatmap", path, stdin=stdin).exit_code == 0
        assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
        path.unlink()
    picture = tmp_path / "map.png"
    monkeypatch.setattr("utils.figures.plotting.letters_without_font", lambda texts: ["न"])
    result = invoke("translate", folder, "They want three keys.", "--heatmap", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    warning, end = result.stderr.split("\n")
    assert warning.startswith("warning: the fonts of a picture lack letters of this text (Devanagari)")
    assert end == ""
    for sentences, stdin in (["a", "b"], None), ([""], None), ([], "a\nb\n"):
        result = invoke("translate", folder, *sentences, "--heatmap", path, stdin=stdin)
        assert result.exit_code == 1
        assert "a heat map shows one sentence" in result.stderr
        assert not path.exists()
    # The name is checked before anything else, so the run need not exist.
    assert "must end in .png, .svg, .html, got 'map.gif'" in mistake(
        "translate", "nowhere", "a", "--heatmap", "map.gif"
    )


def test_a_run_whose_weights_have_another_shape_is_one_line(folder, tmp_path):
    run = load_run(folder)
    other = replace(run, settings=replace(run.settings, d_hidden=run.settings.d_hidden + 2))
    save_run(other, tmp_path / "run")
    assert "holds the weights of another model" in mistake("translate", tmp_path / "run", "a")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--columns", "en,en"], "columns must be two different language codes"),
        (["--columns", "en"], "columns must be two different language codes"),
        (["--columns", "en,fr", "--src", "de"], "must be the two columns en and fr, got de"),
        ([], "name the columns, or both source and target"),
        (["--columns", "en,fr", "--minutes", "0"], "minutes must be positive"),
        (["--columns", "en,fr", "--vocabulary-size", "99"], "size must be at least"),
        (["--columns", "en,fr", "--vocabulary-size", "1"], "size must be at least"),
        (["--columns", "en,fr", "--test-groups", "1000"], "too few to keep 1000"),
    ],
)
def test_mistakes_in_training_are_one_line(tmp_path, arguments, message):
    pairs = write_pairs(tmp_path / "pairs.txt")
    assert message in mistake("train", "--pairs", pairs, "--out", tmp_path / "run", *SMALL, *arguments)


def test_ctrl_c_saves_the_training_and_resume_continues_it(tmp_path):
    pairs, out = write_pairs(tmp_path / "pairs.txt"), tmp_path / "run"
    options = ["train", "--pairs", pairs, "--columns", "en,fr", "--muon", "0", "--out", out, *SMALL]
    steps = []

    def press_ctrl_c_at_step_3(*_):
        steps.append(None)
        assert len(steps) <= 3, "the training goes on after Ctrl-C"
        if len(steps) == 3:
            signal.raise_signal(signal.SIGINT)

    hook = register_optimizer_step_post_hook(press_ctrl_c_at_step_3)
    try:
        result = invoke(*options, "--minutes", "60")
    finally:
        hook.remove()
    assert result.exit_code == 130
    assert result.stderr.endswith("\ninterrupted: the same command with --resume continues from here\n")
    assert not out.exists()
    assert list(out.with_name("run.training").glob("checkpoint*"))
    assert "was interrupted: continue it with --resume" in mistake(*options, "--minutes", "60")
    different = mistake(*options, "--minutes", "60", "--resume", "--dropout", "0.3", "--seed", "1")
    assert "dropout was 0.1, now 0.3; seed was 0, now 1" in different
    options[2] = pairs.rename(tmp_path / "moved.txt")
    result = invoke(*options, "--minutes", "0.00001", "--resume")  # three steps have taken longer than this
    assert result.exit_code == 0
    assert f"{out}: 3 steps, " in result.stdout
    assert load_run(out).settings.d_hidden == 13
    assert not list(out.glob("checkpoint*"))
    assert not out.with_name("run.training").exists()
    assert len(load_run(out).record["resumed"]) == 1


@pytest.mark.slow
def test_ctrl_c_ends_a_process_with_status_130(tmp_path):
    pairs, out = write_pairs(tmp_path / "pairs.txt"), tmp_path / "run"
    options = ["--pairs", pairs, "--columns", "en,fr", "--out", out, "--minutes", "60", *SMALL]
    terminal, stderr = pty.openpty()  # at a terminal there is a progress bar, if it has a size
    termios.tcsetwinsize(terminal, (24, 80))
    program = f"{ENDS_WITH_ITS_TEST}from utils.translator.commands import main\nmain()"
    command = [sys.executable, "-c", program, "train", *map(str, options)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=stderr, env=ENVIRONMENT)
    try:
        os.close(stderr)
        output = b""
        while b"loss=" not in output:  # the bar shows the loss of a step, so the training has begun
            assert select.select([terminal], [], [], 300)[0], "the process prints nothing"
            output += os.read(terminal, 1 << 16)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) == 130
    finally:
        process.kill()
        process.communicate()
        os.close(terminal)
    assert list(out.with_name("run.training").glob("checkpoint*"))


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
    result = subprocess.run(
        [*PROGRAM, "translate", str(folder)],
        input="We have four birds.\n\nÇa ?\n".encode(),
        capture_output=True,
        check=True,
        env=ENVIRONMENT,
    )
    lines = result.stdout.decode().split("\n")
    assert lines[0] == translate(trained_run(), ["We have four birds."])[0].text
    assert lines[1] == ""
    assert len(lines) == 4
    assert result.stderr == b""


# Faults: each is one line that says what helps, and nothing is lost


def train_options(folder: Path, *more: object) -> list[object]:
    pairs = write_pairs(folder / "pairs.txt")
    return ["train", "--pairs", pairs, "--src", "en", "--tgt", "fr", "--out", folder / "run", *SMALL, *more]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--minutes", "0.0000001", "--json"], "before the weights have changed: give it more --minutes"),
        (["--width", "1000000"], "choose a smaller --width"),
        (["--test-groups", "1000"], "smaller --test-groups and --valid-groups leave more"),
        (["--vocabulary-size", "99"], "--vocabulary-size"),
        (["--out", ""], "cannot become a run: name a new folder"),
        (["--out", "."], "cannot become a run: name a new folder"),
        (["--src", "english"], "a language code has two or three letters, such as en, zh, pt-BR; got 'english'"),
        (["--pairs", "/dev/null"], "not a regular file"),
    ],
)  # fmt: skip
def test_a_training_that_cannot_succeed_is_one_line_and_leaves_nothing(tmp_path, options, message):
    assert message in mistake(*train_options(tmp_path), *options)
    assert {path.name for path in tmp_path.iterdir()} <= {"pairs.txt", ".run.lock"}


def test_pairs_to_align_may_come_through_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"I see dogs\tJe vois chiens\n",), daemon=True)
    writer.start()
    links = invoke("align", STORED_RUN, pipe)
    assert links.exit_code == 0
    writer.join()
    assert links.stdout == invoke("align", STORED_RUN, stdin="I see dogs\tJe vois chiens\n").stdout


def test_a_pipe_in_place_of_a_pair_file_is_one_line(tmp_path):
    """A pipe like the one that a shell makes of ``<(command)``. Nothing writes into it."""
    os.mkfifo(tmp_path / "pipe")
    options = ["--src", "en", "--tgt", "fr", "--out", tmp_path / "run"]
    for command in (
        ["train", "--pairs", tmp_path / "pipe", *options],
        ["data", "get", "fra", "--from", tmp_path / "pipe"],
    ):
        assert "not a regular file" in mistake(*command)


@pytest.mark.parametrize(
    "options",
    [
        *(["--muon", "1e300"], ["--muon", "nan"], ["--minutes", "nan"], ["--vocabulary-size", "1000000000"]),
        *(["--steps", "1"], ["--seed", "-1"], ["--steps", "2", "--epochs", "2"], ["--minutes", "1", "--steps", "2"]),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_are_a_wrong_option(tmp_path, options):
    assert invoke(*train_options(tmp_path), *options).exit_code == 2


@pytest.mark.parametrize(("option", "number"), [("--steps", 5), ("--epochs", 2)])
def test_a_training_may_have_a_number_of_steps_or_of_epochs(tmp_path, option, number):
    result = invoke(*train_options(tmp_path, option, number, "--batch-size", "32", "--json"))
    assert json.loads(result.stdout)["steps"] == {"--steps": 5, "--epochs": 6}[option]


def test_resume_without_a_training_to_resume_says_that_it_begins_anew(tmp_path):
    """So a user sees a mistyped name at once, and a job on a cluster may give the option at its first start too."""
    result = invoke(*train_options(tmp_path, "--steps", 2, "--resume"))
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == (
        f"warning: there is no interrupted training into {tmp_path / 'run'}: this training begins anew"
    )


def test_the_pairs_are_shown_and_doubts_are_said(tmp_path):
    options = train_options(tmp_path, "--steps", 2)
    text = (tmp_path / "pairs.txt").read_text("utf-8")
    (tmp_path / "pairs.txt").write_text(f"English\tFrench\n{text}", encoding="utf-8")
    options[options.index("fr")] = "cmn"
    told = invoke(*options).stderr.splitlines()
    assert told[0] == f"reading {tmp_path / 'pairs.txt'}"
    assert told[1] == "  column 1 is en: English  column 2 is zh: French"
    assert sum(line.startswith("  en: ") and "  zh: " in line for line in told) == 3
    assert told[5:] == [
        "warning: the first row looks like a header (tail -n +2 FILE leaves it out): English, French",
        "warning: the zh column does not look like Chinese: 100% of its letters are Latin",
        "learning the vocabularies from 87 pairs",
    ]
    options = [*options[: options.index("cmn")], "fr", *options[options.index("cmn") + 1 :], "--overwrite"]
    assert "warning: the first row looks like a header" in invoke(*options).stderr


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_before_the_first_step_keeps_nothing_and_says_so(tmp_path, monkeypatch, number, status):
    monkeypatch.setattr("utils.translator.data.read_rows", lambda *_: signal.raise_signal(number))
    result = invoke(*train_options(tmp_path))
    assert result.exit_code == status
    assert result.stderr.splitlines()[-1] == "interrupted before the first step: nothing is kept"
    assert not (tmp_path / "run.training").exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_request_to_end_keeps_the_state_like_ctrl_c(tmp_path, number, status):
    steps = []

    def end_at_the_second_step(*_):
        steps.append(None)
        if len(steps) == 2:
            signal.raise_signal(number)

    hook = register_optimizer_step_post_hook(end_at_the_second_step)
    try:
        result = invoke(*train_options(tmp_path, "--muon", 0))
    finally:
        hook.remove()
    assert result.exit_code == status
    assert result.stderr.splitlines()[-1] == "interrupted: the same command with --resume continues from here"
    assert invoke(*train_options(tmp_path, "--muon", 0, "--resume", "--minutes", 0.001)).exit_code == 0


def test_a_word_of_ten_million_letters_is_refused_before_it_is_cut(folder, tmp_path):
    too_long = "standard input, line 1: more than 1,048,576 bytes"
    assert too_long in mistake("translate", folder, stdin="x" * 10**7)
    assert too_long in mistake("align", folder, stdin="a\t" + "x" * 10**7)
    (tmp_path / "pairs.txt").write_text("a\tb\na\t" + "x" * 10**7, encoding="utf-8")
    assert "line 2: more than 1,048,576 bytes" in mistake("evaluate", folder, "--on", tmp_path / "pairs.txt")
    for sides in ("{}", "a\t{}"):
        command = "align" if "\t" in sides else "translate"
        assert "a sentence has 100001 characters" in mistake(
            command, folder, stdin=sides.format("x" * 100_001)
        )


def test_an_argument_that_is_no_text_is_named(folder):
    assert mistake("translate", folder, "a", "\udcff") == "error: sentence 2 is not UTF-8"
    assert "holds no trained run" in mistake("translate", "\udcff", "a")


def test_a_closed_standard_input_is_named(folder, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SystemExit) as ended:
        app(["translate", str(folder)])
    assert ended.value.code == 1
    assert capsys.readouterr().err == "error: standard input is closed: name a file\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "arguments", [["translate", STORED_RUN, "I see two dogs."], ["--help"], ["--version"]]
)
def test_a_full_output_is_one_line(arguments):
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [*PROGRAM, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            check=False,
        )
    assert result.returncode == 1
    assert result.stderr == b"error: [Errno 28] No space left on device\n"


def test_too_little_memory_is_one_line_and_other_faults_of_the_program_are_not_hidden(folder, monkeypatch):
    def raising(error):
        def raise_it(*_, **__):
            raise error

        monkeypatch.setattr("utils.translator.lines.translate_lines", raise_it)

    raising(RuntimeError("DefaultCPUAllocator: not enough memory:\nyou tried to allocate 4000000 bytes"))
    assert "not enough memory: you tried" in mistake("translate", folder, "a")
    raising(MemoryError())
    assert mistake("translate", folder, "a") == "error: MemoryError"
    raising(RuntimeError("a bug"))
    with pytest.raises(RuntimeError, match="a bug"):
        invoke("translate", folder, "a")


# evaluate, compare and info


@pytest.fixture
def own_folder(tmp_path):
    save_run(trained_run(), tmp_path / "own")
    return tmp_path / "own"


def failing_to_write(*_: object) -> None:
    raise PermissionError(errno.EACCES, "Permission denied")


def test_a_run_that_cannot_be_written_to_is_measured_and_the_scores_are_printed(own_folder, monkeypatch):
    monkeypatch.setattr("utils.translator.checkpoints.write_part", failing_to_write)
    result = invoke("evaluate", own_folder)
    assert result.exit_code == 0
    assert result.stdout.startswith("7 sentences\nBLEU ")
    warning, told = result.stderr.splitlines()
    assert warning == (
        f"warning: nothing can be written to {own_folder} (Permission denied): the scores are only printed"
    )
    assert told == "translating 7 sentences"


def test_a_disk_that_is_full_in_the_end_does_not_take_the_scores_away(own_folder, monkeypatch):
    monkeypatch.setattr("utils.translator.translating.write_atomically", failing_to_write)
    result = invoke("evaluate", own_folder)
    assert (result.exit_code, result.stdout[:12]) == (1, "7 sentences\n")
    assert result.stderr.splitlines()[-1] == "error: [Errno 13] Permission denied"


def test_an_evaluation_belongs_to_its_weights_sentences_and_search(own_folder, tmp_path):
    assert "scores    none" in invoke("info", own_folder).stdout
    invoke("evaluate", own_folder, "--beam", 2)
    assert re.search(
        r"scores    BLEU \d+\.\d\d, chrF \d+\.\d\d with beam 2\n", invoke("info", own_folder).stdout
    )
    run = load_run(own_folder)
    stored = (own_folder / "evaluation.json").read_text("utf-8")
    facts = json.loads(stored)
    assert {"beam": 2, "length_penalty": 1.0, "no_repeat_ngram": 0}.items() <= facts["of"].items()
    for name in ("length_penalty", "no_repeat_ngram"):  # as an earlier version wrote it
        del facts["of"][name]
    (own_folder / "evaluation.json").write_text(json.dumps(facts), "utf-8")
    assert "with beam 2\n" in invoke("info", own_folder).stdout
    invoke("evaluate", own_folder, "--length-penalty", 0.5, "--no-repeat-ngram", 2)
    searched = "with beam 1, length penalty 0.5, no repeat ngram 2\n"
    assert searched in invoke("info", own_folder).stdout
    untrained = build_model(SETTINGS, len(run.src_vocabulary), len(run.tgt_vocabulary))
    for other in (replace(run, test=run.test[1:]), replace(run, model=untrained)):
        save_run(other, tmp_path / "other")
        assert not (tmp_path / "other" / "evaluation.json").exists()
        (tmp_path / "other" / "evaluation.json").write_text(stored, "utf-8")
        assert "belongs to another run" in mistake("info", tmp_path / "other")
        invoke("evaluate", tmp_path / "other")
        assert invoke("info", tmp_path / "other").exit_code == 0
    for damaged in ("{", "[]", '{"of": 3}'):
        (own_folder / "evaluation.json").write_text(damaged, "utf-8")
        assert "is damaged: run evaluate again" in mistake("info", own_folder)


def test_a_run_is_measured_on_any_file_with_all_its_references(folder, tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt")
    before = sorted(path.name for path in folder.iterdir())
    facts = json.loads(invoke("evaluate", folder, "--on", pairs, "--json").stdout)
    assert facts["num_sentences"] == 75
    references = {entry["source"]: entry["references"] for entry in facts["translations"]}
    assert len(references["I see two dogs."]) == 2
    assert facts["bleu"]["value"] > 90
    assert sorted(path.name for path in folder.iterdir()) == before
    swapped = "".join("\t".join(reversed(line.split("\t"))) + "\n" for line in pair_lines())
    (tmp_path / "swapped.txt").write_text(swapped, encoding="utf-8")
    again = invoke("evaluate", folder, "--on", tmp_path / "swapped.txt", "--columns", "fra,eng", "--json")
    assert json.loads(again.stdout)["bleu"] == facts["bleu"]
    assert invoke("evaluate", folder, "--columns", "fr,en").exit_code == 2
    assert "must be the two columns" in mistake("evaluate", folder, "--on", pairs, "--columns", "de,en")
    pairs.write_bytes(f"eng\tfra\r{pairs.read_text()}".encode("utf-16"))
    told = invoke("evaluate", folder, "--on", pairs).stderr
    assert "  column 1 is en: eng  column 2 is fr: fra\n" in told
    assert "warning: the first row looks like a header" in told


def test_two_runs_are_compared_by_a_paired_bootstrap(folder, tmp_path):
    run = load_run(folder)
    sizes = len(run.src_vocabulary), len(run.tgt_vocabulary)
    save_run(replace(run, model=build_model(SETTINGS, *sizes)), tmp_path / "untrained")
    lines = invoke("compare", folder, tmp_path / "untrained").stdout.splitlines()
    assert lines[0] == "7 sentences"
    assert lines[1].split() == ["BLEU", "chrF"]
    assert lines[2].split()[0] == str(folder)
    assert lines[4].split()[0] == "p-value"
    facts = json.loads(invoke("compare", folder, tmp_path / "untrained", "--json").stdout)
    assert facts["bleu"]["first"] > 50 > facts["bleu"]["second"]
    assert facts["bleu"]["p_value"] < 0.05
    assert "bs:1000" in facts["bleu"]["signature"]
    same = json.loads(invoke("compare", folder, folder, "--json").stdout)
    assert same["bleu"]["first"] == same["bleu"]["second"]
    assert same["bleu"]["p_value"] == 1
    save_run(replace(run, test=run.test[1:]), tmp_path / "other")
    assert "other test sentences: name a file of pairs with --on" in mistake(
        "compare", folder, tmp_path / "other"
    )
    pairs = write_pairs(tmp_path / "pairs.txt")
    assert invoke("compare", folder, tmp_path / "other", "--on", pairs).stdout.startswith("75 sentences\n")
    save_run(replace(run, settings=replace(run.settings, tgt="de")), tmp_path / "german")
    assert "the same languages, got en-fr and en-de" in mistake("compare", folder, tmp_path / "german")


@pytest.mark.parametrize(("lang", "tokenizer"), [("ja", "char"), ("ko", "13a")])
def test_a_tokenizer_that_is_not_installed_is_named_and_replaced(
    folder, tmp_path, monkeypatch, lang, tokenizer
):
    monkeypatch.setattr("utils.metrics.find_spec", lambda _: None)
    run = load_run(folder)
    save_run(replace(run, settings=replace(run.settings, tgt=lang)), tmp_path / "run")
    for command in (["evaluate", tmp_path / "run"], ["compare", tmp_path / "run", tmp_path / "run"]):
        result = invoke(*command)
        assert result.exit_code == 0
        assert f"|tok:{tokenizer}|" in result.stdout
        warning = result.stderr.splitlines()[0]
        assert f"is not installed (pip install 'sacrebleu[{lang}]')" in warning
        assert warning.endswith(f"so BLEU uses the tokenizer {tokenizer}")


@pytest.mark.parametrize(("muon", "batch_size"), [(0, 32), (0.02, 128)])
def test_a_run_tells_how_it_was_trained(tmp_path, muon, batch_size):
    """Where Adam trains all weights on a CPU, a batch is smaller."""
    options = ("--steps", 3, "--muon", muon, "--device", "cpu")
    assert invoke(*train_options(tmp_path, *options)).exit_code == 0
    lines = dict(line.split(maxsplit=1) for line in invoke("info", tmp_path / "run").stdout.splitlines()[1:])
    assert lines["data"].startswith(f"{tmp_path / 'pairs.txt'}, sha256 ")
    assert lines["rows"] == "100 pairs, 86 to train on"
    assert f"steps 3, batch_size {batch_size}, " in lines["schedule"]
    assert lines["trained"].startswith("3 steps in 0.0")
    assert lines["loss"].count(",") == 2
    assert "threads 1, " in lines["with"]
    facts = json.loads(invoke("info", tmp_path / "run", "--json").stdout)
    assert facts["record"] == json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    run = load_run(tmp_path / "run")
    save_run(replace(run, record={"data": {}}), tmp_path / "newer")
    assert "run.json is of another version of this course" in invoke("info", tmp_path / "newer").stderr
    save_run(trained_run(), tmp_path / "old")
    assert "record    none: an earlier version" in invoke("info", tmp_path / "old").stdout


# The program


def test_help_does_not_wait_for_torch():
    script = """
import sys
from typer.testing import CliRunner
from utils.translator.commands import app

for command in ("", "data get", "train", "translate", "align", "evaluate", "compare", "info"):
    assert CliRunner().invoke(app, [*command.split(), "--help"]).exit_code == 0
assert CliRunner().invoke(app, ["--version"]).exit_code == 0
sys.exit("torch" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)


def test_the_choices_of_data_get_are_the_corpora():
    assert list(CorpusName) == list(CORPORA)


def test_the_program_tells_its_version():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("attention-course")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("tr", "train translate"), ("data get ", "cmn fra"), ("train --st", "--steps")],
)
def test_a_shell_completes_commands_names_and_options(typed, offered):
    assert "--install-completion" in invoke("--help").stdout
    words = f"{NAME} {typed}"
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    result = subprocess.run(
        PROGRAM,
        env=ENVIRONMENT | asked | {"_ATTENTION_COURSE_COMPLETE": "complete_bash"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout.split() == offered.split()


def test_the_console_command_does_not_run_a_file_of_the_reader_s_folder(tmp_path):
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
