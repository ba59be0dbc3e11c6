"""`fetch_vectors` against a server on loopback that behaves and misbehaves."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from linker.common.errors import DataError, LinkerError
from linker.data.word_vectors import published as download
from linker.data.word_vectors.file import VectorFile
from linker.data.word_vectors.published import fetch_vectors

MEMBER = "glove.6B.50d.txt"
TEXT = b"the " + b" ".join([b"0.25"] * 50) + b"\n"


def make_zip(text: bytes = TEXT, member: str = MEMBER) -> bytes:
    # Random padding keeps the archive longer than one block, so that half of it can be lost.
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("padding", os.urandom(200_000))
        archive.writestr(member, text)
    return buffer.getvalue()


class Server(ThreadingHTTPServer):
    """Serves `content`; the attributes say what goes wrong."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = make_zip()
        self.ranges = True
        self.tag: str | None = '"one"'
        self.cuts: list[int] = []
        self.statuses: list[int] = []
        self.type = "application/zip"
        self.chunked = False
        self.asked: list[str | None] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/glove.6B.zip"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        server, wanted = self.server, self.headers.get("Range")
        server.asked.append(wanted)
        if server.statuses:
            self.send_error(server.statuses.pop(0))
            return
        content, start = server.content, 0
        if wanted and server.ranges and self.headers.get("If-Range") in (None, server.tag):
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if server.tag:
            self.send_header("ETag", server.tag)
        self.send_header("Content-Type", server.type)
        if not server.chunked:
            self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end = server.cuts.pop(0) if server.cuts else len(content)
        self.wfile.write(content[start:end])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(download, "FIRST_PAUSE", 0.0)
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def fetch(server: Server, cache: Path, **options: object) -> Path:
    return fetch_vectors("6B.50d", cache=str(cache), url=server.url, **options)  # type: ignore[arg-type]


def unfinished(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if ".part" in path.name or path.name.startswith("."))


