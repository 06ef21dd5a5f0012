"""Figures with sliders in a real browser: one of each kind, by mouse, finger and keyboard, on a desk and on a phone.

What depends on the pages around them is tested in `test_figures_in_book`.
"""

import json
import re
from collections.abc import Iterator

import numpy as np
import pytest
from chromium import PATIENCE
from example_figures import AWKWARD, awkward, examples
from playwright.sync_api import Browser, Locator, Page, expect
from stored_figures import (
    COLLISIONS,
    FONTS,
    ROLE_COLOURS,
    SMALL_TARGETS,
    check_frames,
    check_height,
    check_marks,
    check_rings,
    check_same_picture,
    drawn,
    open_table,
    picture_of,
    slider,
    some_points,
    titled,
    use_font,
)

from utils.figures.colours import COLOURS
from utils.figures.live import page_of_its_own, page_script, style
from utils.figures.still import Stage

pytestmark = pytest.mark.browser

FIGURES = examples()
LIVE = {**FIGURES, "awkward": awkward()}
every_figure = pytest.mark.parametrize("name", FIGURES)
DESK = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
#: A formula as MathJax sets it, with the glyphs of an italic q and of an α, which are symbols of the figure below it.
FORMULA = (
    '<p><mjx-container display="true"><mjx-mi><mjx-c class="mjx-c1D45E">q</mjx-c></mjx-mi> '
    '<mjx-mi><mjx-c class="mjx-c1D6FC">α</mjx-c></mjx-mi></mjx-container></p>'
)


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    body = "".join(f"<h2>{name}</h2>{FORMULA}{figure._repr_html_()}" for name, figure in LIVE.items())
    page = tmp_path_factory.mktemp("page") / "figures.html"
    page.write_text(
        '<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>figures</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style()} body {{ margin: 16px; font-family: sans-serif }} "
        'html[data-theme="dark"] { --pst-color-background: #121212; background: #121212; color: #eee }</style>'
        f"<body><main><h1>Figures</h1>{body}</main><script>{page_script()}</script>",
        encoding="utf-8",
    )
    return page.as_uri()


def window(browser: Browser, address: str, **options) -> Iterator[Page]:
    with browser.new_context(**options) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(address)
        yield page
        assert problems == []


@pytest.fixture(scope="module")
def desk(browser: Browser, address: str) -> Iterator[Page]:
    """The page of all figures on a desk, opened once; no test may rely on where another left them."""
    yield from window(browser, address, **DESK, reduced_motion="reduce")


@pytest.fixture(scope="module")
def phone(browser: Browser, address: str) -> Iterator[Page]:
    yield from window(browser, address, **PHONE, reduced_motion="reduce")


@pytest.fixture
def page(request: pytest.FixtureRequest) -> Page:
    return request.getfixturevalue(request.param)


both = pytest.mark.parametrize("page", ["desk", "phone"], indirect=True)


def opened(page: Page, name: str) -> Locator:
    """A figure in its opening state, with no mouse over it."""
    shown = page.locator(f"figure#{name}")
    page.mouse.move(0, 0)
    shown.get_by_role("button", name="reset").press("Enter")
    shown.scroll_into_view_if_needed()
    drawn(shown)
    return shown


def shows(shown: Locator, name: str, **point: object) -> None:
    """Sentence and picture are those of a point."""
    figure = LIVE[name]
    expect(shown.locator(".xp-say")).to_have_text(figure.sentence(**point))
    drawn(shown)
    check_same_picture(picture_of(shown), figure, figure.point | point)


# -- what is shown --------------------------------------------------------------------------------------------


@both
@every_figure
def test_every_frame_shows_pythons_numbers(page: Page, name: str) -> None:
    shown = opened(page, name)
    if FIGURES[name].table:
        open_table(shown)
    check_frames(shown, FIGURES[name], some_points(FIGURES[name], 40))


def test_awkward_labels_are_shown_as_text(desk: Page) -> None:
    shown = opened(desk, "awkward")
    open_table(shown)
    assert shown.locator("th").all_text_contents() == ["x", "</svg>", *AWKWARD]
    assert shown.locator("b").count() == 0
    check_frames(shown, LIVE["awkward"])


def test_a_page_of_its_own_needs_no_other_file(browser: Browser, tmp_path) -> None:
    (tmp_path / "page.html").write_text(page_of_its_own(FIGURES["chinese"], title="A & B"), "utf-8")
    for page in window(browser, (tmp_path / "page.html").as_uri(), reduced_motion="reduce"):
        assert page.title() == "A & B"
        shown = opened(page, "chinese")
        open_table(shown)
        check_frames(shown, FIGURES["chinese"])


