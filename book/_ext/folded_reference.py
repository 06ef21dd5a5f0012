"""The reference as a list: a line per entry, which unfolds into its signature, its arguments and its example.

The line is the name and the first paragraph of the docstring. `reference.js` unfolds the entry that an address names,
and all entries for print.
"""

import re

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx

SCRIPT = "reference.js"


def folded(body: str) -> str:
    """The HTML of a page with each entry of the reference in a `details` element."""
    page = BeautifulSoup(body, "html.parser")
    for entry in page.select("dl.py:has(> dt[id])"):
        if not entry.find_parent("dl", class_="py"):
            _fold(page, entry)
    return str(page)


def _fold(page: BeautifulSoup, entry: Tag) -> None:
    title = entry.find("dt")
    line = page.new_tag("summary")
    name = page.new_tag("code")
    prefix, shown = (title.select_one(f".{part}") for part in ("sig-prename", "descname"))
    name.string = (prefix.get_text() if prefix else "") + shown.get_text()
    line.append(name)
    if first := entry.select_one("dd > p"):
        sentence = page.new_tag("span")
        if first.find("a") or first.find_previous_sibling():
            sentence.string = first.get_text()  # a line that unfolds can have no links
        else:
            sentence.extend(list(first.extract().contents))
        line.extend([" ", sentence])
    details = page.new_tag("details", attrs={"class": "entry"})
    entry.wrap(details)
    details.insert(0, line)


def _fold_page(app: Sphinx, page: str, _template: str, context: dict, _doctree) -> None:
    if re.search(r'<dl class="py ', context.get("body", "")):
        context["body"] = folded(context["body"])
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _fold_page, priority=910)  # after the signatures are mended
    return {"parallel_read_safe": True, "parallel_write_safe": True}
