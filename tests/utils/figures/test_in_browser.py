"""Figures with sliders in a real browser: one of each kind, by mouse, finger and keyboard, on a desk and on a phone.

What depends on the pages around them is tested in `test_figures_in_book`.
"""

import itertools
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
    is_slider,
    open_table,
    picture_of,
    place_of,
    rgb,
    slider,
    some_points,
    spoken,
    states,
    titled,
    use_font,
)
from windows import DESK, PHONE, Visit

from utils.figures.colours import COLOURS
from utils.figures.live import page_of_its_own, page_script, style
from utils.figures.still import Stage

pytestmark = pytest.mark.browser

FIGURES = examples()
LIVE = {**FIGURES, "awkward": awkward()}
every_figure = pytest.mark.parametrize("name", FIGURES)
#: A formula as MathJax sets it, with the glyphs of an italic q and of an α, which are symbols of the figure below it.
FORMULA = (
    '<p><mjx-container display="true"><mjx-mi><mjx-c class="mjx-c1D45E">q</mjx-c></mjx-mi> '
    '<mjx-mi><mjx-c class="mjx-c1D6FC">α</mjx-c></mjx-mi></mjx-container></p>'
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    """Where a page with all figures lies."""
    body = "".join(f"<h2>{name}</h2>{FORMULA}{figure._repr_html_()}" for name, figure in LIVE.items())
    place = tmp_path_factory.mktemp("pages")
    (place / "figures.html").write_text(
        '<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>figures</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style()} body {{ margin: 16px; font-family: sans-serif }} "
        'html[data-theme="dark"] { --pst-color-background: #121212; background: #121212; color: #eee }</style>'
        f"<body><main><h1>Figures</h1>{body}</main><script>{page_script()}</script>",
        encoding="utf-8",
    )
    (place / "alone.html").write_text(page_of_its_own(FIGURES["chinese"], title="A & B"), encoding="utf-8")
    return place.as_uri()


@pytest.fixture(scope="module")
def desk(browser: Browser, folder: str) -> Iterator[Page]:
    """The page of all figures on a desk, opened once; no test may rely on where another left them."""
    with Visit(browser, folder) as visit:
        yield visit.page("figures")


@pytest.fixture(scope="module")
def phone(browser: Browser, folder: str) -> Iterator[Page]:
    with Visit(browser, folder, **PHONE) as visit:
        yield visit.page("figures")


@pytest.fixture
def page(request: pytest.FixtureRequest) -> Page:
    return request.getfixturevalue(request.param)


@pytest.fixture
def fresh(browser: Browser, folder: str) -> Iterator[Page]:
    """The page in a window of its own, for tests of its address."""
    with Visit(browser, folder) as visit:
        yield visit.page("figures")


both = pytest.mark.parametrize("page", ["desk", "phone"], indirect=True)
both_sizes = pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])


def reset(shown: Locator) -> None:
    shown.page.mouse.move(0, 0)
    shown.get_by_role("button", name="reset").press("Enter")


def opened(page: Page, name: str) -> Locator:
    """A figure in its opening state, with no mouse over it."""
    shown = page.locator(f"figure#{name}")
    reset(shown)
    shown.scroll_into_view_if_needed()
    drawn(shown)
    return shown


def shows(shown: Locator, name: str, **point: object) -> None:
    """Sentence and picture are those of a point."""
    figure = LIVE[name]
    expect(shown.locator(".xp-say")).to_have_text(figure.sentence(**point))
    drawn(shown)
    check_same_picture(picture_of(shown), figure, figure.point | point)


def middle_of(target: Locator) -> tuple[float, float]:
    box = target.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def press(page: Page, *path: tuple[float, float]) -> None:
    """The mouse goes to the first place, presses its button and moves on to the others."""
    page.mouse.move(*path[0])
    page.mouse.down()
    for place in path[1:]:
        page.mouse.move(*place, steps=3)


def release(page: Page) -> None:
    page.mouse.up()
    page.mouse.move(0, 0)


def touch(page: Page, *path: tuple[float, float]) -> None:
    """A finger that is put down at the first place, moves to the others and is lifted."""
    protocol = page.context.new_cdp_session(page)
    for i, (x, y) in enumerate(path):
        kind = "touchMove" if i else "touchStart"
        protocol.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    protocol.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    protocol.detach()


