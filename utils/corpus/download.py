"""The two files of real sentence pairs that this course measures on, and how they get into the data folder.

`pooch` downloads an archive, tries again after a fault, and compares checksums; ``pairs`` reads the sentences.
Explained in book/data_and_licences.
"""

import hashlib
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import NamedTuple

import pooch

from utils.corpus.pairs import SOURCE_PAGE, data_folder, find_file, read_pairs
from utils.errors import CourseError

#: The terms of both files, and whom the licence asks you to name.
LICENCE = "CC BY 2.0 FR, https://creativecommons.org/licenses/by/2.0/fr/"
ATTRIBUTION = "tatoeba.org and www.manythings.org/anki"
#: ManyThings answers the default names of programming libraries with status 406.
_HEADERS = {"User-Agent": "attention-course (sentence pairs for teaching)"}


@dataclass(frozen=True)
class Corpus:
    """A pair file that others publish, and the edition of it that this course measures on."""

    columns: tuple[str, str]  #: languages
    edition: str  #: the date that the publisher gave to the edition
    sha256: str  #: checksum of the text of that edition
    num_rows: int  #: number of sentence pairs in that edition
    #: Addresses of archives of the text, and the checksum of each; None where new editions replace the old ones.
    addresses: Mapping[str, str | None]


#: The pair files of this course, by name.
CORPORA: Mapping[str, Corpus] = MappingProxyType(
    {
        "cmn": Corpus(
            columns=("en", "zh"),
            edition="2026-02-13",
            sha256="d766002332a8f21099afd7427138d44f06bed7486a18f7f0f26f217092667d73",
            num_rows=32_028,
            addresses={f"{SOURCE_PAGE}cmn-eng.zip": None},
        ),
        "fra": Corpus(
            columns=("en", "fr"),
            edition="2019-04-07",
            sha256="0bb85dbaa1c896844649094d7eaf2e34bee34e84fe362b26ce7e8f2e12aae104",
            num_rows=167_130,
            addresses={
                "https://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip": (
                    "sha1:94646ad1522d915e7b0f9296181140edcf86a4f5"
                ),
                f"{SOURCE_PAGE}fra-eng.zip": None,
            },
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
    """No address gave the file; the message lists the answer of each and what you can do."""


def get_corpus(
    name: str,
    *,
    path: str | Path | None = None,
    replace: bool = False,
    progress: bool = False,
    corpora: Mapping[str, Corpus] = CORPORA,
) -> CorpusFile:
    """Put a pair file into the data folder, if it is not there, and check it.

    The file gets its name only after it has been checked, so an interrupted download leaves no half file.

    Args:
        name: key of ``corpora``: "cmn" or "fra".
        path: an archive or a text that you have already, to take in place of a download.
        replace: get the file again, and write over the one in the data folder.
        progress: show a progress bar.
        corpora: the files to choose from.

    Raises:
        ValueError: an unknown name, a file that is no pair file, or ``path`` names another text than the one in the
            data folder, without ``replace``.
        FileNotFoundError: there is nothing at ``path``.
        DownloadError: no address gave the file.
        OSError: the data folder cannot be written to, or the disk is full.
    """
    if name not in corpora:
        raise CourseError(f"name must be one of {', '.join(corpora)}, got {name}")
    place = data_folder() / "tatoeba" / f"{name}.txt"
    if path is None and not replace and place.exists():
        return _checked(place, corpora[name])
    place.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=place.parent, prefix=".new-") as temporary:
        part = Path(temporary) / place.name
        if path is None:
            found = _download(name, corpora[name], part, progress=progress)
        else:
            found = _unpack(find_file(path), part, corpora[name])
        if not replace and place.exists() and place.read_bytes() != part.read_bytes():
            raise CourseError(
                f"{place} is there already and has another text: add --replace to write over it"
            )
        part.replace(place)
    return found._replace(path=place)


def _download(name: str, corpus: Corpus, part: Path, *, progress: bool) -> CorpusFile:
    """Write the text from the first address that gives it."""
    pooch.get_logger().setLevel("WARNING")  # not a line for every address
    downloader = pooch.HTTPDownloader(progressbar=progress, headers=_HEADERS, timeout=30)
    archive, answers = f"{name}-eng.zip", ""
    for address, checksum in corpus.addresses.items():
        with TemporaryDirectory() as folder:
            source = pooch.create(
                folder, base_url="", registry={archive: checksum}, urls={archive: address}, retry_if_failed=1
            )
            try:
                return _unpack(Path(source.fetch(archive, downloader=downloader)), part, corpus)
            except (OSError, ValueError) as error:
                answers += f"  {address}: {' '.join(str(error).split())}\n"
    raise DownloadError(
        f"no address gave {part.name}:\n{answers}"
        f"You can download {archive} in a browser and name it: attention-course data get {name} --from {archive}"
    )


def _unpack(file: Path, part: Path, corpus: Corpus) -> CorpusFile:
    """Write the text in an archive, or the text itself, to ``part``; raise ValueError if it is no good pair file."""
    try:
        part.write_bytes(_text_in(file, part.name))
        return _checked(part, corpus)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # or it has a password
        raise CourseError(f"{file} cannot be unpacked: {error}") from error
    except ValueError as error:
        raise CourseError(str(error).replace(str(part), str(file))) from error


def _text_in(file: Path, name: str) -> bytes:
    """The file of that name in a zip archive, at the top or in a folder; the content of any other file."""
    if not zipfile.is_zipfile(file):
        return file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        for member in archive.namelist():
            if PurePosixPath(member).name == name:
                return archive.read(member)
    raise CourseError(f"{file} holds no {name}")


def _checked(file: Path, corpus: Corpus) -> CorpusFile:
    """What is known of a text; raise ValueError if it is no pair file."""
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    is_pinned = sha256 == corpus.sha256
    num_rows = corpus.num_rows if is_pinned else len(read_pairs(file, corpus.columns).rows)
    return CorpusFile(file, sha256, num_rows, is_pinned)
