"""Where this machine's Chromium is. Run as a program it finds or installs one, or says what to install."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
MAC_APPLICATIONS = ("Chromium", "Google Chrome", "Microsoft Edge")
#: A root user has no sandbox; nothing that a browser does in the background belongs in a test.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find() -> str | None:
    """Path of a Chromium: the one that CHROMIUM names, the system's, or Playwright's own.

    Raises:
        FileNotFoundError: CHROMIUM names no program.
    """
    if named := os.environ.get("CHROMIUM"):
        if not (path := shutil.which(named)):
            raise FileNotFoundError(f"CHROMIUM names {named}, which is no program")
        return path
    for name in NAMES:
        if path := shutil.which(name):
            return path
    for name in MAC_APPLICATIONS:
        if (path := Path(f"/Applications/{name}.app/Contents/MacOS/{name}")).exists():
            return str(path)
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def main() -> None:
    if not find():
        print("No Chromium found; asking Playwright to install its own.", flush=True)
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    if not (path := find()):
        raise SystemExit(
            "The pages are tested in Chromium, and there is none. Install it "
            "(Debian, Ubuntu: apt-get install chromium; macOS: brew install --cask chromium), "
            "or set CHROMIUM to the path of one."
        )
    print(f"Testing the pages in {path}")


if __name__ == "__main__":
    main()
