"""Figures with sliders in a real browser: one of each kind, by mouse, finger and keyboard, on a desk and on a phone.

What depends on the pages around them is tested in `test_figures_in_book`, and what axe says of them in `test_pages`.
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
    ROLE_COLOURS,
    SMALL_TARGETS,
    check_frames,
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
    stage,
    states,
    titled,
    use_wide_font,
)
from windows import DESK, PHONE, Visit

from utils.figures import Plane
from utils.figures.colours import COLOURS
from utils.figures.live import page_script, style

pytestmark = pytest.mark.browser

FIGURES = examples()
#: Nothing to choose: one score, whose weights follow the points alone.
ALONE = Plane(
    {"score": {"form": "distance", "w_q": [[1, 0], [0, 1]], "w_k": [[1, 0], [0, 1]]}},
    points=[(0, 0), (1, 2)],
    keys=["a", "b"],
    query=(1, 1),
    box=(-1, 2, -1, 2),
    axes_labels=("across", "up"),
    name="alone",
    alt="Two points and a query.",
    say="{top:0%} for {best|points}.",
)
LIVE = {**FIGURES, "awkward": awkward(), "alone": ALONE}
every_figure = pytest.mark.parametrize("name", FIGURES)
#: One of each kind: figures of one kind have the same controls.
KINDS = {figure.kind: name for name, figure in reversed(FIGURES.items())}
every_kind = pytest.mark.parametrize("name", KINDS.values())


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    """Where a page with all figures lies."""
    body = "".join(f"<h2>{name}</h2>{figure._repr_html_()}" for name, figure in LIVE.items())
    place = tmp_path_factory.mktemp("pages")
    (place / "figures.html").write_text(
        '<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>figures</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style()} body {{ margin: 16px; font-family: sans-serif }}</style>"
        f"<body><main><h1>Figures</h1>{body}</main><script>{page_script()}</script>",
        encoding="utf-8",
    )
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


def reset(shown: Locator) -> None:
    shown.page.mouse.move(0, 0)
    shown.get_by_role("button", name="reset").press("Enter")


def opened(page: Page, name: str) -> Locator:
    """A figure in its opening state, with no mouse over it."""
    shown = page.locator(f"figure#{name}")
    reset(shown)
    shown.locator(".xp-picture").evaluate("picture => picture.scrollIntoView({ block: 'center' })")
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


@every_figure
def test_every_frame_shows_pythons_numbers(desk: Page, name: str) -> None:
    shown = opened(desk, name)
    if FIGURES[name].table:
        open_table(shown)
    check_frames(shown, FIGURES[name], some_points(FIGURES[name], 9))


def test_awkward_labels_are_shown_as_text(desk: Page) -> None:
    shown = opened(desk, "awkward")
    open_table(shown)
    assert shown.locator("th").all_text_contents() == ["x", "</svg>", *AWKWARD]
    assert shown.locator("b").count() == 0
    check_frames(shown, LIVE["awkward"])


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_texts_fit_in_a_wide_font(browser: Browser, folder: str, size: dict) -> None:
    with Visit(browser, folder, **size) as visit:
        page = visit.page("figures")
        use_wide_font(page)
        found = {name: page.locator(f"figure#{name}").evaluate(COLLISIONS) for name in FIGURES}
        assert {name: texts for name, texts in found.items() if texts} == {}
        assert page.evaluate("document.documentElement.scrollWidth") <= size["viewport"]["width"]


@every_kind
def test_controls_have_rings_and_room_for_fingers(phone: Page, name: str) -> None:
    shown = opened(phone, name)
    assert shown.evaluate(SMALL_TARGETS) == []
    check_rings(phone, shown)


#: The colour of the book that each role has.
COLOUR_OF = {role: role for role in ("query", "key", "value", "weight")}
COLOUR_OF |= {"context": "value", "score": "grey", "chance": "violet"}


def test_roles_have_the_colours_of_the_book(desk: Page) -> None:
    for theme, media, dark in (("dark", "screen", 1), ("dark", "print", 0), ("light", "screen", 0)):
        desk.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        desk.emulate_media(media=media)
        for name in FIGURES:
            for role, colours in desk.locator(f"figure#{name}").evaluate(ROLE_COLOURS).items():
                assert set(colours) <= {rgb(COLOURS[COLOUR_OF[role]][dark])}, (name, role, theme, media)
    # Marks keep their colours where the system has two colours of its own.
    desk.emulate_media(forced_colors="active")
    weights = desk.locator("figure#heat").evaluate(ROLE_COLOURS)["weight"]
    desk.emulate_media(forced_colors="none")
    assert weights == [rgb(COLOURS["weight"][0])]


# -- keys -----------------------------------------------------------------------------------------------------


@every_kind
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
    assert sorted(titles) == sorted(map(titled, states(figure)))
    assert rows.evaluate_all("rows => rows.every(row => row.offsetWidth > 1)")
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
            expect(group.get_by_role("radio", checked=True)).to_be_focused()
            desk.keyboard.press("ArrowRight")
            point[control] = values[(values.index(point[control]) + 1) % len(values)]
        shows(shown, name, **point)
        expect(shown.get_by_role("status")).to_have_text(figure.sentence(**point))
        desk.keyboard.press("Tab")
    reset(shown)
    shows(shown, name)


# -- pointing -------------------------------------------------------------------------------------------------


def mark(shown: Locator, choice: dict) -> Locator:
    return shown.locator(f"rect[data-pick='{json.dumps(choice, separators=(',', ':'))}']").last


@pytest.mark.parametrize(
    ("page", "name"),
    [
        *itertools.product(("desk", "phone"), ("heat", "heads", "align", "decoding")),
        ("desk", "plane"),
    ],
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


@pytest.mark.parametrize(
    ("name", "axis", "inset"),  # by which the area is wider than what is drawn, on each side
    [("curve", "query", 0), ("lines", "q", 0), ("bars", "valid_length", 10), ("maps", "d", 16)],
)
def test_the_mouse_drags_a_line_along(desk: Page, name: str, axis: str, inset: int) -> None:
    shown, values = opened(desk, name), FIGURES[name].axes[axis]
    box = shown.locator(f".instead[data-drag={axis}]").first.bounding_box()
    last = len(values) - 1
    shares = (np.array(values) - values[0]) / (values[-1] - values[0])
    places = box["x"] + inset + shares * (box["width"] - 2 * inset)
    y = box["y"] + 12
    desk.mouse.move(places[1], y)
    expect(slider(shown, axis)).to_have_value(str(values.index(FIGURES[name].point[axis])))
    desk.mouse.down()
    for at in (1, 0, last // 2, last):
        desk.mouse.move(places[at], y)
        expect(slider(shown, axis)).to_have_value(str(at))
    desk.mouse.move(places[-1] + 30, y)  # beyond the end, too, it follows as far as it can
    expect(slider(shown, axis)).to_have_value(str(last))
    desk.mouse.move(places[1], y)
    desk.mouse.up()
    desk.mouse.move(places[0], y)
    desk.mouse.move(0, 0)
    shows(shown, name, **{axis: values[1]})


@pytest.mark.parametrize("name", ["curve", "heat"])
def test_a_swipe_scrolls_and_changes_nothing(phone: Page, name: str) -> None:
    shown = opened(phone, name)
    area = shown.locator(".drag, .pick:not(.pull)").first
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


def check_moved(shown: Locator, point: int, place: list[float], **others: object) -> None:
    """Sentence and picture are those with a point of the plane in exactly this place, as Python draws them."""
    figure = FIGURES["plane"]
    state = {"place": place_of(figure, figure.point | others), "moved": {str(point): place}}
    drawn(shown)
    assert shown.locator(".xp-say").inner_text() == stage(figure).sentence(state)
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', picture_of(shown))[1])
    check_marks(picture_of(shown), stage(figure).picture(state, width))


def choose_point(shown: Locator, point: int) -> None:
    """Open the sliders of a point."""
    shown.locator(".xp-mover").evaluate("details => { details.open = true }")
    shown.get_by_label("point", exact=True).select_option(str(point))


def test_a_single_score_has_no_control(desk: Page) -> None:
    choices = [opened(desk, name).get_by_role("radiogroup").count() for name in ("plane", "alone")]
    assert choices == [1, 0]


@pytest.mark.parametrize("by", ["mouse", "finger"])
def test_a_point_is_pulled(desk: Page, phone: Page, by: str) -> None:
    page, point = desk if by == "mouse" else phone, 3
    shown, figure = opened(page, "plane"), FIGURES["plane"]
    pull = shown.locator("circle.pull").nth(point)
    pull.evaluate("node => node.scrollIntoView({ block: 'center' })")
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
    reset(shown)
    shows(shown, "plane")
    # No point leaves the picture.
    if by == "mouse":
        press(page, (x, y), (x + 10, y - 400), (x + 900, y - 400))
        release(page)
        (_, right), (_, top) = figure.movable["bounds"]
        check_moved(shown, point, [right, top], key=3)


def test_the_keyboard_moves_points_too(fresh: Page) -> None:
    shown, movable = opened(fresh, "plane"), FIGURES["plane"].movable
    choose_point(shown, 2)
    spot = []
    for side, (low, high) in zip(movable["names"], movable["bounds"], strict=True):
        slider(shown, side).press("Home")
        slider(shown, side).press("ArrowRight")
        spot.append(low + (high - low) / 100)
        said = f"{movable['labels'][2]}, {side} {spot[-1]:.2f}"
        expect(slider(shown, side)).to_have_attribute("aria-valuetext", said)
    check_moved(shown, 2, spot)
    # Another control keeps the moved point, and so does the address, to a thousandth.
    shown.get_by_role("radio", name="cosine").check()
    check_moved(shown, 2, spot, score="cosine")
    fresh.wait_for_function("location.hash.includes('points=2:') && location.hash.includes('cosine')")
    fresh.reload()
    check_moved(shown, 2, [round(at, 3) for at in spot], score="cosine")
    # What the figure does not have is left out.
    fresh.evaluate("location.hash = '#plane?points=99:1:1,0:1,1:x:2,2:0:-1e9'")
    check_moved(shown, 2, [0.0, movable["bounds"][1][0]], score="cosine")
    reset(shown)
    fresh.wait_for_function("!location.hash.includes('points')")
    shows(shown, "plane")


# -- sounds ---------------------------------------------------------------------------------------------------

#: Notes of each piece that is played its first sample, where it begins and how long it is, in seconds.
LISTEN = """() => {
    window.played = [];
    const start = (window.startUnheard ??= AudioBufferSourceNode.prototype.start);
    AudioBufferSourceNode.prototype.start = function (when, from, long) {
        const samples = this.buffer.getChannelData(0);
        window.played.push([32768 * samples[Math.round(from * this.buffer.sampleRate)], from, long]);
        return start.call(this, when, from, long);
    };
}"""
#: In the sound of the example, which has 8000 of them in a second, each sample is its own number.
RATE = 8000


@pytest.fixture
def listener(page: Page) -> Locator:
    page.evaluate(LISTEN)
    return opened(page, "listening")


def check_played(shown: Locator, begin: float, end: float) -> None:
    """The last piece that was played is this one, exactly, and once it is over the picture is as before."""
    assert shown.page.evaluate("played.at(-1)") == pytest.approx([begin * RATE, begin, end - begin])
    expect(shown.locator(".struck")).to_have_count(0)
    expect(shown.locator(".xp-note")).to_be_empty()


@pytest.mark.parametrize("page", ["desk", "phone"], indirect=True)
def test_a_touched_word_is_heard(page: Page, listener: Locator) -> None:
    for word, (begin, end) in {2: (0.175, 0.475), 0: (0.0, 0.225), 9: (1.075, 1.29)}.items():
        place = mark(listener, {"word": word})
        place.tap() if page.evaluate("navigator.maxTouchPoints") else place.click()
        page.mouse.move(0, 0)
        check_played(listener, begin, end)
        shows(listener, "listening", word=word)


@pytest.mark.parametrize("page", ["desk"], indirect=True)
def test_buttons_play_a_piece_and_all(page: Page, listener: Locator) -> None:
    piece, everything = listener.locator(".xp-hear").all()
    slider(listener, "word").press("Home")
    assert page.evaluate("played") == []  # a screen reader is speaking
    piece.press("Enter")
    check_played(listener, 0.0, 0.225)
    everything.press("Enter")
    expect(everything).to_have_text("stop")
    expect(listener.locator(".struck")).to_have_count(1)
    everything.press("Enter")
    expect(everything).to_have_text("hear all")
    check_played(listener, 0.0, 1.29)
    assert page.evaluate("played.length") == 2
    shows(listener, "listening", word=0)


#: A browser without sounds, and one that must not play any.
SILENT = [
    "delete window.AudioContext",
    "Object.defineProperty(AudioContext.prototype, 'state', { get: () => 'suspended' })",
]


@pytest.mark.parametrize("missing", SILENT, ids=["none", "forbidden"])
def test_without_sound_the_figure_says_so_and_works(browser: Browser, folder: str, missing: str) -> None:
    with Visit(browser, folder) as visit:
        shown = opened(visit.page("figures"), "listening")
        shown.page.evaluate(missing)
        mark(shown, {"word": 2}).click()
        shown.page.mouse.move(0, 0)
        expect(shown.locator(".xp-note")).to_contain_text("No sound")
        shows(shown, "listening", word=2)


# -- speech and play ------------------------------------------------------------------------------------------

#: Milliseconds between two steps of a play.
STEP = 700


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


def test_play_runs_to_the_end(stopped: Page) -> None:
    shown = stopped.locator("#align")
    handle, play, status = slider(shown, "step"), shown.locator(".xp-play"), shown.get_by_role("status")

    def check(value: int, offers: str) -> None:
        assert handle.get_attribute("aria-valuetext") == f"step {value}"
        assert play.get_attribute("aria-label") == f"{offers} step"

    before = status.inner_text()
    play.press("Enter")  # from the start, though the figure opens at step 2
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


def test_a_broken_address_stops_no_figure(fresh: Page, folder: str) -> None:
    for broken in ("?query=%E6%B&=&&=", "?query=99&d=64&constructor=1&points=1:0:0", "%"):
        fresh.goto("about:blank")  # a change of the address alone would not load the page
        fresh.goto(f"{folder}/figures.html#heat{broken}")
        for name in ("heat", "plane"):
            shows(fresh.locator(f"figure#{name}"), name)
    # What the figure has is read.
    fresh.evaluate("location.hash = '#bars?valid_length=3&nonsense=1&n2='")
    shows(fresh.locator("#bars"), "bars", valid_length=3)
