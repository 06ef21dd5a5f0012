"""Figures with sliders in a real browser, each kind on one page that a file:// address opens, no network."""

import gzip
import itertools

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect
from stored_figures import READ_SHAPES, check_shape, check_table

from utils.explorables import Alignment, Bars, Curve, Figure, Maps, Weights
from utils.explorables.live import page_script, style

AWKWARD = ['"quoted"', "</script><b>", "😀", "שלום", "火车", "&amp;"]

#: Numbers that two ways of rounding write differently, and some of both signs at random.
HALVES = [
    0.5,
    1.5,
    2.5,
    -0.5,
    0.25,
    0.75,
    0.125,
    -0.125,
    0.375,
    0.0625,
    1e-9,
    -1e-9,
    -0.0,
    12345.5,
    1e12,
    3e18,
]
HALVES += (torch.randn(40, generator=torch.Generator().manual_seed(1)) * 30).tolist()


def attention(d, valid_length, scaled):
    scores = torch.randn(3, 5, generator=torch.Generator().manual_seed(0)) * (
        1 if scaled == "yes" else d**0.5
    )
    weights = torch.zeros(3, 5)
    weights[:, :valid_length] = torch.softmax(scores[:, :valid_length], dim=-1) if valid_length else 0
    return {"weights": weights, "top": weights.max(dim=-1).values, "best": weights.argmax(dim=-1)}


def curve(kernel, query):
    x = torch.linspace(0, 4, 7)
    weights = torch.softmax(-((x - query) ** 2) * (3 if kernel == "narrow" else 1), dim=0)
    grid = torch.linspace(0, 4, 11)
    return {
        "estimate": torch.sin(grid),
        "estimate_known": (grid < 1) | (grid > 2) if kernel == "narrow" else grid > 0.1,
        "height_known": torch.tensor(kernel == "wide" or not 1 <= query <= 2),
        "weights": weights,
        "height": (weights * x.sin()).sum(),
    }


def steps(step, **_):
    return {"weights": torch.softmax(torch.eye(3, 4) * step, dim=-1), "other": torch.eye(3, 4) / (step + 1)}


def figures() -> dict[str, Figure]:
    x = torch.linspace(0, 4, 7)
    grid = torch.linspace(0, 4, 11)
    made = [
        Weights(
            attention,
            {"d": [1, 4, 16], "valid_length": range(6), "scaled": ["no", "yes"]},
            queries=["a", "b", "c"],
            keys=[f"k{j}" for j in range(5)],
            name="heat",
            alt="Weights of three queries over five keys.",
            say="At d = {d} {query} takes {top[query]:2} ({top[query]:0%}) from {best[query]|keys}.",
            start={"d": 4, "valid_length": 5},
        ),
        Curve(
            curve,
            {"kernel": ["narrow", "wide"], "query": [round(0.25 * i, 2) for i in range(17)]},
            query="query",
            points=(x, x.sin()),
            grid=grid,
            truth=grid.sin(),
            name="nearby",
            alt="Points, an estimate and the weights of a query.",
            say="At {query} the estimate is {height:3}.",
            start={"query": 2.0},
        ),
        Bars(
            lambda n: {
                "one": torch.eye(4)[n],
                "two": torch.softmax(torch.arange(4.0) * n, 0),
                "two_known": torch.tensor(n > 1),
                "tiny": 0.000065 / 10 ** (3 * n),
            },
            {"n": range(4)},
            panels={"one": "hard", "two": "soft"},
            bars=["w", "x", "y", "z"],
            name="bars",
            alt="Two distributions.",
            say="n = {n}, {tiny:2g}.",
        ),
        Maps(
            steps,
            {"step": [0, 1, 2, 5]},
            maps={"weights": "softmax", "other": "identity"},
            rows=["a", "b", "c"],
            columns=list("wxyz"),
            name="maps",
            alt="Two maps.",
            say="Step {step}.",
            play="step",
        ),
        Alignment(
            steps,
            {"step": [0, 1, 2, 5], "gold_links": ["hidden", "shown"]},
            source=["红", "车", "很", "快"],
            target=["the", "red", "car"],
            gold=[(1, 0), (2, 1)],
            name="align",
            alt="Two sentences and links between their words.",
            say="{word} at step {step}.",
            start={"word": "car"},
        ),
        Bars(
            lambda n: {"p": torch.ones(3) / 3, "x": torch.tensor(HALVES[n])},
            {"n": range(len(HALVES))},
            panels={"p": "one"},
            bars=["v", "w", "x"],
            name="halves",
            alt="One bar, and a number that lies half-way between two written ones.",
            say="{x:0} {x:1} {x:2} {x:3} {x:0%} {x:1%} {x}",
        ),
        Weights(
            lambda d: {"weights": torch.full((6, 2), 1 / d)},
            {"d": [2, 4]},
            queries=AWKWARD,
            keys=["x", "</svg>"],
            name="awkward",
            alt='An "alt" with <b>markup</b>.',
            say="{query}",
        ),
    ]
    return {figure.name: figure for figure in made}


