"""Pair files that arrive: found, fetched from the places that publish them, checked, and put into the data folder.

Nothing is read for training here, and no file stands in for another: what cannot be had is one error.
Explained in book/data_and_licences.
"""

import datetime
import hashlib
import http.client
import io
import json
import re
import struct
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import BinaryIO, NamedTuple
from urllib.parse import urlsplit

from tqdm import tqdm

from utils.corpus.pairs import SOURCE_PAGE, data_folder, read_pairs
from utils.translator.checkpoints import naming, write_atomically, write_part

# ManyThings answers Python's own name with status 406.
USER_AGENT = "attention-course (+https://github.com/attention-course/attention-course)"

_ZIP_TYPES = {
    "application/zip",
    "application/x-zip",
    "application/x-zip-compressed",
    "application/octet-stream",
    "binary/octet-stream",
}
_ZIP_MAGIC = b"PK\x03\x04"
#: What zipfile raises on archives that somebody changed at random; RuntimeError is a password.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    IndexError,
    OverflowError,
    RuntimeError,
    ValueError,
)
_EDITION = re.compile(r"Date of this file:\s*(\d{4}-\d{2}-\d{2})")
#: Requests for one archive, as long as each brings the download forward.
_ATTEMPTS = 3
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Corpus:
    """A pair file that others publish, and the edition of it that the scores of this course were measured on.

    Attributes:
        name: what to ask for.
        columns: languages of its columns.
        edition: date that the publisher gave to the edition.
        sha256: checksum of that edition's text.
        num_rows: its sentence pairs.
        pinned: addresses of archives with that edition and no other.
        rolling: addresses of archives with the newest edition, whichever that is.
        licence: terms of the text, with their address.
        attribution: whom these terms ask you to name.
    """

    name: str
    columns: tuple[str, str]
    edition: str
    sha256: str
    num_rows: int
    pinned: tuple[str, ...]
    rolling: tuple[str, ...]
    licence: str = "CC BY 2.0 FR, https://creativecommons.org/licenses/by/2.0/fr/"
    attribution: str = "tatoeba.org and www.manythings.org/anki"

    @property
    def member(self) -> str:
        """Name of the text, in the archive and in the data folder."""
        return f"{self.name}.txt"

    @property
    def archive(self) -> str:
        """Name of the archive."""
        return f"{self.name}-eng.zip"


#: The pair files that can be asked for, by name.
CORPORA: Mapping[str, Corpus] = MappingProxyType(
    {
        corpus.name: corpus
        for corpus in (
            Corpus(
                name="cmn",
                columns=("en", "zh"),
                edition="2026-02-13",
                sha256="d766002332a8f21099afd7427138d44f06bed7486a18f7f0f26f217092667d73",
                num_rows=32_028,
                pinned=(),
                rolling=(f"{SOURCE_PAGE}cmn-eng.zip",),
            ),
            Corpus(
                name="fra",
                columns=("en", "fr"),
                edition="2019-04-07",
                sha256="0bb85dbaa1c896844649094d7eaf2e34bee34e84fe362b26ce7e8f2e12aae104",
                num_rows=167_130,
                pinned=("https://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip",),
                rolling=(f"{SOURCE_PAGE}fra-eng.zip",),
            ),
        )
    }
)


@dataclass(frozen=True)
class Limits:
    """What a source may cost before it is refused.

    Attributes:
        seconds: longest silence of a server.
        archive_bytes: largest archive.
        text_bytes: largest text, unpacked.
        members: most files in an archive.
    """

    seconds: float = 30.0
    archive_bytes: int = 64 << 20
    text_bytes: int = 256 << 20
    members: int = 100


@dataclass(frozen=True)
class Provenance:
    """Where a pair file came from and on which terms; kept beside it as JSON.

    Attributes:
        name: name of the corpus.
        edition: date that its publisher gave it; None where nothing tells.
        sha256: checksum of the text.
        num_rows: sentence pairs in it.
        source: address or path that it came from.
        recorded: the day this was written beside the text, in UTC; None where nothing was.
        licence: terms of the text.
        attribution: whom these terms ask you to name.
        notes: what the publisher wrote about it, where that came along.
    """

    name: str
    edition: str | None
    sha256: str
    num_rows: int
    source: str
    recorded: str | None
    licence: str
    attribution: str
    notes: str | None


