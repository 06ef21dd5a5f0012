"""The files that the course measures on: from a server on this computer, from a reader's own file, and what is kept."""

import functools
import hashlib
import io
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from utils.corpus.download import CORPORA, Corpus, CorpusFile, DownloadError, get_corpus
from utils.corpus.pairs import DATA_VARIABLE, data_folder


def zipped(members: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(content := io.BytesIO(), "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return content.getvalue()


TEXT, OTHER = (b"".join(b"I see %d.\tJe vois %d !\n" % (i, i) for i in range(num)) for num in (53, 59))
GOOD = zipped({"fra-eng/_about.txt": b"...", "fra-eng/fra.txt": TEXT})  # in a folder, as D2L packs it
NEWEST = zipped({"_about.txt": b"...", "fra.txt": OTHER})  # as ManyThings packs it
PINNED = hashlib.sha256(GOOD).hexdigest()


class Server(ThreadingHTTPServer):
    """Answers with the bytes that ``answers`` has for a path, and with status 404 to all others."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, bytes] = {}
        self.asked: list[tuple[str, str]] = []

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["User-Agent"]))
        body = self.server.answers.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)  # it waits before it tries again
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def get(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CorpusFile]:
    """``get_corpus`` of a file with a pinned and a rolling address of the server, into an empty data folder."""
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    addresses = {server.address("/pinned"): f"sha256:{PINNED}", server.address("/rolling"): None}
    corpus = Corpus(("en", "fr"), "2019-04-07", hashlib.sha256(TEXT).hexdigest(), 53, addresses)
    return functools.partial(get_corpus, "fra", corpora={"fra": corpus})


def stored(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "data" / "tatoeba").iterdir()]


def test_the_pinned_edition_is_downloaded_once(server, get, tmp_path, capfd):
    server.answers["/pinned"] = GOOD
    found = get()
    assert found.path == tmp_path / "data" / "tatoeba" / "fra.txt"
    assert found.path.read_bytes() == TEXT
    assert (found.sha256, found.num_rows, found.is_pinned) == (hashlib.sha256(TEXT).hexdigest(), 53, True)
    assert get() == found
    # The publisher's server refuses the default names of programming libraries.
    assert server.asked == [("/pinned", "attention-course (sentence pairs for teaching)")]
    assert stored(tmp_path) == ["fra.txt"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("bad", [None, NEWEST, GOOD[:-9], b"<!DOCTYPE html><title>Not here</title>"])
def test_after_a_bad_answer_the_next_address_is_asked(server, get, tmp_path, bad):
    server.answers = {"/rolling": NEWEST} | ({} if bad is None else {"/pinned": bad})
    found = get()
    assert (found.path.read_bytes(), found.num_rows, found.is_pinned) == (OTHER, 59, False)
    assert get() == found
    assert stored(tmp_path) == ["fra.txt"]


@pytest.mark.parametrize(
    "bad",
    [
        None,
        b"<!DOCTYPE html>",
        NEWEST[:-99],
        NEWEST[:90] + bytes(40) + NEWEST[130:],
        zipped({"deu.txt": TEXT}),
        zipped({"fra.txt": b"one\n" * 9}),
    ],
    ids=["no answer", "HTML", "cut", "overwritten", "another file", "no pairs"],
)
def test_one_error_lists_every_address_and_the_remedy(server, get, tmp_path, bad):
    server.answers = {} if bad is None else {"/pinned": bad, "/rolling": bad}
    with pytest.raises(DownloadError) as error:
        get()
    first, *answers, last = str(error.value).splitlines()
    assert first == "no address gave fra.txt:"
    addresses = (server.address("/pinned"), server.address("/rolling"))
    assert all(a.startswith(f"  {address}: ") for a, address in zip(answers, addresses, strict=True))
    assert last.endswith("attention-course data get fra --from fra-eng.zip")
    assert stored(tmp_path) == []


@pytest.mark.parametrize("content", [GOOD, TEXT])
def test_a_given_file_needs_no_address(server, get, tmp_path, content):
    (tmp_path / "mine").write_bytes(content)
    assert get(path=tmp_path / "mine").is_pinned
    assert (tmp_path / "data" / "tatoeba" / "fra.txt").read_bytes() == TEXT
    assert server.asked == []


def test_a_bad_given_file_is_named(get, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.zip"):
        get(path=tmp_path / "none.zip")
    path = tmp_path / "saved.zip"
    for content in (b"<!DOCTYPE html>", GOOD.replace(b"vois 3", b"fois 3"), zipped({"deu.txt": TEXT})):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"/saved\.zip"):
            get(path=path)
        assert stored(tmp_path) == []


def test_another_text_is_written_over_only_with_replace(server, get, tmp_path):
    server.answers["/rolling"] = NEWEST
    text = get().path
    (tmp_path / "mine.txt").write_bytes(TEXT)
    with pytest.raises(ValueError, match=r"fra\.txt is there already .*: add --replace"):
        get(path=tmp_path / "mine.txt")
    assert text.read_bytes() == OTHER
    assert get(path=tmp_path / "mine.txt", replace=True).is_pinned
    assert text.read_bytes() == TEXT
    assert get(replace=True).num_rows == 59
    assert text.read_bytes() == OTHER
    with pytest.raises(ValueError, match="name must be one of fra, got deu"):
        get_corpus("deu", corpora={"fra": CORPORA["fra"]})


@pytest.mark.parametrize("name", CORPORA)
def test_the_corpora_are_what_the_course_says(name):
    assert all(re.fullmatch(f"https://.*/{name}-eng.zip", address) for address in CORPORA[name].addresses)
    path = data_folder() / "tatoeba" / f"{name}.txt"
    if not path.is_file():
        pytest.skip(f"no {path}; {DATA_VARIABLE} names the data folder")
    assert get_corpus(name).is_pinned
    assert path.read_bytes().count(b"\n") == CORPORA[name].num_rows
