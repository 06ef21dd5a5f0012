"""The scripts of figures and of the translator's page: joined into one, they must not get in one another's way."""

import re
from pathlib import Path

import pytest

from utils.figures import live, still

ROOT = Path(__file__).parents[2]
UTILS = ROOT / "utils"
SCRIPTS = sorted(path for path in UTILS.rglob("*.js"))
#: Scripts that run for what they do, and offer nothing.
PROGRAMS = {"figures/script/page", "translator/page/page", "translator/page/frame", "translator/page/worker"}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(UTILS)))
def test_a_script_offers_one_object_with_its_own_name(path: Path) -> None:
    name = path.relative_to(UTILS).with_suffix("").as_posix()
    offered = re.findall(r"^(?!//|/\*\* @type)\S.*", path.read_text("utf-8"), re.MULTILINE)
    if name in PROGRAMS:
        assert offered == ["(() => {", "})();"]
    elif name == "figures/script/kinds":
        assert offered == ["const kinds = {};"]
    else:
        start = f"kinds.{path.stem} = " if path.parent.name == "kinds" else f"const {path.stem} = "
        assert offered == [f"{start}(() => {{", "})();"]


def test_every_script_is_joined() -> None:
    joined = [*still._PURE, *live._IN_PAGES, "page"]
    assert sorted(joined) == sorted(path.stem for path in SCRIPTS if path.parent.name == "script")
    page = (UTILS / "translator" / "page" / "html.py").read_text("utf-8")
    for path in SCRIPTS:
        assert path.parent.name != "page" or f'"{path.name}"' in page


def test_comments_are_taken_out_and_nothing_else() -> None:
    script = live.page_script()
    assert "@param" not in script
    assert "http://www.w3.org/2000/svg" in script  # two strokes within a text are no comment
    assert "“[.。]”" in script