class Obtained(NamedTuple):
    """A pair file in the data folder, and whether it is the edition that the course's scores were measured on."""

    path: Path
    provenance: Provenance
    is_pinned: bool


class DownloadError(OSError):
    """No address gave the file; the message has each with its reason, and what to do by hand.

    Args:
        message: all of it.
        reasons: what was wrong, by address.
    """

    def __init__(self, message: str, reasons: Mapping[str, str]):
        super().__init__(message)
        self.reasons = dict(reasons)


class _SourceError(Exception):
    """Something is wrong with a source; another may do."""


class _Interrupted(_SourceError):
    """A connection ended early; what came is kept."""


class _Text(NamedTuple):
    """A pair file's bytes as they came, and what its publisher wrote about them."""

    content: bytes
    notes: str | None = None


def get_corpus(
    name: str,
    *,
    path: str | Path | None = None,
    folder: str | Path | None = None,
    replace: bool = False,
    progress: bool = False,
    limits: Limits | None = None,
    corpora: Mapping[str, Corpus] = CORPORA,
) -> Obtained:
    """See that a pair file is in the data folder, and that it is what it should be.

    The first of these that is there is taken: the file at ``path``; the text in the data folder; an archive that
    somebody put beside it; the pinned addresses; the newest edition. A file on this computer that is not good is
    an error; an address that is not good is passed over for the next.

    A text from a pinned address must have the checksum of the corpus. Any other edition is taken as it comes
    the first time, and its checksum kept beside it: from then on a text with another one is refused.

    Args:
        name: which, "cmn" or "fra".
        path: an archive or a text that you have already; it is checked and copied.
        folder: data folder; :func:`utils.corpus.pairs.data_folder` unless said.
        replace: take the file anew though it is there, and take another edition than the one that was kept.
        progress: show a progress bar.
        limits: what a source may cost.
        corpora: what can be asked for.

    Raises:
        ValueError: an unknown name; a file on this computer that is not a good pair file, or not the one that
            was kept.
        FileNotFoundError: nothing at ``path``.
        DownloadError: no address gave the file.
        OSError: the data folder cannot be written to, or the disk is full.
    """
    if name not in corpora:
        raise ValueError(f"name must be one of {', '.join(corpora)}, got {name}")
    limits = limits or Limits()
    place = _Place(corpora[name], Path(folder or data_folder()) / "tatoeba")
    if path is not None:
        local = Path(path)
    elif place.text.is_file() and not replace:
        local = place.text
    elif place.archive.is_file():
        local = place.archive
    else:
        return _from_addresses(place, replace=replace, progress=progress, limits=limits)
    try:
        text = _read_local(local, place.corpus.member, limits)
        return _put(text, place, source=str(local.absolute()), must_be_pinned=False, replace=replace)
    except _SourceError as error:
        raise ValueError(f"{local}: {error}") from error