# -- what is shown --------------------------------------------------------------------------------------------


@both
@every_figure
def test_every_frame_shows_pythons_numbers(page: Page, name: str) -> None:
    shown = opened(page, name)
    if FIGURES[name].table:
        open_table(shown)
    check_frames(shown, FIGURES[name], some_points(FIGURES[name], 12))


def test_awkward_labels_are_shown_as_text(desk: Page) -> None:
    shown = opened(desk, "awkward")
    open_table(shown)
    assert shown.locator("th").all_text_contents() == ["x", "</svg>", *AWKWARD]
    assert shown.locator("b").count() == 0
    check_frames(shown, LIVE["awkward"])


def test_a_page_of_its_own_needs_nothing_else(browser: Browser, folder: str) -> None:
    with Visit(browser, f"{folder}/alone.html") as visit:  # all other addresses are refused
        page = visit.context.new_page()
        page.goto(visit.origin)
        assert page.title() == "A & B"
        open_table(page.locator("figure"))
        check_frames(page.locator("figure"), FIGURES["chinese"])


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
            check_height(shown)
            assert shown.evaluate(COLLISIONS) == []
    finally:
        desk.set_viewport_size(DESK["viewport"])
        desk.evaluate("dispatchEvent(new Event('afterprint'))")
        desk.emulate_media(media="screen")
    assert desk.locator("details[open]").count() == before


# -- how it looks ---------------------------------------------------------------------------------------------


#: How many texts of a page are squeezed.
SQUEEZED = """() => [...document.querySelectorAll(".xp-picture")]
    .reduce((sum, holder) => sum + holder.shadowRoot.querySelectorAll("[textLength]").length, 0)"""


@both_sizes
def test_texts_fit_in_every_font(browser: Browser, folder: str, size: dict) -> None:
    with Visit(browser, folder, **size) as visit:
        page = visit.page("figures")
        squeezed = {}
        for font in (None, *FONTS):
            if font:
                use_font(page, font)
            found = {name: page.locator(f"figure#{name}").evaluate(COLLISIONS) for name in FIGURES}
            assert {name: texts for name, texts in found.items() if texts} == {}, font
            squeezed[font] = page.evaluate(SQUEEZED)
        assert squeezed["wide"] > squeezed["narrow"] == 0


def test_texts_of_still_pictures_fit(desk: Page) -> None:
    page = desk.context.new_page()
    page.set_content("".join(f'<div id="{name}">{figure.draw()}</div>' for name, figure in FIGURES.items()))
    use_font(page, "wide")
    found = {name: page.locator(f"#{name}").evaluate(COLLISIONS) for name in FIGURES}
    assert {name: texts for name, texts in found.items() if texts} == {}
    page.close()


def test_a_hidden_figure_is_fitted_when_shown(fresh: Page) -> None:
    shown = fresh.locator("figure#rivals")
    shown.evaluate("figure => { figure.hidden = true }")
    use_font(fresh, "wide")
    shown.evaluate("figure => { figure.hidden = false }")
    drawn(shown)
    assert shown.evaluate(COLLISIONS) == []


@both
@every_figure
def test_controls_have_rings_and_room_for_fingers(page: Page, name: str) -> None:
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


def test_roles_have_the_colours_of_the_book(desk: Page) -> None:
    desk.locator("figure#decoding").get_by_role("radio", name="word", exact=True).press("Space")
    for theme, media, dark in (
        ("dark", "screen", True),
        ("dark", "print", False),
        ("light", "screen", False),
    ):
        desk.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        desk.emulate_media(media=media)
        seen = set()
        for name, figure in FIGURES.items():
            shown = desk.locator(f"figure#{name}")
            for role, colours in shown.evaluate(ROLE_COLOURS).items():
                assert set(colours) <= {rgb(COLOURS[COLOUR_OF[role]][dark])}, (name, role, theme, media)
                seen.update([role] if colours else [])
            # The line under the symbol of a role has its colour.
            for role in figure.symbols:
                chip = shown.locator(f".xp-symbol[data-role={role}]")
                line = chip.evaluate("chip => getComputedStyle(chip).borderBottomColor")
                assert line == rgb(COLOURS[COLOUR_OF[role]][dark])
        assert seen == COLOUR_OF.keys()


