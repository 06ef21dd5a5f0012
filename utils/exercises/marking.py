"""Mark notebooks that students have returned: ``python -m utils.exercises.marking FOLDER``, which `make mark` calls.

It is no protection against somebody who wants to do harm. Explained in book/teaching.
"""

import asyncio
import csv
import importlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat
from tqdm import tqdm

from utils.exercises.progress import VARIABLE, numbers_of, stored_results

CHAPTERS = Path(__file__).parents[2] / "chapters"
#: Seconds after which a cell is interrupted, so that the next ones run, and after which a notebook is stopped.
CELL_LIMIT, NOTEBOOK_LIMIT = 600, 3600


class _Quiet(nbclient.NotebookClient):
    async def async_start_new_kernel(self, **options: object) -> None:
        """Let Ctrl-C end all notebooks, where nbclient would end this one alone."""
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        await super().async_start_new_kernel(**options)

    def output(self, *_: object) -> None:
        """Keep no outputs: they may be without end."""


def run(notebook: nbformat.NotebookNode, results: Path) -> str:
    """Run a notebook in a folder of its own, where its checks write ``results``; return why some are missing."""
    options = {"kernel_name": "python3", "allow_errors": True, "interrupt_on_timeout": True}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        shutil.copytree(CHAPTERS / "studies", Path(place) / "studies")  # stored runs that chapters read
        client = _Quiet(notebook, timeout=CELL_LIMIT, **options)
        running = client.async_execute(cwd=place, env=os.environ | {VARIABLE: str(results)})
        try:
            asyncio.run(asyncio.wait_for(running, NOTEBOOK_LIMIT))
        except (TimeoutError, nbclient.exceptions.DeadKernelError):
            return f"the kernel died, or was stopped after {NOTEBOOK_LIMIT} seconds, before this check"
    return "this check did not run"


def marks_of(path: Path) -> list[tuple[str, ...]]:
    """Chapter, exercise, result and message of each exercise of a notebook; one row if it cannot be marked."""
    try:
        notebook = nbformat.reads(json.dumps(json.loads(path.read_bytes())), as_version=4)
        source = "\n".join(cell.source for cell in notebook.cells)
        imported = re.findall(r"from utils\.exercises import (\w+)", source)
        chapter = next((name for name in imported if (CHAPTERS / f"{name}.ipynb").exists()), None)
        if chapter is None:
            return [("", "", "failed", "it imports the checks of no chapter")]
        numbers = numbers_of(importlib.import_module(f"utils.exercises.{chapter}"))
        with tempfile.TemporaryDirectory() as place:
            why = run(notebook, Path(place) / "results.json")
            found = stored_results(Path(place) / "results.json").get(chapter, {})
        return [(chapter, str(n), *found.get(str(n), ["not checked", why])) for n in numbers]
    except Exception as error:  # a file can be broken in more ways than nbformat has names for
        return [("", "", "failed", f"it cannot be run as a notebook: {error!r}"[:300])]


def main(folder: Path) -> None:
    """Write marks.csv into the folder: the rows of each notebook below it, as soon as the notebook has run."""
    files = [path for path in sorted(folder.rglob("*")) if ".ipynb" in path.name.lower() and path.is_file()]
    names = [path.relative_to(folder) for path in files]
    copies = (".", "__MACOSX")  # Jupyter and macOS add them by themselves
    names = [name for name in names if not any(part.startswith(copies) for part in name.parts)]
    if not names:
        sys.exit(f"there is no notebook in {folder}")
    encoding = {"encoding": "utf-8-sig", "errors": "backslashreplace", "newline": ""}
    with (folder / "marks.csv").open("w", buffering=1, **encoding) as table:
        rows = csv.writer(table)
        rows.writerow(("file", "chapter", "exercise", "result", "message"))
        for name in tqdm(names):
            for mark in marks_of(folder / name):
                # A spreadsheet program would compute a text that begins like a formula.
                rows.writerow([re.sub(r"^(?=[=+\-@\t\r])", "'", text) for text in (str(name), *mark)])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