@dataclass(frozen=True)
class _Place:
    """Where the files of one corpus lie in the data folder."""

    corpus: Corpus
    folder: Path

    @property
    def text(self) -> Path:
        return self.folder / self.corpus.member

    @property
    def archive(self) -> Path:
        return self.folder / self.corpus.archive

    @property
    def record(self) -> Path:
        return self.folder / f"{self.corpus.name}.source.json"

    def kept(self) -> Provenance | None:
        """What is known about the text that was put here."""
        if not self.record.is_file():
            return None
        try:
            return Provenance(**json.loads(self.record.read_bytes()))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{self.record} is damaged, delete it and ask again: {error}") from error

    def expected(self) -> str | None:
        """Checksum that a text must have to be no other than the one that was here before."""
        if (kept := self.kept()) is not None:
            return kept.sha256
        return _sha256(self.text.read_bytes()) if self.text.is_file() else None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _put(text: _Text, place: _Place, *, source: str, must_be_pinned: bool, replace: bool) -> Obtained:
    """Check a text, and see that it and its provenance are in the data folder."""
    corpus, kept, sha256 = place.corpus, place.kept(), _sha256(text.content)
    is_pinned = sha256 == corpus.sha256
    if must_be_pinned and not is_pinned:
        raise _SourceError(f"{corpus.member} has the sha256 {sha256}, wanted {corpus.sha256}")
    expected = place.expected()
    if expected not in (None, sha256) and not replace:
        raise _SourceError(
            f"another {corpus.member}: sha256 {sha256}, the one kept before has {expected}; "
            "ask to replace it (--replace) if you want this one"
        )
    is_here = place.text.is_file() and place.text.read_bytes() == text.content
    if is_here:
        num_rows = _num_rows(place.text, corpus, is_pinned)
    else:
        place.folder.mkdir(parents=True, exist_ok=True)
        part = write_part(place.text, text.content)
        try:
            num_rows = _num_rows(part, corpus, is_pinned)
        except _SourceError:
            part.unlink()
            raise
        part.replace(place.text)
    if kept is not None and kept.sha256 == sha256:
        return Obtained(place.text, kept, is_pinned)
    edition = _EDITION.search(text.notes or "")
    # A text that says itself what it is needs no record, and may lie in a folder that is for reading only.
    to_record = not (is_here and is_pinned)
    provenance = Provenance(
        name=corpus.name,
        edition=corpus.edition if is_pinned else edition and edition[1],
        sha256=sha256,
        num_rows=num_rows,
        source=source,
        recorded=datetime.datetime.now(datetime.UTC).date().isoformat() if to_record else None,
        licence=corpus.licence,
        attribution=corpus.attribution,
        notes=text.notes,
    )
    if to_record:
        record = json.dumps(asdict(provenance), ensure_ascii=False, indent=1)
        write_atomically(place.record, record.encode())
    return Obtained(place.text, provenance, is_pinned)


def _num_rows(path: Path, corpus: Corpus, is_pinned: bool) -> int:
    """Sentence pairs in a text; refuses what is no pair file, or a small part of one."""
    if is_pinned:
        return corpus.num_rows
    try:
        num_rows = len(read_pairs(path, corpus.columns).rows)
    except ValueError as error:
        raise _SourceError(str(error).replace(str(path), corpus.member)) from error
    if 2 * num_rows < corpus.num_rows:
        raise _SourceError(
            f"{corpus.member} has {num_rows} pairs, less than half of the {corpus.num_rows} "
            f"of edition {corpus.edition}"
        )
    return num_rows


# Archives


def _read_local(path: Path, member: str, limits: Limits) -> _Text:
    """An archive or a text on this computer."""
    with path.open("rb") as file:
        is_archive = path.suffix == ".zip" or file.read(len(_ZIP_MAGIC)) == _ZIP_MAGIC
    limit = limits.archive_bytes if is_archive else limits.text_bytes
    if (size := path.stat().st_size) > limit:
        raise _SourceError(f"{size} bytes, more than the {limit} allowed")
    return _read_archive(path, member, limits) if is_archive else _Text(path.read_bytes())


def _read_archive(path: Path, member: str, limits: Limits) -> _Text:
    """One text of a zip archive, and its notes. Nothing is unpacked to the disk, under any name."""
    packed = path.read_bytes()
    if not packed.startswith(_ZIP_MAGIC):
        raise _SourceError(f"not a zip archive, it begins with {packed[:40]!r}")
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            files = archive.infolist()
            if len(files) > limits.members:
                raise _SourceError(
                    f"the archive holds {len(files)} files, more than the {limits.members} allowed"
                )
            for file in files:
                _check_name(file.filename)
            content = _read_member(archive, member, limits.text_bytes)
            if content is None:
                names = ", ".join(file.filename for file in files[:5]) or "nothing"
                raise _SourceError(f"the archive does not hold {member}, it holds {names}")
            notes = _read_member(archive, "_about.txt", _CHUNK)
    except _DAMAGE as error:
        raise _SourceError(f"damaged zip archive: {error}") from error
    return _Text(content, None if notes is None else notes.decode("utf-8", "replace"))


