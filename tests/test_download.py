"""Pair files that arrive, from a server of the test's own that answers well, badly, slowly and half."""

import codecs
import contextlib
import hashlib
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace as changed
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from utils.corpus import download
from utils.corpus.download import CORPORA, Corpus, DownloadError, Limits, get_corpus
from utils.corpus.pairs import DATA_VARIABLE, data_folder, read_pairs

Answer = Callable[["Handler"], None]

LIMITS = Limits(seconds=5, archive_bytes=1 << 20, text_bytes=1 << 20, members=7)


def lines(num_rows: int, *, attribution: str = "", end: str = "\n") -> bytes:
    return "".join(f"I see {i}.\tJe vois {i} !{attribution}{end}" for i in range(num_rows)).encode()


TEXT = lines(5003)
OTHER = lines(5011, attribution="\tCC-BY 2.0 (France) Attribution: tatoeba.org #1 & #2")
ABOUT = b"** Info **\r\n\r\nDate of this file:\r\n  2031-07-19\r\n\r\nAttribution: tatoeba.org\r\n"


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content, method)
    return archive.getvalue()


GOOD = packed({"fra-eng/_about.txt": ABOUT, "fra-eng/fra.txt": TEXT})  # packed in a folder, as D2L does
NEWEST = packed({"_about.txt": ABOUT, "fra.txt": OTHER})


class Handler(BaseHTTPRequestHandler):
    server: "Server"

    def do_GET(self) -> None:
        self.server.requests.append((self.path, dict(self.headers)))
        self.server.answers[self.path](self)

    def log_message(self, *_: object) -> None:
        pass

    def reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Answer] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.released = threading.Event()  # stalled answers wait for it

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"

    def handle_error(self, *_: object) -> None:
        pass  # the client went away, as some tests mean it to

    def asked(self) -> list[str]:
        return [path for path, _ in self.requests]


