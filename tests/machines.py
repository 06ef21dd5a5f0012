"""`make test-machines`: the tests that compute numbers as on other processors, and nearly all tests on a busy machine.

PyTorch and its two libraries, oneDNN and MKL, choose their instructions by the processor, and environment variables
can ask for older ones. These and the number of threads change the last bits of sums, products and random numbers.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOGS = ROOT / "_build" / "machines"
MAX_FAILURES_SHOWN = 5

#: Test files that only `make test` runs, and why.
LEFT_OUT = {
    "tests/test_architecture.py": "needs a browser",
    "tests/test_explorables_in_browser.py": "needs a browser",
    "tests/test_figures_in_jupyterlab.py": "needs a browser",
    "tests/test_book.py": "needs the built book",
    "tests/test_figures_in_book.py": "needs a browser and the built book",
    "tests/test_pages.py": "needs a browser and the built book",
    "tests/test_pdf.py": "needs a browser and the built book",
    "tests/test_quizzes_in_book.py": "needs a browser and the built book",
}


@dataclass(frozen=True)
class Setting:
    """A way to run the tests.

    ``shows`` is what `PROBE` prints when the environment variables have taken effect. A setting with busy loops runs
    all tests, also slow ones, because a busy machine can disturb a test that computes no numbers.
    """

    name: str
    threads: int
    variables: dict[str, str] = field(default_factory=dict)
    shows: tuple[str, ...] = ()
    busy_loops: int = 0


OLD_TORCH = {"ATEN_CPU_CAPABILITY": "default"}
OLD_ONEDNN = {"DNNL_MAX_CPU_ISA": "SSE41"}
OLD_MKL = {"MKL_CBWR": "COMPATIBLE"}
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "DNNL_MAX_CPU_ISA": "AVX2"}

#: Each value of each variable, and each number of threads, at least once. All combinations would take hours.
SETTINGS = (
    Setting("this processor", 1),
    Setting("this processor", 2),
    Setting("this processor, 4 busy loops", 1, busy_loops=4),
    Setting("PyTorch without AVX", 1, OLD_TORCH, ("capability DEFAULT",)),
    Setting("oneDNN with SSE4.1", 2, OLD_ONEDNN, ("isa:Intel SSE4.1",)),
    Setting("MKL, compatible", 1, OLD_MKL, ("CNR:COMPATIBLE",)),
    Setting(
        "all three of these",
        2,
        OLD_TORCH | OLD_ONEDNN | OLD_MKL,
        ("capability DEFAULT", "isa:Intel SSE4.1", "CNR:COMPATIBLE"),
    ),
    Setting("PyTorch and oneDNN with AVX2", 2, AVX2, ("capability AVX2", "isa:Intel AVX2")),
    Setting("PyTorch with AVX-512", 1, {"ATEN_CPU_CAPABILITY": "avx512"}, ("capability AVX512",)),
)

#: Prints which instructions are used. MKL reports them at its first product, oneDNN at its first gelu. If the processor
#: lacks an instruction, the process ends in the softmax.
PROBE = """
import torch
print("capability", torch.backends.cpu.get_cpu_capability())
print("threads", torch.get_num_threads())
numbers = torch.ones(64, 64)
torch.nn.functional.gelu(numbers @ numbers).softmax(-1)
"""
#: One busy process. It ends with the one that started it, even where that one is killed.
LOOP = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    for _ in range(10**6): pass
"""


def chapters_and_tests(root: Path = ROOT, *, numeric: bool) -> list[str]:
    """The chapters, the test files without those of `LEFT_OUT`, and the doctests of the studies and of utils.

    Args:
        root: the folder of the course.
        numeric: whether to choose only the test files that import torch.
    """
    chapters = sorted((root / "chapters").glob("*.ipynb"))
    tests = sorted((root / "tests").glob("test_*.py"))
    if numeric:
        imports_torch = re.compile(r"^(?:import|from) torch\b", re.MULTILINE)
        tests = [path for path in tests if imports_torch.search(path.read_text("utf-8"))]
    names = [path.relative_to(root).as_posix() for path in (*chapters, *tests)]
    return [name for name in names if name not in LEFT_OUT] + ["chapters/studies", "utils"]