def test_paper_has_picture_sentence_and_table(desk: Page) -> None:
    for name in FIGURES:
        opened(desk, name)
    before = desk.locator("details[open]").count()
    desk.emulate_media(media="print")
    desk.evaluate("dispatchEvent(new Event('beforeprint'))")  # a browser prints as soon as the event is over
    desk.set_viewport_size({"width": 420, "height": 900})
    try:
        for name, figure in FIGURES.items():
            shown = desk.locator(f"figure#{name}")
            expect(shown.locator(".xp-picture svg")).to_be_visible()
            expect(shown.locator(".xp-say")).to_be_visible()
            expect(shown.locator(".xp-controls").filter(visible=True)).to_have_count(0)
            if figure.table:
                expect(shown.locator(".xp-table td").last).to_be_visible()
                assert shown.locator(".xp-table td:not(:empty)").count() > 0
            drawn(shown)
            assert shown.evaluate(COLLISIONS) == []
            check_height(shown)
    finally:
        desk.set_viewport_size(DESK["viewport"])
        desk.evaluate("dispatchEvent(new Event('afterprint'))")
        desk.emulate_media(media="screen")
    assert desk.locator("details[open]").count() == before


def test_paper_is_light_where_the_page_is_dark(desk: Page) -> None:
    shown = opened(desk, "heat")
    light = shown.evaluate(ROLE_COLOURS)
    desk.evaluate("document.documentElement.dataset.theme = 'dark'")
    dark = shown.evaluate(ROLE_COLOURS)
    desk.emulate_media(media="print")
    printed = shown.evaluate(ROLE_COLOURS)
    desk.emulate_media(media="screen")
    desk.evaluate("document.documentElement.dataset.theme = 'light'")
    assert printed == light != dark


# -- how it looks ---------------------------------------------------------------------------------------------


@both
@every_figure
def test_no_text_is_cut_or_lies_on_another(page: Page, name: str) -> None:
    shown = opened(page, name)
    assert shown.evaluate(COLLISIONS) == []


#: How many texts of a page are squeezed.
SQUEEZED = """() => [...document.querySelectorAll(".xp-picture")]
    .reduce((sum, holder) => sum + holder.shadowRoot.querySelectorAll("[textLength]").length, 0)"""


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_texts_fit_in_a_wide_narrow_and_missing_font(browser: Browser, address: str, size: dict) -> None:
    for page in window(browser, address, **size, reduced_motion="reduce"):
        squeezed = {}
        for font in FONTS:
            use_font(page, font)
            found = {name: page.locator(f"figure#{name}").evaluate(COLLISIONS) for name in FIGURES}
            assert {name: texts for name, texts in found.items() if texts} == {}, font
            squeezed[font] = page.evaluate(SQUEEZED)
        assert squeezed["wide"] > 100
        assert squeezed["narrow"] == 0


def test_texts_of_still_pictures_fit_in_a_wide_font(desk: Page) -> None:
    page = desk.context.new_page()
    page.set_content("".join(f'<div id="{name}">{figure.draw()}</div>' for name, figure in FIGURES.items()))
    use_font(page, "wide")
    found = {name: page.locator(f"#{name}").evaluate(COLLISIONS) for name in FIGURES}
    assert {name: texts for name, texts in found.items() if texts} == {}
    page.close()


def test_a_hidden_figure_is_fitted_when_it_shows(browser: Browser, address: str) -> None:
    for page in window(browser, address, **DESK, reduced_motion="reduce"):
        shown = page.locator("figure#rivals")
        shown.evaluate("figure => { figure.hidden = true }")
        use_font(page, "wide")
        shown.evaluate("figure => { figure.hidden = false }")
        drawn(shown)
        assert shown.evaluate(COLLISIONS) == []


@both
@every_figure
def test_controls_have_rings_and_room_for_a_finger(page: Page, name: str) -> None:
    shown = opened(page, name)
    shown.locator("details").evaluate_all("all => all.forEach(each => { each.open = true })")
    assert shown.evaluate(SMALL_TARGETS) == []
    check_height(shown)
    check_rings(page, shown)
    shown.locator("details").evaluate_all("all => all.forEach(each => { each.open = false })")


#: The colour of the book that each role has.
COLOUR_OF = {role: role for role in ("query", "key", "value", "weight")} | {
    "context": "value",
    "score": "grey",
    "chance": "violet",
}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_roles_have_the_colours_of_the_book(desk: Page, theme: str) -> None:
    def rgb(role: str) -> str:
        colour = COLOURS[COLOUR_OF[role]][theme == "dark"]
        return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"

    desk.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    seen = set()
    desk.locator("figure#decoding").get_by_role("radio", name="word", exact=True).press("Space")
    for name, figure in FIGURES.items():
        for role, colours in desk.locator(f"figure#{name}").evaluate(ROLE_COLOURS).items():
            assert set(colours) <= {rgb(role)}, (name, role)
            seen.update([role] if colours else [])
        # The line under the symbol of a role has its colour.
        for role in figure.symbols:
            chip = desk.locator(f"figure#{name} .xp-symbol[data-role={role}]")
            assert chip.evaluate("chip => getComputedStyle(chip).borderBottomColor") == rgb(role)
    desk.evaluate("document.documentElement.dataset.theme = 'light'")
    assert seen == set(COLOUR_OF)


