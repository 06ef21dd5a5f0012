"""How long a page takes to open on a slow processor: from the click to DOMContentLoaded, when it can be read and used.

Run by `make bench`, which builds no book: run `make test` or `make book` first.
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from chromium import launch
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[2]
SLOWDOWN = 4
LOADS = 7
#: The most milliseconds that we want.
LANDING, CHAPTER = 2000, 4000

OPENED = """() => new Promise(answer => {
    const timing = () => performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd;
    const ask = () => (timing() ? answer(timing()) : setTimeout(ask, 20));
    ask();
})"""


def times_to_open(browser: Browser, address: str) -> list[float]:
    """Milliseconds of each load. Each load is in a new window with an empty cache."""
    times = []
    for _ in range(LOADS):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        throttle = context.new_cdp_session(page)
        throttle.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
        page.goto(address, wait_until="commit")
        times.append(page.evaluate(OPENED))
        context.close()
    return times


def main() -> None:
    built = [ROOT / "_build" / "html", ROOT / "_build" / "tested" / "_build" / "html"]
    book = next((folder for folder in built if (folder / "index.html").exists()), None)
    if book is None:
        sys.exit("There is no built book: run make book first.")
    pages = [("book/index", LANDING)]
    pages += [(f"chapters/{path.stem}", CHAPTER) for path in sorted((ROOT / "chapters").glob("*.ipynb"))]
    print(f"{f'milliseconds to DOMContentLoaded, {SLOWDOWN}x slower':<50} {'median':>7} {'max':>7}  wanted")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for name, wanted in pages:
            times = times_to_open(browser, f"{book.as_uri()}/{name}.html")
            print(f"{name:<50} {statistics.median(times):7.0f} {max(times):7.0f}  {wanted}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