def test_marks_keep_their_colour_under_forced_colours(desk: Page) -> None:
    def colours() -> dict[str, dict]:
        return {name: desk.locator(f"figure#{name}").evaluate(ROLE_COLOURS) for name in FIGURES}

    before = colours()
    desk.emulate_media(forced_colors="active")
    forced, ground = colours(), desk.evaluate("getComputedStyle(document.body).backgroundColor")
    desk.emulate_media(forced_colors="none")
    for name in FIGURES:
        assert any(forced[name].values()), name
        assert all(ground not in seen for seen in forced[name].values()), name
        assert forced[name]["weight"] == before[name]["weight"]


# -- keys -----------------------------------------------------------------------------------------------------


@every_figure
def test_keys_reach_and_move_each_control(desk: Page, name: str) -> None:
    figure, shown = FIGURES[name], opened(desk, name)
    point = dict(figure.point)
    # The tabulator visits the buttons above the picture, then every control, in the order in which they are shown; of
    # radio buttons it reaches the one that is checked.
    shown.locator(".xp-tools button").first.focus()
    for button in shown.locator(".xp-tools button").all():
        expect(button).to_be_focused()
        desk.keyboard.press("Tab")
    rows = shown.locator(".xp-controls > .xp-row")
    titles = rows.evaluate_all("rows => rows.map(row => row.firstChild.textContent)")
    for control, values in sorted(states(figure).items(), key=lambda item: titles.index(titled(item[0]))):
        last = len(values) - 1
        if is_slider(figure, control):
            handle = slider(shown, control)
            expect(handle).to_be_focused()
            for key, at in {"Home": 0, "ArrowRight": 1, "End": last, "ArrowLeft": last - 1}.items():
                desk.keyboard.press(key)
                point[control] = values[at]
                expect(handle).to_have_attribute("aria-valuetext", spoken(figure, control, values[at]))
        else:
            group = shown.get_by_role("radiogroup", name=titled(control), exact=True)
            assert group.get_by_role("radio").count() == len(values)
            expect(group.get_by_role("radio", checked=True)).to_be_focused()
            desk.keyboard.press("ArrowRight")
            point[control] = values[(values.index(point[control]) + 1) % len(values)]
        shows(shown, name, **point)
        expect(shown.get_by_role("status")).to_have_text(figure.sentence(**point))
        desk.keyboard.press("Tab")
    reset(shown)
    shows(shown, name)


#: Axes that are chosen in the picture of an example, besides its picks.
IN_THE_PICTURE = {
    "maps": ("d",),
    "rivals": ("step",),
    "lost": ("moved",),
    "heads": ("head", "layer"),
    "windows": ("score",),
    "decoding": ("stage",),
    "curve": ("bandwidth", "query"),
    "bars": ("valid_length",),
}


@both_sizes
def test_keys_bring_rows_for_controls_in_pictures(browser: Browser, folder: str, size: dict) -> None:
    with Visit(browser, folder, **size) as visit:
        page = visit.page("figures")
        for name, figure in FIGURES.items():
            shown = page.locator(f"figure#{name}")
            rows = shown.locator(".xp-controls > .xp-row")
            above = {"rivals": ["way"], "heads": ["mask"], "windows": ["reach"]}.get(name, [])
            titles = {key: titled(key) for key in (*above, *figure.axes, *figure.picks)}
            in_picture = {*figure.picks, *IN_THE_PICTURE.get(name, ())}

            def seen(rows: Locator = rows) -> list[str]:
                return rows.evaluate_all(
                    "rows => rows.filter(row => row.offsetWidth > 1).map(row => row.firstChild.textContent)"
                )

            assert seen() == [title for key, title in titles.items() if key not in in_picture], name
            shown.locator("button").first.click()
            assert len(seen()) < len(titles) or not in_picture, "the mouse does not bring them"
            page.keyboard.press("Tab")
            assert seen() == list(titles.values())


# -- pointing -------------------------------------------------------------------------------------------------


def mark(shown: Locator, choice: dict) -> Locator:
    return shown.locator(f"rect[data-pick='{json.dumps(choice, separators=(',', ':'))}']").last


