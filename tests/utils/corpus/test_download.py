"""Downloads of pair files, from a local server that answers well, badly, slowly or in part."""

import contextlib
import hashlib
import io
import itertools
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace as changed
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests

from utils.corpus import download
from utils.corpus.download import CORPORA, Corpus, CorpusFile, DownloadError, get_corpus
from utils.corpus.pairs import DATA_VARIABLE, data_folder, read_pairs


def lines(num_rows: int, *, attribution: str = "") -> bytes:
    return "".join(f"I see {i}.\tJe vois {i} !{attribution}\n" for i in range(num_rows)).encode()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content, method)
    return archive.getvalue()


MAX_BYTES = 1 << 16
TEXT = lines(503)
OTHER = lines(509, attribution="\tCC-BY 2.0 (France) Attribution: tatoeba.org #1 & #2")
ABOUT = b"** Info **\r\n\r\nDate of this file:\r\n  2031-07-19\r\n\r\nAttribution: tatoeba.org\r\n"
GOOD = packed({"fra-eng/_about.txt": ABOUT, "fra-eng/fra.txt": TEXT})  # in a folder, as D2L packs it
NEWEST = packed({"_about.txt": ABOUT, "fra.txt": OTHER})  # as ManyThings packs it
HTML = b"<!DOCTYPE html><title>Not here</title>"
BOMB = packed({"fra.txt": bytes(20 << 20)}, zipfile.ZIP_DEFLATED)
LYING_BOMB = BOMB.replace((20 << 20).to_bytes(4, "little"), (100).to_bytes(4, "little"))  # says 100 bytes


class Handler(BaseHTTPRequestHandler):
    server: "Server"

    def do_GET(self) -> None:
        self.server.requests.append((self.path, self.headers["User-Agent"]))
        self.server.answers[self.path](self)

    def log_message(self, *_: object) -> None:
        pass

    def reply(self, status: int, body: bytes = b"", **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = False  # server_close waits for every answer

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Callable[[Handler], None]] = {}
        self.requests: list[tuple[str, str]] = []
        self.released = threading.Event()  # stalled answers wait for it

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"

    def handle_error(self, *_: object) -> None:
        pass  # the client closed the connection, which some tests mean it to do


def reply(status: int, body: bytes = b"", **headers: object) -> Callable[[Handler], None]:
    return lambda handler: handler.reply(status, body, **headers)


def archive(body: bytes) -> Callable[[Handler], None]:
    return reply(200, body, Content_Type="application/zip", Content_Length=len(body))


