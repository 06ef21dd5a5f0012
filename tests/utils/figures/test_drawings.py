"""The drawings that never change: what each of them says, and that every label can be read, on a phone and wide."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser
from stored_figures import COLLISIONS

from utils.figures import drawings
from utils.figures.drawings import drawing
from utils.seq2seq import EncoderDecoder
from utils.transformer import TransformerDecoder, TransformerEncoder

FILES = {path.stem: path for path in sorted(Path(drawings.__file__).parent.glob("*.svg"))}
every_drawing = pytest.mark.parametrize("name", FILES)

#: What a file may say of a shape besides its form and place: its classes. Colours and letters are those of the loader.
LOOK = {"class", "style", "stroke-dasharray", "text-anchor", "font-style", "rx"}
FORMS = {"d", "x", "y", "r", "cx", "cy", "dx", "dy", "width", "height", "points", "transform"}
#: The smallest letters of a drawing on a phone, in pixels.
SMALLEST = {"decoder_one_vector": 11, "decoder_attention": 11}


def labels(name: str) -> list[str]:
    texts = re.findall(r"<text[^>]*>(.*?)</text>", drawing(name, alt="A drawing.").svg)
    return [re.sub("<.*?>", "", text) for text in texts]


# -- the loader -----------------------------------------------------------------------------------------------


def test_a_drawing_says_what_it_shows() -> None:
    shown = drawing("transformer", alt='"f" & <g>')
    root = ET.fromstring(shown.svg)
    assert (root.get("role"), root.get("aria-label")) == ("img", '"f" & <g>')
    assert shown.svg in shown._repr_html_()
    assert repr(shown) == 'Drawing transformer: "f" & <g>'


@pytest.mark.parametrize(
    ("name", "alt", "message"),
    [
        (
            "transformr",
            "Two columns.",
            "there is no drawing 'transformr', only a_part_each, .*translator",
        ),
        ("../drawings/transformer", "Two columns.", "there is no drawing '../drawings/transformer'"),
        ("transformer", " ", "alt must say what is drawn, got ' '"),
    ],
)
def test_what_is_not_there_is_refused(name: str, alt: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        drawing(name, alt=alt)


def shapes(svg: str) -> list[tuple]:
    parts = list(ET.fromstring(svg).iter())[1:]
    return [(part.tag, part.attrib, (part.text or "").strip(), (part.tail or "").strip()) for part in parts]


@every_drawing
def test_only_what_is_for_readers_of_the_file_is_left_out(name: str) -> None:
    shown = drawing(name, alt="A drawing.").svg
    assert shapes(shown) == shapes(FILES[name].read_text("utf-8"))
    assert not re.search(r"<!--|\n", shown)


# -- every file -----------------------------------------------------------------------------------------------


@every_drawing
def test_colours_and_letters_are_those_of_the_course(name: str) -> None:
    root = ET.fromstring(FILES[name].read_text("utf-8"))
    assert list(root.attrib) == ["viewBox"]  # the page gives it its size
    for shape in list(root.iter())[1:]:
        assert {*shape.keys()} <= LOOK | FORMS, shape.attrib
        assert re.fullmatch(r"((stroke-width|fill-opacity):[\d.]+)?", shape.get("style", "")), shape.attrib


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1280])
@every_drawing
def test_every_label_can_be_read(browser: Browser, width: int, name: str) -> None:
    with browser.new_context(viewport={"width": width, "height": 900}) as context:
        page = context.new_page()
        html = drawing(name, alt="A drawing.")._repr_html_()
        page.set_content(f'<body style="margin:0;padding:0 32px">{html}')
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("figure").evaluate(COLLISIONS) == []
        scale = page.locator("svg").evaluate(
            "svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"
        )
        sizes = "texts => texts.map(text => parseFloat(getComputedStyle(text).fontSize))"
        assert min(page.locator("text").evaluate_all(sizes)) * scale >= SMALLEST.get(name, 9)


@pytest.mark.browser
@every_drawing
def test_the_colours_follow_the_page(browser: Browser, name: str) -> None:
    colours = """() => [...new Set([...document.querySelectorAll("svg :is(.line, .box)")].map(
        shape => getComputedStyle(shape).stroke))]"""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_content(drawing(name, alt="A drawing.")._repr_html_())
        light = page.evaluate(colours)
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        dark = page.evaluate(colours)
        assert len(light) == len(dark) >= 2
        assert set(light).isdisjoint(dark)


# -- the translator -------------------------------------------------------------------------------------------

#: The words and the query of the first chapters: a number for things and one for qualities.
VECTORS = {
    "Mary": (0.9, -0.3),
    "found": (-0.6, -0.5),
    "the": (-0.2, 0.1),
    "small": (0.2, 1.2),
    "white": (0.4, 1.4),
    "flower": (1.5, 0.5),
    "yesterday": (-0.8, 0.2),
    ".": (-0.5, -0.7),
}
QUERY = (1.5, 0.8)


def test_the_weights_of_the_translator_are_those_of_the_chapters() -> None:
    weights = torch.softmax(torch.tensor(list(VECTORS.values())) @ torch.tensor(QUERY), dim=0)
    drawn = FILES["translator"].read_text("utf-8")
    for style, expected in (("fill-opacity", weights), ("stroke-width", 0.8 + 9 * weights)):
        numbers = torch.tensor([float(number) for number in re.findall(rf'style="{style}:([\d.]+)"', drawn)])
        torch.testing.assert_close(numbers, expected, atol=0.006, rtol=0)


#: The shapes that reach out of their panel, or are less than a pixel away from a box.
MISPLACED = """svg => {
    const places = what => [...svg.querySelectorAll(what)].map(each => each.getBoundingClientRect());
    const panels = places(".band"), boxes = places("rect.box");
    return [...svg.querySelectorAll(".shape")].filter(text => {
        const { left, right, top, bottom } = text.getBoundingClientRect(), middle = (top + bottom) / 2;
        const inside = panels.some(p => p.left < left && right < p.right && p.top < middle && middle < p.bottom);
        return !inside || boxes.some(
            b => b.left < right + 1 && left < b.right + 1 && b.top < bottom + 1 && top < b.bottom + 1);
    }).map(text => text.textContent);
}"""


@pytest.mark.browser
def test_each_shape_lies_in_one_panel_and_beside_the_boxes(browser: Browser) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.set_content(drawing("translator", alt="A drawing.")._repr_html_())
        assert page.locator(".shape").count() > 0
        assert page.locator("svg").evaluate(MISPLACED) == []


# -- the decoder in time --------------------------------------------------------------------------------------


def rows(name: str) -> dict[str, list[str]]:
    """The texts to the right of each name, from left to right."""
    texts = re.findall(r'<text x="([-\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', FILES[name].read_text("utf-8"))
    lines: dict[str, list[tuple[float, str]]] = {}
    for x, y, text in texts:
        lines.setdefault(y, []).append((float(x), re.sub("<.*?>", "", text)))
    return {name: texts for name, *texts in ([text for _, text in sorted(line)] for line in lines.values())}


@pytest.mark.parametrize(("name", "first"), [("decoder_one_vector", 0), ("decoder_attention", 4)])
def test_a_state_has_read_what_the_state_before_has_chosen(name: str, first: int) -> None:
    drawn = rows(name)
    assert drawn["state"] == [f"s{first + step}" for step in range(3)]
    read, chosen = drawn["has read"], drawn["has chosen"]
    assert drawn["reads"] == [text.split()[-1] for text in read[1:]]
    assert read[2].split()[-1] == chosen[1]
    assert drawn["chooses"] == chosen[not first :]  # the state 0 has chosen nothing


def test_each_step_has_another_context_with_attention_alone() -> None:
    assert rows("decoder_attention")["context"] == ["c5", "c6"]
    assert "context" not in rows("decoder_one_vector")


def test_the_weights_of_each_context_sum_to_1() -> None:
    widths = re.findall(r'style="stroke-width:([\d.]+)"', FILES["decoder_attention"].read_text("utf-8"))
    weights = [(float(width) - 0.4) / 4 for width in widths]
    assert [sum(weights[:8]), sum(weights[8:])] == pytest.approx([1, 1], abs=0.02)


# -- the Transformer ------------------------------------------------------------------------------------------


def test_the_parts_and_norms_of_the_transformer_are_those_of_its_layers() -> None:
    sizes = {"num_heads": 2, "num_layers": 2}
    model = EncoderDecoder(TransformerEncoder(7, 4, **sizes), TransformerDecoder(7, 4, **sizes))
    norms = [part for part in model.modules() if isinstance(part, torch.nn.LayerNorm)]
    assert labels("transformer").count("norm") == (len(norms) - 2) / 2 + 2  # the layers are drawn once
    drawn = [label for label in labels("transformer") if label.endswith(("-attention", "-forward"))]
    layers = model.encoder.layers[0], model.decoder.layers[0]
    parts = [name.replace("_", "-") for layer in layers for name, _ in layer.named_children()]
    assert drawn == [part for part in parts if part != "residuals"]
