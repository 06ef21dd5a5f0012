"""An edition that is published and one that is not: buttons, addresses, README, CITATION, the workflow.

The book that is built here has the two pages with text for published editions; all others are titles only.
"""

import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
BRANCH = CONFIG["repository"]["branch"]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
PUBLISHING = runpy.run_path(str(ROOT / "book" / "_ext" / "publishing.py"))
URL = "https://github.com/OWNER/NAME"
SITE = "https://owner.github.io/NAME/"
CHAPTER = "chapters/masked_softmax"

#: Every host that the course names. If anyone can register a name on it, the name belongs to it. Before you add a new
#: one, look at it: does it exist, and is it what the text says?
HOSTS = """
    github.com/BYVoid github.com/d2l-ai github.com/dequelabs github.com/fxsjy github.com/lilt github.com/mjpost
    github.com/pytorch beartype.readthedocs.io hypothesis.readthedocs.io kellerjordan.github.io nbgrader.readthedocs.io
    nbval.readthedocs.io
    aclanthology.org anywidget.dev cdn.openai.com arxiv.org d2l-data.s3-accelerate.amazonaws.com d2l.ai docs.kidger.site
    docs.pytorch.org doi.org download.pytorch.org jmlr.org nlp.seas.harvard.edu numpy.org proceedings.mlr.press
    pytorch.org tatoeba.org www.jstor.org www.manythings.org
    creativecommons.org openfontlicense.org opensource.org www.apache.org
    colab.research.google.com github.com mybinder.org
    127.0.0.1 example.org github.com/OWNER owner.github.io www.w3.org
"""
#: A name that ends in .invalid belongs to nobody, ever (RFC 2606).
HOST = re.compile(
    r"(?:https?://|git@)(?![\w.-]*\.invalid\b)((?:github|gitlab)\.com[/:][\w-]+|[\w-]+(?:\.[\w-]+)+)"
)


def config_with(url: str) -> str:
    text, count = re.subn(
        r"^  url:.*$", f'  url: "{url}"', (ROOT / "_config.yml").read_text("utf-8"), flags=re.M
    )
    assert count == 1
    return text


def build(folder: Path, url: str) -> Path:
    """The HTML of a small book with the course's configuration and this address."""
    (folder / "_config.yml").write_text(config_with(url), "utf-8")
    shutil.copy(ROOT / "_toc.yml", folder)
    for name in ("_assets", "_ext", "_templates"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name)
    shutil.copy(ROOT / "book" / "references.bib", folder / "book")
    for page in re.findall(r"(?:root|file): (\S+)", (ROOT / "_toc.yml").read_text("utf-8")):
        path = folder / page
        path.parent.mkdir(exist_ok=True)
        if page in ("book/index", "book/data_and_licences"):
            text = (ROOT / f"{page}.md").read_text("utf-8")
            # The small book does not have the figures and the cited works of the other pages.
            text = re.sub(r"```\{explorable\}.*?```|\{cite:.\}`\w+`", "", text, flags=re.DOTALL)
            path.with_suffix(".md").write_text(text, "utf-8")
        elif page.startswith("chapters/"):
            metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
            title = nbformat.v4.new_markdown_cell(f"# {page}")
            notebook = nbformat.v4.new_notebook(metadata=metadata, cells=[title])
            nbformat.write(notebook, path.with_suffix(".ipynb"))
        else:
            path.with_suffix(".md").write_text(f"# {page}\n", "utf-8")
    program = Path(sys.executable).with_name("jupyter-book")
    command = [program, "build", folder, "--quiet", "-W", "-n", "--keep-going"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder / "_build" / "html"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("published"), URL)


@pytest.fixture(scope="module")
def unpublished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("unpublished"), "")


def soup(book: Path, page: str) -> BeautifulSoup:
    return BeautifulSoup((book / f"{page}.html").read_text("utf-8"), "html.parser")


def outside_addresses(page: BeautifulSoup) -> set[str]:
    """Every address of another host in any attribute of the page."""
    values = {value for tag in page.find_all(True) for value in tag.attrs.values() if isinstance(value, str)}
    return {value for value in values if urlsplit(value).netloc}


def test_without_a_url_a_page_names_no_other_host(unpublished: Path) -> None:
    page = soup(unpublished, CHAPTER)
    assert outside_addresses(page) == set()
    assert page.select(".dropdown-download-buttons")
    assert not page.select(".dropdown-launch-buttons, .dropdown-source-buttons")