def test_hovering_shows_and_changes_nothing(desk: Page) -> None:
    shown, figure = opened(desk, "heat"), FIGURES["heat"]
    mark(shown, {"query": 2}).click()
    desk.mouse.move(0, 0)
    before = "#heat?d=4&query=2&valid_length=6"
    desk.wait_for_function("address => location.hash === address", arg=before)
    mark(shown, {"query": 4, "column": 2, "panel": 0}).hover()
    expect(shown.locator(".xp-say")).to_have_text(figure.sentence(query=4))
    drawn(shown)
    number = figure.array("weights")[4, 2]
    assert f">{number:.2f}</text></g>" in picture_of(shown)  # the cell under the mouse has its number
    expect(slider(shown, "query")).to_have_value("2")
    desk.mouse.move(0, 0)
    shows(shown, "heat", query=2)
    expect(shown.get_by_role("status")).to_have_text(figure.sentence(query=2))
    assert desk.evaluate("location.hash") == before


IN_BOTH = ("heat", "heads", "align", "chinese", "decoding", "picture")


@pytest.mark.parametrize(
    ("page", "name"),
    [*itertools.product(("desk", "phone"), IN_BOTH), ("desk", "plane")],
    indirect=["page"],
)
def test_a_click_and_a_tap_choose(page: Page, name: str) -> None:
    shown, figure = opened(page, name), FIGURES[name]
    ((pick, labels),) = figure.picks.items()
    for at in (len(figure.labels[labels]) - 1, 0):
        place = mark(shown, {pick: at})
        place.tap() if page.evaluate("navigator.maxTouchPoints") else place.click()
        page.mouse.move(0, 0)
        shows(shown, name, **{pick: at})


def test_a_click_chooses_a_small_map(desk: Page) -> None:
    shown, figure = opened(desk, "heads"), FIGURES["heads"]
    mark(shown, {"head": 2, "layer": 1}).hover()
    expect(shown.locator(".xp-say")).to_have_text(figure.sentence(head=3, layer=2))
    assert shown.locator("svg .chosen.thin").count() == 1  # the frame of what is only shown
    assert [slider(shown, axis).input_value() for axis in ("head", "layer")] == ["1", "0"]
    # A click counts also while the frame is on its way to the map that is pointed at.
    for head, layer in ((2, 1), (0, 0), (1, 1), (2, 0)):
        place = middle_of(mark(shown, {"head": head, "layer": layer}))
        desk.evaluate("""() => {
            window.frame = requestAnimationFrame;
            window.held = [];
            requestAnimationFrame = draw => held.push(draw);
        }""")
        press(desk, place)
        desk.evaluate(
            "() => { requestAnimationFrame = frame; held.forEach(draw => draw(performance.now())); }"
        )
        release(desk)
        shows(shown, "heads", head=figure.axes["head"][head], layer=figure.axes["layer"][layer])


