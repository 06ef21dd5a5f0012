"""The files of the course have the same bytes for everybody, whatever git does with line ends."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the course was unpacked, not cloned")
def test_git_for_windows_changes_no_file(tmp_path: Path) -> None:
    for name, setting in (("linux", "false"), ("windows", "true")):
        subprocess.run(
            [
                "git",
                "-c",
                f"core.autocrlf={setting}",
                "checkout-index",
                "--all",
                f"--prefix={tmp_path / name}/",
            ],
            cwd=ROOT,
            check=True,
        )
    files = [
        path.relative_to(tmp_path / "linux") for path in (tmp_path / "linux").rglob("*") if path.is_file()
    ]
    assert Path("tests/support/tiny_run/settings.json") in files
    for file in files:
        assert (tmp_path / "windows" / file).read_bytes() == (tmp_path / "linux" / file).read_bytes(), file