def test_with_a_url_every_button_of_a_page_leads_there(published: Path) -> None:
    page = soup(published, CHAPTER)
    assert outside_addresses(page) == {
        f"https://mybinder.org/v2/gh/OWNER/NAME/{BRANCH}?urlpath=lab/tree/{CHAPTER}.ipynb",
        f"https://colab.research.google.com/github/OWNER/NAME/blob/{BRANCH}/{CHAPTER}.ipynb",
        URL,
        f"{URL}/edit/{BRANCH}/{CHAPTER}.ipynb",
        f"{URL}/issues/new?title=Issue%20on%20page%20%2F{CHAPTER}.html&body=Your%20issue%20content%20here.",
        f"{SITE}{CHAPTER}.html",
        f"{SITE}_static/page.png",
    }
    assert (published / "_static" / "page.png").is_file()
    assert page.select_one("[property='og:image']")["content"] == f"{SITE}_static/page.png"
    assert page.select_one("[property='og:url']")["content"] == f"{SITE}{CHAPTER}.html"
    assert page.select_one("link[rel=canonical]")["href"] == f"{SITE}{CHAPTER}.html"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("book/index", f'%pip install "git+{URL}"'),
        ("book/index", "Binder"),
        ("book/data_and_licences", "Cite this repository"),
    ],
)
def test_text_for_published_editions(published: Path, unpublished: Path, page: str, text: str) -> None:
    assert text in soup(published, page).select_one("article").get_text()
    assert text not in soup(unpublished, page).get_text()


@pytest.mark.parametrize(
    ("url", "address"),
    [
        (URL, SITE),
        ("https://github.com/OWNER/owner.github.io", "https://owner.github.io/"),
        ("https://github.com/OWNER/a.b-c", "https://owner.github.io/a.b-c/"),
    ],
)
def test_the_address_on_github_pages(url: str, address: str) -> None:
    assert PUBLISHING["site"](url) == address


@pytest.mark.parametrize(
    "url", [f"{URL}/", f"{URL}.git", "https://github.com/OWNER", "https://example.org/OWNER/NAME"]
)
def test_another_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=f"must be https://github.com/OWNER/NAME, got '{re.escape(url)}'"):
        PUBLISHING["site"](url)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of what `make links` reads and writes."""
    for name in ("_config.yml", "README.md", "CITATION.cff", "book/_ext/publishing.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def make_links(folder: Path) -> tuple[str, str]:
    """README and CITATION after the command."""
    subprocess.run([sys.executable, str(folder / "book/_ext/publishing.py")], check=True)
    return (folder / "README.md").read_text("utf-8"), (folder / "CITATION.cff").read_text("utf-8")


def test_readme_and_citation_agree_with_the_configuration(copy: Path) -> None:
    stored = tuple((ROOT / name).read_text("utf-8") for name in ("README.md", "CITATION.cff"))
    assert make_links(copy) == stored, "run make links"


def test_readme_and_citation_follow_the_url(copy: Path) -> None:
    (copy / "_config.yml").write_text(config_with(URL), "utf-8")
    readme, citation = make_links(copy)
    assert f"**[Read it online]({SITE})**" in readme
    assert f"({URL}/actions/workflows/ci.yml)" in readme
    assert f"(https://mybinder.org/v2/gh/OWNER/NAME/{BRANCH}?" in readme
    assert f"(https://colab.research.google.com/github/OWNER/NAME/blob/{BRANCH})" in readme
    assert yaml.safe_load(citation).items() >= {"url": SITE, "repository-code": URL}.items()

    (copy / "_config.yml").write_text(config_with(""), "utf-8")
    readme, citation = make_links(copy)
    assert not re.search(r"Read it online|mybinder|colab\.|github\.com", readme)
    assert not {"url", "repository-code"} & yaml.safe_load(citation).keys()


def test_the_workflow_runs_for_the_branch_of_the_book() -> None:
    triggers = WORKFLOW[True]  # YAML reads the word "on" as true
    assert triggers["push"]["branches"] == [BRANCH]
    assert "pull_request" in triggers


def test_the_workflow_may_only_read_and_a_bot_keeps_what_it_uses_fresh() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    allowed = {name: job["permissions"] for name, job in WORKFLOW["jobs"].items() if "permissions" in job}
    assert allowed == {"publish": {"pages": "write", "id-token": "write"}}
    bot = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text("utf-8"))
    watched = {update["package-ecosystem"]: update["directory"] for update in bot["updates"]}
    assert watched == {"github-actions": "/", "pip": "/"}
    steps = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in steps if "uses" in step)


def test_every_package_that_the_course_asks_for_has_an_exact_version_in_its_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = map(Requirement, project["dependencies"] + project["optional-dependencies"]["dev"])
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [
        re.fullmatch(r"([\w.-]+)==([\w.+-]+)(?: ;.*)?", line) for line in lines if line[:1] not in ("", "#")
    ]
    assert all(pins)
    versions = {canonicalize_name(pin[1]): pin[2] for pin in pins}
    for package in wanted:
        assert versions[canonicalize_name(package.name)] in package.specifier, package


def test_no_file_names_an_unknown_host() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout, so nothing tells the course's files from others in the folder")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    texts = {
        name: (ROOT / name).read_text("utf-8", errors="replace") for name in listed if (ROOT / name).is_file()
    }
    url = CONFIG["repository"]["url"]
    own = {host for address in (url, url and PUBLISHING["site"](url)) for host in HOST.findall(address)}
    named = {(host, name) for name, text in texts.items() for host in HOST.findall(text)}
    assert len(named) > 50
    assert sorted(pair for pair in named if pair[0] not in own.union(HOSTS.split())) == []
    # And no page tells readers to install a package of that name, because nobody here has registered it.
    assert [
        name for name, text in texts.items() if re.search(r"pip install\s[^\n`]*attention-course", text)
    ] == []