FIGURES = figures()


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    body = "".join(f"<h2>{name}</h2>{figure._repr_html_()}" for name, figure in FIGURES.items())
    page = tmp_path_factory.mktemp("page") / "figures.html"
    page.write_text(
        '<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>figures</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>html[data-theme=dark] body{{background:#14181e;color:#ced6dd}}{style()}</style>"
        f"<body><main><h1>Figures</h1>{body}</main><script>{page_script()}</script>",
        encoding="utf-8",
    )
    return page.as_uri()


@pytest.fixture
def page(browser, address):
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    opened = context.new_page()
    problems = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on(
        "request", lambda request: problems.append(request.url) if request.url.startswith("http") else None
    )
    opened.goto(address)
    yield opened
    context.close()
    assert problems == []


def control(page: Page, figure: str, name: str) -> Locator:
    return page.locator(f"#{figure}").get_by_role("slider", name=name.replace("_", " "), exact=True)


def attributes(page: Page, figure: str, selector: str, attribute: str) -> list[float]:
    return page.locator(f"#{figure} {selector}").evaluate_all(
        f"nodes => nodes.map(node => +node.getAttribute('{attribute}'))"
    )


def seen(page: Page, figure: str, selector: str) -> list[bool]:
    return page.locator(f"#{figure} {selector}").evaluate_all(
        "nodes => nodes.map(node => getComputedStyle(node).visibility === 'visible')"
    )


def test_every_frame_is_reached_by_keyboard_alone_and_shows_pythons_numbers(page):
    figure = FIGURES["heat"]
    page.locator("#heat summary").click()
    for scaled in figure.axes["scaled"]:
        page.locator("#heat").get_by_role("radio", name=scaled).focus()
        page.keyboard.press("Space")
        for number, d in enumerate(figure.axes["d"]):
            control(page, "heat", "d").focus()
            page.keyboard.press("Home")
            for _ in range(number):
                page.keyboard.press("ArrowRight")
            control(page, "heat", "valid_length").focus()
            page.keyboard.press("Home")
            for valid_length in figure.axes["valid_length"]:
                at = {"d": d, "valid_length": valid_length, "scaled": scaled}
                check_table(page.locator("#heat"), figure, at)
                for shape in page.locator("#heat svg").evaluate(READ_SHAPES):
                    check_shape(figure, *shape, figure.point | at)
                assert page.locator("#heat .xp-say").inner_text() == figure.sentence(**at)
                page.keyboard.press("ArrowRight")


def test_home_end_and_page_keys_move_and_the_value_is_spoken(page):
    slider = control(page, "nearby", "query")
    assert slider.get_attribute("aria-valuetext") == "query 2"
    slider.focus()
    for key, value in (
        ("Home", "0"),
        ("ArrowRight", "0.25"),
        ("End", "4"),
        ("ArrowDown", "3.75"),
        ("Home", "0"),
    ):
        page.keyboard.press(key)
        assert slider.get_attribute("aria-valuetext") == f"query {value}"
    page.keyboard.press("PageUp")
    assert float(slider.get_attribute("aria-valuetext").split()[1]) > 0
    said = page.locator("#nearby .xp-say").inner_text()
    expect(page.locator("#nearby [role=status]")).to_have_text(said)


