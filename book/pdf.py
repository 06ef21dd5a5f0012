"""Print the built book into one PDF, with a page of contents, page numbers and bookmarks: `make pdf`.

    python book/pdf.py HTML_FOLDER PDF [PAGE ...]

Chromium prints each page of the book, and pypdf puts the parts together. The named pages, such as
`chapters/masked_softmax`, are printed, or all of them.
"""

import io
import sys
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from playwright.sync_api import Browser, Page, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, NameObject

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from chromium import launch  # noqa: E402

PAPER = {"format": "A4", "margin": {"top": "18mm", "bottom": "20mm", "left": "20mm", "right": "20mm"}}
#: A window as wide as the text on paper, so that a page measures itself as it is printed.
WIDTH = 643

#: On paper nothing unfolds, and the numbers of a figure stand below it.
STYLE = """
    *, ::before, ::after { animation: none !important; transition: none !important; }
    .viewcode-link { display: none !important; }
    .bd-article pre { font-size: 11.5px; }
    .bd-article .xp-table { display: block !important; }
    .bd-article summary { list-style: none; }
    /* Chromium makes bookmarks of headings without the spaces that a line ends with. */
    .bd-article :is(h1, h2, h3, h4) { white-space: break-spaces; }
"""
#: All that is folded is opened, and what is still too wide for the paper is made smaller.
PREPARE = """async () => {
    for (const details of document.querySelectorAll("article details")) details.open = true;
    for (const line of document.querySelectorAll("article .cell summary")) {
        const shown = line.querySelector(".collapsed") ?? line;
        const what = shown.textContent.trim().replace(/^(?:Hide|Show) (?:the )?/, "");
        line.textContent = what[0].toUpperCase() + what.slice(1);
    }
    await new Promise(rest => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(rest))));
    for (const box of document.querySelectorAll("article :is(mjx-container, table, svg)")) {
        if (box.parentElement.closest("mjx-container, table, svg")) continue;
        const inside = box.querySelector("mjx-math") ?? box;
        const room = box.closest("div, p, li, dd, figure, section").clientWidth;
        const wide = inside.getBoundingClientRect().width;
        if (room && wide > room) box.style.zoom = Math.max(0.4, room / wide);
    }
}"""


