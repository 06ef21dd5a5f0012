"""The commands of the Makefile that the pages name."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("chapters/*.md"), *ROOT.glob("book/**/*.md")]
#: At the beginning of a line of code or within backticks: `make test CHAPTER=masked_softmax`.
COMMAND = re.compile(r"(?:^|`)make((?: [\w=./-]+)*)", re.MULTILINE)
COMMANDS = sorted({command for page in PAGES for command in COMMAND.findall(page.read_text("utf-8"))})


def make(*words: str) -> subprocess.CompletedProcess:
    """Run make with the environment of this test, whatever make has started the test."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    return subprocess.run(
        [
            "make",
            *words,
            f"VENV={sys.prefix}",
            f"--assume-old={sys.prefix}/.installed",
        ],  # a test installs nothing
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_commands_are_found() -> None:
    assert {"", " book", " test", " test CHAPTER=masked_softmax"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_a_page_exists(command: str) -> None:
    words = re.sub("=name$", "=masked_softmax", command, flags=re.IGNORECASE).split()
    result = make("--dry-run", *words, "DIR=returned")
    assert result.returncode == 0, result.stderr


def test_make_lists_every_command_with_what_it_does() -> None:
    listed = dict(re.findall(r"^  make (\S+) +(\S.+)$", make().stdout, re.MULTILINE))
    named = {command.split()[0] for command in COMMANDS if command and "=" not in command.split()[0]}
    assert named <= listed.keys()


def test_an_unknown_chapter_is_told() -> None:
    result = make("--dry-run", "notebooks", "CHAPTER=masked_sofmax")
    assert result.returncode != 0
    assert "There is no chapter called masked_sofmax." in result.stderr
    assert " masked_softmax " in result.stderr