@pytest.mark.parametrize(
    ("name", "axis", "inset"),  # by which the area is wider than what is drawn, on each side
    [("curve", "query", 0), ("bars", "valid_length", 10), ("rivals", "step", 16)],
)
def test_the_mouse_drags_a_line_along(desk: Page, name: str, axis: str, inset: int) -> None:
    shown, values = opened(desk, name), FIGURES[name].axes[axis]
    box = shown.locator(f".instead[data-drag={axis}]").first.bounding_box()
    last = len(values) - 1
    places = np.linspace(box["x"] + inset, box["x"] + box["width"] - inset, last + 1)
    y = box["y"] + 12
    desk.mouse.move(places[2], y)
    expect(slider(shown, axis)).to_have_value(str(values.index(FIGURES[name].point[axis])))
    desk.mouse.down()
    for at in (2, 0, last // 2, last):
        desk.mouse.move(places[at], y)
        expect(slider(shown, axis)).to_have_value(str(at))
    desk.mouse.move(places[-1] + 30, y)  # beyond the end, too, it follows as far as it can
    expect(slider(shown, axis)).to_have_value(str(last))
    desk.mouse.move(places[1], y)
    desk.mouse.up()
    desk.mouse.move(places[0], y)
    desk.mouse.move(0, 0)
    shows(shown, name, **{axis: values[1]})


def test_a_grip_ends_at_the_nearer_value(desk: Page) -> None:
    shown, figure = opened(desk, "bars"), FIGURES["bars"]
    box = shown.locator(".instead[data-drag=valid_length]").bounding_box()
    step = (box["width"] - 24) / (len(figure.axes["valid_length"]) - 1)
    x, y = box["x"] + 12 + 2.4 * step, box["y"] + 20
    press(desk, (x - 0.3 * step, y), (x, y))
    drawn(shown)
    assert middle_of(shown.locator(".handle"))[0] == pytest.approx(x, abs=1.5)
    # What is written is that of the nearer value, in the picture and below it.
    expect(slider(shown, "valid_length")).to_have_value("2")
    assert "valid length 2" in shown.locator(".xp-picture text").all_text_contents()
    expect(shown.locator(".xp-say")).to_have_text(figure.sentence(valid_length=2))
    release(desk)
    shows(shown, "bars", valid_length=2)


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
    slider(shown, "query").fill("12")
    for at in (2, 1, 0):
        slider(shown, "bandwidth").fill(str(len(widths) - 1))
        drawn(shown)
        x, y = middle_of(shown.locator("[data-drag=bandwidth]").last)
        press(desk, (x, y), (hours["x"] + hours["width"] / 24 * (12 + widths[at]) + 2, y))
        expect(slider(shown, "bandwidth")).to_have_value(str(at))
        release(desk)


def test_curves_end_where_the_reader_was(desk: Page) -> None:
    shown = opened(desk, "rivals")
    course, later = shown.locator("g:not(.later) > .course:not(.done)"), shown.locator("g.later:has(.course)")
    named = shown.locator(".xp-picture text").filter(has_text=re.compile(r"^(up|down) \d+%$"))
    opacity, width = "node => getComputedStyle(node).opacity", "path => path.getBBox().width"

    def put(step: int) -> float:
        """Returns how far the curve goes that is seen."""
        slider(shown, "step").fill(str(step))
        shows(shown, "rivals", step=step)
        return course.last.evaluate(width)

    expect(named).to_have_text(["up 0%"])
    start, further = put(0), put(1)
    assert start < further
    assert put(0) == further  # what was seen stays, and what comes later is for paper only
    assert {node.evaluate(opacity) for node in later.all()} == {"0"}
    desk.emulate_media(media="print")
    assert {node.evaluate(opacity) for node in later.all()} == {"1"}
    desk.emulate_media(media="screen")
    # Of another choice the reader sees how it ended, and of this one nothing that comes later.
    put(2)
    shown.get_by_label("down").check()
    shows(shown, "rivals", step=2, way="down")
    expect(named).to_have_text(["up 100%", "down 25%"])
    slider(shown, "step").fill("0")
    shows(shown, "rivals", step=0, way="down")
    expect(named).to_have_text(["up 100%", "down 100%"])
    reset(shown)
    expect(named).to_have_text(["up 0%"])


@pytest.mark.parametrize("name", ["curve", "bars", "heat", "align"])
def test_a_swipe_scrolls_and_changes_nothing(phone: Page, name: str) -> None:
    shown = opened(phone, name)
    area = shown.locator(".drag, .pick").first
    area.evaluate("node => node.scrollIntoView({ block: 'center' })")
    scrolled = phone.evaluate("scrollY")
    box = area.bounding_box()
    x, y = box["x"] + 0.9 * box["width"], box["y"] + 0.9 * box["height"]
    touch(phone, *((x, y - 10 * i) for i in range(13)))
    phone.wait_for_function("before => scrollY >= before + 60", arg=scrolled)
    shows(shown, name)


def test_a_finger_drags_the_query_sideways(phone: Page) -> None:
    shown = opened(phone, "curve")
    box = shown.locator(".instead[data-drag=query]").bounding_box()
    hour = box["width"] / 24
    touch(phone, *((box["x"] + at * hour, box["y"] + box["height"] - 20) for at in range(7, 17)))
    shows(shown, "curve", query=16.0)


# -- points that are moved ------------------------------------------------------------------------------------


def check_moved(shown: Locator, moved: dict[int, list[float]], **point: object) -> None:
    """Sentence and picture are those with points of the plane in exactly these places, as Python draws them."""
    figure = FIGURES["plane"]
    state = {
        "place": place_of(figure, figure.point | point),
        "moved": {str(i): at for i, at in moved.items()},
    }
    drawn(shown)
    stage = Stage(figure.spec)
    assert shown.locator(".xp-say").inner_text() == stage.sentence(state)
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', picture_of(shown))[1])
    check_marks(picture_of(shown), stage.picture(state, width))


def pull_of(shown: Locator, point: int) -> Locator:
    pull = shown.locator(".pull").nth(point)
    pull.evaluate("node => node.scrollIntoView({ block: 'center' })")
    return pull


def choose_point(shown: Locator, point: int) -> None:
    """Open the sliders of a point."""
    shown.locator(".xp-mover").evaluate("details => { details.open = true }")
    shown.get_by_label("point", exact=True).select_option(str(point))


@pytest.mark.parametrize("by", ["mouse", "finger"])
@pytest.mark.parametrize("point", [3, 8])
def test_a_point_is_pulled(desk: Page, phone: Page, point: int, by: str) -> None:
    page = desk if by == "mouse" else phone
    shown, figure = opened(page, "plane"), FIGURES["plane"]
    pull = pull_of(shown, point)
    x, y = middle_of(pull)
    path = [(x + 3 * i, y - 6 * i) for i in range(9)]
    scrolled = page.evaluate("scrollY")
    if by == "mouse":
        press(page, *path)
        release(page)
    else:
        touch(page, *path)
    drawn(shown)
    assert page.evaluate("scrollY") == scrolled  # a finger that pulls a point does not scroll
    assert middle_of(pull) == pytest.approx((x + 24, y - 48), abs=1)
    # The page shows the same place to the keyboard.
    choose_point(shown, point)
    said = slider(shown, figure.movable["names"][1]).get_attribute("aria-valuetext")
    assert float(re.findall(r"-?[\d.]+$", said)[0]) > figure.movable["places"][point][1]
    # A word that is pulled is chosen, too.
    if point == 3:
        expect(slider(shown, "key")).to_have_value("3")
    shown.locator(".xp-mover").evaluate("details => { details.open = false }")
    reset(shown)
    shows(shown, "plane")


def test_no_point_is_pulled_out_of_sight(desk: Page) -> None:
    shown, movable = opened(desk, "plane"), FIGURES["plane"].movable
    x, y = middle_of(pull_of(shown, 8))
    press(desk, (x, y), (x + 10, y - 400), (x + 900, y - 400))
    release(desk)
    check_moved(shown, {8: [high for _, high in movable["bounds"]]})
    reset(shown)
    shows(shown, "plane")


def test_the_keyboard_moves_points_too(desk: Page) -> None:
    shown, movable = opened(desk, "plane"), FIGURES["plane"].movable
    choose_point(shown, 2)
    spot = [low + (high - low) / 100 for low, high in movable["bounds"]]
    for side, at in zip(movable["names"], spot, strict=True):
        slider(shown, side).press("Home")
        slider(shown, side).press("ArrowRight")
        said = f"{movable['labels'][2]}, {side} {at:.2f}"
        expect(slider(shown, side)).to_have_attribute("aria-valuetext", said)
    check_moved(shown, {2: spot})
    # Another control keeps the moved point.
    shown.get_by_role("radio", name="cosine").check()
    check_moved(shown, {2: spot}, score="cosine")
    reset(shown)
    shows(shown, "plane")
    shown.locator(".xp-mover").evaluate("details => { details.open = false }")


# -- symbols --------------------------------------------------------------------------------------------------


def test_a_symbol_lights_its_role(desk: Page) -> None:
    for name in ("heat", "plane", "decoding"):
        figure, shown = FIGURES[name], opened(desk, name)
        svg = shown.locator(".xp-picture svg")
        for role in figure.symbols:
            chip = shown.locator(f".xp-symbol[data-role={role}]")
            for on, off in ((chip.hover, lambda: desk.mouse.move(0, 0)), (chip.focus, chip.blur)):
                on()
                expect(svg).to_have_attribute("data-lit", role)
                # The formulas of the page hold q and α.
                in_formulas = set(desk.locator("mjx-container .xp-lit").all_inner_texts())
                assert in_formulas == {figure.symbols[role][0]} & {"q", "α"}
                opacity = "marks => marks.map(mark => getComputedStyle(mark).opacity)"
                assert set(svg.locator(f".{role}").evaluate_all(opacity)) == {"1"}
                off()
                expect(svg).not_to_have_attribute("data-lit", role)
                assert desk.locator(".xp-lit").count() == 0
        # The symbols of a formula light the figure below it.
        if figure.symbols.get("weight") == "α":
            desk.locator(f"p:has(+ figure#{name})").get_by_text("α").hover()
            expect(svg).to_have_attribute("data-lit", "weight")


# -- motion and speech ----------------------------------------------------------------------------------------

#: After how many milliseconds the picture and its sentence have their new numbers, and between two steps of a play.
GLIDE, STEP = 250, 700


@pytest.fixture
def stopped(browser: Browser, folder: str) -> Iterator[Page]:
    """The page with a clock that only the test moves on."""
    with browser.new_context(**DESK) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.clock.install(time=0)
        page.goto(f"{folder}/figures.html")
        page.clock.pause_at(60_000)
        yield page


def test_numbers_glide_unless_motion_is_unwanted(stopped: Page) -> None:
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


def test_the_sentence_is_spoken_once_keys_rest(stopped: Page) -> None:
    shown = stopped.locator("#heat")
    status, before = shown.get_by_role("status"), shown.get_by_role("status").inner_text()
    handle = slider(shown, "valid length")
    handle.press("Home")
    for _ in range(3):
        handle.press("ArrowRight")
        stopped.clock.run_for(240)  # held down
        assert status.inner_text() == before
        assert stopped.evaluate("location.hash") == ""
    stopped.clock.run_for(300)
    assert status.inner_text() == shown.locator(".xp-say").inner_text() != before
    assert "valid_length=3" in stopped.evaluate("location.hash")


def test_a_hidden_tab_speaks_the_right_sentence(stopped: Page) -> None:
    shown, figure = stopped.locator("#maps"), FIGURES["maps"]
    stopped.evaluate("window.requestAnimationFrame = () => 1")  # as in a tab in the background
    slider(shown, "d").press("End")
    stopped.clock.run_for(1000)
    assert shown.get_by_role("status").inner_text() == figure.sentence(d=8)


# -- play -----------------------------------------------------------------------------------------------------


def test_play_runs_to_the_end(stopped: Page) -> None:
    shown = stopped.locator("#align")
    handle, play, status = slider(shown, "step"), shown.locator(".xp-play"), shown.get_by_role("status")

    def check(value: int, offers: str) -> None:
        assert handle.get_attribute("aria-valuetext") == f"step {value}"
        assert play.inner_text() == offers
        assert play.get_attribute("aria-label") == f"{offers} step"

    handle.press("Home")
    stopped.clock.run_for(STEP)
    before = status.inner_text()
    play.press("Enter")
    for value in (0, 1, 2):
        check(value, "pause")
        stopped.clock.run_for(STEP)
        assert status.inner_text() == before
    stopped.clock.run_for(3000)
    check(5, "play")
    assert status.inner_text() == FIGURES["align"].sentence(step=5) != before
    play.press("Enter")  # again from the start
    check(0, "pause")
    stopped.clock.run_for(STEP)
    handle.press("ArrowRight")  # whoever takes hold of a control stops the run
    stopped.clock.run_for(3000)
    check(2, "play")
    reset(shown)
    # Where motion is not wanted it takes one step per press, from the start after the reset.
    stopped.emulate_media(reduced_motion="reduce")
    for value in (0, 1, 2, 5, 0):
        play.press("Enter")
        stopped.clock.run_for(3000)
        check(value, "play")


def test_next_goes_through_stages_and_words(desk: Page) -> None:
    shown, figure = opened(desk, "decoding"), FIGURES["decoding"]
    stages, words = figure.axes["stage"], len(figure.labels["target"])
    slider(shown, "word").press("Home")
    seen = [(word, stage) for word in range(words) for stage in stages][stages.index(figure.point["stage"]) :]
    for word, stage in [*seen, (0, stages[0])]:
        shows(shown, "decoding", word=word, stage=stage)
        shown.get_by_role("button", name="next", exact=True).click()


@pytest.mark.parametrize(("name", "pace"), [("heads", STEP), ("decoding", FIGURES["decoding"].pace)])
def test_several_controls_play_like_a_counter(stopped: Page, name: str, pace: int) -> None:
    shown, figure = stopped.locator(f"figure#{name}"), FIGURES[name]
    play = shown.locator(".xp-play")
    if name == "heads":  # from the end it starts again
        slider(shown, "head").press("End")
        slider(shown, "layer").press("End")
        runs = [[{"head": head, "layer": layer} for layer in (1, 2) for head in (1, 2, 3)]]
    else:  # at the end of a word it goes on to the next one
        slider(shown, "word").press("ArrowRight")
        runs = [[{"word": word, "stage": stage} for stage in figure.axes["stage"]] for word in (1, 2)]
    for run in runs:
        play.press("Enter")
        stopped.clock.run_for(GLIDE)
        for point in run:
            assert shown.locator(".xp-say").inner_text() == figure.sentence(**point)
            stopped.clock.run_for(pace)
        assert play.inner_text() == "play"


@pytest.mark.parametrize("link", ["#maps?d=2", "#bars?valid_length=3"])
def test_a_link_stops_the_play(stopped: Page, link: str) -> None:
    play = stopped.locator("#maps .xp-play")
    play.press("Enter")
    stopped.clock.run_for(100)
    assert play.inner_text() == "pause"
    stopped.evaluate(
        """link => new Promise(arrived => {
            addEventListener("hashchange", arrived, {once: true});
            location.hash = link;
        })""",
        link,
    )
    stopped.clock.run_for(3000)
    assert play.inner_text() == "play"
    assert stopped.evaluate("location.hash") == link


# -- the address ----------------------------------------------------------------------------------------------


def test_the_address_holds_and_gives_the_state(fresh: Page) -> None:
    shown = fresh.locator("#heat")
    slider(shown, "query").press("End")
    slider(shown, "d").press("End")
    fresh.wait_for_function("location.hash.includes('query=4') && location.hash.includes('d=16')")
    fresh.reload()
    expect(shown.locator(".xp-picture")).to_be_in_viewport()
    shows(shown, "heat", query=4, d=16)
    fresh.evaluate("scrollTo(0, 1e6)")
    fresh.evaluate("location.hash = '#heat?d=1'")
    shows(shown, "heat", query=4, d=1)
    expect(shown.locator(".xp-picture")).to_be_in_viewport()
    # The reset goes back to where the figure opens, not to what the address says.
    reset(shown)
    shows(shown, "heat")


def test_the_address_holds_moved_points(fresh: Page) -> None:
    movable, shown = FIGURES["plane"].movable, fresh.locator("figure#plane")
    low = [movable["places"][8][0], movable["bounds"][1][0]]
    choose_point(shown, 8)
    slider(shown, movable["names"][1]).press("Home")
    fresh.wait_for_function("location.hash.includes('points=8:')")
    fresh.reload()
    check_moved(shown, {8: low})
    # What the figure does not have is left out, and no point leaves the picture.
    fresh.evaluate("link => { location.hash = link }", f"#plane?points=99:1:1,0:1,1:x:2,8:{low[0]}:-1e9")
    check_moved(shown, {8: low})
    reset(shown)
    fresh.wait_for_function("!location.hash.includes('points')")
    shows(shown, "plane")


@pytest.mark.parametrize("broken", ["?query=%E6%B&=&&=", "?query=99&d=64&constructor=1&points=1:0:0", "%"])
def test_a_broken_address_stops_no_figure(fresh: Page, folder: str, broken: str) -> None:
    fresh.goto("about:blank")  # a change of the address alone would not load the page
    fresh.goto(f"{folder}/figures.html#heat{broken}")
    for name in ("heat", "bars", "plane"):
        shows(fresh.locator(f"figure#{name}"), name)
    # What the figure has is read.
    fresh.evaluate("location.hash = '#bars?valid_length=3&nonsense=1&n2='")
    shows(fresh.locator("#bars"), "bars", valid_length=3)