def archive(
    body: bytes,
    *,
    cuts: tuple[int, ...] = (),
    stall: bool = False,
    version: dict[str, str] | None = None,
    **headers: str,
) -> Answer:
    """Sends an archive, or what a request for a part of it asks for.

    Args:
        cuts: bytes after which the connection ends, for each of the first requests.
        stall: send nothing more at the cut, and do not end either.
        version: headers that name the version of the file.
    """
    remaining = list(cuts)
    version = {"ETag": '"v1"'} if version is None else version

    def answer(handler: Handler) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        start = int(asked[1]) if asked and handler.headers["If-Range"] in version.values() else 0
        end = start + remaining.pop(0) if remaining else len(body)
        known = {"Content-Type": "application/zip", "Content-Length": str(len(body) - start)}
        if start:
            known["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        handler.reply(206 if start else 200, known | version | headers, body[start:end])
        if stall and end < len(body):
            handler.server.released.wait(30)

    return answer


def reply(status: int, body: bytes = b"", **headers: str) -> Answer:
    return lambda handler: handler.reply(
        status, {name.replace("_", "-"): value for name, value in headers.items()}, body
    )


@pytest.fixture(autouse=True)
def this_computer_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may reach another host, by whatever way."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    ask = socket.getaddrinfo

    def local(host: str, *arguments: object, **options: object) -> list:
        assert host == "127.0.0.1", f"a test asks for {host}"
        return ask(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", local)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.released.set()
        running.shutdown()
        thread.join()


@pytest.fixture
def corpora(server: Server) -> dict[str, Corpus]:
    """English-French from a pinned and a rolling address of the server; nothing is there yet."""
    server.answers = {"/pinned.zip": reply(404), "/rolling.zip": reply(404)}
    return {
        "fra": Corpus(
            name="fra",
            columns=("en", "fr"),
            edition="2019-04-07",
            sha256=sha256(TEXT),
            num_rows=5003,
            pinned=(server.address("/pinned.zip"),),
            rolling=(server.address("/rolling.zip"),),
        )
    }


@pytest.fixture
def get(tmp_path: Path, corpora: dict[str, Corpus]) -> Callable[..., download.Obtained]:
    def run(**options) -> download.Obtained:
        return get_corpus("fra", **({"folder": tmp_path, "limits": LIMITS, "corpora": corpora} | options))

    return run


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def names(folder: Path) -> set[str]:
    return {path.name for path in (folder / "tatoeba").iterdir()}


def part_of(folder: Path, address: str) -> Path:
    return download._Part(folder / "tatoeba" / "fra-eng.zip", address).path


# What arrives


def test_a_pinned_edition_arrives_with_its_terms(server, get, tmp_path, corpora):
    server.answers["/pinned.zip"] = archive(GOOD)
    obtained = get()
    assert obtained.path == tmp_path / "tatoeba" / "fra.txt"
    assert obtained.path.read_bytes() == TEXT
    assert obtained.is_pinned
    known = obtained.provenance
    assert (known.edition, known.num_rows, known.sha256) == ("2019-04-07", 5003, sha256(TEXT))
    assert known.source == server.address("/pinned.zip")
    assert "CC BY 2.0 FR" in known.licence
    assert "tatoeba.org" in known.attribution
    assert "Attribution: tatoeba.org" in known.notes
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", known.recorded)
    assert (
        json.loads((tmp_path / "tatoeba" / "fra.source.json").read_text("utf-8"))["licence"] == known.licence
    )
    assert names(tmp_path) == {"fra.txt", "fra.source.json"}
    [(_, headers)] = server.requests
    assert headers["User-Agent"].startswith("attention-course")
    assert "Python" not in headers["User-Agent"]
    assert get() == obtained  # there already: nobody is asked
    assert len(server.requests) == 1


@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("attribution", ["", "\tCC-BY 2.0 (France)"])
def test_any_newest_edition_is_taken_byte_for_byte_and_told(server, get, bom, end, attribution):
    text = bom + lines(5011, attribution=attribution, end=end)
    server.answers["/rolling.zip"] = archive(packed({"_about.txt": ABOUT, "fra.txt": text}))
    obtained = get()
    assert obtained.path.read_bytes() == text
    assert not obtained.is_pinned
    known = obtained.provenance
    assert (known.edition, known.num_rows, known.sha256) == ("2031-07-19", 5011, sha256(text))
    assert read_pairs(obtained.path).rows[3] == ("I see 3.", "Je vois 3 !")
    assert server.asked() == ["/pinned.zip", "/rolling.zip"]


def test_an_edition_without_a_date_is_unknown(server, get):
    server.answers["/rolling.zip"] = archive(packed({"fra.txt": OTHER}))
    known = get().provenance
    assert (known.edition, known.notes) == (None, None)


def test_a_type_that_the_server_does_not_name_is_told_by_the_bytes(server, get):
    server.answers["/pinned.zip"] = lambda handler: handler.reply(200, {}, GOOD)  # no length either
    assert get().path.read_bytes() == TEXT


def test_a_redirect_is_followed_to_the_archive(server, get):
    server.answers["/pinned.zip"] = reply(302, Location="/moved.zip")
    server.answers["/moved.zip"] = archive(GOOD)
    assert get().provenance.source == server.address("/pinned.zip")


def test_a_progress_bar_counts_bytes(server, get, capsys):
    server.answers["/pinned.zip"] = archive(GOOD)
    get(progress=True)
    shown = capsys.readouterr().err
    assert "127.0.0.1" in shown
    assert "100%" in shown
    assert f"{len(GOOD) / 1000:.0f}k" in shown


# What is refused

HTML = b"<!DOCTYPE html><title>Not here</title>"
BOMB = packed({"fra.txt": bytes(20 << 20)}, zipfile.ZIP_DEFLATED)


def lying_bomb() -> bytes:
    """20 MiB of zeros that say in both headers that they unpack to 100 bytes."""
    return BOMB.replace((20 << 20).to_bytes(4, "little"), (100).to_bytes(4, "little"))


def longer_than_it_is() -> bytes:
    """Both headers announce one byte more than the text has."""
    body = packed({"fra.txt": TEXT}, zipfile.ZIP_DEFLATED)
    return body.replace(len(TEXT).to_bytes(4, "little"), (len(TEXT) + 1).to_bytes(4, "little"))


def encrypted() -> bytes:
    body = bytearray(packed({"fra.txt": TEXT}))
    body[6] |= 1  # the flag in the file's own header, then in the directory
    body[body.index(b"PK\x01\x02") + 8] |= 1
    return bytes(body)


def damaged() -> bytes:
    body = bytearray(GOOD)
    body[len(body) // 2] ^= 1
    return bytes(body)


def twice() -> bytes:
    return packed({"fra.txt": TEXT, "old/fra.txt": TEXT})


def drip(handler: Handler) -> None:
    """More than is allowed, without saying how much."""
    handler.reply(200, {"Content-Type": "application/zip"}, b"PK\x03\x04" + bytes(2 << 20))


def without_range(handler: Handler) -> None:
    handler.reply(206, {"Content-Type": "application/zip", "Content-Range": "bytes 7-9/11"}, b"abc")


REFUSED: dict[str, tuple[Answer, str]] = {
    "406": (reply(406), r"status 406 \(Not Acceptable\)"),
    "404 with a page": (reply(404, HTML, Content_Type="text/html"), r"status 404 \(Not Found\)"),
    "500": (reply(500), "status 500"),
    "200 with a page": (reply(200, HTML, Content_Type="text/html"), "status 200 with text/html, not a zip"),
    "a page that says it is a zip": (
        reply(200, HTML, Content_Type="application/zip"),
        "not a zip archive, it begins with b'<!DOCTYPE html>",
    ),
    "nothing": (reply(204), r"status 204 \(No Content\)"),
    "another range": (without_range, "another part of the archive than it was asked for"),
    "an empty archive": (archive(b""), "not a zip archive, it begins with b''"),
    "a redirect loop": (reply(302, Location="/pinned.zip"), "status 302 .*infinite loop"),
    "a redirect to a file": (reply(302, Location="file:///etc/passwd"), "status 302"),
    "a redirect to ftp": (
        reply(302, Location="ftp://127.0.0.1/fra-eng.zip"),
        "status 302, which leads to ftp",
    ),
    "a redirect to nowhere": (reply(302, Location="http://[/"), "Invalid IPv6 URL"),
    "a truncated archive": (archive(GOOD[:-1000]), "damaged zip archive: File is not a zip file"),
    "a flipped bit": (archive(damaged()), "damaged zip archive: Bad CRC-32"),
    "a password": (archive(encrypted()), "damaged zip archive: .*password"),
    "another method": (
        archive(packed({"fra.txt": TEXT}, zipfile.ZIP_BZIP2)),
        "fra.txt is packed by method 12, neither stored nor deflated",
    ),
    "another member": (archive(packed({"deu.txt": TEXT})), "does not hold fra.txt, it holds deu.txt"),
    "no member": (archive(packed({"fra.txt/": b""})), "does not hold fra.txt"),
    "two members": (archive(twice()), "holds fra.txt 2 times"),
    "many members": (archive(packed({str(i): b"" for i in range(11)})), "holds 11 files, more than the 7"),
    "a way out": (archive(packed({"../fra.txt": TEXT})), r"the unsafe name '\.\./fra\.txt'"),
    "a way out beside": (archive(packed({"fra.txt": TEXT, "a/../../b": b""})), "the unsafe name 'a/../../b'"),
    "an absolute name": (archive(packed({"/etc/fra.txt": TEXT})), "the unsafe name '/etc/fra.txt'"),
    "a name of Windows": (archive(packed({"..\\fra.txt": TEXT, "fra.txt": TEXT})), "the unsafe name"),
    "a drive of Windows": (archive(packed({"C:fra.txt": TEXT})), "the unsafe name 'C:fra.txt'"),
    "a zip bomb": (archive(BOMB), "fra.txt unpacks to 20971520 bytes, more than the 1048576 allowed"),
    "a zip bomb that lies": (archive(lying_bomb()), "damaged zip archive"),
    "a text that ends early": (archive(longer_than_it_is()), f"unpacks to {len(TEXT)} bytes where"),
    "a large archive": (archive(bytes(2 << 20)), "2097152 bytes, more than the 1048576 allowed"),
    "a large archive that does not say so": (drip, "more than the 1048576 bytes allowed"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_source_that_is_not_good_is_refused_with_its_reason(server, get, tmp_path, case):
    answer, reason = REFUSED[case]
    server.answers["/pinned.zip"] = answer
    with pytest.raises(DownloadError) as error:
        get()
    assert re.search(reason, error.value.reasons[server.address("/pinned.zip")])
    assert [path.name for path in tmp_path.iterdir()] == ["tatoeba"]  # nothing left the folder,
    assert names(tmp_path) == set()  # and nothing is left in it


def test_a_lying_archive_takes_no_memory(tmp_path):
    path = tmp_path / "fra-eng.zip"
    path.write_bytes(lying_bomb())
    tracemalloc.start()
    with pytest.raises(download._SourceError, match="damaged"):
        download._read_archive(path, "fra.txt", LIMITS)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


def test_a_pinned_address_must_give_the_pinned_edition(server, get, tmp_path):
    server.answers["/pinned.zip"] = archive(NEWEST)
    with pytest.raises(DownloadError) as error:
        get()
    reason = error.value.reasons[server.address("/pinned.zip")]
    assert reason == f"fra.txt has the sha256 {sha256(OTHER)}, wanted {sha256(TEXT)}"
    assert names(tmp_path) == set()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HTML * 100, "fra.txt: 1 of 1 rows are bad.*one column"),
        (b"", "fra.txt holds no sentence pair"),
        ("I\tJe\n".encode("utf-16"), "fra.txt is UTF-16"),
        (lines(2501), "fra.txt has 2501 pairs, less than half of the 5003 of edition 2019-04-07"),
    ],
)
def test_a_newest_edition_must_be_a_pair_file_of_some_size(server, get, tmp_path, text, reason):
    server.answers["/rolling.zip"] = archive(packed({"fra.txt": text}))
    with pytest.raises(DownloadError) as error:
        get()
    assert re.search(reason, error.value.reasons[server.address("/rolling.zip")])
    assert names(tmp_path) == set()


def test_a_protected_address_does_not_lead_to_an_open_one():
    request = urllib.request.Request("https://127.0.0.1/a.zip")
    for address, followed in (("http://127.0.0.1/b.zip", False), ("https://127.0.0.1/b.zip", True)):
        arguments = (request, io.BytesIO(), 302, "Found", {}, address)
        if followed:
            assert download._Redirects().redirect_request(*arguments).full_url == address
        else:
            with pytest.raises(download._SourceError, match="not followed"):
                download._Redirects().redirect_request(*arguments)


def test_failure_is_one_error_that_says_what_to_do(server, get, tmp_path):
    server.answers["/pinned.zip"] = reply(406)
    with pytest.raises(DownloadError) as error:
        get()
    assert str(error.value).splitlines() == [
        "no address gave fra.txt:",
        f"  {server.address('/pinned.zip')}: status 406 (Not Acceptable)",
        f"  {server.address('/rolling.zip')}: status 404 (Not Found)",
        "By hand: put fra-eng.zip from one of them, or the fra.txt in it, into the folder",
        f"  {tmp_path / 'tatoeba'}",
        "and ask again. sha256 wanted of fra.txt:",
        f"  {sha256(TEXT)}, edition 2019-04-07",
    ]


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_archive_gives_the_text_or_an_error(tmp_path, data):
    body = bytearray(packed({"_about.txt": ABOUT, "fra.txt": lines(11)}, zipfile.ZIP_DEFLATED))
    for _ in range(data.draw(st.integers(1, 3))):
        place = (
            st.integers(0, 39) | st.integers(-150, -1) | st.integers(0, len(body) - 1)
        )  # headers above all
        body[data.draw(place)] = data.draw(st.integers(0, 255))
    path = tmp_path / "fra-eng.zip"
    path.write_bytes(body[: data.draw(st.just(len(body)) | st.integers(0, len(body)))])
    with contextlib.suppress(download._SourceError):
        assert download._read_archive(path, "fra.txt", LIMITS).content == lines(11)


# Without a network


def test_no_network_at_all(get, corpora, monkeypatch):
    def nobody(*_: object, **__: object) -> list:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    with pytest.raises(DownloadError) as error:
        get()
    assert len(error.value.reasons) == 2
    assert all("Name or service not known" in reason for reason in error.value.reasons.values())


def test_nobody_listens(get, corpora):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # taken, and not listened to
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/fra-eng.zip"
        with pytest.raises(DownloadError, match="refused"):
            get(corpora={"fra": changed(corpora["fra"], pinned=(), rolling=(address,))})


@pytest.mark.parametrize("num_bytes", [0, 70_001])
def test_a_server_that_stalls_is_left(server, get, tmp_path, num_bytes):
    server.answers["/pinned.zip"] = archive(GOOD, cuts=(num_bytes, 0), stall=True)
    start = time.monotonic()
    with pytest.raises(DownloadError) as error:
        get(limits=changed(LIMITS, seconds=0.2))
    assert time.monotonic() - start < 5
    assert (
        error.value.reasons[server.address("/pinned.zip")] == f"no answer for 0.2 s after {num_bytes} bytes"
    )
    part = part_of(tmp_path, server.address("/pinned.zip"))
    assert part.read_bytes() == GOOD[:num_bytes]  # kept for the next time


def test_a_server_that_does_not_answer_is_left(server, get):
    server.answers["/pinned.zip"] = lambda handler: handler.server.released.wait(30)
    with pytest.raises(DownloadError) as error:
        get(limits=changed(LIMITS, seconds=0.2))
    assert error.value.reasons[server.address("/pinned.zip")] == "no answer for 0.2 s"


# Going on


def ranges(server: Server) -> list[str | None]:
    return [headers.get("Range") for path, headers in server.requests if path == "/pinned.zip"]


def test_a_broken_connection_is_taken_up_where_it_broke(server, get, tmp_path):
    server.answers["/pinned.zip"] = archive(GOOD, cuts=(70_001, 20_011))
    assert get().path.read_bytes() == TEXT
    assert ranges(server) == [None, "bytes=70001-", "bytes=90012-"]
    assert names(tmp_path) == {"fra.txt", "fra.source.json"}


def test_a_later_call_goes_on_and_another_address_does_not_mix_in(server, get, tmp_path):
    server.answers["/pinned.zip"] = archive(GOOD, cuts=(70_001, 3, 5))
    server.answers["/rolling.zip"] = archive(NEWEST, cuts=(101, 0))
    with pytest.raises(DownloadError) as error:
        get()
    assert error.value.reasons == {
        server.address("/pinned.zip"): f"the connection ended after 70009 of {len(GOOD)} bytes",
        server.address("/rolling.zip"): f"the connection ended after 101 of {len(NEWEST)} bytes",
    }
    assert get().path.read_bytes() == TEXT
    assert ranges(server)[-1] == "bytes=70009-"
    assert names(tmp_path) == {"fra.txt", "fra.source.json"}


@pytest.mark.parametrize(
    ("version", "newer", "resumed"),
    [
        ({"ETag": '"v1"'}, {"ETag": '"v2"'}, False),
        ({"ETag": 'W/"v1"'}, {"ETag": 'W/"v1"'}, False),  # a weak mark: equal is not the same bytes
        ({"Last-Modified": "Mon, 1"}, {"Last-Modified": "Mon, 1"}, True),
        ({"Last-Modified": "Mon, 1"}, {"Last-Modified": "Tue, 2"}, False),
        ({}, {}, False),
    ],
)
def test_bytes_of_two_versions_never_mix(server, get, version, newer, resumed):
    server.answers["/pinned.zip"] = archive(b"PK\x03\x04" * 30_011, cuts=(70_001, 0), version=version)
    with pytest.raises(DownloadError, match="connection ended after"):
        get()
    server.requests.clear()
    server.answers["/pinned.zip"] = archive(GOOD, version=newer)
    if resumed:  # the server says it is the same and it is not: the check of the archive finds it
        with pytest.raises(DownloadError, match="damaged zip archive"):
            get()
        assert ranges(server) == ["bytes=70001-"]
    assert get().path.read_bytes() == TEXT


def test_a_whole_archive_is_not_asked_for_again(server, get, tmp_path, monkeypatch):
    server.answers["/pinned.zip"] = archive(GOOD)
    with monkeypatch.context() as patch:
        patch.setattr(download, "_read_archive", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            get()
    assert part_of(tmp_path, server.address("/pinned.zip")).read_bytes() == GOOD
    assert get().path.read_bytes() == TEXT
    assert len(server.requests) == 1


def test_a_server_that_has_nothing_more_to_send_is_asked_from_the_start(server, get, tmp_path):
    def no_more(handler: Handler) -> None:
        if "Range" in handler.headers:
            handler.reply(416, {}, b"")
        else:
            handler.reply(200, {"Content-Type": "application/zip", "ETag": '"v1"'}, GOOD)

    server.answers["/pinned.zip"] = no_more
    part = download._Part(tmp_path / "tatoeba" / "fra-eng.zip", server.address("/pinned.zip"))
    part.path.parent.mkdir()
    part.begin('"v1"', None)
    part.path.write_bytes(GOOD)
    assert get().path.read_bytes() == TEXT
    assert ranges(server) == [f"bytes={len(GOOD)}-", None]


PROGRAM = """
import os, signal, sys
from pathlib import Path
from utils.corpus.download import Corpus, get_corpus

address, folder, sha256, when = sys.argv[1:]
if when == "rename":
    replace = Path.replace
    def killed(path, target):
        if path.name == "fra.txt.part":
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(path, target)
    Path.replace = killed
corpus = Corpus("fra", ("en", "fr"), "2019-04-07", sha256, 5003, (address,), ())
get_corpus("fra", folder=folder, corpora={"fra": corpus})
"""


@pytest.mark.parametrize("when", ["download", "rename"])
def test_a_process_that_is_killed_leaves_no_file_and_the_next_one_goes_on(server, get, tmp_path, when):
    server.answers["/pinned.zip"] = archive(
        GOOD, cuts=(70_001,) if when == "download" else (), stall=when == "download"
    )
    address, text = server.address("/pinned.zip"), tmp_path / "tatoeba" / "fra.txt"
    part = part_of(tmp_path, address)
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, address, tmp_path, sha256(TEXT), when])
    if when == "download":
        deadline = time.monotonic() + 60
        while not (part.is_file() and part.stat().st_size >= 1 << 16) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.kill()
    assert process.wait(60) == -signal.SIGKILL
    assert not text.exists()
    here = part.stat().st_size
    assert (1 << 16) <= here <= 70_001 if when == "download" else here == len(GOOD)
    server.requests.clear()
    assert get().path.read_bytes() == TEXT
    assert ranges(server) == ([f"bytes={here}-"] if when == "download" else [])
    assert names(tmp_path) == {"fra.txt", "fra.source.json"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full, a disk that is always full")
@pytest.mark.parametrize("which", ["archive", "text"])
def test_a_full_disk_is_the_error_and_no_address_is_blamed(server, get, tmp_path, which):
    server.answers["/pinned.zip"] = archive(GOOD)
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    place = folder / "fra.txt.part"
    if which == "archive":
        place = part_of(tmp_path, server.address("/pinned.zip"))
        known = {"Content-Range": f"bytes 0-{len(GOOD) - 1}/{len(GOOD)}"}  # to be added to what is there
        server.answers["/pinned.zip"] = lambda handler: handler.reply(206, known, GOOD)
    place.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as error:
        get()
    assert not isinstance(error.value, DownloadError)
    assert error.value.filename == str(place)
    assert not (folder / "fra.txt").exists()
    assert server.asked() == ["/pinned.zip"]
    place.unlink(missing_ok=True)  # room is made
    server.answers["/pinned.zip"] = archive(GOOD)
    assert get().path.read_bytes() == TEXT


# Files that are here already


def test_a_given_file_comes_before_everything(server, get, tmp_path):
    for name, content in (("mine.zip", GOOD), ("mine.txt", TEXT), ("no suffix", GOOD)):
        path = tmp_path / name
        path.write_bytes(content)
        folder = tmp_path / f"folder of {name}"
        obtained = get(path=path, folder=folder)
        assert obtained.path.read_bytes() == TEXT
        assert obtained.provenance.source == str(path)
        assert obtained.is_pinned
        assert names(folder) == {"fra.txt", "fra.source.json"}
    assert server.requests == []


def test_a_given_file_that_is_not_good_is_not_passed_over(server, get, tmp_path):
    server.answers["/pinned.zip"] = archive(GOOD)
    with pytest.raises(FileNotFoundError, match=r"none\.zip"):
        get(path=tmp_path / "none.zip")
    path = tmp_path / "saved.zip"
    path.write_bytes(HTML)
    with pytest.raises(ValueError, match=r"saved\.zip: not a zip archive, it begins with b'<!DOCTYPE"):
        get(path=path)
    with pytest.raises(ValueError, match="38 bytes, more than the 37 allowed"):
        get(path=path.rename(tmp_path / "saved.txt"), limits=changed(LIMITS, text_bytes=37))
    assert server.requests == []


@pytest.mark.parametrize("name", ["fra-eng.zip", "fra.txt"])
def test_a_file_dropped_into_the_data_folder_is_found(server, get, tmp_path, monkeypatch, name):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    folder = tmp_path / "data" / "tatoeba"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(NEWEST if name.endswith("zip") else OTHER)
    obtained = get(folder=None)
    assert obtained.path == folder / "fra.txt"
    assert obtained.path.read_bytes() == OTHER
    assert obtained.provenance.source == str(folder / name)
    assert obtained.provenance.edition == ("2031-07-19" if name.endswith("zip") else None)
    assert (folder / "fra.source.json").is_file()
    assert server.requests == []


def test_the_known_edition_in_a_folder_for_reading_only_will_do(get, tmp_path):
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    (folder / "fra.txt").write_bytes(TEXT)
    obtained = get()
    assert obtained.is_pinned
    assert obtained.provenance.recorded is None
    assert names(tmp_path) == {"fra.txt"}


def test_a_file_that_changed_is_refused_until_asked_for(server, get, tmp_path):
    server.answers["/rolling.zip"] = archive(NEWEST)
    text = get().path
    text.write_bytes(OTHER + b"Mine.\tLe mien.\n")
    edited = sha256(text.read_bytes())
    with pytest.raises(ValueError, match=f"another fra.txt: sha256 {edited}, the one kept .*{sha256(OTHER)}"):
        get()
    assert get(path=text, replace=True).provenance.sha256 == edited  # this one is meant
    assert get().provenance.num_rows == 5012
    assert get(replace=True).provenance.sha256 == sha256(OTHER)  # the publisher's is meant
    assert text.read_bytes() == OTHER
    assert get().provenance.edition == "2031-07-19"


def test_a_newest_edition_that_changed_is_refused_until_asked_for(server, get, tmp_path):
    server.answers["/rolling.zip"] = archive(NEWEST)
    get().path.unlink()
    server.answers["/rolling.zip"] = archive(packed({"fra.txt": lines(5021)}))
    with pytest.raises(DownloadError) as error:
        get()
    assert "another fra.txt: sha256" in error.value.reasons[server.address("/rolling.zip")]
    assert f"{sha256(OTHER)}, the one kept before" in str(error.value)
    assert names(tmp_path) == {"fra.source.json"}
    obtained = get(replace=True)
    assert obtained.provenance.num_rows == 5021
    assert get() == obtained


def test_a_text_of_an_unknown_edition_is_not_overwritten_unasked(get, tmp_path):
    (tmp_path / "tatoeba").mkdir()
    text = tmp_path / "tatoeba" / "fra.txt"
    text.write_bytes(OTHER)
    given = tmp_path / "given.txt"
    given.write_bytes(TEXT)
    with pytest.raises(ValueError, match=r"given\.txt: another fra\.txt"):
        get(path=given)
    assert text.read_bytes() == OTHER
    assert get(path=given, replace=True).is_pinned
    assert text.read_bytes() == TEXT


def test_what_is_here_outlives_a_download_that_fails(server, get, tmp_path):
    server.answers["/pinned.zip"] = archive(GOOD)
    obtained = get()
    server.answers["/pinned.zip"] = archive(BOMB)
    with pytest.raises(DownloadError):
        get(replace=True)
    assert get() == obtained


def test_a_damaged_record_is_named_before_anything_is_fetched(server, get, tmp_path):
    server.answers["/pinned.zip"] = archive(GOOD)
    get()
    for content in ("{", '{"name": "fra"}'):
        (tmp_path / "tatoeba" / "fra.source.json").write_text(content)
        for replace in (False, True):
            with pytest.raises(ValueError, match=r"fra\.source\.json is damaged, delete it"):
                get(replace=replace)
    assert len(server.requests) == 1


# The course's own


def test_unknown_names_are_named():
    with pytest.raises(ValueError, match="name must be one of cmn, fra, got deu"):
        get_corpus("deu")


def test_the_addresses_of_the_course_are_protected_and_its_checksums_whole():
    for name, corpus in CORPORA.items():
        assert corpus.name == name
        assert re.fullmatch("[0-9a-f]{64}", corpus.sha256)
        assert corpus.rolling
        for address in (*corpus.pinned, *corpus.rolling):
            assert address.startswith("https://")
            assert address.endswith(f"/{corpus.archive}")


@pytest.mark.parametrize("name", list(CORPORA))
def test_the_real_file_is_what_the_course_says(name):
    path = data_folder() / "tatoeba" / f"{name}.txt"
    if not path.is_file():
        pytest.skip(f"no {path}; {DATA_VARIABLE} names the data folder")
    obtained = get_corpus(name)
    assert obtained.is_pinned
    corpus = CORPORA[name]
    assert path.read_bytes().count(b"\n") == corpus.num_rows
