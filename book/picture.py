"""Take the picture of the first page, which the README and other sites show: `make picture`."""

import io
import sys
from pathlib import Path

from chromium import launch
from PIL import Image
from playwright.sync_api import sync_playwright

from utils.corpus.whole_files import open_whole

PICTURE = Path(__file__).parent / "_assets" / "page.png"
WINDOW = {"width": 1280, "height": 860}
#: The word of the first translation that the picture explains; the alt texts name it too.
WORD = "voir"


def main(first_page: Path) -> None:
    """Photograph the first page of the built book, with its translation and how one word of it was written."""
    with sync_playwright() as playwright:
        page = launch(playwright).new_page(viewport=WINDOW, color_scheme="light", reduced_motion="reduce")
        page.goto(first_page.absolute().as_uri())
        translator = page.frame_locator("iframe.translator")
        translator.get_by_role("radio", name=WORD, exact=True).check()
        page.evaluate("document.fonts.ready")
        photograph = Image.open(io.BytesIO(page.screenshot()))
    with open_whole(PICTURE) as file:
        photograph.convert("RGB").quantize(256).save(file, format="PNG", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
