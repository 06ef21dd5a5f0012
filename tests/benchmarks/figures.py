"""How fast the figures follow: from a key to the second frame on a slow processor.

Run by `make bench`, which builds no book: run `make test` or `make book` first.
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from chromium import launch
from playwright.sync_api import Page, sync_playwright

from utils.figures.sphinx_extension import stored_figures

ROOT = Path(__file__).parents[2]
#: How many times slower Chromium makes the page's processor.
SLOWDOWN = 6
KEYS = 60
#: Milliseconds from the press of a key to its release. The measured time begins with the press.
HELD = 80

#: A plain slider: it measures the browser and the machine without our code. A machine that others share has slow hours,
#: so compare the other rows with this one.
BARE = (
    "data:text/html,<figure id=bare><input type=range max=9 oninput=say.value=value><output id=say></output>"
)

#: Waits for the fonts, for the formulas and until the page has been idle twice. Work that loading the page has left is
#: not measured.
AT_REST = """
    async () => {
        await document.fonts.ready;
        await window.MathJax?.startup?.promise;
        for (let round = 0; round < 2; round++) await new Promise(rest => requestIdleCallback(rest));
    }
"""

#: Milliseconds from each key's event to the start of the frame after the one that draws the change. It must run before
#: the page's own scripts, which keep the keys of a slider from later listeners.
WATCH = """
    window.times = [];
    addEventListener("keydown", event => {
        const pressed = event.timeStamp;
        requestAnimationFrame(() => requestAnimationFrame(() => times.push(performance.now() - pressed)));
    }, true);
"""


def key_to_second_frame(page: Page, name: str) -> list[float]:
    """Times of keys that move the figure's first slider to and fro, on a page with `WATCH`."""
    handle = page.locator(f"figure#{name} input[type=range]").first
    handle.scroll_into_view_if_needed()
    handle.press("Home")
    page.evaluate(AT_REST)
    page.evaluate("times.length = 0")
    last = int(handle.get_attribute("max"))
    for press in range(KEYS):
        page.keyboard.press("ArrowRight" if press // last % 2 == 0 else "ArrowLeft", delay=HELD)
        # The change by a key is drawn before the next key.
        page.evaluate("() => new Promise(rest => requestAnimationFrame(() => requestAnimationFrame(rest)))")
    return page.evaluate("times")


def row(what: str, times: list[float]) -> str:
    ordered = sorted(times)
    p95 = ordered[int(0.95 * (len(ordered) - 1))]
    return f"{what:<62} {statistics.median(ordered):6.1f} {p95:6.1f} {ordered[-1]:6.1f}  ({len(ordered)})"


def main() -> None:
    built = [ROOT / "_build" / "html", ROOT / "_build" / "tested" / "_build" / "html"]
    book = next((folder for folder in built if (folder / "index.html").exists()), None)
    if book is None:
        sys.exit("There is no built book: run make book first.")
    print(f"{'milliseconds':<62} {'median':>6} {'p95':>6} {'max':>6}")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        figures = [
            (f"{book.as_uri()}/chapters/{notebook.stem}.html", name)
            for notebook in sorted((ROOT / "chapters").glob("*.ipynb"))
            for name in stored_figures(notebook)
        ]
        for address, name in [(BARE, "bare"), *figures]:
            page = browser.new_page()
            page.add_init_script(WATCH)
            page.goto(address)
            throttle = page.context.new_cdp_session(page)
            throttle.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
            print(row(f"key to second frame: {name}", key_to_second_frame(page, name)), flush=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