def test_fetched_vectors_are_found_by_their_name(server: Server, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    path = fetch(server, tmp_path, report=lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == TEXT
    assert VectorFile("6B.50d", cache=str(tmp_path)).read()[0] == ["the"]
    assert seen[-1] == (len(server.content), len(server.content))
    note = (tmp_path / "glove.6B.zip.sha256").read_text()
    assert note == f"{hashlib.sha256(server.content).hexdigest()}  glove.6B.zip\n"
    assert not unfinished(tmp_path)
    # Everything is there: no second download, neither for this file nor for others of the archive.
    fetch(server, tmp_path)
    path.unlink()
    fetch(server, tmp_path)
    assert len(server.asked) == 1


def test_a_cut_download_resumes_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.cuts = [70_000, 150_000]
    assert fetch(server, tmp_path).read_bytes() == TEXT
    assert server.asked == [None, "bytes=70000-", "bytes=150000-"]


def test_a_later_command_resumes_where_an_earlier_one_gave_up(server: Server, tmp_path: Path) -> None:
    server.cuts = [70_000]
    server.statuses = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(download, "ATTEMPTS", 1)
        with pytest.raises(DataError, match=r"70,000 bytes are kept, the same command resumes"):
            fetch(server, tmp_path)
    assert unfinished(tmp_path) == ["glove.6B.zip.part", "glove.6B.zip.part.json"]
    assert fetch(server, tmp_path).read_bytes() == TEXT
    assert server.asked == [None, "bytes=70000-"]


def test_a_server_without_ranges_sends_all_again(server: Server, tmp_path: Path) -> None:
    server.ranges, server.cuts = False, [70_000]
    assert fetch(server, tmp_path).read_bytes() == TEXT


def test_a_server_without_validators_is_asked_for_all_again(server: Server, tmp_path: Path) -> None:
    server.tag, server.cuts = None, [70_000]
    assert fetch(server, tmp_path).read_bytes() == TEXT
    assert server.asked == [None, None]


def test_a_file_that_changed_meanwhile_is_not_pieced_together(server: Server, tmp_path: Path) -> None:
    server.cuts = [70_000]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(download, "ATTEMPTS", 1)
        with pytest.raises(DataError):
            fetch(server, tmp_path)
    server.content, server.tag = make_zip(b"new" + TEXT), '"two"'
    assert fetch(server, tmp_path).read_bytes() == b"new" + TEXT


def test_a_part_longer_than_the_file_is_thrown_away(server: Server, tmp_path: Path) -> None:
    (tmp_path / "glove.6B.zip.part").write_bytes(b"x" * (len(server.content) + 1))
    (tmp_path / "glove.6B.zip.part.json").write_text(f'{{"url": "{server.url}", "validator": "\\"one\\""}}')
    assert fetch(server, tmp_path).read_bytes() == TEXT


def test_passing_trouble_is_tried_again(server: Server, tmp_path: Path) -> None:
    server.statuses = [503, 429, 500]
    assert fetch(server, tmp_path).read_bytes() == TEXT


def test_lasting_trouble_is_reported(server: Server, tmp_path: Path) -> None:
    server.statuses = [503] * 10
    with pytest.raises(DataError, match=r"glove\.6B\.zip: cannot be downloaded \(the server answered 503"):
        fetch(server, tmp_path)


def test_not_found_is_reported_at_once(server: Server, tmp_path: Path) -> None:
    server.statuses = [404]
    with pytest.raises(DataError, match=r"glove\.6B\.zip: the server answered 404 Not Found; .*--url"):
        fetch(server, tmp_path)
    assert len(server.asked) == 1
    assert not unfinished(tmp_path)


@pytest.mark.parametrize(
    ("type_", "message"), [("text/html", "a web page"), ("application/zip", "not a zip archive")]
)
def test_a_web_page_is_not_an_archive(server: Server, tmp_path: Path, type_: str, message: str) -> None:
    server.content, server.type = b"<html>please log in</html>", type_
    with pytest.raises(DataError, match=message):
        fetch(server, tmp_path)
    assert not (tmp_path / "glove.6B.zip").exists()


def test_a_wrong_checksum_throws_the_file_away(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"SHA-256 [0-9a-f]{64}, not 0000.* as expected.*deleted"):
        fetch(server, tmp_path, sha256="0" * 64)
    assert not (tmp_path / "glove.6B.zip").exists()
    assert fetch(server, tmp_path, sha256=hashlib.sha256(server.content).hexdigest().upper()).is_file()


def test_another_archive_than_at_the_last_fetch_is_noticed(server: Server, tmp_path: Path) -> None:
    fetch(server, tmp_path)
    (tmp_path / "glove.6B.zip").unlink()
    (tmp_path / MEMBER).unlink()
    server.content, server.tag = make_zip(b"forged " + TEXT), '"two"'
    with pytest.raises(DataError, match=r"as recorded in .*glove\.6B\.zip\.sha256"):
        fetch(server, tmp_path)
    assert not (tmp_path / MEMBER).exists()


def test_a_body_cut_without_a_length_is_not_a_complete_archive(server: Server, tmp_path: Path) -> None:
    server.chunked, server.cuts = True, [100_000]
    with pytest.raises(DataError, match="incomplete zip archive"):
        fetch(server, tmp_path)
    assert fetch(server, tmp_path).read_bytes() == TEXT


def test_a_flipped_bit_is_found_by_the_archives_own_check(server: Server, tmp_path: Path) -> None:
    damaged = bytearray(server.content)
    damaged[damaged.index(TEXT)] ^= 1
    server.content = bytes(damaged)
    with pytest.raises(DataError, match=r"glove\.6B\.zip: damaged .*fetch again"):
        fetch(server, tmp_path)
    assert not (tmp_path / MEMBER).exists()


def test_the_archive_of_other_vectors_is_refused(server: Server, tmp_path: Path) -> None:
    server.content = make_zip(member="glove.42B.300d.txt")
    with pytest.raises(DataError, match=r"does not contain glove\.6B\.50d\.txt"):
        fetch(server, tmp_path)


def test_no_network_and_unknown_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "FIRST_PAUSE", 0.0)
    with pytest.raises(DataError, match="check the network"):
        fetch_vectors("6B.50d", str(tmp_path), url="http://127.0.0.1:9/glove.6B.zip")
    with pytest.raises(DataError, match=r"ftp://.*cannot be downloaded"):
        fetch_vectors("6B.50d", str(tmp_path), url="ftp://127.0.0.1/glove.6B.zip")
    with pytest.raises(DataError, match=r"6B\.51d: unknown published vectors; choose one of 6B\.50d"):
        fetch_vectors("6B.51d", str(tmp_path))


def test_no_room_is_reported_before_and_during(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")

    def refuse(*args: object) -> None:
        raise full

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(download.shutil, "disk_usage", lambda path: type("U", (), {"free": 10}))
        with pytest.raises(DataError, match=r"0\.0 GB needed, 0\.0 GB free; free disk space"):
            fetch(server, tmp_path)
    monkeypatch.setattr(download.shutil, "copyfileobj", refuse)
    with pytest.raises(LinkerError, match=r"No space left on device.*make room"):
        fetch(server, tmp_path)
    assert not (tmp_path / MEMBER).exists()
    assert not unfinished(tmp_path)