def environment(setting: Setting) -> dict[str, str]:
    return os.environ | setting.variables | {"OMP_NUM_THREADS": str(setting.threads)}


def why_not(setting: Setting) -> str | None:
    """Why this machine cannot run the setting; None if it can."""
    probe = subprocess.run(
        [sys.executable, "-c", PROBE],
        env=environment(setting) | {"DNNL_VERBOSE": "1", "MKL_VERBOSE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    missing = [text for text in (*setting.shows, f"threads {setting.threads}") if text not in probe.stdout]
    if missing:
        return f"no {missing[0]!r} here"
    if probe.returncode:
        return "the processor lacks its instructions"
    return None


@contextmanager
def busy(num_loops: int) -> Iterator[list[subprocess.Popen]]:
    """Processes that keep the processor busy until the block ends, whatever ends it."""
    loops: list[subprocess.Popen] = []
    try:
        for _ in range(num_loops):
            loops.append(subprocess.Popen([sys.executable, "-c", LOOP, str(os.getpid())]))
        yield loops
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def read_report(printed: str) -> tuple[dict[str, int], list[str]]:
    """Counts by outcome and the lines of failures, from what pytest prints; no counts if pytest ended early."""
    summaries = re.findall(r"^(?:=+ )?((?:\d+ \w+,? )+)in [\d.]+s", printed, re.MULTILINE)
    counts = {
        word: int(count) for count, word in re.findall(r"(\d+) (\w+)", summaries[-1] if summaries else "")
    }
    return counts, re.findall(r"^(?:FAILED|ERROR) .+$", printed, re.MULTILINE)


def run(setting: Setting, files: list[str]) -> tuple[dict[str, int], list[str]]:
    """Run the tests once; counts by outcome, and a line for each failure."""
    workers = (os.cpu_count() or 1) // setting.threads
    command = [sys.executable, "-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider"]
    command += [] if setting.busy_loops else ["-m", "not slow"]
    command += ["-n", str(workers if workers > 1 else 0), "--dist", "loadfile"]
    command += ["--nbval", "--nbval-current-env"]
    command += files or chapters_and_tests(numeric=not setting.busy_loops)
    with busy(setting.busy_loops):
        ended = subprocess.run(
            command, cwd=ROOT, env=environment(setting), capture_output=True, text=True, check=False
        )
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{setting.name}, threads {setting.threads}.txt"
    log.write_text(ended.stdout + ended.stderr, "utf-8")
    counts, failures = read_report(ended.stdout)
    if ended.returncode and not failures:
        failures = [f"pytest ended with {ended.returncode}: see {log}"]
    return counts, failures


def report(settings: tuple[Setting, ...], files: list[str]) -> int:
    """Run the files, or those of each setting, and print a table; how many settings failed."""
    num_failed = num_skipped = 0
    print(f"{'setting':30} threads  passed  failed  skipped  minutes", flush=True)
    for setting in settings:
        head = f"{setting.name:30} {setting.threads:7}"
        if reason := why_not(setting):
            num_skipped += 1
            print(f"{head}  not run: {reason}", flush=True)
            continue
        start = time.perf_counter()
        counts, failures = run(setting, files)
        minutes = (time.perf_counter() - start) / 60
        num_failed += bool(failures)
        print(
            f"{head} {counts.get('passed', 0):7} {len(failures):7} {counts.get('skipped', 0):8} {minutes:8.1f}"
        )
        print(
            *(f"    {line}" for line in failures[:MAX_FAILURES_SHOWN]), sep="\n", end="\n" if failures else ""
        )
        if len(failures) > MAX_FAILURES_SHOWN:
            print(f"    and {len(failures) - MAX_FAILURES_SHOWN} more")
        sys.stdout.flush()
    print(
        f"{len(settings)} settings: {num_failed} failed, {num_skipped} not run; what pytest printed is in {LOGS}"
    )
    return num_failed


if __name__ == "__main__":
    sys.exit(report(SETTINGS, sys.argv[1:]) > 0)
