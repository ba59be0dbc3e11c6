"""GloVe downloaded by its name, from a server on loopback."""

import io
import zipfile
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


@pytest.fixture(autouse=True)
def _publisher(site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "PUBLISHER", site.url)


def words(cache: Path) -> list[str]:
    return VectorFile("6B.50d", cache=str(cache)).read()[0]


def test_glove_is_downloaded_once(site, tmp_path: Path) -> None:
    site.on("/glove.6B.zip", archive())
    cache = tmp_path / "cache"
    assert words(cache) == ["the"]
    assert sorted(path.name for path in cache.iterdir()) == ["glove.6B.50d.txt", "glove.6B.zip"]
    # The archive serves its other files, too.
    (cache / "glove.6B.50d.txt").unlink()
    assert words(cache) == ["the"]
    assert site.requests == ["/glove.6B.zip"]


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
def test_what_is_not_the_archive_is_deleted(site, tmp_path: Path, content: bytes) -> None:
    site.on("/glove.6B.zip", content)
    with pytest.raises(DataError, match=r"glove\.6B\.zip: incomplete or damaged .*try again"):
        words(tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())


def test_a_server_that_refuses_or_is_not_there(site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.on("/glove.6B.zip", status=404)
    with pytest.raises(DataError, match=r"glove\.6B\.zip: cannot be downloaded into .*404"):
        words(tmp_path / "cache")
    monkeypatch.setattr(published, "PUBLISHER", "http://127.0.0.1:9")
    with pytest.raises(DataError, match="check network and disk space"):
        words(tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())
