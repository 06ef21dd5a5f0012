"""A JupyterLab for one test, on this computer and without a network, and a notebook in it that runs."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from chromium import PATIENCE
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Page
from processes import ENDS_WITH_ITS_TEST

ADDRESS = re.compile(r"http://127\.0\.0\.1:[1-9]\d*(?=/)")

#: Cells: a figure, a second view of it, and Python that follows it.
FIGURE = """
import ipywidgets
import torch
from utils.figures import Weights

def frame(d, scaled):
    scores = torch.arange(6.0).reshape(2, 3) * (1 if scaled == "yes" else d**0.5)
    return {"weights": torch.softmax(scores, dim=-1)}

figure = Weights(
    frame, {"d": [1, 4, 16, 64], "scaled": ["no", "yes"]}, queries=["a", "b"], keys=["x", "y", "z"],
    name="live", alt="Two rows of weights.", say="At d = {d} we look from {query}.",
)
figure
"""
SECOND_VIEW = "figure"
ECHO = """
echo = ipywidgets.HTML("nothing yet")
echo.add_class("echo")
figure.widget.observe(
    lambda change: setattr(echo, "value", f"Python sees {change.name} {change.new}"), names=["d", "scaled"]
)
other = ipywidgets.SelectionSlider(options=figure.axes["d"], description="other")
other.add_class("other")
ipywidgets.link((figure.widget, "d"), (other, "value"))
ipywidgets.VBox([echo, other])
"""


@contextmanager
def server(folder: Path, *options: str) -> Iterator[str]:
    """JupyterLab over a folder that holds its settings too; gives its address.

    Args:
        options: in place of those that say which folder is shown; it starts in this one.

    Raises:
        RuntimeError: it has ended, with what it wrote.
    """
    program = f"{ENDS_WITH_ITS_TEST}from jupyterlab.labapp import main\nmain()"
    command = [sys.executable, "-c", program, "--no-browser", "--allow-root", "--ip=127.0.0.1"]
    command += ["--port=0", *(options or [f"--ServerApp.root_dir={folder}"])]  # port 0: any that is free
    command += ["--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True"]
    command += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    settings = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
    running = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=os.environ | dict.fromkeys(settings, str(folder / ".jupyter")) | {"JUPYTER_PREFER_ENV_PATH": "1"},
    )
    written = ""
    try:
        while not (address := ADDRESS.search(written)):
            if not (line := running.stdout.readline()):
                raise RuntimeError(f"JupyterLab does not answer:\n{written}")
            written += line
        threading.Thread(target=running.stdout.read, daemon=True).start()  # so that it can go on writing
        yield address[0]
    finally:
        running.terminate()
        running.wait()


def write_notebook(path: Path, *cells: str) -> None:
    """A notebook of code cells, not yet run."""
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in cells], metadata=kernel), path)


def open_page(browser: Browser, address: str, path: str) -> Page:
    """A window on a page of the server; requests to any other host are refused."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    context.route(
        re.compile(rf"^https?://(?!{re.escape(address.removeprefix('http://'))})"), lambda r: r.abort()
    )
    page = context.new_page()
    page.goto(f"{address}/{path}")
    return page


def open_notebook(browser: Browser, address: str, notebook: str) -> Page:
    """A window on the notebook as it is stored."""
    page = open_page(browser, address, f"lab/tree/{notebook}")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.wait_for_function("window.jupyterapp")
    page.wait_for_selector("text=/Python 3.*Idle/")
    return page


def open_and_run(browser: Browser, address: str, notebook: str) -> Page:
    """The same with each of its cells run."""
    page = open_notebook(browser, address, notebook)
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    return page
