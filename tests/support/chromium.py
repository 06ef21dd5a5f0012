"""Start this machine's Chromium for the tests. As a program, this file gets one where none starts."""

import os
import re
import shlex
import shutil
import subprocess
import sys

from playwright.sync_api import Browser, Error, Playwright, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
MAC_APPLICATIONS = ("Chromium", "Google Chrome", "Microsoft Edge")
#: The root user cannot use the sandbox. The other options keep the browser from working in the background.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: Milliseconds that a busy machine may need for something that takes a second on an idle one.
PATIENCE = 120_000
GET_PLAYWRIGHTS = f"{shlex.quote(sys.executable)} -m playwright install chromium-headless-shell"
GET_DEBIANS = (
    "apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium"
)
MISSING = (
    "make test-book needs Chromium or Chrome, and none starts here. Install it (Debian: apt-get install "
    "chromium; Ubuntu: snap install chromium; Fedora: dnf install chromium; macOS: brew install --cask chromium) or "
    "set CHROMIUM to its path. If Playwright's Chromium lacks libraries, run sudo .venv/bin/playwright install-deps."
)


def choices() -> list[str | None]:
    """What to try, in this order: the program that CHROMIUM names, or else the system's and Playwright's own (None)."""
    if named := os.environ.get("CHROMIUM"):
        return [shutil.which(named) or named]
    applications = [f"/Applications/{name}.app/Contents/MacOS/{name}" for name in MAC_APPLICATIONS]
    return [*filter(None, map(shutil.which, (*NAMES, *applications))), None]


def launch(playwright: Playwright) -> Browser:
    """The first Chromium that starts. Ubuntu has a program of that name which only says how to install one.

    Raises:
        RuntimeError: none starts; the message names what was tried, and says what to do.
    """
    reasons = []
    for path in choices():
        try:
            return playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS), timeout=PATIENCE)
        except Error as error:  # its first words say why; a log and a drawn box follow
            name = path or "Playwright's Chromium"
            why = re.search(r"\w[^\n║]*", error.message.removeprefix("BrowserType.launch:"))
            reasons.append(f"{name} does not start: {why[0].strip()}")
    raise RuntimeError("\n".join([*reasons, MISSING]))


def launch_or_get(playwright: Playwright) -> Browser:
    """As `launch`, but where none starts, get Playwright's own, and if that does not start either, as root Debian's."""
    ways = [] if os.environ.get("CHROMIUM") else [GET_PLAYWRIGHTS]
    if ways and os.geteuid() == 0 and shutil.which("apt-get"):
        ways.append(GET_DEBIANS)
    for way in ways:
        try:
            return launch(playwright)
        except RuntimeError:
            print(f"No Chromium starts here. Getting one: {way}", flush=True)
        ran = subprocess.run(way, shell=True, capture_output=True, text=True, check=False)
        if ran.returncode:
            print(ran.stderr.strip().partition("\n")[0], flush=True)
    return launch(playwright)


def main() -> None:
    with sync_playwright() as playwright:
        try:
            browser = launch_or_get(playwright)
        except RuntimeError as error:
            raise SystemExit(str(error)) from None
        print(f"The pages are opened in Chromium {browser.version}.")


if __name__ == "__main__":
    main()