def _check_name(name: str) -> None:
    """Refuse names that lead out of the folder that an archive is unpacked into."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
        raise _SourceError(f"the archive holds a file with the unsafe name {name!r}")


def _read_member(archive: zipfile.ZipFile, name: str, limit: int) -> bytes | None:
    """The file of that name in whatever folder of the archive; None if there is none."""
    files = [
        file for file in archive.infolist() if not file.is_dir() and PurePosixPath(file.filename).name == name
    ]
    if not files:
        return None
    if len(files) > 1:
        raise _SourceError(f"the archive holds {name} {len(files)} times")
    [file] = files
    if file.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _SourceError(f"{name} is packed by method {file.compress_type}, neither stored nor deflated")
    if file.file_size > limit:
        raise _SourceError(f"{name} unpacks to {file.file_size} bytes, more than the {limit} allowed")
    with archive.open(file) as stream:
        content = stream.read(file.file_size + 1)  # no more than that is unpacked, whatever is there
    if len(content) != file.file_size:
        raise zipfile.BadZipFile(
            f"{name} unpacks to {len(content)} bytes where {file.file_size} are announced"
        )
    return content


# Addresses


def _from_addresses(place: _Place, *, replace: bool, progress: bool, limits: Limits) -> Obtained:
    corpus, expected = place.corpus, place.expected()
    place.folder.mkdir(parents=True, exist_ok=True)
    reasons: dict[str, str] = {}
    parts = {address: _Part(place.archive, address) for address in (*corpus.pinned, *corpus.rolling)}
    for address, part in parts.items():
        try:
            _download(part, limits, progress=progress)
            text = _read_archive(part.path, corpus.member, limits)
            obtained = _put(
                text, place, source=address, must_be_pinned=address in corpus.pinned, replace=replace
            )
        except _Interrupted as error:
            reasons[address] = str(error)
        except _SourceError as error:
            part.discard()
            reasons[address] = str(error)
        else:
            for left in parts.values():
                left.discard()
            return obtained
    if expected is None or replace:
        wanted = f"{corpus.sha256}, edition {corpus.edition}"
    else:
        wanted = f"{expected}, the one kept before"
    raise DownloadError(
        "\n".join(
            [
                f"no address gave {corpus.member}:",
                *(f"  {address}: {reason}" for address, reason in reasons.items()),
                f"By hand: put {corpus.archive} from one of them, or the {corpus.member} in it, into the folder",
                f"  {place.folder.absolute()}",
                f"and ask again. sha256 wanted of {corpus.member}:",
                f"  {wanted}",
            ]
        ),
        reasons,
    )


class _Part:
    """A download that has not ended: its bytes, and beside them what it takes to go on with it.

    Args:
        archive: what the file is to become.
        address: where it comes from; each has a part of its own, so that bytes of two editions never mix.
    """

    def __init__(self, archive: Path, address: str):
        self.address = address
        self.path = archive.with_name(f"{archive.name}.{_sha256(address.encode())[:8]}.part")
        self._state = self.path.with_name(f"{self.path.name}.json")

    def resumable(self) -> tuple[int, str | None, int | None]:
        """Bytes that are here, the server's mark of their version, and the size of the whole where known."""
        if not (self.path.is_file() and self._state.is_file()):
            return 0, None, None
        size, state = self.path.stat().st_size, json.loads(self._state.read_bytes())
        if state["version"] is None or size > (state["total"] or size):
            return 0, None, None
        return size, state["version"], state["total"]

    def begin(self, version: str | None, total: int | None) -> None:
        """Start from nothing."""
        self.discard()
        write_atomically(self._state, json.dumps({"version": version, "total": total}).encode())

    def append(self) -> BinaryIO:
        return self.path.open("ab")

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self._state.unlink(missing_ok=True)


