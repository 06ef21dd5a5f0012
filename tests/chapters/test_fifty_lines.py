"""The translator in fifty lines: it runs alone and learns, in three languages."""

import random
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import fifty_lines
from utils.corpus.grammar import join_words, triples

FILE = Path(fifty_lines.__file__)


@pytest.fixture(autouse=True)
def same_draws():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        random.seed(0)
        yield


def test_words_of_three_languages():
    assert fifty_lines.words("L'été, déjà ?") == ["l", "'", "été", ",", "déjà", "?"]
    assert fifty_lines.words("我看Tom。") == ["我", "看", "tom", "。"]


def test_padding_changes_nothing():
    model = fifty_lines.Translator(7, 11)
    alone, padded = torch.tensor([[3, 4]]), torch.tensor([[3, 4, 0, 0, 0]])
    word, state = torch.tensor([1]), torch.randn(1, 128)
    expected, _ = model.step(word, state, *model.read(alone))
    torch.testing.assert_close(model.step(word, state, *model.read(padded))[0], expected)


@pytest.mark.trains
def test_it_learns_a_small_file():
    source, target = "en", "zh"
    texts = [
        {lang: join_words(t.words(lang), lang) for lang in ("en", "fr", "zh")}
        for t in triples(19, max_words=7)
    ]
    pairs = [[fifty_lines.words(text[lang]) for lang in (source, target)] for text in texts]
    model, src, tgt = fifty_lines.train(pairs, steps=40)
    written = [fifty_lines.translate(model, src, tgt, text[source]) for text in texts]
    right = sum(w == " ".join(t) for w, (_, t) in zip(written, pairs, strict=True))
    assert right >= 17


@pytest.mark.parametrize(
    ("content", "pairs"),
    [
        ("\ufeffGo.\tVa !\tCC-BY\r\n\r\n \nStop.\t停下。", [["go", "."], ["stop", "."]]),
        ("Go\rhome.\tVa !\nStop\u2028now.\tArrête !\n", [["go", "home", "."], ["stop", "now", "."]]),
    ],
)
def test_lines_are_those_of_the_course(tmp_path, content, pairs):
    (tmp_path / "pairs.txt").write_bytes(content.encode())
    assert [source for source, _ in fifty_lines.read_pairs(tmp_path / "pairs.txt")] == pairs


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("Go.\tVa !\n", [], 'python fifty_lines.py pairs.txt "What time is it?"'),
        ("Go.\tVa !\n", ["pairs.txt", "Go", "home."], 'python fifty_lines.py pairs.txt "What time is it?"'),
        ("Go.\tVa !\n", ["pairs.txt", "Go home now."], "pairs.txt has no sentence with home, now: only words of"),
        ("\n", ["pairs.txt", "Go."], "pairs.txt has no sentence with go, .: only words of the file"),
        ("Go.\tVa !\n", ["pairs.txt", " "], "the sentence has no word: ' '"),
        ("Go.\tVa !\nStop.\n", ["pairs.txt", "Go."], "pairs.txt, line 2: wanted a sentence, a tab and its tr"),
        ("Go.\t \n", ["pairs.txt", "Go."], "pairs.txt, line 1: wanted a sentence, a tab and its translation"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(tmp_path, monkeypatch, content, arguments, message):
    (tmp_path / "pairs.txt").write_text(content, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(FILE), *arguments])
    with pytest.raises(SystemExit) as error:
        runpy.run_path(str(FILE), run_name="__main__")
    assert message in error.value.code


@pytest.mark.trains
@pytest.mark.slow
def test_it_runs_alone_on_a_file_with_bom(tmp_path):
    (tmp_path / "pairs.txt").write_text("\ufeffGo.\tVa !\tCC-BY\r\nStop.\t停下。\n", "utf-8")
    command = [sys.executable, str(FILE), "pairs.txt", "Go."]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, encoding="utf-8")
    assert ran.stdout == "va !\n"
