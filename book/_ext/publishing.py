"""What follows from the configuration: the address of this edition in _config.yml, and the tables of chapters.

As a Sphinx extension this gives the pages their buttons, public address, links to the code and tables. As a command
(`make readme`) it writes the links and tables of README.md, chapters/README.md and CITATION.cff.
"""

import inspect
import re
import sys
from collections.abc import Callable
from functools import reduce
from pathlib import Path

import chapter_tables
import yaml
from sphinx.application import Sphinx
from sphinx.config import Config

from utils.corpus.whole_files import write_whole


def site(url: str) -> str:
    """The address on GitHub Pages of the book whose repository has this address."""
    parts = re.fullmatch(r"https://github\.com/([\w-]+)/([\w.-]+)(?<!\.git)", url)
    if not parts:
        raise ValueError(f"repository.url in _config.yml must be https://github.com/OWNER/NAME, got {url!r}")
    host, name = f"{parts[1]}.github.io".lower(), parts[2]
    return f"https://{host}/" if name == host else f"https://{host}/{name}/"


def link_to_code(root: Path, url: str, branch: str) -> Callable[[str, dict[str, str]], str | None]:
    """What gives the address in the repository of an entry of the reference, or None where it has none."""

    def address(_domain: str, entry: dict[str, str]) -> str | None:
        names, module = entry["fullname"].split("."), sys.modules[entry["module"]]
        defined = inspect.unwrap(reduce(lambda outer, name: getattr(outer, name, None), names, module))
        if not url or not (inspect.isclass(defined) or inspect.isfunction(defined)):
            return None
        path = Path(inspect.getsourcefile(defined)).relative_to(root).as_posix()
        return f"{url}/blob/{branch}/{path}#L{inspect.getsourcelines(defined)[1]}"

    return address


def marked_lines(root: Path) -> dict[tuple[str, str], str]:
    """For each pair of a file and a mark, the lines that belong between the mark and its end."""
    config = yaml.safe_load((root / "_config.yml").read_text("utf-8"))
    url, branch = config["repository"]["url"], config["repository"]["branch"]
    badges = citation = ""
    if url:
        name = url.removeprefix("https://github.com/")
        binder, colab = (config["launch_buttons"][f"{host}_url"] for host in ("binderhub", "colab"))
        badges = (
            f"**[Read it online]({site(url)})**\n"
            f"[![Tests]({url}/actions/workflows/ci.yml/badge.svg)]({url}/actions/workflows/ci.yml)\n"
            f"[![Open in Binder]({binder}/badge_logo.svg)]({binder}/v2/gh/{name}/{branch}?urlpath=lab/tree/chapters)\n"
            f"[![Open in Colab]({colab}/assets/colab-badge.svg)]({colab}/github/{name}/blob/{branch})\n"
        )
        citation = f"url: {site(url)}\nrepository-code: {url}\n"
    return {
        ("README.md", "links"): badges,
        ("README.md", "translator"): f"\n```python\n{whole_translator(root)}\n```\n\n",
        (
            "README.md",
            "chapters",
        ): f"\n{chapter_tables.short_way(root)}\n\n{chapter_tables.questions(root)}\n\n",
        ("chapters/README.md", "chapters"): f"\n{chapter_tables.titles(root)}\n\n",
        ("CITATION.cff", "links"): citation,
    }


def whole_translator(root: Path) -> str:
    """The translator of chapters/fifty_lines.py, from its first function up to what reads a file."""
    code = (root / "chapters" / "fifty_lines.py").read_text("utf-8")
    return code[code.index("PAD, START, END") : code.index("def read_pairs")].rstrip()


def write_marked_lines(root: Path) -> None:
    """Write them into README.md, chapters/README.md and CITATION.cff."""
    for (name, mark), lines in marked_lines(root).items():
        text = (root / name).read_text("utf-8")
        begin = text.index("\n", text.index(f" {mark}: ")) + 1
        end = text.rindex("\n", 0, text.index(f" end of {mark}")) + 1
        write_whole(root / name, text[:begin] + lines + text[end:])


def _follow(app: Sphinx, config: Config) -> None:
    options = config.html_theme_options
    config.html_search_scorer = str(Path(__file__).with_name("search_order.js"))
    if url := options["repository_url"]:
        config.html_baseurl = config.ogp_site_url = site(url)
        options |= {f"use_{name}_button": True for name in ("repository", "issues", "edit_page")}
        app.tags.add("published")
        config.html_show_search_summary = True
    else:
        # The search would fetch each page that it finds, which browsers refuse for files on the disk.
        config.html_show_search_summary = False
        # The theme would look for the repository that they launch.
        del options["launch_buttons"]
    config.linkcode_resolve = link_to_code(Path(app.srcdir), url, options["repository_branch"])
    config.myst_substitutions |= {
        "colab_install": f'`%pip install "git+{url}"`',
        "chapter_cards": chapter_tables.cards(Path(app.srcdir)),
        "chapter_goals": chapter_tables.goals(Path(app.srcdir)),
        "one_week": chapter_tables.one_week(Path(app.srcdir)),
        "eight_weeks": chapter_tables.eight_weeks(Path(app.srcdir)),
        "short_way": chapter_tables.short_way(Path(app.srcdir)),
        "figures": chapter_tables.figures(Path(app.srcdir)),
        "kinds": chapter_tables.kinds_of_figures(),
    }


def setup(app: Sphinx) -> None:
    app.connect("config-inited", _follow)


if __name__ == "__main__":
    write_marked_lines(Path(__file__).parents[2])
