"""A figure in JupyterLab, in a browser and without a network: it shows, moves, and Python sees it."""

import itertools
import json
import re
from pathlib import Path

import jupyterlab
import nbformat
import pytest
from jupyterlab import ECHO, FIGURE, SECOND_VIEW
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from playwright.sync_api import Browser, Locator, Page, expect
from stored_figures import COLLISIONS, use_wide_font

MOVE = "figure.widget.query = 1"

#: Another figure with controls of the same names.
TWIN = re.sub(r"\bfigure\b", "twin", FIGURE).replace('name="live"', 'name="twin"')

CHAPTER = Path(__file__).parents[3] / "chapters" / "masked_softmax.ipynb"

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def views(page: Page) -> list[Locator]:
    page.wait_for_selector(".xp-live svg")
    expect(page.locator(".xp-live")).to_have_count(2)
    return page.locator(".xp-live").all()


REPEATED_IDS = """() => {
    const ids = [...document.querySelectorAll(".xp-live [id]")].map(element => element.id);
    return ids.filter((id, i) => ids.indexOf(id) !== i);
}"""


def test_figures_of_a_notebook_keep_their_keys(browser: Browser, tmp_path) -> None:
    jupyterlab.write_notebook(tmp_path / "two.ipynb", FIGURE, TWIN)
    with jupyterlab.server(tmp_path) as address:
        page = jupyterlab.open_and_run(browser, address, "two.ipynb")
        first, second = views(page)
        assert page.evaluate(REPEATED_IDS) == []
        second.get_by_role("radio", name="yes", exact=True).check()
        expect(first.get_by_role("radio", name="no", exact=True)).to_be_checked()
        # In command mode D twice deletes a cell, and an arrow key leaves it.
        cells = page.locator(".jp-Notebook .jp-CodeCell").count()
        first.locator(".xp-table summary").press("Enter")
        for key in ("d", "d", "x", "ArrowDown"):
            first.locator(".xp-scroll").press(key)
        expect(first.locator(".xp-scroll")).to_be_focused()
        assert page.locator(".jp-Notebook .jp-CodeCell").count() == cells
        page.context.close()


def slider(view: Locator, name: str) -> Locator:
    return view.get_by_role("slider", name=name, exact=True)


def test_two_views_and_python_stay_in_step(browser: Browser, tmp_path) -> None:
    jupyterlab.write_notebook(tmp_path / "live.ipynb", FIGURE, SECOND_VIEW, ECHO, MOVE)
    with jupyterlab.server(tmp_path) as address:
        page = jupyterlab.open_and_run(browser, address, "live.ipynb")
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        first, second = views(page)
        # A notebook brings no font of its own.
        use_wide_font(page)
        assert [view.evaluate(COLLISIONS) for view in (first, second)] == [[], []]
        # What Python sets, both views show.
        expect(slider(first, "query")).to_have_attribute("aria-valuetext", "query b")
        expect(second.locator(".xp-say")).to_have_text("At d = 1 we look from b.")

        # What the reader moves, with keys that JupyterLab would like for itself, Python and the other view see.
        for _ in range(2):
            slider(first, "d").press("ArrowRight")
        expect(slider(second, "d")).to_have_attribute("aria-valuetext", "d 16")
        expect(page.locator(".echo")).to_contain_text("Python sees d 16")
        expect(page.locator(".other")).to_contain_text("16")
        second.get_by_role("radio", name="yes", exact=True).check()
        expect(first.get_by_role("radio", name="yes", exact=True)).to_be_checked()
        expect(page.locator(".echo")).to_contain_text("Python sees scaled yes")
        slider(first, "d").press("End")
        expect(page.locator(".echo")).to_contain_text("Python sees d 64")

        # Another control of ipywidgets, tied to the axis, moves the figure.
        handle = page.locator(".other .noUi-handle")
        handle.press("ArrowLeft")
        expect(first.locator(".xp-say")).to_have_text("At d = 16 we look from b.")

        # A change in the cell's function changes the figure.
        page.evaluate(
            """() => {
                const { model } = jupyterapp.shell.currentWidget.content.widgets[0];
                model.sharedModel.setSource(model.sharedModel.getSource().replace("[1, 4, 16, 64]", "[1, 9]"));
                return jupyterapp.commands.execute("notebook:run-all-cells");
            }"""
        )
        expect(slider(page.locator(".xp-live").first, "d")).to_have_attribute("max", "1")
        assert errors == []
        page.evaluate("jupyterapp.commands.execute('docmanager:save')")
        expect(page.locator(".jp-mod-dirty")).to_have_count(0)
        page.context.close()
    # What JupyterLab saves holds the page's figure as well, so that the book can show it.
    saved = nbformat.read(tmp_path / "live.ipynb", as_version=4)
    data = saved.cells[0].outputs[-1].data
    assert data["text/html"].startswith('<figure class="xp" id="live"')
    assert json.loads(json.dumps(data["application/vnd.jupyter.widget-view+json"]))["version_major"] == 2


def with_captions(cells: list[NotebookNode], kind: str) -> list[NotebookNode]:
    """The first cell that has stored a figure of this kind, and its caption."""
    for cell, caption in itertools.pairwise(cells):
        if any(kind in str(output.get("data", "")) for output in cell.get("outputs", ())):
            return [cell, caption]
    raise AssertionError(kind)


def test_a_chapter_has_captions_questions_and_dark_pictures(browser: Browser, tmp_path) -> None:
    chapter = nbformat.read(CHAPTER, as_version=4)
    drawing = with_captions(chapter.cells, 'class="chart"')
    figure = with_captions(chapter.cells, '<figure class="xp"')
    questions = next(cell for cell in chapter.cells if cell.source.startswith("<!-- quiz"))
    notebook = new_notebook(cells=[*drawing, *figure, questions], metadata=chapter.metadata)
    nbformat.write(notebook, tmp_path / "stored.ipynb")
    jupyterlab.trust_in_the_dark(tmp_path, "stored.ipynb")
    with jupyterlab.server(tmp_path) as address:
        page = jupyterlab.open_notebook(browser, address, "stored.ipynb")
        shown = page.locator(".jp-Notebook .jp-RenderedMarkdown")
        for cell in (drawing[1], figure[1]):
            expect(shown.get_by_text(cell.source[:40])).to_be_visible()
        asked = questions.source.count("<!-- quiz")
        expect(shown.get_by_text("Answers", exact=True)).to_have_count(asked)
        assert not {":::", "{quiz}", "<!--"} & set(" ".join(shown.all_inner_texts()).split())
        # Stored pictures have light grounds: in the dark theme they are inverted.
        for picture in ("img.xp-still", ".jp-RenderedSVG img"):
            expect(page.locator(picture)).to_have_css("filter", "invert(0.93) hue-rotate(180deg)")
        page.context.close()
