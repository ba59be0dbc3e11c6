"""Published word vectors by the names that torchtext gave them: their files in the cache, and their download."""

from __future__ import annotations

import difflib
import errno
import json
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from linker.common.console import info
from linker.common.errors import DataError
from linker.common.files import atomic_write, sha256_of, write_json
from linker.common.locks import only_writer

if TYPE_CHECKING:
    import httpx

CACHE_VARIABLE, DEFAULT_CACHE = "LINKER_VECTOR_CACHE", ".vector_cache"
MIRROR_VARIABLE = "LINKER_VECTOR_MIRROR"
ATTEMPTS, FIRST_PAUSE, TIMEOUT = 4, 1.0, 30.0
_ZIP_START = b"PK\x03\x04"


class PublishedVectors(NamedTuple):
    """Published vectors: the name of the zip file, and that of the text file in it."""

    archive: str
    member: str


PUBLISHED = {
    f"{corpus}.{dim}d": PublishedVectors(archive, f"glove.{corpus}.{dim}d.txt")
    for archive, corpus, dims in (
        ("glove.6B.zip", "6B", (50, 100, 200, 300)),
        ("glove.42B.300d.zip", "42B", (300,)),
        ("glove.840B.300d.zip", "840B", (300,)),
        ("glove.twitter.27B.zip", "twitter.27B", (25, 50, 100, 200)),
    )
    for dim in dims
}


def published(name: str) -> PublishedVectors | None:
    """Return the published vectors of a name, such as `6B.300d` or torchtext's `glove.6B.300d`; None if unknown."""
    return PUBLISHED.get(name.removeprefix("glove."))


def cache_folder(cache: str | None = None) -> Path:
    """Return the folder of named vectors: `cache`, else LINKER_VECTOR_CACHE, else `.vector_cache`."""
    return Path(cache or os.environ.get(CACHE_VARIABLE) or DEFAULT_CACHE).expanduser()


