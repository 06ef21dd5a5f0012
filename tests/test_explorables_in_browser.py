"""Figures with sliders in a real browser: one of each kind, by mouse, finger and keyboard, on a desk and on a phone.

What depends on the pages around them is tested in `test_figures_in_book`.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from chromium import PATIENCE
from example_figures import AWKWARD, awkward, examples
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
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
    table_cells,
    titled,
    use_font,
)

from utils.colours import COLOURS
from utils.explorables.live import page_of_its_own, page_script, standalone_html, style
from utils.explorables.still import Stage

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
def test_every_frame_shows_pythons_picture_sentence_and_numbers(page: Page, name: str) -> None:
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


@every_figure
def test_on_paper_the_picture_the_sentence_and_the_table_stand(desk: Page, name: str) -> None:
    shown = opened(desk, name)
    desk.emulate_media(media="print")
    desk.evaluate("dispatchEvent(new Event('beforeprint'))")
    try:
        expect(shown.locator(".xp-picture svg")).to_be_visible()
        expect(shown.locator(".xp-say")).to_be_visible()
        expect(shown.locator(".xp-controls").first).to_be_hidden()
        expect(shown.locator(".xp-controls").last).to_be_hidden()
        if FIGURES[name].table:
            expect(shown.locator(".xp-table td")).to_have_text(
                table_cells(FIGURES[name], FIGURES[name].point)
            )
            expect(shown.locator(".xp-table td").last).to_be_visible()
        # The paper is wider than the window: the picture grows with it, and is not cut.
        desk.set_viewport_size({"width": 420, "height": 900})
        drawn(shown)
        holder, svg = shown.evaluate(
            """figure => {
                const holder = figure.querySelector(".xp-picture");
                return [holder, holder.shadowRoot.querySelector("svg")].map(n => n.getBoundingClientRect().height);
            }"""
        )
        assert holder == pytest.approx(svg, abs=1)
    finally:
        desk.set_viewport_size(DESK["viewport"])
        desk.evaluate("dispatchEvent(new Event('afterprint'))")
        desk.emulate_media(media="screen")


def test_tables_are_filled_at_once_for_paper_and_closed_after_it(browser: Browser, address: str) -> None:
    with_table = [name for name, figure in LIVE.items() if figure.table]
    for page in window(browser, address, **DESK):
        filled = page.evaluate("""() => {
            dispatchEvent(new Event("beforeprint"));  // a browser prints as soon as the event is over
            return [...document.querySelectorAll("figure.xp:has(td:not(:empty))")].map(figure => figure.id);
        }""")
        assert filled == with_table
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("details[open]").count() == 0


def test_paper_is_light_also_where_the_page_is_dark(desk: Page) -> None:
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
def test_controls_have_rings_and_are_large_enough_for_a_finger(page: Page, name: str) -> None:
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
def test_roles_have_the_colours_of_the_book_in_all_figures(desk: Page, theme: str) -> None:
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
def test_marks_keep_their_colour_where_the_system_forces_its_own(desk: Page, name: str) -> None:
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


def test_pointing_at_a_small_map_shows_it_and_a_click_chooses_it(desk: Page) -> None:
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
def test_what_the_picture_offers_has_a_row_only_for_the_keyboard(
    browser: Browser, address: str, size: dict
) -> None:
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


def test_a_sentence_has_no_empty_line_below_it(desk: Page, phone: Page) -> None:
    for page, lines in ((desk, 1), (phone, 2)):
        say = opened(page, "heat").locator(".xp-say")
        assert say.evaluate("node => node.style.minHeight") == f"{lines}lh"
        held, height = say.evaluate(
            "node => [parseFloat(getComputedStyle(node).minHeight), node.offsetHeight]"
        )
        assert height == pytest.approx(held, abs=1)


@pytest.mark.parametrize("name", [name for name, figure in FIGURES.items() if figure.picks])
def test_a_click_counts_where_the_picture_is_drawn_between_press_and_release(desk: Page, name: str) -> None:
    figure = FIGURES[name]
    ((pick, labels),) = figure.picks.items()
    choices = [{pick: at} for at in (len(figure.labels[labels]) - 1, 0)]
    if name == "heads":  # small maps, whose frame moves to the one that is pointed at
        choices += [{"head": head, "layer": layer} for head, layer in ((2, 1), (0, 0), (1, 1), (2, 0))]
    shown = opened(desk, name)
    chosen = {}
    for choice in choices:
        box = mark(shown, choice).bounding_box()
        desk.evaluate("""() => {
            window.frame = requestAnimationFrame;
            window.held = [];
            requestAnimationFrame = draw => held.push(draw);
        }""")
        desk.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        desk.mouse.down()
        desk.evaluate(
            "() => { requestAnimationFrame = frame; held.forEach(draw => draw(performance.now())); }"
        )
        desk.mouse.up()
        for control, at in choice.items():
            expect(slider(shown, control)).to_have_value(str(at))
            chosen[control] = figure.axes[control][at] if control in figure.axes else at
        desk.mouse.move(0, 0)
        shows(shown, name, **chosen)


def test_a_mouse_that_rests_on_the_picture_shows_nothing_anew(desk: Page) -> None:
    shown = opened(desk, "heads")
    box = mark(shown, {"head": 0, "layer": 0}).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    desk.mouse.move(x, y)
    expect(shown.locator(".xp-say")).to_have_text(FIGURES["heads"].sentence(head=1, layer=1))
    for head, key in ((3, "End"), (2, "ArrowLeft"), (1, "Home"), (2, "ArrowRight")):
        slider(shown, "head").press(key)
        drawn(shown)
        desk.mouse.move(x, y)  # as the browser does by itself once another mark lies under the mouse
        shows(shown, "heads", head=head)
    desk.mouse.move(0, 0)


@pytest.mark.parametrize(("name", "axis"), [("curve", "query"), ("bars", "valid_length")])
def test_the_mouse_drags_a_line_to_where_it_is(desk: Page, name: str, axis: str) -> None:
    shown = opened(desk, name)
    box = shown.locator(f".instead[data-drag={axis}]").first.bounding_box()
    last = len(FIGURES[name].axes[axis]) - 1
    inset = 10 if name == "bars" else 0  # the area is that much wider than the bars
    left, right, y = box["x"] + inset, box["x"] + box["width"] - inset, box["y"] + 12
    place = np.linspace(left, right, last + 1)
    desk.mouse.move(place[2], y)
    expect(slider(shown, axis)).to_have_value(str(FIGURES[name].axes[axis].index(FIGURES[name].point[axis])))
    desk.mouse.down()
    for at in (2, 0, last // 2, last):
        desk.mouse.move(place[at], y)
        expect(slider(shown, axis)).to_have_value(str(at))
    desk.mouse.move(right + 30, y)  # beyond the end, too, it follows as far as it can
    expect(slider(shown, axis)).to_have_value(str(last))
    desk.mouse.move(place[3], y)
    desk.mouse.up()
    desk.mouse.move(left, y)
    expect(slider(shown, axis)).to_have_value("3")
    desk.mouse.move(0, 0)
    shows(shown, name, **{axis: FIGURES[name].axes[axis][3]})


def test_a_grip_follows_the_hand_between_two_values_and_ends_at_the_nearer_one(desk: Page) -> None:
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


def test_a_curve_is_hidden_behind_what_the_reader_has_reached_but_not_on_paper(desk: Page) -> None:
    shown = opened(desk, "maps")
    course, rule = shown.locator("g:not(.later) > .course:not(.done)"), shown.locator(".rule")
    later = shown.locator("g.later:has(.course)")

    def reached() -> float:
        drawn(shown)
        if later.count():
            assert later.evaluate("node => getComputedStyle(node).opacity") == "0"
        return float(re.findall(r"([\d.]+),", course.get_attribute("d"))[-1])

    places = []
    for at in (0, 1, 0):
        slider(shown, "d").fill(str(at))
        shows(shown, "maps", d=FIGURES["maps"].axes["d"][at])
        places.append((reached(), float(rule.get_attribute("x1"))))
    (first, start), (second, moved), (last, back) = places
    assert first == pytest.approx(start, abs=0.01)
    assert second == pytest.approx(moved, abs=0.01)
    assert start == back < last == second  # what was seen stays
    desk.emulate_media(media="print")
    assert later.evaluate("node => getComputedStyle(node).opacity") == "1"
    desk.emulate_media(media="screen")
    shown.get_by_role("button", name="reset").click()
    shows(shown, "maps")
    assert reached() == pytest.approx(start, abs=0.01)


def test_the_curve_of_another_choice_stays_once_it_was_played(desk: Page) -> None:
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


def test_an_arrow_of_a_grip_goes_one_value_on_and_a_drag_from_it_holds_the_grip(desk: Page) -> None:
    shown = opened(desk, "maps")
    for _ in range(2):
        grip = shown.locator(".handle").bounding_box()
        desk.mouse.move(grip["x"] + grip["width"] - 8, grip["y"] + grip["height"] / 2)
        before = shown.locator(".xp-say").text_content()
        drawn(shown)
        assert shown.locator(".xp-say").text_content() == before, "the mouse alone changes nothing"
        desk.mouse.down()
        desk.mouse.up()
        drawn(shown)
    shows(shown, "maps", d=8)
    grip = shown.locator(".handle").bounding_box()
    left, middle = grip["x"] + 8, grip["y"] + grip["height"] / 2
    desk.mouse.move(left, middle)
    desk.mouse.down()
    desk.mouse.move(left - 5, middle)
    desk.mouse.up()
    shows(shown, "maps", d=8)  # the grip has hardly moved


def test_an_edge_of_the_window_is_dragged_to_another_bandwidth(desk: Page) -> None:
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


@both
def test_sideways_from_a_reading_the_edge_or_the_query_below_it_is_dragged(page: Page) -> None:
    shown, figure = opened(page, "curve"), FIGURES["curve"]
    hours = shown.locator(".instead[data-drag=query]").bounding_box()
    hour = hours["width"] / 24
    last = len(figure.axes["bandwidth"]) - 1

    def drag(start: tuple[float, float], x: float) -> None:
        if page.evaluate("navigator.maxTouchPoints"):
            touch(page, [(at, start[1]) for at in np.linspace(start[0], x, 10)])
        else:
            page.mouse.move(*start)
            page.mouse.down()
            page.mouse.move(x, start[1], steps=8)
            page.mouse.up()

    # A reading from whose place an edge of the window is less than 12 pixels away.
    slider(shown, "bandwidth").fill(str(last))
    for query in range(25):
        slider(shown, "query").fill(str(query))
        drawn(shown)
        edges = [middle_of(edge)[0] for edge in shown.locator("[data-drag=bandwidth]").all()]
        readings = [middle_of(pull) for pull in shown.locator(".pull").all()]
        near = [(x, y) for x, y in readings if edges and abs(edges[-1] - x) < 10]
        if near and edges[-1] > hours["x"] + query * hour:
            break
    drag(near[0], hours["x"] + hour * (query + figure.axes["bandwidth"][1]))
    expect(slider(shown, "bandwidth")).to_have_value("1")
    expect(slider(shown, "query")).to_have_value(str(query))
    slider(shown, "query").fill("3")
    drawn(shown)
    drag(middle_of(shown.locator(".pull").nth(15)), hours["x"] + 9 * hour)  # far from both edges
    expect(slider(shown, "query")).to_have_value("9")
    page.mouse.move(0, 0)
    shows(shown, "curve", query=9.0, bandwidth=figure.axes["bandwidth"][1])


def test_a_click_on_a_reading_moves_it_nowhere(desk: Page) -> None:
    shown = opened(desk, "curve")
    x, y = middle_of(shown.locator(".pull").nth(22))
    desk.mouse.move(x + 5, y + 5)
    desk.mouse.down()
    desk.mouse.move(x + 6, y + 6)
    desk.mouse.up()
    desk.mouse.move(0, 0)
    shows(shown, "curve")


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


@pytest.mark.parametrize("name", ["curve", "bars", "heat", "align"])
def test_a_swipe_over_a_figure_scrolls_the_page_and_changes_nothing(phone: Page, name: str) -> None:
    shown = opened(phone, name)
    area = shown.locator(".drag, .pick:not(.pull)").first
    area.evaluate("node => node.scrollIntoView({ block: 'center' })")
    scrolled = phone.evaluate("scrollY")
    box = area.bounding_box()
    x, y = box["x"] + 0.9 * box["width"], box["y"] + 0.9 * box["height"]  # not on a point
    touch(phone, [(x, y - 10 * i) for i in range(13)])
    phone.wait_for_function("before => scrollY >= before + 60", arg=scrolled)
    shows(shown, name)


def test_a_word_of_the_list_stays_chosen_after_a_click_and_a_word_that_is_pulled_too(desk: Page) -> None:
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


def test_a_swipe_that_starts_on_a_reading_scrolls_too(phone: Page) -> None:
    shown = opened(phone, "curve")
    pull = shown.locator(".pull").nth(22)
    pull.evaluate("node => node.scrollIntoView({ block: 'center' })")
    scrolled, (x, y) = phone.evaluate("scrollY"), middle_of(pull)
    touch(phone, [(x, y - 10 * i) for i in range(13)])
    phone.wait_for_function("before => scrollY >= before + 60", arg=scrolled)
    shows(shown, "curve")


def test_a_finger_drags_the_query_sideways(phone: Page) -> None:
    shown = opened(phone, "curve")
    box = shown.locator(".instead[data-drag=query]").bounding_box()
    y = box["y"] + box["height"] - 20
    hours = np.linspace(box["x"], box["x"] + box["width"], 25)
    touch(phone, [(hours[7], y), *((x, y) for x in np.linspace(hours[7], hours[16], 10))])
    expect(slider(shown, "query")).to_have_value("16")
    shows(shown, "curve", query=16.0)


def moved_picture(
    shown: Locator, name: str, moved: dict[int, list[float]], **point: object
) -> tuple[str, str]:
    """Picture and sentence with points in other places, made in Python in the width of the page's picture."""
    figure = FIGURES[name]
    at = figure.point | point
    place = {key: figure.axes[key].index(x) if key in figure.axes else x for key, x in at.items()}
    state = {"place": place, "moved": {str(i): spot for i, spot in moved.items()}}
    drawn(shown)
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', picture_of(shown))[1])
    stage = Stage(figure.spec)
    return stage.picture(state, width), stage.sentence(state)


