"""Links between the reference of `utils` and the chapters.

A docstring says "Explained in chapters/NAME" (or book/NAME), for its object or for its module: the entry in the
reference links to that page, and the page ends with links to all entries that name it. In the prose of a chapter, the
first use of each name that its code imports from `utils` links to its entry too.
"""

import ast
import re
import sys
from itertools import groupby

import nbformat
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.python import ObjectEntry
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

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
            _explained_in(app.env).setdefault(match[0], {})[name] = app.env.docname
        return f":doc:`/{match[0]}`"

    lines[:] = [EXPLAINED.sub(link, line) for line in lines]


def _explained_in(env: BuildEnvironment) -> dict[str, dict[str, str]]:
    """For each page, the names of the entries that it explains and the pages of these entries."""
    if not hasattr(env, "explained_in"):
        env.explained_in = {}
    return env.explained_in


def _forget(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    for entries in _explained_in(env).values():
        for name in [name for name, page in entries.items() if page == docname]:
            del entries[name]


def _pages_to_rewrite(app: Sphinx, env: BuildEnvironment) -> list[str]:
    # A chapter lists entries that live on other pages; it is written again when those have changed.
    before, env.explained_in_pages = (
        getattr(env, "explained_in_pages", {}),
        {chapter: dict(entries) for chapter, entries in _explained_in(env).items()},
    )
    return [
        page
        for page, entries in env.explained_in_pages.items()
        if entries != before.get(page) and page in env.found_docs
    ]


def _link_to_reference(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    entries = app.env.get_domain("py").objects

    def reference(name: str, text: str) -> nodes.reference:
        entry = entries[name]
        return make_refnode(
            app.builder, docname, entry.docname, entry.node_id, nodes.literal(text, text), title=name
        )

    if docname.startswith("chapters/"):
        names = _names_in_prose(entries)
        imported = _imported_from_utils(app.env.doc2path(docname))
        linked = set()
        for literal in list(doctree.findall(nodes.literal)):
            short = literal.astext().removesuffix("()")
            # Another name is one that the chapter defines itself, such as its own `train`.
            name = names.get(short) if short.split(".")[0] in imported else None
            if name and name not in linked and not isinstance(literal.parent, nodes.reference):
                linked.add(name)
                literal.replace_self(reference(name, literal.astext()))

    if explained := sorted(_explained_in(app.env).get(docname, ())):
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


def _imported_from_utils(path: str) -> set[str]:
    """The names that a notebook's code imports from `utils`, and `utils` itself."""
    cells = (cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    return {"utils"} | {
        alias.name
        for cell in cells
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "utils"
        for alias in node.names
    }


def _names_in_prose(entries: dict[str, ObjectEntry]) -> dict[str, str]:
    """The full name of each function, class or method by the names that the prose may use, from short to full.

    A short name that several modules use is left out.
    """
    full_names: dict[str, set[str]] = {}
    for name, entry in entries.items():
        parts = name.split(".")
        shortest = {"function": 1, "class": 1, "method": 2}.get(entry.objtype, len(parts))
        for length in range(shortest, len(parts) + 1):
            full_names.setdefault(".".join(parts[-length:]), set()).add(name)
    return {short: names.pop() for short, names in full_names.items() if len(names) == 1}


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-skip-member", _skip_aliases)
    app.connect("autodoc-process-docstring", _link_to_pages)
    app.connect("env-purge-doc", _forget)
    app.connect("env-updated", _pages_to_rewrite)
    app.connect("doctree-resolved", _link_to_reference)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