def test_the_sentence_is_spoken_and_the_address_written_once_the_keys_rest(page):
    page.clock.install()
    page.reload()
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    page.evaluate(
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
    slider = control(page, "heat", "valid_length")
    slider.press("Home")
    for _ in range(3):
        slider.press("ArrowRight")
        page.clock.run_for(240)  # held down
        assert page.evaluate("changes") == still
    page.clock.run_for(20)
    assert page.evaluate("changes") == still | {"written": 1}
    assert "valid_length=3" in page.evaluate("location.hash")
    page.clock.run_for(150)
    assert page.evaluate("changes") == {"spoken": 1, "written": 1}
    assert page.locator("#heat [role=status]").inner_text() == page.locator("#heat .xp-say").inner_text()
    page.clock.run_for(5000)
    assert page.evaluate("changes") == {"spoken": 1, "written": 1}


@pytest.mark.parametrize("name", ["nearby", "bars", "maps", "align"])
def test_each_kind_draws_what_python_computed(page, name):
    figure = FIGURES[name]
    for point in itertools.product(*figure.axes.values()):
        at = dict(zip(figure.axes, point, strict=True))
        for axis, value in at.items():
            if isinstance(value, str):
                page.locator(f"#{name}").get_by_role("radio", name=value, exact=True).check()
            else:
                control(page, name, axis).fill(str(figure.axes[axis].index(value)))
        assert page.locator(f"#{name} .xp-say").inner_text() == figure.sentence(**at)
        shapes = page.locator(f"#{name} svg").evaluate(READ_SHAPES)
        assert shapes
        for shape in shapes:
            check_shape(figure, *shape, figure.point | at)
        if name == "nearby":
            assert seen(page, name, "g[data-bind]") == [bool(figure.array("height_known", **at))]
        elif name == "bars":
            expected = [*figure.array("one", **at), *figure.array("two", **at)]
            texts = page.locator(f"#{name} svg text[data-bind]").all_text_contents()
            assert texts == [*(f"{value:.3f}" for value in expected), "no numbers"]
            known = bool(figure.array("two_known", **at))
            assert seen(page, name, "[data-bind^=visibility]") == [known, not known]
        elif name == "align":
            gold = attributes(page, name, ".gold", "stroke-opacity")
            assert gold == [float(at["gold_links"] == "shown")] * 2


def test_numbers_are_rounded_in_the_page_as_in_python(page):
    figure = FIGURES["halves"]
    for n in figure.axes["n"]:
        control(page, "halves", "n").fill(str(n))
        assert page.locator("#halves .xp-say").inner_text() == figure.sentence(n=n)


def test_hover_and_tap_pick_and_drag_moves_the_query(page, browser, address):
    page.locator("#heat [data-pick='query=2']").hover()
    assert control(page, "heat", "query").get_attribute("aria-valuetext") == "query c"
    page.locator("#align [data-pick='word=1']").click()
    assert page.locator("#align .xp-say").inner_text() == "red at step 0."

    area = page.locator("#nearby [data-drag]")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + 20)
    page.mouse.down()
    for share, value in ((0.25, "1"), (0.76, "3"), (1.2, "4")):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + 30)
        assert control(page, "nearby", "query").get_attribute("aria-valuetext") == f"query {value}"
    page.mouse.up()
    page.mouse.move(box["x"] + 5, box["y"] + 30)
    assert control(page, "nearby", "query").get_attribute("aria-valuetext") == "query 4"

    phone = browser.new_context(viewport={"width": 360, "height": 780}, has_touch=True, is_mobile=True)
    touched = phone.new_page()
    touched.goto(address)
    touched.locator("#heat [data-pick='query=1']").tap()
    assert control(touched, "heat", "query").get_attribute("aria-valuetext") == "query b"
    assert touched.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    phone.close()


def test_reset_and_play(page):
    slider = control(page, "maps", "step")
    play = page.locator("#maps").get_by_role("button", name="play step")
    play.click()
    assert play.get_attribute("aria-pressed") == "true"
    page.wait_for_function("document.querySelector('#maps input').value === '3'", timeout=5000)
    assert play.get_attribute("aria-pressed") == "false"
    assert slider.get_attribute("aria-valuetext") == "step 5"
    page.locator("#maps").get_by_role("button", name="reset").click()
    assert slider.get_attribute("aria-valuetext") == "step 0"


def test_play_takes_a_step_a_press_where_motion_is_not_wanted(page):
    page.emulate_media(reduced_motion="reduce")
    play = page.locator("#maps").get_by_role("button", name="play step")
    for value in ("1", "2", "5", "1"):
        play.click()
        page.wait_for_timeout(50)
        assert control(page, "maps", "step").get_attribute("aria-valuetext") == f"step {value}"
        assert play.get_attribute("aria-pressed") == "false"


def test_state_stands_in_the_address_and_survives_a_reload(page, address):
    control(page, "heat", "d").fill("2")
    page.locator("#heat").get_by_role("radio", name="yes").check()
    page.wait_for_function("location.hash.includes('scaled=yes')")
    page.reload()
    assert control(page, "heat", "d").get_attribute("aria-valuetext") == "d 16"
    assert page.locator("#heat").get_by_role("radio", name="yes").is_checked()
    page.goto(f"{address}#bars?n=3&nonsense=1&n2=")
    page.reload()
    assert page.locator("#bars .xp-say").inner_text() == "n = 3, 6.5e-14."
    page.goto(f"{address}#bars?n=77")
    page.reload()
    assert page.locator("#bars .xp-say").inner_text() == "n = 0, 0.000065."


def test_awkward_labels_are_shown_as_text(page):
    page.locator("#awkward summary").click()
    shown = page.locator("#awkward th").all_text_contents()
    assert shown == ["x", "</svg>", *AWKWARD]
    for number, label in enumerate(AWKWARD):
        control(page, "awkward", "query").fill(str(number))
        assert page.locator("#awkward .xp-say").text_content() == label
    assert page.locator("#awkward b").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(page, theme):
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    for summary in page.locator("summary").all():
        summary.click()
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def test_without_script_there_is_a_still_picture_with_its_sentence(browser, address):
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(address)
    for name, figure in FIGURES.items():
        image = opened.locator(f"#{name} img")
        assert image.get_attribute("alt") == figure.alt
        assert image.bounding_box()["width"] > 100
        assert opened.locator(f"#{name} p").inner_text().strip() == figure.sentence().strip()
    context.close()


def test_script_and_style_are_small():
    assert len(gzip.compress((page_script() + style()).encode(), 9)) < 12_000
