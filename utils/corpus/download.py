"""Download files of sentence pairs, check them, and put them into the data folder.

If no address gives a file, one DownloadError lists the answer of each. ``pairs`` reads the sentences.

The package `pooch` downloads, checks, unpacks and keeps files, but it could replace only ``_fetch`` and a few lines
more. It checks an archive and not the text in it. It accepts a server that sends a byte now and then, a redirect from
https to http, and a download of any size. We would have to add these checks, each of which has a test, so the module
would not become shorter.
Explained in book/data_and_licences.
"""

import dataclasses
import datetime
import hashlib
import io
import json
import re
import tempfile
import time
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import requests
import urllib3
from tqdm import tqdm

from utils.corpus.pairs import SOURCE_PAGE, data_folder, read_pairs

#: ManyThings answers the default names of programming libraries with status 406.
USER_AGENT = "attention-course/unreleased (sentence pairs for teaching)"
#: Seconds without data from a server after which its download fails.
TIMEOUT = 30.0
#: Bytes per second below which a download fails, once it has taken as long as ``TIMEOUT``.
SLOWEST = 1000
#: Largest archive, and largest text in it; those of this course have less than 12 MB.
MAX_BYTES = 64 << 20

_ZIP_MAGIC = b"PK\x03\x04"


@dataclass(frozen=True)
class Corpus:
    """A pair file that others publish, and the edition of it that this course measures on."""

    name: str
    columns: tuple[str, str]  #: languages
    edition: str  #: the date that the publisher gave to the edition
    sha256: str  #: checksum of the text of that edition
    num_rows: int  #: number of sentence pairs in that edition
    pinned: tuple[str, ...]  #: addresses of archives that hold that edition and no other
    rolling: tuple[str, ...]  #: addresses of archives that hold the newest edition

    @property
    def member(self) -> str:
        """Name of the text, in the archive and in the data folder."""
        return f"{self.name}.txt"

    @property
    def archive(self) -> str:
        """Name of the archive."""
        return f"{self.name}-eng.zip"


_CHINESE = Corpus(
    name="cmn",
    columns=("en", "zh"),
    edition="2026-02-13",
    sha256="d766002332a8f21099afd7427138d44f06bed7486a18f7f0f26f217092667d73",
    num_rows=32_028,
    pinned=(),
    rolling=(f"{SOURCE_PAGE}cmn-eng.zip",),
)
_FRENCH = Corpus(
    name="fra",
    columns=("en", "fr"),
    edition="2019-04-07",
    sha256="0bb85dbaa1c896844649094d7eaf2e34bee34e84fe362b26ce7e8f2e12aae104",
    num_rows=167_130,
    pinned=("https://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip",),
    rolling=(f"{SOURCE_PAGE}fra-eng.zip",),
)
#: The pair files of this course, by name.
CORPORA: Mapping[str, Corpus] = MappingProxyType({corpus.name: corpus for corpus in (_CHINESE, _FRENCH)})


@dataclass(frozen=True)
class Provenance:
    """The source of a pair file and its terms of use; stored beside it as JSON."""

    name: str
    edition: str | None  #: the date that its publisher gave to it; None if unknown
    sha256: str
    num_rows: int
    source: str  #: the address or path that the text came from
    recorded: str | None  #: the day in UTC on which this record was stored; None if it was not stored
    notes: str | None  #: what the publisher wrote about the file, from the archive
    licence: str = "CC BY 2.0 FR, https://creativecommons.org/licenses/by/2.0/fr/"
    attribution: str = "tatoeba.org and www.manythings.org/anki"  #: whom the licence asks you to name


class CorpusFile(NamedTuple):
    """A pair file in the data folder, and whether it is the edition that this course measures on."""

    path: Path
    provenance: Provenance
    is_pinned: bool


class _Text(NamedTuple):
    content: bytes
    notes: str | None
    source: str


class DownloadError(OSError):
    """No address gave the file; the message lists the answer of each and what you can do."""


