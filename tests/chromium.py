"""Where this machine's Chromium is. Run as a program, by any Python 3, it says what to install where there is none."""

import os
import shutil
import subprocess

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
#: Milliseconds that a busy machine may take for what takes a second on one at rest.
PATIENCE = 120_000
MISSING = (
    "make test opens the pages in Chromium, and there is none here: install it (Debian, Ubuntu: apt-get install "
    "chromium; Fedora: dnf install chromium; macOS: brew install --cask chromium) or set CHROMIUM to its path."
)


def find() -> str:
    """Path of a Chromium: the one that CHROMIUM names, or else the system's.

    Raises:
        FileNotFoundError: there is none, or CHROMIUM names no program.
    """
    if named := os.environ.get("CHROMIUM"):
        if path := shutil.which(named):
            return path
        raise FileNotFoundError(f"CHROMIUM names {named}, which is no program")
    applications = [f"/Applications/{name}.app/Contents/MacOS/{name}" for name in MAC_APPLICATIONS]
    for name in (*NAMES, *applications):
        if path := shutil.which(name):
            return path
    raise FileNotFoundError(MISSING)


def main() -> None:
    try:
        path = find()
    except FileNotFoundError as error:
        raise SystemExit(str(error)) from None
    # Ubuntu has a program of that name which only says that the browser is to be installed as a snap.
    ran = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{path} does not run: {ran.stderr.strip()}\n{MISSING}")
    print(f"The pages are tested in {path}: {ran.stdout.strip()}")


if __name__ == "__main__":
    main()
