"""Where this edition is published: everything that depends on `repository.url` in _config.yml.

As a Sphinx extension it gives the pages their buttons and their public address. As a command (`make links`) it
writes the links of README.md and CITATION.cff.
"""

import re
from pathlib import Path

import yaml
from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).parents[2]
BUTTONS = ("use_repository_button", "use_issues_button", "use_edit_page_button")
#: `make links` writes the lines between the two comments.
MARKED = re.compile(r"(^\S+ links: [^\n]*\n).*?(^\S+ end of links)", re.MULTILINE | re.DOTALL)


def site(url: str) -> str:
    """The address on GitHub Pages of the book whose repository has this address.

    Raises:
        ValueError: the address is not that of a repository on GitHub.
    """
    parts = re.fullmatch(r"https://github\.com/([\w-]+)/([\w.-]+)(?<!\.git)", url)
    if not parts:
        raise ValueError(f"repository.url in _config.yml must be https://github.com/OWNER/NAME, got {url!r}")
    host, name = f"{parts[1]}.github.io".lower(), parts[2]
    return f"https://{host}/" if name == host else f"https://{host}/{name}/"


def links(config: dict) -> dict[str, str]:
    """The marked lines of each file; empty if the repository has no address."""
    url, branch = config["repository"]["url"], config["repository"]["branch"]
    if not url:
        return {"README.md": "", "CITATION.cff": ""}
    name = url.removeprefix("https://github.com/")
    launch = config["launch_buttons"]
    binder = f"{launch['binderhub_url']}/v2/gh/{name}/{branch}?urlpath=lab/tree/chapters"
    colab = f"{launch['colab_url']}/github/{name}/blob/{branch}"
    readme = [
        f"**[Read it online]({site(url)})**",
        f"[![Tests]({url}/actions/workflows/ci.yml/badge.svg)]({url}/actions/workflows/ci.yml)",
        f"[![Open in Binder]({launch['binderhub_url']}/badge_logo.svg)]({binder})",
        f"[![Open in Colab]({launch['colab_url']}/assets/colab-badge.svg)]({colab})",
    ]
    return {
        "README.md": "\n".join(readme) + "\n",
        "CITATION.cff": f"url: {site(url)}\nrepository-code: {url}\n",
    }


def write_links(root: Path) -> None:
    """Write the marked lines of README.md and CITATION.cff from _config.yml."""
    config = yaml.safe_load((root / "_config.yml").read_text("utf-8"))
    for name, lines in links(config).items():
        text = (root / name).read_text("utf-8")
        (root / name).write_text(MARKED.sub(rf"\g<1>{lines}\g<2>", text), "utf-8")


def _follow_the_url(app: Sphinx, config: Config) -> None:
    options = config.html_theme_options
    if url := options["repository_url"]:
        config.html_baseurl = config.ogp_site_url = site(url)
        options.update(dict.fromkeys(BUTTONS, True))
        app.tags.add("published")
    else:
        # The theme would look for the repository that they launch.
        del options["launch_buttons"]
    config.myst_substitutions["colab_install"] = f'`%pip install "git+{url}"`'


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", _follow_the_url)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    write_links(ROOT)
