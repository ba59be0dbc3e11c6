"""`fetch_vectors` against a server on loopback that behaves and misbehaves."""

from __future__ import annotations

import errno
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
        archive.writestr(member, text)
        archive.writestr("padding", os.urandom(200_000))
    return buffer.getvalue()


class Server(ThreadingHTTPServer):
    """Serves `content`; the attributes say what goes wrong."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = make_zip()
        self.ranges = True
        self.cuts: list[int] = []
        self.statuses: list[int] = []
        self.asked: list[str | None] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        server, wanted = self.server, self.headers.get("Range")
        server.asked.append(wanted)
        content, start = server.content, 0
        if wanted and server.ranges:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if server.statuses or start >= len(content):
            self.send_error(server.statuses.pop(0) if server.statuses else 416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start : server.cuts.pop(0) if server.cuts else len(content)])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    server = Server()
    monkeypatch.setenv("LINKER_VECTOR_MIRROR", f"http://127.0.0.1:{server.server_address[1]}/")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def fetch(cache: Path) -> Path:
    return fetch_vectors("6B.50d", cache=str(cache))


def unfinished(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if ".part" in path.name or path.name.startswith("."))


def test_fetched_vectors_are_found_by_their_name(server: Server, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    path = fetch_vectors("6B.50d", str(tmp_path), lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == TEXT
    assert VectorFile("6B.50d", cache=str(tmp_path)).read()[0] == ["the"]
    assert seen[-1] == (len(server.content), len(server.content))
    assert not unfinished(tmp_path)
    # Everything is there: no second download, neither for this file nor for others of the archive.
    fetch(tmp_path)
    path.unlink()
    fetch(tmp_path)
    assert len(server.asked) == 1


@pytest.mark.parametrize("ranges", [True, False])
def test_a_cut_download_resumes_where_it_stopped(server: Server, tmp_path: Path, ranges: bool) -> None:
    server.cuts, server.ranges = [70_000], ranges
    with pytest.raises(DataError, match=r"resumes the download after 70,000 bytes"):
        fetch(tmp_path)
    assert unfinished(tmp_path) == ["glove.6B.zip.part"]
    assert fetch(tmp_path).read_bytes() == TEXT
    assert server.asked == [None, "bytes=70000-"]


def test_a_file_that_changed_meanwhile_is_not_used(server: Server, tmp_path: Path) -> None:
    server.content, server.cuts = make_zip(TEXT * 1_000), [70_000]
    with pytest.raises(DataError):
        fetch(tmp_path)
    server.content = make_zip(b"new " * 100 + TEXT * 1_000)
    with pytest.raises(DataError, match=r"damaged .*remove it and fetch again"):
        fetch(tmp_path)
    (tmp_path / "glove.6B.zip").unlink()
    assert fetch(tmp_path).read_bytes().startswith(b"new ")


def test_a_part_that_is_all_or_more_than_all(server: Server, tmp_path: Path) -> None:
    part = tmp_path / "glove.6B.zip.part"
    part.write_bytes(b"x" * (len(server.content) + 1))
    with pytest.raises(DataError, match="not a zip archive, or incomplete; it was deleted"):
        fetch(tmp_path)
    part.write_bytes(server.content)
    assert fetch(tmp_path).read_bytes() == TEXT


@pytest.mark.parametrize("status", [404, 503])
def test_a_refusal_is_reported(server: Server, tmp_path: Path, status: int) -> None:
    server.statuses = [status]
    with pytest.raises(DataError, match=rf"glove\.6B\.zip: the server answered {status} .*_MIRROR"):
        fetch(tmp_path)
    assert not unfinished(tmp_path)


@pytest.mark.parametrize("content", [b"<html>please log in</html>", b"PK\3\4 and so on"])
def test_a_web_page_is_not_an_archive(server: Server, tmp_path: Path, content: bytes) -> None:
    server.content = content
    with pytest.raises(DataError, match="not a zip archive, or incomplete; it was deleted"):
        fetch(tmp_path)
    assert not list(tmp_path.glob("*.zip*"))


def test_a_flipped_bit_is_found_by_the_archives_own_check(server: Server, tmp_path: Path) -> None:
    damaged = bytearray(server.content)
    damaged[damaged.index(TEXT)] ^= 1
    server.content = bytes(damaged)
    with pytest.raises(DataError, match=r"glove\.6B\.zip: damaged .*fetch again"):
        fetch(tmp_path)
    assert not (tmp_path / MEMBER).exists()


def test_the_archive_of_other_vectors_is_refused(server: Server, tmp_path: Path) -> None:
    server.content = make_zip(member="glove.42B.300d.txt")
    with pytest.raises(DataError, match=r"does not contain glove\.6B\.50d\.txt"):
        fetch(tmp_path)


@pytest.mark.parametrize("mirror", ["http://127.0.0.1:9", "ftp://127.0.0.1"])
def test_no_network_and_unknown_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mirror: str) -> None:
    monkeypatch.setenv("LINKER_VECTOR_MIRROR", mirror)
    with pytest.raises(
        DataError, match=rf"{mirror}/glove\.6B\.zip: cannot be downloaded .*check the network"
    ):
        fetch(tmp_path)


def test_an_unknown_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"6B\.51d: unknown published vectors; choose one of 6B\.50d"):
        fetch_vectors("6B.51d", str(tmp_path))


def test_no_room_is_reported(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(download.shutil, "copyfileobj", refuse)
    with pytest.raises(LinkerError, match=r"No space left on device.*make room"):
        fetch(tmp_path)
    assert not (tmp_path / MEMBER).exists()
    assert not unfinished(tmp_path)