def find_vectors(source: str, cache: str | None = None) -> Path:
    """Find the file of a path, of `archive.zip/member`, or of a name in the cache.

    Raises:
        DataError: if it is not found.
    """
    path = _as_file(source) or _in_cache(source, cache)
    if path is not None:
        return path
    if published(source) is None:
        near = difflib.get_close_matches(source, PUBLISHED, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise DataError(
            f"{source}: neither a vector file nor a name of published vectors ({', '.join(PUBLISHED)}){hint}"
        )
    raise DataError(
        f"word vectors {source!r} not found in {cache_folder(cache)}: get them with `linker vectors fetch "
        f"{source.removeprefix('glove.')}`, or set the folder by {CACHE_VARIABLE} or the config's `cache`"
    )


def available(source: str, otherwise: str | None, cache: str | None = None) -> str:
    """Return `source`, or `otherwise` if `source` is a published name whose vectors are not in the cache."""
    if otherwise is None or published(source) is None or _as_file(source) or _in_cache(source, cache):
        return source
    return otherwise


def _as_file(source: str) -> Path | None:
    """The path as a file, or as an archive and its member; None if it is neither."""
    path = Path(source).expanduser()
    return path if path.is_file() or path.parent.is_file() else None


def _in_cache(source: str, cache: str | None) -> Path | None:
    vectors, folder = published(source), cache_folder(cache)
    if vectors is None:
        return None
    # torchtext's own order: its binary copy, the text, the archive.
    for name in (f"{vectors.member}.pt", vectors.member, f"{vectors.member}.gz"):
        if (folder / name).is_file():
            return folder / name
    archive = folder / vectors.archive
    if archive.is_file() and zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as content:
            if vectors.member in content.namelist():
                return archive / vectors.member
    return None


def fetch_vectors(
    name: str,
    cache: str | None = None,
    url: str | None = None,
    sha256: str | None = None,
    report: Callable[[int, int | None], None] = lambda done, total: None,
) -> Path:
    """Download published vectors unless they are in the cache, and return the text file.

    An interrupted download is resumed. The publisher provides no checksums: the archive's SHA-256 is stored beside it
    and compared when it is downloaded again.

    Args:
        name: a name such as `6B.300d`.
        cache: see `cache_folder`.
        url: another address of the archive; default: the publisher's, or that of the file on the mirror whose address
            is in the environment variable LINKER_VECTOR_MIRROR.
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
    mirror = os.environ.get(MIRROR_VARIABLE) or "https://nlp.stanford.edu/data"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with only_writer(archive):
            if not archive.is_file():
                _download(url or f"{mirror.rstrip('/')}/{archive.name}", archive, sha256, report)
            _extract(archive, target)
    except OSError as error:
        advice = "free disk space" if error.errno == errno.ENOSPC else "check the folder"
        raise DataError(
            f"{folder}: cannot be written ({error.strerror}); {advice}, or name another with --cache"
        ) from error
    return target


class _TransientError(Exception):
    """A temporary failure of the server or the network."""


def _download(url: str, archive: Path, sha256: str | None, report: Callable[[int, int | None], None]) -> None:
    import httpx

    part, attempt, before = archive.with_name(f"{archive.name}.part"), 0, -1
    with httpx.Client(follow_redirects=True, max_redirects=5, timeout=TIMEOUT) as client:
        while True:
            try:
                _download_once(client, url, part, report)
                break
            except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.TooManyRedirects) as error:
                raise DataError(f"{url}: cannot be downloaded ({error}); check the address") from error
            except (_TransientError, httpx.TransportError) as error:
                size = part.stat().st_size if part.is_file() else 0
                attempt, before = (0 if size > before >= 0 else attempt + 1), size
                why = error or type(error).__name__
                if attempt >= ATTEMPTS:
                    rest = f"; {size:,} bytes are kept, the same command resumes the download" if size else ""
                    raise DataError(
                        f"{url}: cannot be downloaded ({why}); check the network{rest}"
                    ) from error
                pause = FIRST_PAUSE * 2**attempt
                info(f"{url}: {why}; trying again in {pause:g} s")
                time.sleep(pause)
    _check(url, part, archive, sha256)
    part.replace(archive)
    _state_of(part).unlink(missing_ok=True)


def _state_of(part: Path) -> Path:
    """The file with the address, and the version on the server, of an unfinished download."""
    return part.with_name(f"{part.name}.json")


def _download_once(
    client: httpx.Client, url: str, part: Path, report: Callable[[int, int | None], None]
) -> None:
    try:
        state = json.loads(_state_of(part).read_text(encoding="utf-8"))
        version = state["validator"] if state["url"] == url else None
    except (OSError, ValueError, KeyError, TypeError):
        version = None
    size = part.stat().st_size if part.is_file() and version else 0
    headers = {"Accept-Encoding": "identity"}
    if size:
        # If-Range: the server sends the rest only of the same version of the file, else all of it.
        headers |= {"Range": f"bytes={size}-", "If-Range": str(version)}
    with client.stream("GET", url, headers=headers) as response:
        resumed = response.headers.get("content-range", "").startswith(f"bytes {size}-")
        if response.status_code == 416 or (response.status_code == 206 and not resumed):
            part.unlink(missing_ok=True)
            raise _TransientError("the file has changed on the server")
        _check_response(url, response)
        size = size if response.status_code == 206 else 0
        length = response.headers.get("content-length")
        total = size + int(length) if length else None
        _check_room(part.parent, (total or 0) - size)
        # Weak entity tags are not allowed in If-Range (RFC 9110, 13.1.5).
        tag = response.headers.get("etag", "W/")
        version = response.headers.get("last-modified") if tag.startswith("W/") else tag
        write_json(_state_of(part), {"url": url, "validator": version})
        with part.open("ab" if size else "wb") as file:
            for block in response.iter_raw():
                if not size and not _ZIP_START.startswith(block[: len(_ZIP_START)]):
                    raise DataError(
                        f"{url}: not a zip archive (it begins with {block[:20]!r}); check the address"
                    )
                file.write(block)
                size += len(block)
                report(size, total)
    if total is not None and size != total:
        raise _TransientError(f"received {size:,} of {total:,} bytes")


def _check_response(url: str, response: httpx.Response) -> None:
    status = f"the server answered {response.status_code} {response.reason_phrase}"
    if response.status_code in (408, 425, 429) or response.status_code >= 500:
        raise _TransientError(status)
    if response.status_code not in (200, 206):
        raise DataError(f"{url}: {status}; give another address of the same archive with --url")
    if "html" in response.headers.get("content-type", ""):
        raise DataError(f"{url}: a web page, not a zip archive; open it in a browser to see why")


def _check_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(
            f"{folder}: {needed / 1e9:.1f} GB needed, {free / 1e9:.1f} GB free; "
            "free disk space or name another folder with --cache"
        )


def _check(url: str, part: Path, archive: Path, sha256: str | None) -> None:
    """Compare the checksum with the expected one, or with that of an earlier download."""
    if not zipfile.is_zipfile(part):
        part.unlink()
        raise DataError(f"{url}: incomplete zip archive; it was deleted, try again")
    note, actual = archive.with_name(f"{archive.name}.sha256"), sha256_of(part)
    expected = sha256 or (note.read_text(encoding="utf-8").split(" ")[0] if note.is_file() else actual)
    if actual != expected.lower():
        part.unlink()
        source = (
            "expected" if sha256 else f"recorded in {note} (remove it if the publisher has changed the file)"
        )
        raise DataError(
            f"{url}: wrong SHA-256 {actual}, not {expected} as {source}; the download was deleted"
        )
    with atomic_write(note) as file:
        file.write(f"{actual}  {archive.name}\n")


def _extract(archive: Path, target: Path) -> None:
    """Extract one file of the archive; zipfile checks its CRC at the end."""
    try:
        with zipfile.ZipFile(archive) as content, content.open(target.name) as source:
            _check_room(target.parent, content.getinfo(target.name).file_size)
            with atomic_write(target, "wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
    except KeyError as error:
        raise DataError(f"{archive}: does not contain {target.name}; remove it and fetch again") from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataError(f"{archive}: damaged ({error}); remove it and fetch again") from error
