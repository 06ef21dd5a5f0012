"""How the Makefile makes the environment: with which Python, with whose settings, and when anew.

A course of three files is installed here, from a folder of packages and without the network.
"""

import inspect
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]


def write_wheel(path: Path, files: dict[str, str]) -> None:
    """Write a package that pip can install. Its name and version are those of the file."""
    name, version = path.name.split("-")[:2]
    needs = "Provides-Extra: dev\nRequires-Dist: matplotlib; extra == 'dev'\n"
    about = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
    }
    files = files | {f"{name}-{version}.dist-info/{file}": text for file, text in about.items()}
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in files.items():
            wheel.writestr(file, text)
        wheel.writestr(f"{name}-{version}.dist-info/RECORD", "".join(f"{file},,\n" for file in files))


#: What builds the small course: a package that leads to the course's folder.
BACKEND = f"""
import zipfile
from pathlib import Path

{inspect.getsource(write_wheel)}

def build_editable(folder, config_settings=None, metadata_directory=None):
    write_wheel(Path(folder, "course-1-py3-none-any.whl"), {{"course.pth": str(Path.cwd())}})
    return "course-1-py3-none-any.whl"
"""


def make(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess:
    """Run make in a folder, whatever make and whatever settings of pip this test was started with."""
    from_outside = ("MAKE", "MFLAGS", "PIP_", "PYTHON")
    inherited = {n: v for n, v in os.environ.items() if not n.startswith(from_outside)}
    return subprocess.run(
        ["make", *words], cwd=folder, env=inherited | variables, capture_output=True, text=True, check=False
    )


@pytest.fixture
def course(tmp_path) -> Path:
    """A folder with the Makefile and a course that prints where its code is; no environment."""
    folder = tmp_path / "my course"
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    build = 'requires = []\nbuild-backend = "backend"\nbackend-path = ["."]'
    files = {
        "pyproject.toml": f"[build-system]\n{build}\n",
        "constraints.txt": "",
        "backend.py": BACKEND,
        "course.py": "def main():\n    print(__file__)\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def programs(folder: Path, **versions: str) -> str:
    """A path of programs on which these are the only Pythons: each is the present one, and says another version."""
    folder.mkdir()
    for name in ("sh", "make", "cat", "find", "test"):
        (folder / name).symlink_to(shutil.which(name))
    for name, version in versions.items():
        program = folder / name.replace("_", ".")
        answers = f'*version_info*) echo {version};; *) exec {sys.executable} "$@";;'
        program.write_text(f'#!/bin/sh\ncase "$2" in {answers} esac\n')
        program.chmod(0o755)
    return str(folder)


# Which Python


def test_every_package_takes_the_first_python_that_the_course_takes() -> None:
    # Debian 12 has Python 3.11.2, where pip refuses a release that asks for 3.11.5.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    oldest = re.match(r">=(3\.\d+),", project["requires-python"])[1] + ".0"
    refusing = [
        f"{package.name} {package.version}"
        for package in distributions()
        if oldest not in SpecifierSet(package.metadata.get("Requires-Python") or "")
    ]
    assert not refusing


def test_every_text_names_the_same_versions() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    names = re.search(r"^PYTHONS := (.+)$", makefile, re.MULTILINE)[1].split()
    versions = [name.removeprefix("python") for name in names]
    first, last = versions[0], versions[-1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    major, minor = last.split(".")
    assert project["requires-python"] == f">={first},<{major}.{int(minor) + 1}"
    of_python = [line.rpartition(" ")[2] for line in project["classifiers"] if ":: Python ::" in line]
    assert of_python == versions
    workflow = (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    assert f'python: ["{first}", "{last}"]' in workflow
    said = [
        range_
        for page in [ROOT / "README.md", *ROOT.glob("book/*.md")]
        for range_ in re.findall(r"Python (\d\.\d+ to \d\.\d+)", page.read_text("utf-8"))
    ]
    assert len(said) >= 3
    assert set(said) == {f"{first} to {last}"}


@pytest.mark.parametrize(
    ("versions", "says"),
    [
        ({"python3": "3.15", "python3_13": "3.13"}, "python3 is Python 3.15: python3.13 is on the path: make {}3.13"),
        (
            {"python3": "3.9", "python3_11": "3.11", "python3_14": "3.14", "python3_15": "3.15"},
            "python3 is Python 3.9: python3.11 python3.14 are on the path: make {}3.14",
        ),
        ({"python3": "3.15"}, "python3 is Python 3.15: install python3.14 and type make {}3.14"),
        ({"python3_12": "3.12"}, "python3 is not there: python3.12 is on the path: make {}3.12"),
        ({}, "python3 is not there: install python3.14 and type make {}3.14"),
    ],
)  # fmt: skip
def test_one_line_says_which_python_would_do(course, tmp_path, versions, says) -> None:
    path = programs(tmp_path / "bin", **versions)
    if "python3_11" in versions:  # it is there and does not run, as the programs of pyenv
        (tmp_path / "bin" / "python3.13").write_text("#!/bin/sh\nexit 127\n")
        (tmp_path / "bin" / "python3.13").chmod(0o755)
    result = make(course, "book", PATH=path)
    assert result.returncode != 0
    assert result.stdout == ""
    assert (
        re.sub(r"^Makefile:\d+: \*\*\* ", "", result.stderr)
        == says.format("book PYTHON=python") + ".  Stop.\n"
    )
    assert not (course / ".venv").exists()


@pytest.mark.parametrize("name", ["a$b", "a{b}", 'a"b', "a`touch touched`b", "a\\b"])
def test_a_folder_in_which_python_cannot_install_is_refused(course, name) -> None:
    folder = course.rename(course.parent / name)
    result = make(folder, "lint", f"PYTHON={sys.executable}", "VENV=.venv")
    assert result.returncode != 0
    says = f"the path {folder}/.venv has the character {name[1]}, with which Python cannot install: rename the folder"
    assert result.stderr.endswith(f" *** {says}.  Stop.\n")
    assert {path.name for path in folder.iterdir()} == {
        "Makefile", "pyproject.toml", "constraints.txt", "backend.py", "course.py",
    }  # fmt: skip


# The environment


@pytest.fixture
def variables(tmp_path) -> dict[str, str]:
    """A user without a home, whose settings of pip, as variables and in its file, lead packages to other places."""
    (packages := tmp_path / "packages").mkdir()
    write_wheel(packages / "setuptools-99-py3-none-any.whl", {})
    write_wheel(
        packages / "matplotlib-1-py3-none-any.whl",
        {"matplotlib/font_manager.py": "print(__import__('os').environ['HOME'])"},
    )
    (tmp_path / "mine" / "pip").mkdir(parents=True)  # a package that hides pip
    places = {name: f"{tmp_path}/elsewhere/{name}" for name in ("prefix", "root", "target")}
    lines = ["[global]", "no-index = 1", f"find-links = {packages}", "user = true"]
    lines += [f"{name} = {place} of the file" for name, place in places.items()]
    (tmp_path / "pip.conf").write_text("\n".join(lines))
    found = {f"PIP_{name.upper()}": place for name, place in places.items()}
    found |= {"PIP_CONFIG_FILE": f"{tmp_path}/pip.conf", "PIP_USER": "1", "PIP_PYTHON": "/nowhere/python"}
    return found | {"PYTHONPATH": f"{tmp_path}/mine", "HOME": f"{tmp_path}/pip.conf/home"}


@pytest.mark.slow
def test_the_environment_is_made_whatever_the_user_has_set_and_again_in_another_folder(
    course, variables, tmp_path
) -> None:
    def anew(folder: Path) -> bool:
        """Whether make would make the environment anew."""
        result = make(folder, "--dry-run", f"PYTHON={sys.executable}", "VENV=.venv", "lint", **variables)
        assert result.returncode == 0, result.stderr
        return "-m venv --clear .venv" in result.stdout

    (course / ".venv" / "bin").mkdir(parents=True)  # half an environment, as Debian's Python leaves it
    (course / ".venv" / "bin" / "python").symlink_to(sys.executable)
    assert anew(course)
    made = make(course, f"PYTHON={sys.executable}", "VENV=.venv", ".venv/.installed", **variables)
    assert made.returncode == 0, made.stderr
    assert made.stdout.endswith(f"{course}/.venv/home\n")
    shown = subprocess.check_output([course / ".venv/bin/course"], text=True)
    assert shown == f"{course / 'course.py'}\n"
    assert not (tmp_path / "elsewhere").exists()

    assert not anew(course)
    (course / "constraints.txt").touch()  # brings packages up to date
    assert not anew(course)
    assert anew(shutil.copytree(course, tmp_path / "copy", symlinks=True))
    assert not anew(course)
    moved = course.rename(tmp_path / "moved")
    assert anew(moved)
    assert not anew(moved.rename(course))
    (course / ".venv/bin/python").unlink()  # as after an upgrade of the system
    assert anew(course)