def check_moved(shown: Locator, name: str, moved: dict[int, list[float]], **point: object) -> None:
    """Sentence and picture are those with points in exactly these places."""
    picture, sentence = moved_picture(shown, name, moved, **point)
    assert shown.locator(".xp-say").inner_text() == sentence
    check_marks(picture_of(shown), picture)


def places_of(svg: str) -> np.ndarray:
    """Places of all circles that are seen, but not of the ring around what a finger has taken."""
    return np.array(
        [
            [float(re.search(rf'\b{key}="([-\d.]+)"', circle)[1]) for key in ("cx", "cy", "r")]
            for circle in re.findall(r"<circle[^>]*>", svg)
            if "pull" not in circle and "chosen" not in circle
        ]
    )


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
            expect(pull).to_have_class("pull upright taken")
        touch(page, path)
    drawn(shown)
    assert page.evaluate("scrollY") == scrolled  # a finger that pulls a point does not scroll
    new_x, new_y = middle_of(pull)
    assert new_y == pytest.approx(y - 48, abs=1)
    # Readings go up and down only.
    assert new_x == pytest.approx(x if name == "curve" else x + 24, abs=1)
    # The page shows the same numbers to the keyboard.
    shown.locator(".xp-mover").evaluate("details => { details.open = true }")
    shown.get_by_label("point", exact=True).select_option(str(point))
    sides = [n for n, bound in zip(figure.movable["names"], figure.movable["bounds"], strict=True) if bound]
    spot = list(figure.movable["places"][point])
    for side in sides:
        (value,) = re.findall(r"-?[\d.]+$", slider(shown, side).get_attribute("aria-valuetext"))
        spot[figure.movable["names"].index(side)] = float(value)
    # The slider says two decimals of the place.
    expected, _ = moved_picture(shown, name, {point: spot})
    assert places_of(picture_of(shown)) == pytest.approx(places_of(expected), abs=1)
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


