"""Download published word vectors."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx

from linker.common.console import info
from linker.common.errors import DataError
from linker.common.files import atomic_write, sha256_of
from linker.common.locks import only_writer
from linker.data.word_vectors.cache import (
    MIRROR_VARIABLE,
    PUBLISHED,
    PublishedVectors,
    cache_folder,
    published,
)

ATTEMPTS = 4
FIRST_PAUSE = 1.0
TIMEOUT = httpx.Timeout(30.0)
BLOCK_BYTES = 1 << 20
ZIP_START = b"PK\x03\x04"

Report = Callable[[int, int | None], None]


def fetch_vectors(
    name: str,
    cache: str | None = None,
    url: str | None = None,
    sha256: str | None = None,
    report: Report = lambda done, total: None,
) -> Path:
    """Download published vectors unless they are in the cache, and return the text file.

    An interrupted download is resumed. The archive's SHA-256 is stored beside it and compared when the archive is
    downloaded again, because the publisher provides no checksums.

    Args:
        name: a name such as `6B.300d`.
        cache: the cache folder, see `cache_folder`.
        url: another address of the archive; default: the publisher's, or the file of the same name on the mirror whose
            address is in the environment variable LINKER_VECTOR_MIRROR.
        sha256: the archive's checksum, if known.
        report: called with the number of bytes so far and, if known, in total.

    Raises:
        DataError: if the name is unknown, the network or disk fails, or the file is not the expected one.
        LinkerError: if another process downloads it.
    """
    vectors = published(name)
    if vectors is None:
        raise DataError(f"{name}: unknown published vectors; choose one of {', '.join(PUBLISHED)}")
    folder = cache_folder(cache)
    target, archive = folder / vectors.member, folder / vectors.archive
    if target.is_file():
        return target
    with _disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with only_writer(archive):
            if not archive.is_file():
                _download(url or _address(vectors), archive, sha256, report)
            _extract(archive, vectors.member, target)
    return target


def _address(vectors: PublishedVectors) -> str:
    """The publisher's address of an archive, or that on the mirror named by the environment."""
    mirror = os.environ.get(MIRROR_VARIABLE)
    return f"{mirror.rstrip('/')}/{vectors.archive}" if mirror else vectors.url