@pytest.fixture(autouse=True)
def this_computer_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may reach another host, by a proxy or directly."""
    monkeypatch.setenv("no_proxy", "*")
    getaddrinfo = socket.getaddrinfo

    def local(host: str, *arguments: object, **options: object) -> list:
        assert host == "127.0.0.1", f"a test asks for {host}"
        return getaddrinfo(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", local)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        running.answers = {"/pinned.zip": reply(404), "/rolling.zip": reply(404)}
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.released.set()
        running.shutdown()
        thread.join()


@pytest.fixture
def fra(server: Server) -> Corpus:
    """English-French from a pinned and a rolling address of the server; neither has it yet."""
    addresses = [(server.address(path),) for path in ("/pinned.zip", "/rolling.zip")]
    return Corpus("fra", ("en", "fr"), "2019-04-07", sha256(TEXT), 503, *addresses)


@pytest.fixture
def get(tmp_path: Path, fra: Corpus, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CorpusFile]:
    monkeypatch.setattr(download, "MAX_BYTES", MAX_BYTES)

    def run(**options) -> CorpusFile:
        return get_corpus("fra", **({"folder": tmp_path, "corpora": {"fra": fra}} | options))

    return run


def names(folder: Path) -> set[str]:
    return {path.name for path in (folder / "tatoeba").iterdir()}


def test_a_pinned_edition_is_installed_with_its_terms(server, get, tmp_path):
    server.answers["/pinned.zip"] = archive(GOOD)
    obtained = get()
    assert obtained.path == tmp_path / "tatoeba" / "fra.txt"
    assert obtained.path.read_bytes() == TEXT
    assert obtained.is_pinned
    known = obtained.provenance
    assert (known.edition, known.num_rows, known.sha256) == ("2019-04-07", 503, sha256(TEXT))
    assert known.source == server.address("/pinned.zip")
    assert "CC BY 2.0 FR" in known.licence
    assert "tatoeba.org" in known.attribution
    assert "Attribution: tatoeba.org" in known.notes
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", known.recorded)
    record = json.loads((tmp_path / "tatoeba" / "fra.source.json").read_text("utf-8"))
    assert record["licence"] == known.licence
    assert names(tmp_path) == {"fra.txt", "fra.source.json"}
    (tmp_path / "new").touch()
    assert obtained.path.stat().st_mode == (tmp_path / "new").stat().st_mode  # others may read it as usual
    assert get() == obtained  # it is there already, so no address is asked
    # The publisher's server refuses the default names of programming libraries.
    assert server.requests == [("/pinned.zip", "attention-course/unreleased (sentence pairs for teaching)")]


@pytest.mark.parametrize("about", [{"_about.txt": ABOUT}, {}])
@pytest.mark.parametrize("text", [OTHER, b"\xef\xbb\xbf" + OTHER.replace(b"\n", b"\r\n")])
def test_a_newer_edition_is_installed_unchanged_and_reported(server, get, text, about):
    server.answers["/rolling.zip"] = archive(packed({**about, "fra.txt": text}))
    obtained = get()
    assert obtained.path.read_bytes() == text
    assert not obtained.is_pinned
    known = obtained.provenance
    assert (known.num_rows, known.sha256) == (509, sha256(text))
    assert known.edition == ("2031-07-19" if about else None)
    assert read_pairs(obtained.path).rows[3] == ("I see 3.", "Je vois 3 !")
    assert [path for path, _ in server.requests] == ["/pinned.zip", "/rolling.zip"]


def test_redirects_are_followed_and_bytes_are_counted(server, get, capsys):
    server.answers["/pinned.zip"] = reply(302, Location="/moved.zip")
    server.answers["/moved.zip"] = archive(GOOD)
    assert get(progress=True).provenance.source == server.address("/pinned.zip")
    assert re.search(rf"100%.*{len(GOOD) / 1000:.1f}k/", capsys.readouterr().err)


def text(content: bytes) -> Callable[[Handler], None]:
    return archive(packed({"fra.txt": content}))


BAD_ANSWERS: dict[str, tuple[Callable[[Handler], None], str]] = {
    "404 with a page": (reply(404, HTML, Content_Type="text/html"), r"status 404 \(Not Found\)"),
    "a page in place of the archive": (archive(HTML), "not a zip archive, it begins with b'<!DOCTYPE html>"),
    "a length that is no number": (reply(200, GOOD, Content_Length="many"), "invalid literal .*many"),
    "a redirect loop": (reply(302, Location="/rolling.zip"), "Exceeded 30 redirects"),
    "a redirect to a file": (reply(302, Location="file:///etc/passwd"), "No connection adapters.*file:"),
    "a redirect to no address": (reply(302, Location="http://[/"), "Invalid IPv6 URL"),
    "cut off": (reply(200, GOOD[:7001], Content_Length=len(GOOD)), r"IncompleteRead\(7001 bytes read"),
    "cut off before it was stored": (archive(GOOD[:-1000]), "bad zip archive: File is not a zip file"),
    "bzip2": (archive(packed({"fra.txt": TEXT}, zipfile.ZIP_BZIP2)), "bad zip archive: .* by method 12"),
    "no text": (archive(packed({"deu.txt": TEXT})), "the archive must hold fra.txt once, it holds 'deu.txt'"),
    "two texts": (
        archive(packed({"fra.txt": TEXT, "old/fra.txt": TEXT})),
        "the archive must hold fra.txt once",
    ),
    "a path outside": (archive(packed({"../fra.txt": TEXT})), r"the archive .* it holds '\.\./fra\.txt'"),
    "a zip bomb": (archive(BOMB), "bad zip archive: fra.txt unpacks to 20971520 bytes, more"),
    "a large archive": (archive(bytes(2 << 20)), "the archive is larger than the 65536 bytes allowed"),
    "a large archive, length unknown": (reply(200, bytes(2 << 20)), "the archive is larger than"),
    "a page as the text": (text(HTML * 100), "fra.txt: 1 of 1 rows are bad.*a row must have two columns"),
    "an empty text": (text(b""), "fra.txt holds no sentence pair"),
    "UTF-16 without a mark": (
        text("I\tJe\n".encode("utf-16-le")),
        "fra.txt: 2 of 2 rows are bad.*; it looks like UTF-16LE",
    ),
    "a short text": (text(lines(251)), "fra.txt has 251 pairs, less than half of the 503"),
}


@pytest.mark.parametrize(("answer", "reason"), BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_a_bad_answer_is_refused_with_its_reason(server, get, tmp_path, answer, reason):
    server.answers["/rolling.zip"] = answer
    with pytest.raises(DownloadError, match=rf"/rolling\.zip: {reason}"):
        get()
    assert names(tmp_path) == set()


def test_a_redirect_from_https_to_http_is_refused(get, fra, monkeypatch):
    def send(_, request: requests.PreparedRequest, **__: object) -> requests.Response:
        assert request.url.startswith("https:")
        response = requests.Response()
        response.status_code, response.url, response.request = 302, request.url, request
        response.headers["Location"] = "http://127.0.0.1/fra-eng.zip"
        response.raw = io.BytesIO()
        return response

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
    corpora = {"fra": changed(fra, pinned=(), rolling=("https://127.0.0.1/fra-eng.zip",))}
    with pytest.raises(DownloadError, match="status 302, a redirect from https to http://127"):
        get(corpora=corpora)


def test_one_error_lists_every_address_and_remedy(server, get, tmp_path):
    server.answers["/pinned.zip"], server.answers["/rolling.zip"] = archive(NEWEST), reply(406)
    with pytest.raises(DownloadError) as error:
        get()
    assert str(error.value).splitlines() == [
        "no address gave fra.txt:",
        f"  {server.address('/pinned.zip')}: the sha256 of fra.txt must be {sha256(TEXT)}, got {sha256(OTHER)}",
        f"  {server.address('/rolling.zip')}: status 406 (Not Acceptable)",
        "You can download fra-eng.zip yourself, put it into the folder",
        f"  {tmp_path / 'tatoeba'}",
        "and run the command again. This course measures on the edition of 2019-04-07, "
        "whose fra.txt has the sha256",
        f"  {sha256(TEXT)}",
    ]


def test_no_damaged_archive_gives_another_text(get, fra, tmp_path):
    text = lines(11)
    body, path = packed({"fra.txt": text}, zipfile.ZIP_DEFLATED), tmp_path / "damaged.zip"
    corpora = {"fra": changed(fra, sha256=sha256(text), num_rows=11)}
    for i, byte in itertools.product(range(len(body)), (b"\x01", b"\xff")):
        path.write_bytes(body[:i] + byte + body[i + 1 :])
        with contextlib.suppress(ValueError):
            assert get(path=path, corpora=corpora, replace=True).path.read_bytes() == text


def test_a_lying_archive_takes_no_memory(get, tmp_path):
    path = tmp_path / "fra-eng.zip"
    path.write_bytes(LYING_BOMB)
    tracemalloc.start()
    with pytest.raises(ValueError, match="bad zip archive"):
        get(path=path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


def test_every_unreachable_host_has_its_reason(get, fra, monkeypatch):
    def getaddrinfo(host: str, port: int, *_: object) -> list:
        if host == "nowhere.invalid":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, but not listening
        hosts = [f"127.0.0.1:{closed.getsockname()[1]}", "nowhere.invalid"]
        corpus = changed(fra, pinned=(), rolling=tuple(f"http://{host}/a.zip" for host in hosts))
        reasons = r"refused\n  http://nowhere.invalid/a.zip: \[Errno -?\d+\] Name or service not known\n"
        with pytest.raises(DownloadError, match=rf"/a.zip: \[Errno \d+\] Connection {reasons}"):
            get(corpora={"fra": corpus})


@pytest.mark.parametrize("num_bytes", [0, 7001])
def test_a_silent_server_is_given_up(server, get, monkeypatch, num_bytes):
    def stall(handler: Handler) -> None:
        if num_bytes:
            handler.reply(200, GOOD[:num_bytes], Content_Length=len(GOOD))
        handler.server.released.wait(30)

    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    server.answers["/pinned.zip"] = stall
    with pytest.raises(DownloadError, match=r"/pinned\.zip: no answer for 0\.2 s"):
        get()


def test_a_server_that_drips_is_given_up(server, get, monkeypatch):
    """It always sends something before the time is over, but it would take days to send all."""
    now = itertools.count(0, 5)
    monkeypatch.setattr(download, "time", SimpleNamespace(monotonic=lambda: next(now)))

    def drip(handler: Handler) -> None:
        handler.reply(200, b"", Content_Type="application/zip", Content_Length=len(GOOD))
        for number in range(len(GOOD)):
            handler.wfile.write(GOOD[number : number + 1])
            handler.wfile.flush()
            if server.released.wait(0.01):
                return

    server.answers["/pinned.zip"] = server.answers["/rolling.zip"] = drip
    with pytest.raises(DownloadError, match=r"pinned.zip: only \d+ bytes in 35 s"):
        get()
    server.released.set()


KILLED_BEFORE_RENAMING = """
import os, signal, sys
from pathlib import Path
from utils.corpus.download import Corpus, get_corpus

Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
corpus = Corpus("fra", ("en", "fr"), "2019-04-07", sys.argv[3], 503, (sys.argv[1],), ())
get_corpus("fra", folder=sys.argv[2], corpora={"fra": corpus})
"""


def test_after_a_killed_process_the_next_one_succeeds(server, get, tmp_path):
    server.answers["/pinned.zip"] = archive(GOOD)
    arguments = [KILLED_BEFORE_RENAMING, server.address("/pinned.zip"), str(tmp_path), sha256(TEXT)]
    done = subprocess.run([sys.executable, "-c", *arguments], check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    [left_behind] = names(tmp_path)
    assert left_behind.startswith(".new-")
    assert get().path.read_bytes() == TEXT
    assert names(tmp_path) == {"fra.txt", "fra.source.json", left_behind}


def test_a_full_disk_is_blamed_on_no_address(server, get, tmp_path):
    server.answers["/pinned.zip"] = archive(GOOD)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(TEXT) // 2, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as error:
            get()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not isinstance(error.value, DownloadError)
    assert len(server.requests) == 1
    assert names(tmp_path) == set()
    assert get().path.read_bytes() == TEXT


@pytest.mark.parametrize(("name", "content"), [("a.zip", GOOD), ("a.txt", TEXT), ("no suffix", GOOD)])
def test_a_given_file_comes_before_everything(server, get, tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    obtained = get(path=path)
    assert obtained.path.read_bytes() == TEXT
    assert obtained.provenance.source == str(path)
    assert obtained.is_pinned
    assert names(tmp_path) == {"fra.txt", "fra.source.json"}
    assert server.requests == []


def test_a_bad_given_file_is_an_error(server, get, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No such file .*none\.zip"):
        get(path=tmp_path / "none.zip")
    os.mkfifo(tmp_path / "pipe.zip")
    for path in (tmp_path, tmp_path / "pipe.zip", Path("/dev/zero")):
        with pytest.raises(ValueError, match=f"{path}: not a regular file"):
            get(path=path)
    path = tmp_path / "saved.zip"
    path.write_bytes(HTML)
    with pytest.raises(ValueError, match=r"saved\.zip: not a zip archive"):
        get(path=path)
    path.write_bytes(bytes(MAX_BYTES + 1))
    with pytest.raises(ValueError, match=f"{MAX_BYTES + 1} bytes, more than the {MAX_BYTES} allowed"):
        get(path=path)
    assert server.requests == []


@pytest.mark.parametrize(("name", "content"), [("fra-eng.zip", NEWEST), ("fra.txt", OTHER)])
def test_a_file_in_the_data_folder_is_used(server, get, tmp_path, monkeypatch, name, content):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    folder = tmp_path / "data" / "tatoeba"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(content)
    obtained = get(folder=None)
    assert obtained.path == folder / "fra.txt"
    assert obtained.path.read_bytes() == OTHER
    assert obtained.provenance.source == str(folder / name)
    assert obtained.provenance.edition == ("2031-07-19" if name.endswith("zip") else None)
    assert get(folder=None) == obtained
    assert server.requests == []


def test_the_pinned_edition_may_be_read_only(get, tmp_path):
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    (folder / "fra.txt").write_bytes(TEXT)
    obtained = get()
    assert obtained.is_pinned
    assert obtained.provenance.recorded is None
    assert names(tmp_path) == {"fra.txt"}  # nothing was written


def test_a_text_that_changed_needs_replace(server, get):
    server.answers["/rolling.zip"] = archive(NEWEST)
    text = get().path
    text.write_bytes(OTHER + b"Mine.\tLe mien.\n")
    edited = sha256(text.read_bytes())
    with pytest.raises(ValueError, match=f"this fra.txt has the sha256 {edited}, .* {sha256(OTHER)}; add"):
        get()
    assert get(path=text, replace=True).provenance.sha256 == edited  # accept the edited text
    assert get().provenance.num_rows == 510
    assert get(replace=True).provenance.sha256 == sha256(OTHER)  # or get the publisher's again
    assert text.read_bytes() == OTHER
    assert get().provenance.edition == "2031-07-19"
    text.unlink()
    assert get().path.read_bytes() == OTHER
    text.unlink()
    server.answers["/rolling.zip"] = archive(packed({"fra.txt": lines(521)}))
    with pytest.raises(DownloadError, match=rf"/rolling\.zip: this fra\.txt .* {sha256(OTHER)}; add"):
        get()
    assert get(replace=True).provenance.num_rows == 521


def test_a_text_without_record_needs_replace(get, tmp_path):
    text, given_text = tmp_path / "tatoeba" / "fra.txt", tmp_path / "given.txt"
    text.parent.mkdir()
    text.write_bytes(OTHER)
    given_text.write_bytes(TEXT)
    with pytest.raises(ValueError, match=r"given\.txt: this fra\.txt"):
        get(path=given_text)
    assert text.read_bytes() == OTHER
    assert get(path=given_text, replace=True).is_pinned
    assert text.read_bytes() == TEXT


def test_a_damaged_record_is_named_before_the_download(server, get, tmp_path):
    record = tmp_path / "tatoeba" / "fra.source.json"
    record.parent.mkdir()
    for content in ("{", '{"name": "fra"}'):
        record.write_text(content)
        with pytest.raises(ValueError, match=r"fra\.source\.json is damaged, delete it and try again"):
            get(replace=True)
    assert server.requests == []


def test_an_unknown_name_is_an_error():
    with pytest.raises(ValueError, match="name must be one of cmn, fra, got deu"):
        get_corpus("deu")


@pytest.mark.parametrize("name", CORPORA)
def test_the_corpora_have_https_addresses_and_checksums(name):
    corpus = CORPORA[name]
    assert corpus.name == name
    assert re.fullmatch("[0-9a-f]{64}", corpus.sha256)
    assert corpus.rolling
    for address in (*corpus.pinned, *corpus.rolling):
        assert re.fullmatch(f"https://.*/{corpus.archive}", address)


@pytest.mark.parametrize("name", CORPORA)
def test_the_real_file_is_what_the_course_says(name):
    path = data_folder() / "tatoeba" / f"{name}.txt"
    if not path.is_file():
        pytest.skip(f"no {path}; {DATA_VARIABLE} names the data folder")
    assert get_corpus(name).is_pinned
    assert path.read_bytes().count(b"\n") == CORPORA[name].num_rows