def test_a_symbol_lights_its_role_in_the_picture_and_in_formulas(desk: Page) -> None:
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
                off()
                expect(svg).not_to_have_attribute("data-lit", role)
                assert desk.locator(".xp-lit").count() == 0
            chip.focus()
            pale = shown.evaluate(
                """(figure, role) => {
                    const svg = figure.querySelector(".xp-picture").shadowRoot.querySelector("svg");
                    const marks = [...svg.querySelectorAll(".query, .key, .value, .weight, .context")];
                    return marks.map(mark => [mark.matches(`.${role}`), getComputedStyle(mark).opacity]);
                }""",
                role,
            )
            assert pale
            assert all((float(opacity) == 1) == lit for lit, opacity in pale)
            chip.blur()


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
        yield from stopped_page(context, address)


def stopped_page(context: BrowserContext, address: str) -> Iterator[Page]:
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.clock.install(time=0)
    page.goto(address)
    page.clock.pause_at(60_000)
    yield page


def test_numbers_glide_to_where_they_belong_unless_motion_is_not_wanted(stopped: Page) -> None:
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


def test_a_change_of_several_controls_at_once_glides_too(stopped: Page) -> None:
    shown, figure = stopped.locator("#heat"), FIGURES["heat"]
    slider(shown, "d").press("End")
    slider(shown, "query").press("End")
    stopped.clock.run_for(300)
    shown.get_by_role("button", name="reset").press("Enter")
    stopped.clock.run_for(100)
    with pytest.raises(AssertionError):
        check_same_picture(picture_of(shown), figure, figure.point)
    stopped.clock.run_for(200)
    check_same_picture(picture_of(shown), figure, figure.point)