def get_corpus(
    name: str,
    *,
    path: str | Path | None = None,
    folder: str | Path | None = None,
    replace: bool = False,
    progress: bool = False,
    corpora: Mapping[str, Corpus] = CORPORA,
) -> CorpusFile:
    """Put a pair file into the data folder and check it.

    The file comes from the first of these that exists: ``path``; the text in the data folder; an archive in the
    data folder; the pinned addresses; the rolling addresses. A bad file on this computer is an error; after a
    bad address the next one is tried. A text from a pinned address must have the checksum of the corpus. Any
    other edition is accepted the first time; after that, a text with another checksum needs ``replace``.

    Args:
        name: key of ``corpora``: "cmn" or "fra".
        path: an archive or a text that you have already.
        folder: data folder; the default is :func:`utils.corpus.pairs.data_folder`.
        replace: get the file again, and accept another edition than the one in the data folder.
        progress: show a progress bar.
        corpora: the files to choose from.

    Raises:
        ValueError: an unknown name, or a file on this computer that is not a good pair file, or is another
            edition than the one in the data folder.
        FileNotFoundError: there is nothing at ``path``.
        DownloadError: no address gave the file.
        OSError: the data folder cannot be written to, or the disk is full.
    """
    if name not in corpora:
        raise ValueError(f"name must be one of {', '.join(corpora)}, got {name}")
    corpus, folder = corpora[name], Path(folder or data_folder()) / "tatoeba"
    folder.mkdir(parents=True, exist_ok=True)
    previous = _read_record(folder / f"{name}.source.json")
    files = [folder / corpus.archive] if replace else [folder / corpus.member, folder / corpus.archive]
    for file in [file for file in files if file.exists()] if path is None else [Path(path)]:
        try:
            return _install(_read_local(file, corpus), corpus, folder, previous, replace=replace)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from error
    answers = ""
    for address in (*corpus.pinned, *corpus.rolling):
        try:
            text = _unpack(_fetch(address, progress=progress), corpus, address)
            if address in corpus.pinned and (sha256 := _sha256(text.content)) != corpus.sha256:
                raise ValueError(f"the sha256 of {corpus.member} must be {corpus.sha256}, got {sha256}")
            return _install(text, corpus, folder, previous, replace=replace)
        except (requests.RequestException, ValueError) as error:
            answers += f"  {address}: {_reason(error)}\n"
    raise DownloadError(
        f"no address gave {corpus.member}:\n{answers}"
        f"You can download {corpus.archive} yourself, put it into the folder\n  {folder.absolute()}\n"
        f"and run the command again. This course measures on the edition of {corpus.edition}, "
        f"whose {corpus.member} has the sha256\n  {corpus.sha256}"
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _fetch(address: str, *, progress: bool) -> bytes:
    """Download an address into memory, so that an interrupted download leaves no file.

    Raises:
        requests.RequestException: no answer, a bad status, or fewer bytes than the server announced.
        ValueError: too many bytes, or too few per second.
    """
    options = {"headers": {"User-Agent": USER_AGENT}, "hooks": {"response": _refuse_insecure_redirect}}
    content, start = io.BytesIO(), time.monotonic()
    with requests.get(address, stream=True, timeout=TIMEOUT, **options) as response:
        response.raise_for_status()
        total = int(response.headers.get("Content-Length", 0)) or None
        with tqdm(total=total, disable=not progress, unit="B", unit_scale=True) as bar:
            # Read the bytes that are there. A whole block may never come if the server sends one byte at a time.
            while part := _read(response):
                content.write(part)
                bar.update(len(part))
                if content.tell() > MAX_BYTES:
                    raise ValueError(f"the archive is larger than the {MAX_BYTES} bytes allowed")
                seconds = time.monotonic() - start
                if seconds > TIMEOUT and content.tell() < SLOWEST * seconds:
                    raise ValueError(f"only {content.tell()} bytes in {seconds:.0f} s")
    return content.getvalue()


def _read(response: requests.Response) -> bytes:
    try:
        return response.raw.read1(1 << 16, decode_content=True)
    except urllib3.exceptions.HTTPError as error:
        raise requests.ConnectionError(error) from error


def _refuse_insecure_redirect(response: requests.Response, **_: object) -> None:
    target = response.headers.get("Location", "")
    if response.url.startswith("https:") and target.lower().startswith("http:"):
        raise ValueError(f"status {response.status_code}, a redirect from https to {target}")


def _reason(error: Exception) -> str:
    """The reason why an address gave no file, in a few words."""
    if isinstance(error, requests.HTTPError):
        return f"status {error.response.status_code} ({error.response.reason})"
    if isinstance(error, requests.RequestException):
        # requests and urllib3 wrap the error of the system in several of their own.
        while inner := error.__cause__ or next(
            (part for part in error.args if isinstance(part, Exception)), None
        ):
            error = inner
    return f"no answer for {TIMEOUT:g} s" if isinstance(error, TimeoutError) else str(error)


def _read_local(path: Path, corpus: Corpus) -> _Text:
    """The text in an archive or a text file on this computer."""
    size = path.stat().st_size
    if not path.is_file():  # reading a device or a pipe may never end
        raise ValueError("not a regular file")
    if size > MAX_BYTES:
        raise ValueError(f"{size} bytes, more than the {MAX_BYTES} allowed")
    content, source = path.read_bytes(), str(path.absolute())
    is_archive = path.suffix == ".zip" or content.startswith(_ZIP_MAGIC)
    return _unpack(content, corpus, source) if is_archive else _Text(content, None, source)


def _unpack(packed: bytes, corpus: Corpus, source: str) -> _Text:
    """The text in a zip archive; nothing is written to the disk."""
    if not packed.startswith(_ZIP_MAGIC):
        raise ValueError(f"not a zip archive, it begins with {packed[:40]!r}")
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            content, notes = (_read_member(archive, name) for name in (corpus.member, "_about.txt"))
            names = ", ".join(repr(file.filename) for file in archive.infolist()[:5])
    except Exception as error:  # zipfile raises errors of many types for damaged archives
        raise ValueError(f"bad zip archive: {error}") from error
    if content is None:
        raise ValueError(f"the archive must hold {corpus.member} once, it holds {names or 'nothing'}")
    return _Text(content, None if notes is None else notes.decode("utf-8", "replace"), source)


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes | None:
    """The file of that name, at the top or in one folder; None unless there is exactly one."""
    files = [
        file for file in archive.infolist() if re.fullmatch(rf"([\w-]+/)?{re.escape(name)}", file.filename)
    ]
    if len(files) != 1:
        return None
    [file] = files
    if file.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack without a limit
        raise ValueError(f"{name} is compressed by method {file.compress_type}, must be stored or deflated")
    if file.file_size > MAX_BYTES:
        raise ValueError(f"{name} unpacks to {file.file_size} bytes, more than the {MAX_BYTES} allowed")
    with archive.open(file) as stream:
        return stream.read(file.file_size)  # with its size as a limit, in case the archive lies about it


def _read_record(path: Path) -> Provenance | None:
    """The record of the text that was installed before, if there is one."""
    if not path.is_file():
        return None
    try:
        return Provenance(**json.loads(path.read_bytes()))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged, delete it and try again: {error}") from error


def _install(
    text: _Text, corpus: Corpus, folder: Path, previous: Provenance | None, *, replace: bool
) -> CorpusFile:
    """Check a text, and put it and its record into the data folder unless they are there already."""
    path, sha256 = folder / corpus.member, _sha256(text.content)
    is_pinned = sha256 == corpus.sha256
    present_sha256 = _sha256(path.read_bytes()) if path.is_file() else None
    expected = previous.sha256 if previous else present_sha256 or sha256
    if sha256 != expected and not replace:
        raise ValueError(
            f"this {corpus.member} has the sha256 {sha256}, the one that you had before has {expected}; "
            "add --replace to accept this edition"
        )
    if previous and previous.sha256 == sha256 == present_sha256:
        return CorpusFile(path, previous, is_pinned)
    date = re.search(r"Date of this file:\s*(\d{4}-\d{2}-\d{2})", text.notes or "")
    edition = corpus.edition if is_pinned else date and date[1]
    provenance = Provenance(corpus.name, edition, sha256, corpus.num_rows, text.source, None, text.notes)
    if is_pinned and present_sha256 == sha256:  # needs no record, and the folder may be read-only
        return CorpusFile(path, provenance, is_pinned)
    # Files are written into a temporary folder and renamed, so that an incomplete file never has the final name.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as temporary:
        part, record = Path(temporary) / corpus.member, Path(temporary) / f"{corpus.name}.source.json"
        part.write_bytes(text.content)
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        num_rows = corpus.num_rows if is_pinned else _count_pairs(part, corpus)
        provenance = dataclasses.replace(provenance, num_rows=num_rows, recorded=today)
        record.write_text(json.dumps(asdict(provenance), ensure_ascii=False, indent=1), encoding="utf-8")
        part.replace(path)
        record.replace(folder / record.name)
    return CorpusFile(path, provenance, is_pinned)


def _count_pairs(path: Path, corpus: Corpus) -> int:
    """Number of sentence pairs; raise ValueError if the file is of another kind or much too short."""
    try:
        num_rows = len(read_pairs(path, corpus.columns).rows)
    except ValueError as error:
        raise ValueError(str(error).replace(str(path), corpus.member)) from error
    if 2 * num_rows < corpus.num_rows:
        raise ValueError(
            f"{corpus.member} has {num_rows} pairs, less than half of the {corpus.num_rows} "
            f"of the edition of {corpus.edition}"
        )
    return num_rows