def pages_of_the_book() -> list[tuple[str, str | None]]:
    """Each page with the heading of its part, which only the first page of a part has, in the order of `_toc.yml`."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    pages: list[tuple[str, str | None]] = [(contents["root"], None)]
    for part in contents["parts"]:
        heading = part["caption"]
        for entry in part["chapters"]:
            for page in [entry["file"], *(section["file"] for section in entry.get("sections", ()))]:
                pages.append((page, heading))
                heading = None
    return pages


def print_page(page: Page, path: Path) -> tuple[str, bytes]:
    """The title of a page of the book, and the page as a PDF."""
    page.goto(path.as_uri())
    page.evaluate("window.MathJax?.startup?.promise")
    page.evaluate("document.fonts.ready")
    page.add_style_tag(content=STYLE)
    page.evaluate(PREPARE)
    for frame in page.locator("iframe.translator").all():
        frame.evaluate("frame => { frame.loading = 'eager' }")
        frame.content_frame.locator("#result[data-beam='5'], .card").first.wait_for()
        height = frame.content_frame.locator("body").evaluate("body => body.offsetHeight")
        frame.evaluate("(frame, height) => { frame.style.height = `${height + 8}px` }", height)
    title = page.locator("article h1").first.text_content().removesuffix("#")
    return " ".join(title.split()), page.pdf(**PAPER, outline=True, tagged=True, print_background=True)


def contents_page(page: Page, title: str, rows: list[tuple[str | None, str, str, int]]) -> bytes:
    """The table of contents: the heading of a part, the title of a page of the book, its address and its number."""
    lines = "".join(
        (f"<h2>{escape(part)}</h2>" if part else "")
        + f'<a href="{address}"><span>{escape(name)}</span><i></i><b>{number}</b></a>'
        for part, name, address, number in rows
    )
    page.set_content(
        f"""<style>
            body {{ font: 11pt/1.45 sans-serif; margin: 0; }} h1 {{ font-size: 22pt; }}
            h2 {{ font-size: 11pt; margin: 1.1em 0 .2em; break-after: avoid; }}
            a {{ display: flex; color: inherit; text-decoration: none; }}
            i {{ flex: 1; border-bottom: 1px dotted #888; margin: 0 .4em .35em; }} b {{ font-weight: 400; }}
        </style><h1>{escape(title)}</h1>{lines}"""
    )
    return page.pdf(**PAPER)


def numbers(page: Page, count: int) -> PdfReader:
    """Pages that have only their number, at the foot."""
    page.set_content(
        "<style>body { margin: 0 } p { break-after: page; height: 100vh; margin: 0 }</style>"
        + "<p></p>" * count
    )
    footer = '<div style="font: 9px sans-serif; width: 100%; text-align: center" class="pageNumber"></div>'
    options = {"display_header_footer": True, "header_template": "<i></i>", "footer_template": footer}
    return PdfReader(io.BytesIO(page.pdf(**PAPER, **options, page_ranges=f"1-{count}")))


def joined(browser: Browser, book: Path, names: list[tuple[str, str | None]], title: str) -> PdfWriter:
    """One PDF of the contents and the pages."""
    context = browser.new_context(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
    page = context.new_page()
    page.emulate_media(media="print")
    titles, printed = [], []
    for name, _ in names:
        print(f"printing {name}", file=sys.stderr)
        heading, data = print_page(page, book / f"{name}.html")
        titles.append(heading)
        printed.append(with_places(PdfReader(io.BytesIO(data))))

    def contents(before: int) -> tuple[PdfReader, list[int]]:
        starts = [before + 1 + sum(len(reader.pages) for reader in printed[:i]) for i in range(len(printed))]
        rows = [
            (part, heading, (book / f"{name}.html").as_uri(), start)
            for (name, part), heading, start in zip(names, titles, starts, strict=True)
        ]
        return PdfReader(io.BytesIO(contents_page(page, title, rows))), starts

    # How many pages the contents take does not depend on the numbers in them.
    front, starts = contents(len(contents(0)[0].pages))
    writer = PdfWriter()
    for reader in (front, *printed):
        writer.append(reader, import_outline=True)
    for sheet, number in zip(writer.pages, numbers(page, len(writer.pages)).pages, strict=True):
        sheet.merge_page(number)
    lead_within(writer, book, {name: start for (name, _), start in zip(names, starts, strict=True)})
    for sheet in writer.pages:
        sheet.compress_content_streams()
    writer.compress_identical_objects()  # the fonts, which each page of the book brings
    writer.add_metadata({"/Title": title})
    context.close()
    return writer


def with_places(reader: PdfReader) -> PdfReader:
    """Replace named destinations by page positions, since pages share names such as "summary"."""
    for sheet in reader.pages:
        for annotation in sheet.get("/Annots", ()):
            link = annotation.get_object()
            place = reader.named_destinations.get(str(link.get("/Dest", "")))
            if place is not None:
                link[NameObject("/Dest")] = place.dest_array
    return reader


def lead_within(writer: PdfWriter, book: Path, starts: dict[str, int]) -> None:
    """Let links to pages of the book lead to their first sheet in the PDF, and remove links to other local files."""
    for sheet in writer.pages:
        kept = ArrayObject()
        for annotation in sheet.get("/Annots", ()):
            link = annotation.get_object()
            address = urlsplit(str(link.get("/A", {}).get("/URI", "")))
            if address.scheme == "file":
                path = Path(unquote(address.path))
                name = path.relative_to(book).with_suffix("").as_posix() if path.is_relative_to(book) else ""
                if name not in starts:
                    continue
                del link["/A"]
                first = writer.pages[starts[name] - 1]
                link[NameObject("/Dest")] = ArrayObject([first.indirect_reference, NameObject("/Fit")])
            kept.append(annotation)
        if "/Annots" in sheet:
            sheet[NameObject("/Annots")] = kept


def main(folder: str, target: str, *chosen: str) -> None:
    book = Path(folder).resolve()
    names = [(name, part) for name, part in pages_of_the_book() if name in chosen or not chosen]
    title = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["title"]
    with sync_playwright() as playwright:
        browser = launch(playwright)
        writer = joined(browser, book, names, title)
        browser.close()
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    writer.write(target)
    print(f"{target}: {len(writer.pages)} pages")


if __name__ == "__main__":
    main(*sys.argv[1:])
