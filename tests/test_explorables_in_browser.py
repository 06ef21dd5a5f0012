"""Figures with sliders in a real browser: small ones of each kind, with what no figure of the book need have.

Keys, pointers, layout and accessibility are tested where readers meet them, in `test_figures_in_book`.
"""

from collections.abc import Iterator

import pytest
import torch
from chromium import PATIENCE
from decoding_example import record
from playwright.sync_api import Browser, Page, expect
from stored_figures import check_frames, open_table

from utils.explorables import Alignment, Bars, Curve, DecodingSteps, Figure, Weights
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


def steps(step, gold_links):
    return {"weights": torch.softmax(torch.eye(3, 4) * step, dim=-1)}


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
            play="step",
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
        DecodingSteps(record(), name="decoding"),
    ]
    return {figure.name: figure for figure in made}


FIGURES = figures()


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    body = "".join(f"<h2>{name}</h2>{figure._repr_html_()}" for name, figure in FIGURES.items())
    page = tmp_path_factory.mktemp("page") / "figures.html"
    page.write_text(
        '<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>figures</title>'
        f"<style>{style()}</style><body><main><h1>Figures</h1>{body}</main><script>{page_script()}</script>",
        encoding="utf-8",
    )
    return page.as_uri()


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page of all figures, opened once; no test may rely on where another left them."""
    with browser.new_context() as context:
        context.set_default_timeout(PATIENCE)
        opened = context.new_page()
        problems = []
        opened.on("pageerror", lambda error: problems.append(str(error)))
        opened.on(
            "console", lambda message: problems.append(message.text) if message.type == "error" else None
        )
        opened.goto(address)
        yield opened
        assert problems == []


@pytest.mark.parametrize("name", FIGURES)
def test_every_frame_shows_pythons_numbers(page: Page, name: str) -> None:
    shown = page.locator(f"#{name}")
    if FIGURES[name].table:
        open_table(shown)
    check_frames(shown, FIGURES[name])


def test_awkward_labels_are_shown_as_text(page: Page) -> None:
    shown = page.locator("#awkward")
    open_table(shown)
    assert shown.locator("th").all_text_contents() == ["x", "</svg>", *AWKWARD]
    assert shown.locator("b").count() == 0


@pytest.fixture
def stopped(browser: Browser, address: str) -> Iterator[Page]:
    """The page with a clock that only the test moves on."""
    with browser.new_context() as context:
        context.set_default_timeout(PATIENCE)
        opened = context.new_page()
        opened.clock.install(time=0)
        opened.goto(address)
        opened.clock.pause_at(60_000)
        yield opened


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
    slider = stopped.locator("#heat").get_by_role("slider", name="valid length")
    slider.press("Home")
    for _ in range(3):
        slider.press("ArrowRight")
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
    slider, play = shown.get_by_role("slider", name="step"), shown.get_by_role("button", name="play step")

    def check(value: int, pressed: str) -> None:
        assert slider.get_attribute("aria-valuetext") == f"step {value}"
        assert play.get_attribute("aria-pressed") == pressed

    play.press("Enter")
    for value in (0, 1, 2):
        check(value, "true")
        stopped.clock.run_for(500)
    check(5, "false")
    stopped.clock.run_for(2000)
    check(5, "false")
    play.press("Enter")  # again from the start
    check(0, "true")
    stopped.clock.run_for(500)
    play.press("Enter")
    stopped.clock.run_for(2000)
    check(1, "false")
    play.press("Enter")
    slider.press("ArrowRight")  # whoever takes hold of a control stops the run
    stopped.clock.run_for(2000)
    check(2, "false")
    shown.get_by_role("button", name="reset").press("Enter")
    check(0, "false")
    stopped.emulate_media(reduced_motion="reduce")
    for value in (1, 2, 5, 1):
        play.press("Enter")
        stopped.clock.run_for(2000)
        check(value, "false")


def test_an_address_with_values_that_the_figure_does_not_have_is_read_as_far_as_it_goes(page: Page) -> None:
    page.evaluate("location.hash = '#bars?n=3&nonsense=1&n2='")
    expect(page.locator("#bars .xp-say")).to_have_text("n = 3, 6.5e-14.")
    page.evaluate("location.hash = '#bars?n=77'")
    page.evaluate("location.hash = '#halves?n=1'")  # answered after the one before
    expect(page.locator("#halves .xp-say")).to_have_text(FIGURES["halves"].sentence(n=1))
    assert page.locator("#bars .xp-say").inner_text() == "n = 3, 6.5e-14."


def test_play_runs_through_the_stages_of_a_word_and_then_to_the_next_word(stopped: Page) -> None:
    shown, figure = stopped.locator("#decoding"), FIGURES["decoding"]
    play = shown.get_by_role("button", name="play stage and word")

    def check(word: int, stage: int) -> None:
        point = {"word": word, "stage": figure.axes["stage"][stage]}
        assert shown.locator(".xp-say").inner_text() == figure.sentence(**point)

    check(0, 0)
    play.press("Enter")
    for at in range(12):
        check(*divmod(at, 5))
        stopped.clock.run_for(figure.pace)
    play.press("Enter")
    stopped.clock.run_for(9 * figure.pace)
    check(2, 2)
    shown.get_by_role("slider", name="word").press("End")
    shown.get_by_role("radio", name="next state").check()
    play.press("Enter")
    stopped.clock.run_for(figure.pace)
    check(3, 4)
    assert play.get_attribute("aria-pressed") == "false"
    play.press("Enter")  # again from the start
    check(0, 0)
    play.press("Enter")
    stopped.emulate_media(reduced_motion="reduce")
    for at in (1, 2, 3, 4, 5, 6):
        play.press("Enter")
        stopped.clock.run_for(9 * figure.pace)
        check(*divmod(at, 5))
