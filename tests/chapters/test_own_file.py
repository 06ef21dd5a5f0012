"""The chapter from a file to a translator, run from top to bottom on a reader's own file, without a network."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from utils.corpus.grammar import join_words, triples

pytestmark = pytest.mark.trains

ROOT = Path(__file__).parents[2]
CHAPTER = ROOT / "chapters" / "chinese_english.ipynb"


def rows_of(kind: str) -> list[str]:
    if kind == "three columns of Tatoeba":
        sample = ROOT / "utils" / "corpus" / "sample" / "cmn.txt"
        return sample.read_text("utf-8").split("\n")[2000:2500]
    languages = {"two columns, French": "fr", "two columns, Chinese": "zh"}
    texts = [(join_words(t.en, "en"), t.words(languages[kind])) for t in triples(500, max_words=9)]
    return [f"{en}\t{join_words(words, languages[kind])}" for en, words in texts]


def code_of_the_chapter() -> str:
    cells = nbformat.read(CHAPTER, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "code")


def run(code: str, folder: Path) -> str:
    """Run the chapter's code in a folder with the file pairs.txt; return what it prints."""
    (folder / "page.py").write_text(code, "utf-8")
    settings = {
        "ATTENTION_PAIRS": "pairs.txt",
        "ATTENTION_PROGRESS": "",
        "MPLBACKEND": "agg",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "chapters")]),
        "PYTHONUTF8": "1",
    }
    settings |= dict.fromkeys(
        ("http_proxy", "https_proxy"), "http://127.0.0.1:9"
    )  # no request leaves the machine
    ran = subprocess.run(
        [sys.executable, "page.py"],
        cwd=folder, capture_output=True, text=True, encoding="utf-8", env=os.environ | settings,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


KINDS = ["three columns of Tatoeba", "two columns, French", "two columns, Chinese"]


@pytest.mark.parametrize(
    ("kind", "steps"),
    [("two columns, French", 7), *(pytest.param(kind, None, marks=pytest.mark.slow) for kind in KINDS)],
)
def test_a_file_of_500_pairs_runs_from_top_to_bottom(kind: str, steps: int | None, tmp_path: Path) -> None:
    (tmp_path / "pairs.txt").write_text("\ufeff" + "\r\n".join(rows_of(kind)) + "\r\n", "utf-8")
    code = code_of_the_chapter()
    if steps is not None:
        assert "STEPS = " in code
        code = code.replace("STEPS = ", f"STEPS = {steps}  # ")
    printed = run(code, tmp_path)
    assert "500 pairs, 0 rows left out" in printed
    assert "BLEU" in printed
    assert (tmp_path / "runs" / "my_translator" / "weights.safetensors").is_file()


def test_a_file_without_tabs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pairs.txt").write_text("one sentence\n" * 300, "utf-8")
    monkeypatch.setenv("ATTENTION_PAIRS", str(tmp_path / "pairs.txt"))
    with pytest.raises(ValueError, match=r"pairs\.txt has too few pairs, or no tabs between them"):
        exec(code_of_the_chapter(), {})