@every_figure
def test_marks_keep_their_colour_under_forced_colours(desk: Page, name: str) -> None:
    shown = opened(desk, name)
    before = shown.evaluate(ROLE_COLOURS)
    desk.emulate_media(forced_colors="active")
    forced = shown.evaluate(ROLE_COLOURS)
    ground = shown.evaluate("node => getComputedStyle(document.body).backgroundColor")
    desk.emulate_media(forced_colors="none")
    assert any(forced.values())
    assert all(ground not in colours for colours in forced.values())
    assert forced["weight"] == before["weight"]


# -- pointing -------------------------------------------------------------------------------------------------


def mark(shown: Locator, choice: dict) -> Locator:
    return shown.locator(f"rect[data-pick='{json.dumps(choice, separators=(',', ':'))}']").last


def test_hovering_shows_and_changes_nothing(desk: Page) -> None:
    shown, figure = opened(desk, "heat"), FIGURES["heat"]
    # The address is written a little after a choice.
    mark(shown, {"query": 2}).click()
    desk.mouse.move(0, 0)
    before = "#heat?d=4&query=2&valid_length=6"
    desk.wait_for_function("address => location.hash === address", arg=before)
    status = shown.get_by_role("status")
    expect(status).to_have_text(figure.sentence(query=2))
    mark(shown, {"query": 4, "column": 2, "panel": 0}).hover()
    expect(shown.locator(".xp-say")).to_have_text(figure.sentence(query=4))
    drawn(shown)
    number = figure.array("weights")[4, 2]
    assert f">{number:.2f}</text></g>" in picture_of(shown)  # the cell under the mouse has its number
    expect(slider(shown, "query")).to_have_value("2")
    desk.mouse.move(0, 0)
    shows(shown, "heat", query=2)
    expect(status).to_have_text(figure.sentence(query=2))
    assert desk.evaluate("location.hash") == before


@both
@pytest.mark.parametrize("name", ["heat", "heads", "align", "chinese", "decoding", "scene"])
def test_a_click_and_a_tap_choose(page: Page, name: str) -> None:
    shown, figure = opened(page, name), FIGURES[name]
    ((pick, labels),) = figure.picks.items()
    for at in (len(figure.labels[labels]) - 1, 0):
        place = mark(shown, {pick: at})
        place.tap() if page.evaluate("navigator.maxTouchPoints") else place.click()
        page.mouse.move(0, 0)
        shows(shown, name, **{pick: at})


def test_a_click_chooses_a_small_map(desk: Page) -> None:
    shown = opened(desk, "heads")
    small = mark(shown, {"head": 2, "layer": 1})
    small.hover()
    figure = FIGURES["heads"]
    expect(shown.locator(".xp-say")).to_have_text(figure.sentence(head=3, layer=2))
    assert shown.locator("svg .chosen.thin").count() == 1  # the frame of what is only shown
    assert [slider(shown, axis).input_value() for axis in ("head", "layer")] == ["1", "0"]
    small.click()
    desk.mouse.move(0, 0)
    assert [slider(shown, axis).input_value() for axis in ("head", "layer")] == ["2", "1"]
    shows(shown, "heads", head=3, layer=2)


#: Axes that are chosen in the picture of an example, besides its picks.
IN_THE_PICTURE = {
    "maps": ("d",),
    "rivals": ("step",),
    "heads": ("head", "layer"),
    "scene": ("picture", "hide"),
    "decoding": ("stage",),
    "curve": ("bandwidth", "query"),
    "bars": ("valid_length",),
}


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_controls_in_the_picture_have_rows_for_keys(browser: Browser, address: str, size: dict) -> None:
    for page in window(browser, address, **size):
        for name, figure in FIGURES.items():
            shown = page.locator(f"figure#{name}")
            rows = shown.locator(".xp-controls > .xp-row")
            above = ["way"] if name == "rivals" else []  # above the picture
            titles = {key: titled(key) for key in (*above, *figure.axes, *figure.picks)}
            in_picture = {*figure.picks, *IN_THE_PICTURE.get(name, ())}

            def seen(rows: Locator = rows) -> list[str]:
                return rows.evaluate_all(
                    "rows => rows.filter(row => row.offsetWidth > 1).map(row => row.firstChild.textContent)"
                )

            assert seen() == [title for key, title in titles.items() if key not in in_picture], name
            shown.locator("button").first.click()
            assert len(seen()) < len(titles) or not in_picture, "for the mouse they stay away"
            page.keyboard.press("Tab")
            assert seen() == list(titles.values())


def test_a_click_counts_while_the_picture_is_drawn(desk: Page) -> None:
    shown, figure = opened(desk, "heads"), FIGURES["heads"]
    # Small maps, whose frame moves to the one that is pointed at.
    for head, layer in ((2, 1), (0, 0), (1, 1), (2, 0)):
        x, y = middle_of(mark(shown, {"head": head, "layer": layer}))
        desk.evaluate("""() => {
            window.frame = requestAnimationFrame;
            window.held = [];
            requestAnimationFrame = draw => held.push(draw);
        }""")
        desk.mouse.move(x, y)
        desk.mouse.down()
        desk.evaluate(
            "() => { requestAnimationFrame = frame; held.forEach(draw => draw(performance.now())); }"
        )
        desk.mouse.up()
        desk.mouse.move(0, 0)
        shows(shown, "heads", head=figure.axes["head"][head], layer=figure.axes["layer"][layer])


