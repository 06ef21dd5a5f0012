"""What `make lab` opens, in a browser and without a network."""

import re
import shutil
from pathlib import Path

import jupyterlab
import pytest
from playwright.sync_api import Browser, expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]

ROOT = Path(__file__).parents[2]


def test_the_first_chapter_opens_and_markdown_is_rendered(browser: Browser, tmp_path: Path) -> None:
    [options] = re.findall(r"^LAB := (.+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    for name in ("chapters/nadaraya_watson.ipynb", "chapters/README.md", ".jupyterlab/overrides.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    with jupyterlab.server(tmp_path, *options.split()) as address:
        page = jupyterlab.open_page(browser, address, "")
        expect(page.locator(".jp-Notebook h1").first).to_contain_text("Nadaraya-Watson")
        page.locator(".jp-DirListing-item", has_text="README.md").dblclick()
        expect(page.locator(".jp-MarkdownViewer h1")).to_have_text(re.compile("The chapters, in order"))
        page.locator(".jp-MarkdownViewer a", has_text="Nadaraya-Watson").click()
        expect(
            page.locator(".lm-TabBar-tab.lm-mod-current", has_text="nadaraya_watson.ipynb")
        ).to_be_visible()
