"""Speed of `attention-course train` by the number of threads, on an idle machine and beside busy programs.

Run as ``python tests/benchmarks/threads.py PAIRS.txt --columns en,fr --src en --tgt fr``: a file of sentence pairs and
the options of ``train``. Each way is run three times, one way after the other, and the numbers are target tokens per
second, the median and the range. It takes half an hour, in which the machine must do nothing else.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

#: What is set before the command: nothing, a single thread, or all of them, waiting in their sleep or actively.
WAYS = {
    "found by trying": {},
    "one thread": {"OMP_NUM_THREADS": "1"},
    "all threads, passive": {"OMP_NUM_THREADS": str(os.cpu_count()), "OMP_WAIT_POLICY": "passive"},
    "all threads, active": {"OMP_NUM_THREADS": str(os.cpu_count()), "OMP_WAIT_POLICY": "active"},
}
ROUNDS, MINUTES = 3, 0.75
BUSY = "while True: pass"


def tokens_per_second(options: list[str], variables: dict[str, str]) -> float:
    """Train in a fresh process, and read the speed in the file that it writes."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        words = [
            sys.executable,
            "-m",
            "utils",
            "train",
            "--pairs",
            *options,
            "--minutes",
            str(MINUTES),
            "--out",
            run,
        ]
        subprocess.run(
            words, env=own | variables, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        result = json.loads((run / "run.json").read_text("utf-8"))["result"]
    return result["target_tokens"] / (60 * result["minutes"])


def main(options: list[str]) -> None:
    """Print a line for each way and each number of busy programs."""
    for busy in (0, 1, 2):
        programs = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(busy)]
        try:
            speeds: dict[str, list[float]] = {way: [] for way in WAYS}
            for _ in range(ROUNDS):
                for way, variables in WAYS.items():
                    speeds[way].append(tokens_per_second(options, variables))
        finally:
            for program in programs:
                program.kill()
        for way, of_way in speeds.items():
            middle = statistics.median(of_way)
            print(
                f"{busy} busy, {way:20} {middle:6,.0f}  ({min(of_way):,.0f} to {max(of_way):,.0f})",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