@pytest.mark.parametrize(
    ("name", "axis", "inset"),  # by which the area is wider than what is drawn, on each side
    [("curve", "query", 0), ("bars", "valid_length", 10), ("rivals", "step", 16)],
)
def test_the_mouse_drags_a_line_along(desk: Page, name: str, axis: str, inset: int) -> None:
    shown, values = opened(desk, name), FIGURES[name].axes[axis]
    box = shown.locator(f".instead[data-drag={axis}]").first.bounding_box()
    last = len(values) - 1
    place = np.linspace(box["x"] + inset, box["x"] + box["width"] - inset, last + 1)
    y = box["y"] + 12
    desk.mouse.move(place[2], y)
    expect(slider(shown, axis)).to_have_value(str(values.index(FIGURES[name].point[axis])))
    desk.mouse.down()
    for at in (2, 0, last // 2, last):
        desk.mouse.move(place[at], y)
        expect(slider(shown, axis)).to_have_value(str(at))
    desk.mouse.move(place[-1] + 30, y)  # beyond the end, too, it follows as far as it can
    expect(slider(shown, axis)).to_have_value(str(last))
    desk.mouse.move(place[1], y)
    desk.mouse.up()
    desk.mouse.move(place[0], y)
    desk.mouse.move(0, 0)
    shows(shown, name, **{axis: values[1]})


def test_a_grip_ends_at_the_nearer_value(desk: Page) -> None:
    shown = opened(desk, "bars")
    box = shown.locator(".instead[data-drag=valid_length]").bounding_box()
    step = (box["width"] - 24) / (len(FIGURES["bars"].axes["valid_length"]) - 1)
    x, y = box["x"] + 12 + 2.4 * step, box["y"] + 20
    desk.mouse.move(x - 3 * step / 10, y)
    desk.mouse.down()
    desk.mouse.move(x, y, steps=3)
    drawn(shown)
    grip = shown.locator(".handle").bounding_box()
    assert grip["x"] + grip["width"] / 2 == pytest.approx(x, abs=1.5)
    expect(slider(shown, "valid_length")).to_have_value("2")
    # What is written is that of the nearer value, in the picture and below it.
    figure = FIGURES["bars"]
    assert "valid length 2" in shown.locator(".xp-picture text").all_text_contents()
    expect(shown.locator(".xp-say")).to_have_text(figure.sentence(valid_length=2))
    desk.mouse.up()
    desk.mouse.move(0, 0)
    shows(shown, "bars", valid_length=2)


def test_what_comes_later_is_hidden_except_on_paper(desk: Page) -> None:
    shown = opened(desk, "maps")
    course, rule = shown.locator("g:not(.later) > .course:not(.done)"), shown.locator(".rule")
    later = shown.locator("g.later:has(.course)")

    def ends() -> tuple[float, float]:
        """Where the curve that is seen ends, and where the figure is."""
        drawn(shown)
        assert all(node.evaluate("node => getComputedStyle(node).opacity") == "0" for node in later.all())
        return course.evaluate("path => path.getBBox().width"), float(rule.get_attribute("x1"))

    (start, here), (further, there) = ends(), (slider(shown, "d").fill("1"), ends())[1]
    assert further - start == pytest.approx(there - here, abs=0.1)
    slider(shown, "d").fill("0")
    assert ends() == pytest.approx((further, here), abs=0.1)  # what was seen stays
    desk.emulate_media(media="print")
    assert later.evaluate("node => getComputedStyle(node).opacity") == "1"
    desk.emulate_media(media="screen")
    shown.get_by_role("button", name="reset").click()
    assert ends() == pytest.approx((start, here), abs=0.1)


def test_the_curve_of_another_choice_stays(desk: Page) -> None:
    shown = opened(desk, "rivals")
    named = shown.locator(".xp-picture text").filter(has_text=re.compile(r"^(up|down) \d+%$"))
    expect(named).to_have_text(["up 0%"])
    slider(shown, "step").fill("2")
    shows(shown, "rivals", step=2)
    shown.get_by_label("down").check()
    shows(shown, "rivals", step=2, way="down")
    expect(named).to_have_text(["up 100%", "down 25%"])
    # Of the other choice the reader sees how it ended, and of this one nothing that comes later.
    slider(shown, "step").fill("0")
    shows(shown, "rivals", step=0, way="down")
    expect(named).to_have_text(["up 100%", "down 100%"])
    shown.get_by_role("button", name="reset").click()
    expect(named).to_have_text(["up 0%"])


def test_an_arrow_of_a_grip_goes_on(desk: Page) -> None:
    shown = opened(desk, "maps")
    for d in FIGURES["maps"].axes["d"][1:]:
        grip = shown.locator(".handle").bounding_box()
        desk.mouse.click(grip["x"] + grip["width"] - 8, grip["y"] + grip["height"] / 2)
        desk.mouse.move(0, 0)
        shows(shown, "maps", d=d)


def test_a_dragged_edge_changes_the_bandwidth(desk: Page) -> None:
    shown, figure = opened(desk, "curve"), FIGURES["curve"]
    widths, hours = figure.axes["bandwidth"], shown.locator(".instead[data-drag=query]").bounding_box()
    hour = hours["width"] / 24
    slider(shown, "query").fill("12")
    for at in (2, 1, 0):
        slider(shown, "bandwidth").fill(str(len(widths) - 1))
        drawn(shown)
        x, y = middle_of(shown.locator("[data-drag=bandwidth]").last)
        desk.mouse.move(x, y)
        desk.mouse.down()
        desk.mouse.move(hours["x"] + hour * (12 + widths[at]) + 2, y, steps=3)
        desk.mouse.up()
        expect(slider(shown, "bandwidth")).to_have_value(str(at))
    desk.mouse.move(0, 0)


def touch(page: Page, path: list[tuple[float, float]]) -> None:
    """A finger that is put down at the first place, moves to the others and is lifted."""
    protocol = page.context.new_cdp_session(page)
    for i, (x, y) in enumerate(path):
        kind = "touchMove" if i else "touchStart"
        protocol.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    protocol.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    protocol.detach()


def middle_of(target: Locator) -> tuple[float, float]:
    box = target.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize(
    ("name", "area"),
    [("curve", ".pull"), *((name, ".drag, .pick:not(.pull)") for name in ("curve", "bars", "heat", "align"))],
)
def test_a_swipe_scrolls_and_changes_nothing(phone: Page, name: str, area: str) -> None:
    shown = opened(phone, name)
    area = shown.locator(area).first
    area.evaluate("node => node.scrollIntoView({ block: 'center' })")
    scrolled = phone.evaluate("scrollY")
    box = area.bounding_box()
    x, y = box["x"] + 0.9 * box["width"], box["y"] + 0.9 * box["height"]
    touch(phone, [(x, y - 10 * i) for i in range(13)])
    phone.wait_for_function("before => scrollY >= before + 60", arg=scrolled)
    shows(shown, name)


def test_a_word_that_is_clicked_or_pulled_stays_chosen(desk: Page) -> None:
    shown = opened(desk, "plane")
    row = shown.locator("rect.pick").nth(4)
    row.evaluate("node => node.scrollIntoView({ block: 'center' })")
    row.click()
    desk.mouse.move(0, 0)
    shows(shown, "plane", key=4)
    x, y = middle_of(shown.locator(".pull").nth(1))
    desk.mouse.move(x, y)
    desk.mouse.down()
    desk.mouse.move(x + 20, y + 20)
    desk.mouse.up()
    desk.mouse.move(0, 0)
    expect(slider(shown, "key")).to_have_value("1")
    shown.get_by_role("button", name="reset").press("Enter")
    shows(shown, "plane")


def test_a_finger_drags_the_query_sideways(phone: Page) -> None:
    shown = opened(phone, "curve")
    box = shown.locator(".instead[data-drag=query]").bounding_box()
    y = box["y"] + box["height"] - 20
    hours = np.linspace(box["x"], box["x"] + box["width"], 25)
    touch(phone, [(hours[7], y), *((x, y) for x in np.linspace(hours[7], hours[16], 10))])
    expect(slider(shown, "query")).to_have_value("16")
    shows(shown, "curve", query=16.0)


def check_moved(shown: Locator, name: str, moved: dict[int, list[float]], **point: object) -> None:
    """Sentence and picture are those with points in exactly these places, as Python draws them."""
    figure = FIGURES[name]
    at = figure.point | point
    place = {key: figure.axes[key].index(x) if key in figure.axes else x for key, x in at.items()}
    state = {"place": place, "moved": {str(i): spot for i, spot in moved.items()}}
    drawn(shown)
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', picture_of(shown))[1])
    stage = Stage(figure.spec)
    assert shown.locator(".xp-say").inner_text() == stage.sentence(state)
    check_marks(picture_of(shown), stage.picture(state, width))


@pytest.mark.parametrize("by", ["mouse", "finger"])
@pytest.mark.parametrize(("name", "point"), [("curve", 22), ("plane", 3), ("plane", 8)])
def test_a_point_is_pulled(desk: Page, phone: Page, name: str, point: int, by: str) -> None:
    page = desk if by == "mouse" else phone
    shown, figure = opened(page, name), FIGURES[name]
    pull = shown.locator(".pull").nth(point)
    pull.evaluate("node => node.scrollIntoView({ block: 'center' })")
    x, y = middle_of(pull)
    path = [(x, y), *((x + 3 * i, y - 6 * i) for i in range(1, 9))]
    scrolled = page.evaluate("scrollY")
    if by == "mouse":
        page.mouse.move(*path[0])
        page.mouse.down()
        for place in path[1:]:
            page.mouse.move(*place)
        page.mouse.up()
        page.mouse.move(0, 0)
    else:
        if name == "curve":  # of many readings close together, a finger first takes one
            touch(page, path[:1])
            expect(pull).to_have_class(re.compile("taken"))
        touch(page, path)
    drawn(shown)
    assert page.evaluate("scrollY") == scrolled  # a finger that pulls a point does not scroll
    # Readings go up and down only.
    assert middle_of(pull) == pytest.approx((x if name == "curve" else x + 24, y - 48), abs=1)
    # The page shows the same place to the keyboard.
    shown.locator(".xp-mover").evaluate("details => { details.open = true }")
    shown.get_by_label("point", exact=True).select_option(str(point))
    side = figure.movable["names"][1]
    said = slider(shown, side).get_attribute("aria-valuetext")
    assert float(re.findall(r"-?[\d.]+$", said)[0]) > figure.movable["places"][point][1]
    shown.locator(".xp-mover").evaluate("details => { details.open = false }")
    shown.get_by_role("button", name="reset").press("Enter")
    shows(shown, name)


@pytest.mark.parametrize(("name", "point"), [("curve", 22), ("plane", 8)])
def test_a_point_cannot_be_pulled_out_of_the_picture(desk: Page, name: str, point: int) -> None:
    shown, figure = opened(desk, name), FIGURES[name]
    pull = shown.locator(".pull").nth(point)
    pull.evaluate("node => node.scrollIntoView({ block: 'center' })")
    x, y = middle_of(pull)
    desk.mouse.move(x, y)
    desk.mouse.down()
    desk.mouse.move(x + 10, y - 400)
    desk.mouse.move(x + 900, y - 400)
    desk.mouse.up()
    desk.mouse.move(0, 0)
    spot = list(figure.movable["places"][point])
    for i, bound in enumerate(figure.movable["bounds"]):
        spot[i] = bound[1] if bound else spot[i]
    check_moved(shown, name, {point: spot})
    shown.get_by_role("button", name="reset").press("Enter")
    shows(shown, name)


@pytest.mark.parametrize("name", ["curve", "plane"])
def test_the_keyboard_moves_points_too(desk: Page, name: str) -> None:
    shown, figure = opened(desk, name), FIGURES[name]
    shown.locator(".xp-mover summary").press("Enter")
    shown.get_by_label("point", exact=True).select_option("2")
    spot = list(figure.movable["places"][2])
    for i, (side, bound) in enumerate(zip(figure.movable["names"], figure.movable["bounds"], strict=True)):
        if bound:
            handle = slider(shown, side)
            assert figure.movable["labels"][2] in handle.get_attribute("aria-valuetext")
            handle.press("Home")
            handle.press("ArrowRight")
            spot[i] = bound[0] + (bound[1] - bound[0]) / 100
            said = f"{figure.movable['labels'][2]}, {side} {spot[i]:.2f}"
            expect(handle).to_have_attribute("aria-valuetext", said)
    check_moved(shown, name, {2: spot})
    # Another control keeps the moved point.
    if name == "plane":
        shown.get_by_role("radio", name="cosine").check()
        check_moved(shown, name, {2: spot}, score="cosine")
    else:
        slider(shown, "bandwidth").press("End")
        check_moved(shown, name, {2: spot}, bandwidth=3.0)
    shown.get_by_role("button", name="reset").press("Enter")
    shows(shown, name)
    shown.locator(".xp-mover summary").press("Enter")


def test_a_symbol_lights_its_role(desk: Page) -> None:
    for name, figure in FIGURES.items():
        shown = opened(desk, name)
        svg = shown.locator(".xp-picture svg")
        for role in figure.symbols:
            chip = shown.locator(f".xp-symbol[data-role={role}]")
            for on, off in ((chip.hover, lambda: desk.mouse.move(0, 0)), (chip.focus, chip.blur)):
                on()
                expect(svg).to_have_attribute("data-lit", role)
                # The formulas of the page hold q and α.
                in_formulas = set(desk.locator("mjx-container .xp-lit").all_inner_texts())
                assert in_formulas == {figure.symbols[role][0]} & {"q", "α"}
                seen = svg.locator(f".{role}").evaluate_all(
                    "marks => marks.map(mark => getComputedStyle(mark).opacity)"
                )
                assert set(seen) == {"1"}
                off()
                expect(svg).not_to_have_attribute("data-lit", role)
                assert desk.locator(".xp-lit").count() == 0


def test_a_symbol_of_a_formula_lights_the_figure_below_it(desk: Page) -> None:
    for name in ("heat", "bars"):
        shown = opened(desk, name)
        formula = desk.locator(f"p:has(+ figure#{name})")
        formula.get_by_text("α").hover()
        expect(shown.locator(".xp-picture svg")).to_have_attribute("data-lit", "weight")
        desk.mouse.move(0, 0)
        expect(shown.locator(".xp-picture svg")).not_to_have_attribute("data-lit", "weight")


# -- motion, speech, address ----------------------------------------------------------------------------------


@pytest.fixture
def stopped(browser: Browser, address: str) -> Iterator[Page]:
    """The page with a clock that only the test moves on."""
    with browser.new_context(**DESK) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.clock.install(time=0)
        page.goto(address)
        page.clock.pause_at(60_000)
        yield page


def test_numbers_glide_unless_motion_is_not_wanted(stopped: Page) -> None:
    shown, figure = stopped.locator("#heat"), FIGURES["heat"]
    before = picture_of(shown)
    slider(shown, "d").press("End")
    for passed in (100, 60):
        stopped.clock.run_for(passed)
        on_the_way = picture_of(shown)
        assert on_the_way != before
        with pytest.raises(AssertionError):
            check_same_picture(on_the_way, figure, figure.point | {"d": 16})
        before = on_the_way
    stopped.clock.run_for(100)
    check_same_picture(picture_of(shown), figure, figure.point | {"d": 16})
    # A second change on the way goes on from there.
    slider(shown, "d").press("Home")
    stopped.clock.run_for(90)
    slider(shown, "query").press("End")
    stopped.clock.run_for(300)
    check_same_picture(picture_of(shown), figure, figure.point | {"d": 1, "query": 4})
    stopped.emulate_media(reduced_motion="reduce")
    slider(shown, "d").press("End")
    stopped.clock.run_for(17)
    check_same_picture(picture_of(shown), figure, figure.point | {"d": 16, "query": 4})


def test_words_change_at_once_while_shapes_glide(stopped: Page) -> None:
    shown, figure = stopped.locator("#maps"), FIGURES["maps"]
    for d in figure.axes["d"][1:]:
        slider(shown, "d").press("ArrowRight")
        stopped.clock.run_for(40)
        assert shown.locator(".xp-say").inner_text() == figure.sentence(d=d)
        texts = shown.locator(".xp-picture text:not(.middle.quiet)")  # the grip hides values on its way
        on_the_way, before = texts.all_text_contents(), picture_of(shown)
        stopped.clock.run_for(400)
        assert texts.all_text_contents() == on_the_way
        assert picture_of(shown) != before


def follow_link(page: Page, link: str) -> None:
    """Returns when the page has heard of it."""
    page.evaluate(
        """link => new Promise(arrived => {
            addEventListener("hashchange", arrived, {once: true});
            location.hash = link;
        })""",
        link,
    )


def test_a_hidden_tab_speaks_the_right_sentence(stopped: Page) -> None:
    shown, figure = stopped.locator("#maps"), FIGURES["maps"]
    stopped.evaluate("window.requestAnimationFrame = () => 1")  # as in a tab in the background
    slider(shown, "d").press("End")
    stopped.clock.run_for(1000)
    assert shown.get_by_role("status").inner_text() == figure.sentence(d=8)


@pytest.mark.parametrize("link", ["#maps?d=2", "#bars?valid_length=3"])
def test_a_link_stops_the_play(stopped: Page, link: str) -> None:
    play = stopped.locator("#maps .xp-play")
    play.press("Enter")
    stopped.clock.run_for(100)
    assert play.inner_text() == "pause"
    follow_link(stopped, link)
    stopped.clock.run_for(3000)
    assert play.inner_text() == "play"
    assert stopped.evaluate("location.hash") == link


def test_the_sentence_is_spoken_once_keys_rest(stopped: Page) -> None:
    shown = stopped.locator("#heat")
    spoken, before = shown.get_by_role("status"), shown.get_by_role("status").inner_text()
    handle = slider(shown, "valid length")
    handle.press("Home")
    for _ in range(3):
        handle.press("ArrowRight")
        stopped.clock.run_for(240)  # held down
        assert spoken.inner_text() == before
        assert stopped.evaluate("location.hash") == ""
    stopped.clock.run_for(300)
    assert spoken.inner_text() == shown.locator(".xp-say").inner_text() != before
    assert "valid_length=3" in stopped.evaluate("location.hash")


def test_play_runs_to_the_end(stopped: Page) -> None:
    shown = stopped.locator("#align")
    handle, play, spoken = slider(shown, "step"), shown.locator(".xp-play"), shown.get_by_role("status")
    pace = 700

    def check(value: int, offers: str) -> None:
        assert handle.get_attribute("aria-valuetext") == f"step {value}"
        assert play.inner_text() == offers
        assert play.get_attribute("aria-label") == f"{offers} step"

    handle.press("Home")
    stopped.clock.run_for(pace)
    before = spoken.inner_text()
    play.press("Enter")
    for value in (0, 1, 2):
        check(value, "pause")
        stopped.clock.run_for(pace)
        assert spoken.inner_text() == before
    stopped.clock.run_for(3000)
    check(5, "play")
    assert spoken.inner_text() == FIGURES["align"].sentence(step=5) != before
    play.press("Enter")  # again from the start
    check(0, "pause")
    stopped.clock.run_for(pace)
    handle.press("ArrowRight")  # whoever takes hold of a control stops the run
    stopped.clock.run_for(3000)
    check(2, "play")
    shown.get_by_role("button", name="reset").press("Enter")
    # Where motion is not wanted it takes one step per press, from the start after the reset.
    stopped.emulate_media(reduced_motion="reduce")
    for value in (0, 1, 2, 5, 0):
        play.press("Enter")
        stopped.clock.run_for(3000)
        check(value, "play")


#: After how many milliseconds the picture and its sentence have their new numbers.
GLIDE = 250


def test_next_goes_through_stages_and_words(desk: Page) -> None:
    shown, figure = opened(desk, "decoding"), FIGURES["decoding"]
    stages, words = figure.axes["stage"], len(figure.labels["target"])
    slider(shown, "word").press("Home")
    seen = [(word, stage) for word in range(words) for stage in stages][stages.index(figure.point["stage"]) :]
    for word, stage in [*seen, (0, stages[0])]:
        shows(shown, "decoding", word=word, stage=stage)
        shown.get_by_role("button", name="next", exact=True).click()


def test_play_runs_through_the_stages_of_a_word(stopped: Page) -> None:
    shown, figure = stopped.locator("#decoding"), FIGURES["decoding"]
    play = shown.locator(".xp-play")
    slider(shown, "word").press("ArrowRight")
    for word in (1, 2):  # at the end it goes on to the next word
        play.press("Enter")
        stopped.clock.run_for(GLIDE)
        for stage in figure.axes["stage"]:
            assert shown.locator(".xp-say").inner_text() == figure.sentence(word=word, stage=stage)
            stopped.clock.run_for(figure.pace)
        assert play.inner_text() == "play"


def test_several_controls_play_like_a_counter(stopped: Page) -> None:
    shown, figure = stopped.locator("#heads"), FIGURES["heads"]
    play, (head, layer) = shown.locator(".xp-play"), figure.play
    heads, layers = (figure.axes[name] for name in (head, layer))
    slider(shown, head).press("End")
    slider(shown, layer).press("End")
    play.press("Enter")  # from the end it starts again
    stopped.clock.run_for(GLIDE)
    for at in range(len(heads) * len(layers)):
        point = {head: heads[at % len(heads)], layer: layers[at // len(heads)]}
        assert shown.locator(".xp-say").inner_text() == figure.sentence(**point)
        stopped.clock.run_for(700)
    assert play.inner_text() == "play"


def test_the_address_holds_and_gives_the_state(browser: Browser, address: str) -> None:
    figure = FIGURES["heat"]
    for page in window(browser, address, **DESK, reduced_motion="reduce"):
        slider(page.locator("#heat"), "query").press("End")
        slider(page.locator("#heat"), "d").press("End")
        page.wait_for_function("location.hash.includes('query=4') && location.hash.includes('d=16')")
        page.reload()
        shown = page.locator("#heat")
        expect(shown.locator(".xp-picture")).to_be_in_viewport()
        shows(shown, "heat", query=4, d=16)
        page.evaluate("scrollTo(0, 1e6)")
        page.evaluate("location.hash = '#heat?d=1'")
        shows(shown, "heat", query=4, d=1)
        expect(shown.locator(".xp-picture")).to_be_in_viewport()
        # The reset goes back to where the figure opens, not to what the address says.
        shown.get_by_role("button", name="reset").press("Enter")
        shows(shown, "heat", **figure.point)


@pytest.mark.parametrize(("name", "point"), [("curve", 2), ("plane", 8)])
def test_moved_points_stand_in_the_address(browser: Browser, address: str, name: str, point: int) -> None:
    movable = FIGURES[name].movable
    low = list(movable["places"][point])
    low[1] = movable["bounds"][1][0]
    for page in window(browser, address, **DESK, reduced_motion="reduce"):
        shown = page.locator(f"figure#{name}")
        shown.locator(".xp-mover summary").press("Enter")
        shown.get_by_label("point", exact=True).select_option(str(point))
        slider(shown, movable["names"][1]).press("Home")
        page.wait_for_function("there => location.hash.includes(there)", arg=f"points={point}:")
        page.reload()
        check_moved(shown, name, {point: low})
        # What the figure does not have is left out, and no point leaves the picture.
        page.evaluate(
            "link => { location.hash = link }", f"#{name}?points=99:1:1,0:1,1:x:2,{point}:{low[0]}:-1e9"
        )
        check_moved(shown, name, {point: low})
        shown.get_by_role("button", name="reset").press("Enter")
        page.wait_for_function("!location.hash.includes('points')")
        shows(shown, name)


def test_a_broken_address_stops_no_figure(browser: Browser, address: str) -> None:
    for broken in ("?query=%E6%B", "?=&&=", "?query=99", "%", "?d=64&constructor=1", "?points=1:0:0"):
        for page in window(browser, f"{address}#heat{broken}", **DESK, reduced_motion="reduce"):
            for name in ("heat", "bars", "plane"):
                shows(page.locator(f"figure#{name}"), name)
            # What the figure has is read.
            page.evaluate("location.hash = '#bars?valid_length=3&nonsense=1&n2='")
            shows(page.locator("#bars"), "bars", valid_length=3)