def _download(part: _Part, limits: Limits, *, progress: bool) -> None:
    """Fetch an archive, going on where an earlier attempt ended."""
    for attempt in range(_ATTEMPTS):
        before = part.resumable()[0]
        try:
            _request(part, limits, progress=progress)
        except _Interrupted:
            if attempt + 1 == _ATTEMPTS or part.resumable()[0] <= before:
                raise
        else:
            return


def _request(part: _Part, limits: Limits, *, progress: bool) -> None:
    """One request for what is missing of an archive."""
    size, version, total = part.resumable()
    if size and size == total:
        return
    headers = {"User-Agent": USER_AGENT}
    if size:
        headers |= {"Range": f"bytes={size}-", "If-Range": version}
    try:
        request = urllib.request.Request(part.address, headers=headers)
        response = urllib.request.build_opener(_Redirects).open(request, timeout=limits.seconds)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and size:
            part.discard()  # nothing is missing, or too much is here
            return _request(part, limits, progress=progress)
        reason = f"status {error.code} ({' '.join(str(error.reason).split())})"
        # A server that is busy will do later.
        raise (
            _Interrupted if error.code == HTTPStatus.TOO_MANY_REQUESTS or error.code >= 500 else _SourceError
        )(reason) from error
    except (OSError, http.client.HTTPException) as error:
        raise _Interrupted(_reason(error, limits)) from error
    except ValueError as error:  # led on to an address that is none
        raise _SourceError(str(error)) from error
    with response:
        _check_type(response)
        if response.status == HTTPStatus.PARTIAL_CONTENT:
            answered = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
            if not answered or int(answered[1]) != size:
                raise _SourceError("the server sent another part of the archive than it was asked for")
            total = int(answered[2])
        elif response.status == HTTPStatus.OK:
            length = response.headers.get("Content-Length", "")
            size, total = 0, int(length) if length.isdecimal() else None
            part.begin(_version(response), total)
        else:
            raise _SourceError(f"status {response.status} ({response.reason})")
        _receive(response, part, size, total, limits, progress=progress)


def _receive(
    response: http.client.HTTPResponse,
    part: _Part,
    size: int,
    total: int | None,
    limits: Limits,
    *,
    progress: bool,
) -> None:
    """Append what the server sends to the ``size`` bytes that are here."""
    if (total or 0) > limits.archive_bytes:
        raise _SourceError(f"{total} bytes, more than the {limits.archive_bytes} allowed")
    bar = tqdm(
        total=total,
        initial=size,
        unit="B",
        unit_scale=True,
        desc=urlsplit(part.address).netloc,
        disable=not progress,
    )
    with naming(part.path), part.append() as file, bar:
        while total is None or size < total:
            try:
                chunk = response.read1(_CHUNK)
            except (OSError, http.client.HTTPException) as error:
                raise _Interrupted(f"{_reason(error, limits)} after {size} bytes") from error
            if not chunk:
                break
            if (size := size + len(chunk)) > limits.archive_bytes:
                raise _SourceError(f"more than the {limits.archive_bytes} bytes allowed")
            file.write(chunk)
            bar.update(len(chunk))
    if total is not None and size < total:
        raise _Interrupted(f"the connection ended after {size} of {total} bytes")


def _check_type(response: http.client.HTTPResponse) -> None:
    """Refuse what the server says is no archive; where it says nothing, the first bytes will tell."""
    if response.headers.get("Content-Type") and response.headers.get_content_type() not in _ZIP_TYPES:
        raise _SourceError(
            f"status {response.status} with {response.headers.get_content_type()}, not a zip archive"
        )


def _version(response: http.client.HTTPResponse) -> str | None:
    """What tells that an archive has not changed between two requests, if the server says it."""
    tag = response.headers.get("ETag")
    return tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified")


def _reason(error: Exception, limits: Limits) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return f"no answer for {limits.seconds:g} s"
    return str(cause) or type(cause).__name__


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows to another address of the web, and from a protected one to a protected one only."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        schemes = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if schemes[1] not in ("http", "https") or schemes == ("https", "http"):
            fp.close()
            raise _SourceError(f"status {code}, which leads to {newurl}: not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
