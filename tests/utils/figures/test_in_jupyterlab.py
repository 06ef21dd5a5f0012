"""A figure in JupyterLab, in a browser and without a network: it shows, moves, and Python sees it."""

import json

import jupyterlab
import nbformat
import pytest
from jupyterlab import ECHO, FIGURE, SECOND_VIEW
from playwright.sync_api import Browser, Locator, Page, expect
from stored_figures import COLLISIONS, use_wide_font

MOVE = "figure.widget.query = 1"

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def views(page: Page) -> list[Locator]:
    page.wait_for_selector(".xp-live svg")
    expect(page.locator(".xp-live")).to_have_count(2)
    return page.locator(".xp-live").all()


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