def test_all_words_and_numbers_change_at_once_while_shapes_glide(stopped: Page) -> None:
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


def test_a_link_to_another_figure_stops_the_play_and_keeps_its_address(stopped: Page) -> None:
    play = stopped.locator("#maps .xp-play")
    play.press("Enter")
    stopped.clock.run_for(100)
    follow_link(stopped, "#bars?valid_length=3")
    stopped.clock.run_for(3000)
    assert play.inner_text() == "play"
    assert stopped.evaluate("location.hash") == "#bars?valid_length=3"


def test_what_is_spoken_is_right_where_no_frame_is_drawn(stopped: Page) -> None:
    shown, figure = stopped.locator("#maps"), FIGURES["maps"]
    stopped.evaluate("window.requestAnimationFrame = () => 1")  # as in a tab in the background
    slider(shown, "d").press("End")
    stopped.clock.run_for(1000)
    assert shown.get_by_role("status").inner_text() == figure.sentence(d=8)


def test_a_value_that_is_changed_while_its_grip_is_held_has_the_grip(desk: Page) -> None:
    shown = opened(desk, "maps")
    area = shown.locator(".drag.instead").bounding_box()
    grip = shown.locator(".xp-picture .handle")
    slider(shown, "d").fill("2")
    drawn(shown)
    at_last = grip.get_attribute("x")
    desk.mouse.move(area["x"] + 0.2 * area["width"], area["y"] + area["height"] / 2)
    desk.mouse.down()
    desk.mouse.move(area["x"] + 0.3 * area["width"], area["y"] + area["height"] / 2)
    drawn(shown)
    assert grip.get_attribute("x") != at_last
    slider(shown, "d").press("End")
    drawn(shown)
    assert grip.get_attribute("x") == at_last
    desk.mouse.up()
    shows(shown, "maps", d=8)


