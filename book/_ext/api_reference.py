"""Links between the reference of `utils` and the chapters, and entries of the reference that unfold.

A docstring says "Explained in chapters/NAME" (or book/NAME), for its object or for its module: the entry links to that
page, and the page ends with links to all entries that name it. In the prose of a chapter, the first use of each name
that its code imports from `utils` links to its entry too.
"""

import ast
import re
import sys
from collections.abc import Collection
from itertools import groupby

import nbformat
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode
from sphinx_design.shared import create_component

EXPLAINED = re.compile(r"\b(?:chapters|book)(?:/\w+)+")


def _skip_aliases(_app: Sphinx, _what, _name: str, obj: object, skip: bool, _options) -> bool | None:
    # The fields of a named tuple are described with its class; alone they say "Alias for field number 0".
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field number") else None


def _link_to_pages(app: Sphinx, what: str, name: str, obj: object, _options, lines: list[str]) -> None:
    if what in ("function", "class") and not EXPLAINED.search("\n".join(lines)):
        # An entry without such a sentence gets that of its module.
        module = sys.modules[obj.__module__]
        lines += ["", *(f"Explained in {page}." for page in EXPLAINED.findall(module.__doc__ or ""))]

    def link(match: re.Match) -> str:
        if what != "module":
            explained_in = vars(app.env).setdefault("explained_in", {})
            explained_in.setdefault(match[0], set()).add(name)
        return f":doc:`/{match[0]}`"

    lines[:] = [EXPLAINED.sub(link, line) for line in lines]


def _fold(_app: Sphinx, doctree: nodes.document) -> None:
    """Put each entry into a dropdown, whose line is the name and the first paragraph of the docstring."""
    for entry in list(doctree.findall(addnodes.desc)):
        if entry["domain"] == "py" and isinstance(entry.parent, nodes.section):
            line = nodes.rubric("", "", nodes.literal("", entry[0]["fullname"]), nodes.Text(" "))
            if first := next(entry[-1].findall(nodes.paragraph), None):
                if first.next_node(addnodes.pending_xref):
                    line += nodes.Text(first.astext())  # a line that unfolds can have no links
                else:
                    line += first.children
                    first.parent.remove(first)
            classes = {"container_classes": ["entry"], "title_classes": [], "body_classes": []}
            box = create_component(
                "dropdown", opened=False, has_title=True, icon=None, chevron=None, **classes
            )
            entry.replace_self(box)
            box += [line, entry]


def _link_to_reference(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    entries = app.env.get_domain("py").objects

    def reference(name: str, text: str) -> nodes.reference:
        entry, code = entries[name], nodes.literal(text, text)
        return make_refnode(app.builder, docname, entry.docname, entry.node_id, code, title=name)

    if docname.startswith("chapters/"):
        imported = _imported_from_utils(app.env.doc2path(docname), entries.keys())
        linked = set()
        for literal in list(doctree.findall(nodes.literal)):
            first, *rest = literal.astext().removesuffix("()").split(".")
            # Another name is one that the chapter defines itself, such as its own `train`.
            name = ".".join([imported.get(first, ""), *rest])
            if name in entries and name not in linked and not isinstance(literal.parent, nodes.reference):
                linked.add(name)
                literal.replace_self(reference(name, literal.astext()))

    if explained := sorted(entries.keys() & getattr(app.env, "explained_in", {}).get(docname, set())):
        box = nodes.container("", nodes.paragraph("", "In the reference:"), classes=["in-the-reference"])
        for module, names in groupby(explained, lambda name: _module_of(name, entries[name].objtype)):
            line = nodes.paragraph("", "", nodes.literal(module, module), nodes.Text(": "))
            for position, name in enumerate(names):
                line += [nodes.Text(", ")] * bool(position)
                line += reference(name, name.removeprefix(f"{module}."))
            box += line
        *_, last_section = doctree.findall(nodes.section)
        last_section += box


def _module_of(name: str, kind: str) -> str:
    """The module of a function or class, or that of the class of a method or attribute."""
    return name.rsplit(".", 1 if kind in ("function", "class", "exception", "data") else 2)[0]


def _imported_from_utils(path: str, entries: Collection[str]) -> dict[str, str]:
    """The full names of the entries that a notebook's code imports, by their short names, and `utils` itself."""
    cells = (cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    return {"utils": "utils"} | {
        alias.name: f"{node.module}.{alias.name}"
        for cell in cells
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if f"{node.module}.{alias.name}" in entries
    }


def setup(app: Sphinx) -> None:
    app.connect("autodoc-skip-member", _skip_aliases)
    app.connect("autodoc-process-docstring", _link_to_pages)
    app.connect("doctree-read", _fold, priority=900)  # after the contents of the page are collected
    app.connect("doctree-resolved", _link_to_reference)
