"""The drawings without controls: in Chromium every label can be read, on a phone and on a wide page."""

import pytest
from playwright.sync_api import Browser
from stored_figures import COLLISIONS

from utils.figures.architecture import architecture
from utils.figures.transformer_drawing import TransformerDrawing
from utils.figures.unrolled import unrolled

pytestmark = pytest.mark.browser

#: Each drawing and its smallest letters in pixels.
DRAWINGS = {
    "architecture": (architecture, 9),
    "decoder": (lambda: unrolled(attention=False), 11),
    "decoder with attention": (lambda: unrolled(attention=True), 11),
    "transformer": (TransformerDrawing, 9),
}


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", DRAWINGS)
def test_every_label_can_be_read(browser: Browser, width: int, name: str) -> None:
    drawing, smallest = DRAWINGS[name]
    with browser.new_context(viewport={"width": width, "height": 900}) as context:
        page = context.new_page()
        page.set_content(f'<body style="margin:0;padding:0 32px">{drawing()._repr_html_()}')
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("figure").evaluate(COLLISIONS) == []
        scale = page.locator("svg").bounding_box()["width"] / 348
        sizes = "texts => texts.map(text => parseFloat(getComputedStyle(text).fontSize))"
        assert min(page.locator("text").evaluate_all(sizes)) * scale >= smallest