def test_a_link_stops_the_play(stopped: Page) -> None:
    shown, play = stopped.locator("#maps"), stopped.locator("#maps .xp-play")
    play.press("Enter")
    stopped.clock.run_for(100)
    assert play.inner_text() == "pause"
    follow_link(stopped, "#maps?d=2")
    stopped.clock.run_for(3000)
    assert play.inner_text() == "play"
    assert slider(shown, "d").get_attribute("aria-valuetext") == "d 2"
    assert stopped.evaluate("location.hash") == "#maps?d=2"


def test_what_is_played_anew_hides_what_comes_later(stopped: Page) -> None:
    shown = stopped.locator("#maps")
    slider(shown, "d").press("End")
    slider(shown, "d").press("Home")
    stopped.clock.run_for(500)
    shown.get_by_role("button", name="reset").press("Enter")
    shown.locator(".xp-play").press("Enter")
    stopped.clock.run_for(300)
    later = shown.locator("g.later:has(.course)")
    assert {node.evaluate("node => getComputedStyle(node).opacity") for node in later.all()} == {"0"}


def test_two_copies_of_a_figure_on_a_page_do_not_share_their_buttons(
    browser: Browser, tmp_path: Path
) -> None:
    copies = "".join(standalone_html(FIGURES["rivals"]) for _ in range(2))
    (tmp_path / "page.html").write_text(
        f"<!doctype html><meta charset=utf-8><title>x</title>{copies}", "utf-8"
    )
    for page in window(browser, (tmp_path / "page.html").as_uri(), reduced_motion="reduce"):
        first, second = page.locator("figure.xp").all()
        first.get_by_label("down").check()
        expect(second.get_by_label("up")).to_be_checked()
        expect(first.get_by_label("down")).to_be_checked()
        ids = page.locator(".xp-live [id]").evaluate_all("all => all.map(node => node.id)")
        assert len(ids) == len(set(ids)) > 0


