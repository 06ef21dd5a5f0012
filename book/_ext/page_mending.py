"""Corrections to the pages of Jupyter Book: no calls to other hosts, no obstacles for screen readers, no long words."""

import re
from collections.abc import Callable

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx

#: A piece of code in a text, and the places where it may be broken: in names, before arguments, in checksums.
CODE = re.compile(r'(?<=<span class="pre">)[^<]+')
BREAKS = re.compile(r"(?<=\w)[(_]+(?=\w)|[a-z](?=[A-Z])|[0-9a-f]{16}(?=[0-9a-f]{16})")
#: An option of a command, which is not broken after its dashes.
OPTION = re.compile(r'<span class="pre">(?=--?[\w-]{1,24}</span>)')
#: A formula in a line of text with what must not begin the next line.
FORMULA = re.compile(r'<span class="math notranslate nohighlight">[^<]*</span>[.,;:!?)]+')
#: The space before a percent sign, where a line is not broken.
PERCENT = re.compile(r"(?<=\d) (?=%)")
#: A signature over several lines is a list of descriptions without terms, which screen readers cannot read well.
SIGNATURE_LINES = re.compile(r'(<span class="sig-paren">\(</span>\s*)<dl>(.*?)</dl>', re.DOTALL)


def _without_thebe(app: Sphinx, _config) -> None:
    # Jupyter Book always loads sphinx-thebe, which writes two scripts into each page that name another host
    # and raise an error in the console. The book has no live-code button, so it needs neither.
    for event in ("env-before-read-docs", "doctree-resolved"):
        for listener in list(app.events.listeners[event]):
            if listener.handler.__name__ in ("init_thebe_core", "update_thebe_context"):
                app.disconnect(listener.id)


def _name_solutions(_app: Sphinx, doctree: nodes.document) -> None:
    for cell in doctree.findall(nodes.container):
        if "tag_solution" in cell["classes"] and "prompt_show" in cell:
            cell["prompt_show"], cell["prompt_hide"] = "Show the solution", "Hide the solution"


def _keep_percentages(_app: Sphinx, doctree: nodes.document, _page: str) -> None:
    code = (nodes.literal, nodes.literal_block, nodes.raw, nodes.math, nodes.math_block)
    for text in list(doctree.findall(nodes.Text)):
        if PERCENT.search(text) and not isinstance(text.parent, code):
            text.parent.replace(text, nodes.Text(PERCENT.sub("\N{NO-BREAK SPACE}", text)))


def _mend(_app: Sphinx, _page: str, _template: str, context: dict, _doctree) -> None:
    if "body" in context:
        context["body"] = _mend_body(context["body"])
    if "generate_toctree_html" in context:
        context["generate_toctree_html"] = _with_named_toggles(context["generate_toctree_html"])


def _mend_body(body: str) -> str:
    body = SIGNATURE_LINES.sub(
        lambda match: (
            match[1] + match[2].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
        ),
        body,
    )
    body = FORMULA.sub(r'<span class="together">\g<0></span>', body)
    body = OPTION.sub('<span class="pre option">', body)
    body = CODE.sub(lambda code: BREAKS.sub(r"\g<0><wbr/>", code[0]), body)
    # A screen reader would read the label instead of the text that says what is hidden.
    body = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")
    # A list of references has links beside its entries, which the role "list" does not allow.
    return body.replace('<div role="list" class="citation-list">', '<div class="citation-list">')


def _with_named_toggles(toctree: Callable[..., BeautifulSoup | str]) -> Callable[..., BeautifulSoup | str]:
    """The contents in the sidebar, with a label for each arrow that names the part it unfolds."""

    def with_named_toggles(*args, **kwargs) -> BeautifulSoup | str:
        contents = toctree(*args, **kwargs)
        if isinstance(contents, BeautifulSoup):
            for entry in contents.select("li:has(> details)"):
                title = entry.find("a").get_text(strip=True)
                entry.find("summary")["aria-label"] = f"Pages of: {title}"
        return contents

    return with_named_toggles


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", _without_thebe)
    app.connect("doctree-read", _name_solutions)
    app.connect("doctree-resolved", _keep_percentages)
    app.connect("html-page-context", _mend, priority=900)  # after the theme's own
    return {"parallel_read_safe": True, "parallel_write_safe": True}
