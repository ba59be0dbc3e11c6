"""GloVe downloaded by its name, from a server on loopback."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from linker.common.errors import DataError
from linker.data.word_vectors import published
from linker.data.word_vectors.file import VectorFile

TEXT = b"the " + b" ".join([b"0.25"] * 50) + b"\n"


def archive(member: str = "glove.6B.50d.txt") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(member, TEXT)
    return buffer.getvalue()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder with what the publisher serves."""
    folder = tmp_path / "published"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    monkeypatch.setattr(published, "PUBLISHER", f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield folder
    server.shutdown()
    server.server_close()
    thread.join()


def words(cache: Path) -> list[str]:
    return VectorFile("6B.50d", cache=str(cache)).read()[0]


def test_glove_is_downloaded_once(server: Path, tmp_path: Path) -> None:
    (server / "glove.6B.zip").write_bytes(archive())
    cache = tmp_path / "cache"
    assert words(cache) == ["the"]
    assert sorted(path.name for path in cache.iterdir()) == ["glove.6B.50d.txt", "glove.6B.zip"]
    # The archive serves its other files, too.
    (server / "glove.6B.zip").unlink()
    (cache / "glove.6B.50d.txt").unlink()
    assert words(cache) == ["the"]


@pytest.mark.parametrize(
    "content",
    [
        b"<html>please log in</html>",
        archive()[:-30],
        archive("other.txt"),
        archive().replace(b"0.25", b"0.75", 1),
    ],
    ids=["page", "truncated", "other", "flipped bit"],
)
def test_what_is_not_the_archive_is_deleted(server: Path, tmp_path: Path, content: bytes) -> None:
    (server / "glove.6B.zip").write_bytes(content)
    with pytest.raises(DataError, match=r"glove\.6B\.zip: incomplete or damaged .*try again"):
        words(tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())


def test_a_server_that_refuses_or_is_not_there(
    server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match=r"glove\.6B\.zip: cannot be downloaded into .*404"):
        words(tmp_path / "cache")
    monkeypatch.setattr(published, "PUBLISHER", "http://127.0.0.1:9")
    with pytest.raises(DataError, match="check network and disk space"):
        words(tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())