def test_a_link_that_is_followed_at_once_keeps_its_address(stopped: Page) -> None:
    slider(stopped.locator("#heat"), "d").press("End")
    stopped.evaluate("location.hash = '#bars?valid_length=3'")
    stopped.clock.run_for(1000)
    assert stopped.evaluate("location.hash") == "#bars?valid_length=3"


def test_the_sentence_is_spoken_and_the_address_written_once_the_keys_rest(stopped: Page) -> None:
    stopped.evaluate(
        """() => {
            const changes = window.changes = {spoken: 0, written: 0};
            const spoken = document.querySelector("#heat [role=status]");
            const count = () => changes.spoken++;
            new MutationObserver(count).observe(spoken, {characterData: true, childList: true, subtree: true});
            const replace = history.replaceState.bind(history);
            history.replaceState = (...given) => { changes.written++; replace(...given); };
        }"""
    )
    still = {"spoken": 0, "written": 0}
    handle = slider(stopped.locator("#heat"), "valid length")
    handle.press("Home")
    for _ in range(3):
        handle.press("ArrowRight")
        stopped.clock.run_for(240)  # held down
        assert stopped.evaluate("changes") == still
    stopped.clock.run_for(20)
    assert stopped.evaluate("changes") == still | {"written": 1}
    assert "valid_length=3" in stopped.evaluate("location.hash")
    stopped.clock.run_for(150)
    assert stopped.evaluate("changes") == {"spoken": 1, "written": 1}
    said = stopped.locator("#heat .xp-say").inner_text()
    assert stopped.locator("#heat [role=status]").inner_text() == said
    stopped.clock.run_for(5000)
    assert stopped.evaluate("changes") == {"spoken": 1, "written": 1}


def test_play_runs_to_the_end_and_takes_one_step_per_press_where_motion_is_not_wanted(stopped: Page) -> None:
    shown = stopped.locator("#align")
    handle, play = slider(shown, "step"), shown.locator(".xp-play")
    pace = 700

    def check(value: int, offers: str) -> None:
        assert handle.get_attribute("aria-valuetext") == f"step {value}"
        assert play.inner_text() == offers
        assert play.get_attribute("aria-label") == f"{offers} step"

    handle.press("Home")
    stopped.clock.run_for(pace)
    spoken, before = shown.get_by_role("status"), shown.get_by_role("status").inner_text()
    play.press("Enter")
    for value in (0, 1, 2):
        check(value, "pause")
        stopped.clock.run_for(pace)
        assert spoken.inner_text() == before
    check(5, "play")
    stopped.clock.run_for(3000)
    check(5, "play")
    assert spoken.inner_text() == FIGURES["align"].sentence(step=5) != before
    play.press("Enter")  # again from the start
    check(0, "pause")
    stopped.clock.run_for(pace)
    play.press("Enter")
    stopped.clock.run_for(3000)
    check(1, "play")
    play.press("Enter")
    handle.press("ArrowRight")  # whoever takes hold of a control stops the run
    stopped.clock.run_for(3000)
    check(2, "play")
    shown.get_by_role("button", name="reset").press("Enter")
    check(2, "play")
    stopped.emulate_media(reduced_motion="reduce")
    for value in (0, 1, 2, 5, 0):  # from the start, since after the reset nothing has been moved
        play.press("Enter")
        stopped.clock.run_for(3000)
        check(value, "play")


#: After how many milliseconds the picture and its sentence have their new numbers.
GLIDE = 250


def test_a_button_goes_on_to_the_next_stage_and_then_to_the_next_word(desk: Page) -> None:
    shown, figure = opened(desk, "decoding"), FIGURES["decoding"]
    stages, words = figure.axes["stage"], len(figure.labels["target"])
    slider(shown, "word").press("Home")
    seen = [(word, stage) for word in range(words) for stage in stages][stages.index(figure.point["stage"]) :]
    for word, stage in [*seen, (0, stages[0])]:
        shows(shown, "decoding", word=word, stage=stage)
        shown.get_by_role("button", name="next", exact=True).click()


