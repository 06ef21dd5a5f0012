"""What other sites show of a page: its title, a description, and a picture where the edition has a public address.

The description is the page's own, `description` under `myst: html_meta:` in its front matter, or its first paragraph.
"""

import re
from html import escape

from docutils import nodes
from sphinx.application import Sphinx

PICTURE = "_static/page.png"
PICTURE_SHOWS = "A page of the book with a figure that moves: a translator looks at one word after the other."
LONGEST = 200


def first_paragraph(doctree: nodes.document) -> str:
    """The first paragraph of running text, in whole sentences where they are short enough."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | nodes.document):
            return shortened(re.sub(r"\s+([.,;:?!])", r"\1", " ".join(paragraph.astext().split())))
    return ""


def shortened(text: str) -> str:
    """As many whole sentences as fit, or else as many words.

    >>> shortened("One. Two.")
    'One. Two.'
    >>> len(shortened("word " * 99)) <= LONGEST
    True
    """
    if len(text) <= LONGEST:
        return text
    sentences = re.match(rf".{{40,{LONGEST - 1}}}[.?!](?=\s)", text)
    return sentences[0] if sentences else text[: LONGEST - 2].rsplit(" ", 1)[0] + " …"


def _describe(app: Sphinx, page: str, _template, context: dict, doctree: nodes.document | None) -> None:
    if doctree is None:
        return
    given = re.search(r'<meta[^>]*\bname="description"', context.get("metatags", ""))
    (own,) = [node["content"] for node in doctree.findall(nodes.meta) if node.get("name") == "description"][
        :1
    ] or [first_paragraph(doctree)]
    described = own or f"A page of the course {app.config.html_title}."
    properties = {
        "og:title": app.env.titles[page].astext(),
        "og:type": "article",
        "og:site_name": app.config.html_title,
        "og:description": described,
    }
    if address := app.config.html_baseurl:
        properties |= {"og:image": f"{address}{PICTURE}", "og:image:alt": PICTURE_SHOWS}
    tags = [f'<meta property="{name}" content="{escape(content)}" />' for name, content in properties.items()]
    if not given:
        tags.insert(0, f'<meta name="description" content="{escape(described)}" />')
    context["metatags"] = "\n".join([context.get("metatags", ""), *tags, ""])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
