"""`make test-machines`: what it runs, that it counts what fails, and that what it starts ends with it."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import machines
import pytest
import torch
from machines import LEFT_OUT, SETTINGS, Setting, busy, chapters_and_tests, read_report, report, why_not

THREADS = "OMP_NUM_THREADS"
#: A setting with as many threads runs in one process.
NUM_CORES = os.cpu_count() or 1


def test_a_new_test_file_runs_without_being_listed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(machines, "LEFT_OUT", {"tests/test_window.py": "needs a browser"})
    texts = {
        "tests/test_window.py": "import torch\n",
        "tests/test_numbers.py": '"""Sums."""\n\nimport torch\n',
        "tests/test_pictures.py": "from torch import nn\n",
        "tests/test_words.py": "import re  # not import torch\n",
        "tests/bench.py": "import torch\n",
        "chapters/one.ipynb": "{}",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    numeric = ["chapters/one.ipynb", "tests/test_numbers.py", "tests/test_pictures.py"]
    rest = ["chapters/studies", "utils"]
    assert chapters_and_tests(tmp_path, numeric=True) == numeric + rest
    assert chapters_and_tests(tmp_path, numeric=False) == [*numeric, "tests/test_words.py", *rest]


def test_only_files_that_need_a_browser_or_the_built_book_are_left_out() -> None:
    tests = Path(machines.__file__).parent
    needs = re.compile(r"^from playwright|^from test_book import|^BOOK = .*_build", re.MULTILINE)
    found = [path.name for path in tests.glob("test_*.py") if needs.search(path.read_text("utf-8"))]
    assert {f"tests/{name}" for name in found} == LEFT_OUT.keys()


def test_beside_busy_loops_slow_tests_run_too(tmp_path: Path, monkeypatch) -> None:
    commands = []
    ended = subprocess.CompletedProcess([], 0, "1 passed in 0.01s\n", "")
    monkeypatch.setattr(machines, "LOGS", tmp_path)
    monkeypatch.setattr(machines.subprocess, "run", lambda command, **_: commands.append(command) or ended)
    monkeypatch.setattr(machines, "busy", lambda num_loops: contextlib.nullcontext())
    for setting in SETTINGS:
        machines.run(setting, [])
        slow_too = "not slow" not in commands[-1]
        assert slow_too == ("tests/test_commands.py" in commands[-1]) == (setting.busy_loops > 0)
    assert [setting.busy_loops for setting in SETTINGS if setting.busy_loops] == [4]


@pytest.mark.skipif(THREADS not in os.environ, reason=f"{THREADS} is not set")
def test_no_test_has_changed_the_number_of_threads() -> None:
    # This worker has imported every test file that it is to run, and may have run some.
    assert torch.get_num_threads() == int(os.environ[THREADS])


def test_a_setting_that_takes_no_effect_is_not_run() -> None:
    capability = torch.backends.cpu.get_cpu_capability()
    assert why_not(Setting("as it is", 1, {}, (f"capability {capability}",))) is None
    other = Setting("unknown", 1, {"ATEN_CPU_CAPABILITY": "no such"}, ("capability NO SUCH",))
    assert why_not(other) == "no 'capability NO SUCH' here"


def test_failures_are_counted_and_told(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(machines, "LOGS", tmp_path)
    mixed = tmp_path / "test_mixed.py"
    mixed.write_text("def test_right():\n    pass\n\n\ndef test_wrong():\n    assert 1 + 1 == 3\n")
    monkeypatch.setattr(machines, "why_not", lambda setting: {"never": "too old"}.get(setting.name))
    assert report((Setting("this one", NUM_CORES), Setting("never", 1)), [str(mixed)]) == 1
    head, counts, failure, skipped, end = capsys.readouterr().out.splitlines()
    assert head.split() == ["setting", "threads", "passed", "failed", "skipped", "minutes"]
    assert counts.split()[:6] == ["this", "one", str(NUM_CORES), "1", "1", "0"]
    assert "test_mixed.py::test_wrong" in failure
    assert "not run: too old" in skipped
    assert end.startswith("2 settings: 1 failed, 1 not run")


def test_a_run_that_breaks_off_has_failed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(machines, "LOGS", tmp_path)
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    counts, (failure,) = machines.run(Setting("this one", 1), ["tests"])
    assert counts == {}
    assert failure.startswith("pytest ended with 1: see ")


def test_what_pytest_prints_is_read() -> None:
    failed = "FAILED tests/test_a.py::test_b[ERROR - 3] - assert 1 == 2"
    counts, failures = read_report(f"{failed}\n2 failed, 13 passed, 1 skipped in 95.21s (0:01:35)\n")
    assert counts == {"failed": 2, "passed": 13, "skipped": 1}
    assert failures == [failed]
    assert read_report("=========== 7 passed in 1.00s ===========\n") == ({"passed": 7}, [])
    assert read_report("ERROR tests/test_c.py\nno tests ran in 3.0s\n") == ({}, ["ERROR tests/test_c.py"])


def test_busy_loops_end_with_the_block() -> None:
    started = []

    def interrupted() -> None:
        with busy(2) as loops:
            started.extend(loops)
            assert [loop.poll() for loop in loops] == [None, None]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [loop.returncode for loop in started] == [-9, -9]


def test_busy_loops_end_with_a_process_that_is_killed() -> None:
    killed = "import os\nfrom machines import busy\nwith busy(2): os.kill(os.getpid(), 9)"
    # The loops hold the other end of the pipe, so this returns once they have ended.
    ended = subprocess.run(
        [sys.executable, "-c", killed],
        cwd=Path(machines.__file__).parent,
        stdout=subprocess.PIPE,
        timeout=300,
    )
    assert ended.returncode == -9