def test_play_runs_through_the_stages_of_the_chosen_word(stopped: Page) -> None:
    shown, figure = stopped.locator("#decoding"), FIGURES["decoding"]
    play = shown.locator(".xp-play")

    def check(word: int, stage: int) -> None:
        point = {"word": word, "stage": figure.axes["stage"][stage]}
        assert shown.locator(".xp-say").inner_text() == figure.sentence(**point)

    slider(shown, "word").press("ArrowRight")
    play.press("Enter")
    stopped.clock.run_for(GLIDE)
    for stage in range(5):
        check(1, stage)
        stopped.clock.run_for(figure.pace)
    check(1, 4)
    assert play.inner_text() == "play"
    play.press("Enter")  # on to the next word
    stopped.clock.run_for(GLIDE)
    check(2, 0)
    stopped.clock.run_for(4 * figure.pace)
    check(2, 4)
    slider(shown, "word").press("End")
    play.press("Enter")  # the chosen word from the start
    stopped.clock.run_for(GLIDE)
    check(3, 0)
    stopped.clock.run_for(2 * figure.pace)
    play.press("Enter")
    stopped.clock.run_for(9 * figure.pace)
    check(3, 2)
    play.press("Enter")  # it goes on
    stopped.clock.run_for(figure.pace + GLIDE)
    check(3, 3)
    play.press("Enter")


def test_several_controls_play_like_the_digits_of_a_counter(stopped: Page) -> None:
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


def test_the_state_stands_in_the_address_and_is_read_from_it(browser: Browser, address: str) -> None:
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
def test_moved_points_stand_in_the_address_too(browser: Browser, address: str, name: str, point: int) -> None:
    movable = FIGURES[name].movable
    spot = [
        round(bound[0] + 0.37 * (bound[1] - bound[0]), 3) if bound else side
        for side, bound in zip(movable["places"][point], movable["bounds"], strict=True)
    ]
    link = f"{name}?points={point}:{spot[0]}:{spot[1]}"
    for page in window(browser, f"{address}#{link}", **DESK, reduced_motion="reduce"):
        shown = page.locator(f"figure#{name}")
        check_moved(shown, name, {point: spot})
        # A point that was moved here stands in the address as well, and the next reader sees the same.
        shown.locator(".xp-mover summary").press("Enter")
        shown.get_by_label("point", exact=True).select_option("0")
        slider(shown, movable["names"][1]).press("Home")
        page.wait_for_function("there => location.hash.includes(there)", arg="points=0:")
        there = page.evaluate("location.hash")
        assert f",{point}:{round(spot[0], 3)}:{spot[1]}" in there
        low = [movable["places"][0][0], movable["bounds"][1][0]]
        page.reload()
        check_moved(shown, name, {0: low, point: spot})
        # What the figure does not have is left out, and no point leaves the picture.
        page.evaluate("link => { location.hash = link }", f"#{name}?points=99:1:1,0:1,1:x:2,{point}:0:1e9")
        edge = [
            bound[1] if bound and i else side
            for i, (side, bound) in enumerate(zip(spot, movable["bounds"], strict=True))
        ]
        edge[0] = 0 if movable["bounds"][0] else spot[0]
        check_moved(shown, name, {point: edge})
        shown.get_by_role("button", name="reset").press("Enter")
        page.wait_for_function("!location.hash.includes('points')")
        shows(shown, name)


@pytest.mark.parametrize(
    "broken", ["?query=%E6%B", "?d=%", "?=&&=", "?query=99", "%", "?", "?d=64&constructor=1", "?points=1:0:0"]
)
def test_a_broken_address_stops_no_figure(browser: Browser, address: str, broken: str) -> None:
    for page in window(browser, f"{address}#heat{broken}", **DESK, reduced_motion="reduce"):
        for name in FIGURES:
            shows(page.locator(f"figure#{name}"), name)


def test_an_address_with_values_that_the_figure_does_not_have_is_read_as_far_as_it_goes(desk: Page) -> None:
    opened(desk, "heat")
    shown = opened(desk, "bars")
    desk.evaluate("location.hash = '#bars?valid_length=3&nonsense=1&n2='")
    shows(shown, "bars", valid_length=3)
    desk.evaluate("location.hash = '#bars?valid_length=77'")
    desk.evaluate("location.hash = '#heat?d=1'")  # answered after the one before
    shows(desk.locator("#heat"), "heat", d=1)
    shows(shown, "bars", valid_length=3)
