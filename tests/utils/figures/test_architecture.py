"""The drawing of encoder, attention and decoder: its parts, its words, and in Chromium what a reader sees of it."""

import itertools
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from utils.figures.architecture import NEXT, PARTS, QUERY, SOURCE, VECTORS, WRITTEN, architecture, weights
from utils.figures.colours import COLOURS

pytestmark = pytest.mark.browser

SHAPES = {"(n, d_embed)", "(n, 2h)", "(1, n)", "(1, h)", "(1, 2h)", "(1, d_embed)", "(1, vocab)"}


def groups(lit) -> list[ET.Element]:
    return ET.fromstring(architecture(lit).svg()).findall("{*}g")


@pytest.mark.parametrize("part", PARTS)
def test_the_part_is_lit_and_others_grey(part: str) -> None:
    states = [group.get("class").split() for group in groups(part)]
    assert {state[-1] for state in states} == {"on", "off"}
    assert all((part in parts) == (state == "on") for *parts, state in states)
    assert part in architecture(part).alt.rsplit(".", 2)[1]
    # Grey parts are still drawn.
    assert [len(list(group.iter())) for group in groups(part)] == [
        len(list(group.iter())) for group in groups(PARTS)
    ]


@pytest.mark.parametrize(
    ("lit", "message"),
    [
        ("softmax", "no part 'softmax', only encoder, scores, weights, context, decoder"),
        (("scores", "head"), "no part 'head'"),
        ((), "at least one part"),
    ],
)
def test_an_unknown_part_is_refused(lit, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        architecture(lit)


def test_words_and_shapes_stand_in_the_picture() -> None:
    words = {"".join(node.itertext()) for node in ET.fromstring(architecture().svg()).findall(".//{*}text")}
    assert set(SOURCE) | SHAPES | {WRITTEN[-1], NEXT, " ".join(WRITTEN[:-1])} <= words
    assert {"query", "keys", "values", "scores", "softmax", "weights", "average", "context"} <= words
    assert {"s0", "si−1", "si", "GRU", "readout", "encoder", "attention", "decoder"} <= words


def test_the_picture_has_words_for_blind_readers() -> None:
    html = architecture("scores")._repr_html_()
    assert len(re.search(r'<svg role="img" aria-label="([^"]*)"', html)[1]) > 200
    assert " id=" not in html  # the drawing may stand on a page twice
    assert architecture().svg() == architecture(PARTS[::-1]).svg()


# -- in Chromium ----------------------------------------------------------------------------------------------

#: Size of the letters and box of each text as it is drawn, in pixels; of the picture too.
MEASURE = """() => {
    const box = node => {
        const { left, top, right, bottom } = node.getBoundingClientRect();
        return [left, top, right, bottom];
    };
    const svg = document.querySelector("svg");
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const size = node => scale * parseFloat(getComputedStyle(node).fontSize);
    return {
        svg: box(svg),
        texts: [...svg.querySelectorAll("text")].map(node => [node.textContent, size(node), box(node)]),
        indices: [...svg.querySelectorAll(".sub")].map(size),
        page: document.documentElement.scrollWidth,
    };
}"""


def page_of(lit, theme: str = "light") -> str:
    return (
        f'<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8"><title>drawing</title>'
        '<meta name="viewport" content="width=device-width"></head>'
        '<body style="margin:0;padding:0 32px;background:Canvas;color:CanvasText"><main><h1>Drawing</h1>'
        f"{architecture(lit)._repr_html_()}</main></body></html>"
    )


@pytest.fixture(scope="module", params=[360, 1280])
def opened(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": request.param, "height": 900}) as context:
        page = context.new_page()
        page.set_content(page_of(PARTS))
        yield page


def test_every_label_can_be_read(opened: Page) -> None:
    seen = opened.evaluate(MEASURE)
    width = opened.viewport_size["width"]
    assert seen["page"] <= width
    assert min(size for _, size, _ in seen["texts"]) >= 11
    assert min(seen["indices"]) >= 9
    left, top, right, bottom = seen["svg"]
    for words, _, box in seen["texts"]:
        assert left - 0.5 <= box[0] < box[2] <= right + 0.5, words
        assert top - 0.5 <= box[1] < box[3] <= bottom + 0.5, words
    for (one, size, a), (other, _, b) in itertools.combinations(seen["texts"], 2):
        # The box of a text has room above and below its letters.
        apart = max(a[0] - b[2], b[0] - a[2], a[1] - b[3] + 0.3 * size, b[1] - a[3] + 0.3 * size)
        assert apart > 0, f"{one} and {other}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_role_has_the_colour_of_the_book(browser: Browser, theme: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.set_content(page_of(PARTS, theme))
        for media, dark in (("screen", theme == "dark"), ("print", False)):
            page.emulate_media(media=media)
            for line, role in {"q": "query", "k": "key", "v": "value", "n": "grey"}.items():
                colour = COLOURS[role][dark]
                rgb = f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"
                assert (
                    page.evaluate(f"getComputedStyle(document.querySelector('.line.{line}')).stroke") == rgb
                )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_drawing(browser: Browser, theme: str) -> None:
    with browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=theme) as context:
        page = context.new_page()
        page.set_content(page_of("scores", theme))
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()


def test_the_weights_are_those_of_the_first_chapters():
    expected = torch.softmax(torch.tensor(list(VECTORS.values())) @ torch.tensor(QUERY), dim=0)
    torch.testing.assert_close(torch.tensor(weights()), expected)
    assert dict(zip(SOURCE, weights(), strict=True))["flower"] == pytest.approx(0.51, abs=0.005)