@dataclass
class _Part:
    """State of an unfinished download: address and version of the file, stored beside the bytes so far."""

    url: str
    validator: str | None = None

    @staticmethod
    def paths(archive: Path) -> tuple[Path, Path]:
        return archive.with_name(f"{archive.name}.part"), archive.with_name(f"{archive.name}.part.json")

    @classmethod
    def load(cls, archive: Path, url: str) -> _Part:
        try:
            part = cls(**json.loads(cls.paths(archive)[1].read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return cls(url)
        return part if part.url == url else cls(url)

    def save(self, archive: Path) -> None:
        with atomic_write(self.paths(archive)[1]) as file:
            json.dump(asdict(self), file)


class _TransientError(Exception):
    """A temporary failure of the server or the network."""


def _download(url: str, archive: Path, sha256: str | None, report: Report) -> None:
    part_path, state_path = _Part.paths(archive)
    attempt, before = 0, -1
    with httpx.Client(follow_redirects=True, max_redirects=5, timeout=TIMEOUT) as client:
        while True:
            try:
                _download_once(client, url, archive, report)
                break
            except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.TooManyRedirects) as error:
                raise DataError(f"{url}: cannot be downloaded ({error}); check the address") from error
            except (_TransientError, httpx.TransportError) as error:
                size = part_path.stat().st_size if part_path.is_file() else 0
                attempt = 0 if size > before >= 0 else attempt + 1
                before = size
                if attempt >= ATTEMPTS:
                    raise DataError(_gave_up(url, error, size)) from error
                pause = FIRST_PAUSE * 2**attempt
                info(f"{url}: {error or type(error).__name__}; trying again in {pause:g} s")
                time.sleep(pause)
    _check(url, part_path, archive, sha256)
    part_path.replace(archive)
    state_path.unlink(missing_ok=True)


def _gave_up(url: str, error: Exception, size: int) -> str:
    kept = f"; {size:,} bytes are kept, the same command resumes the download" if size else ""
    return f"{url}: cannot be downloaded ({error or type(error).__name__}); check the network{kept}"


def _download_once(client: httpx.Client, url: str, archive: Path, report: Report) -> None:
    part_path, part = _Part.paths(archive)[0], _Part.load(archive, url)
    have = part_path.stat().st_size if part_path.is_file() and part.validator else 0
    headers = {"Accept-Encoding": "identity"}
    if have and part.validator:
        # If-Range: the server sends the rest only of the same version of the file, else all of it.
        headers |= {"Range": f"bytes={have}-", "If-Range": part.validator}
    with client.stream("GET", url, headers=headers) as response:
        start = response.headers.get("content-range", "")
        if response.status_code == 416 or (
            response.status_code == 206 and not start.startswith(f"bytes {have}-")
        ):
            part_path.unlink(missing_ok=True)
            raise _TransientError("the file has changed on the server")
        _check_response(url, response)
        if response.status_code != 206:
            have = 0
        length = response.headers.get("content-length")
        total = have + int(length) if length else None
        _check_room(archive, (total or 0) - have)
        _Part(url, _validator(response)).save(archive)
        with part_path.open("ab" if have else "wb") as file:
            for block in response.iter_raw():
                if not have and not ZIP_START.startswith(block[: len(ZIP_START)]):
                    raise DataError(
                        f"{url}: not a zip archive (it begins with {block[:20]!r}); check the address"
                    )
                file.write(block)
                have += len(block)
                report(have, total)
    if total is not None and have != total:
        raise _TransientError(f"received {have:,} of {total:,} bytes")


def _check_response(url: str, response: httpx.Response) -> None:
    status = response.status_code
    if status in (408, 425, 429) or status >= 500:
        raise _TransientError(f"the server answered {status} {response.reason_phrase}")
    if status not in (200, 206):
        raise DataError(
            f"{url}: the server answered {status} {response.reason_phrase}; "
            "give another address of the same archive with --url"
        )
    if "html" in response.headers.get("content-type", ""):
        raise DataError(f"{url}: a web page, not a zip archive; open it in a browser to see why")


def _validator(response: httpx.Response) -> str | None:
    """The version of the file for If-Range, for which weak entity tags are not allowed (RFC 9110, 13.1.5)."""
    tag = response.headers.get("etag")
    return tag if tag and not tag.startswith("W/") else response.headers.get("last-modified")


def _check_room(archive: Path, needed: int) -> None:
    free = shutil.disk_usage(archive.parent).free
    if needed > free:
        raise DataError(
            f"{archive.parent}: {needed / 1e9:.1f} GB needed, {free / 1e9:.1f} GB free; "
            "free disk space or name another folder with --cache"
        )


def _check(url: str, part: Path, archive: Path, sha256: str | None) -> None:
    """Compare the checksum with the expected one, or with that of an earlier download."""
    if not zipfile.is_zipfile(part):
        part.unlink()
        raise DataError(f"{url}: incomplete zip archive; it was deleted, try again")
    note = archive.with_name(f"{archive.name}.sha256")
    found = sha256_of(part)
    expected = sha256 or (note.read_text(encoding="utf-8").split(" ")[0] if note.is_file() else found)
    if found != expected.lower():
        part.unlink()
        source = (
            "expected" if sha256 else f"recorded in {note} (remove it if the publisher has changed the file)"
        )
        raise DataError(f"{url}: wrong SHA-256 {found}, not {expected} as {source}; the download was deleted")
    with atomic_write(note) as file:
        file.write(f"{found}  {archive.name}\n")


def _extract(archive: Path, member: str, target: Path) -> None:
    """Extract one file of the archive; zipfile checks its CRC at the end."""
    try:
        with zipfile.ZipFile(archive) as content, content.open(member) as source:
            _check_room(target, content.getinfo(member).file_size)
            with atomic_write(target, "wb") as file:
                shutil.copyfileobj(source, file, BLOCK_BYTES)
    except KeyError as error:
        raise DataError(f"{archive}: does not contain {member}; remove it and fetch again") from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataError(f"{archive}: damaged ({error}); remove it and fetch again") from error


@contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        advice = "free disk space" if error.errno == errno.ENOSPC else "check the folder"
        raise DataError(
            f"{folder}: cannot be written ({error.strerror}); {advice}, or name another with --cache"
        ) from error
