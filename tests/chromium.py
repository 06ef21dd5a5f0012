"""Find this machine's Chromium. Any Python 3 can run this file: it says what to install if there is no Chromium."""

import os
import shutil
import subprocess

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
MISSING = (
    "make test opens the pages in Chromium, and there is none here: install it (Debian, Ubuntu: apt-get install "
    "chromium; Fedora: dnf install chromium; macOS: brew install --cask chromium) or set CHROMIUM to its path."
)


def find() -> str:
    """Path of a Chromium: the one that CHROMIUM names, or else the system's.

    Raises:
        FileNotFoundError: there is no Chromium, or CHROMIUM does not name a program.
    """
    if named := os.environ.get("CHROMIUM"):
        if path := shutil.which(named):
            return path
        raise FileNotFoundError(f"CHROMIUM names {named}, which is not a program")
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
