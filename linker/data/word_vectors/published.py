"""Published word vectors by the names that torchtext gave them: their files in the cache, and their download."""

from __future__ import annotations

import difflib
import errno
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from linker.common.errors import DataError
from linker.common.files import atomic_write
from linker.common.locks import only_writer

CACHE_VARIABLE, DEFAULT_CACHE = "LINKER_VECTOR_CACHE", ".vector_cache"
MIRROR_VARIABLE, PUBLISHER = "LINKER_VECTOR_MIRROR", "https://nlp.stanford.edu/data"
TIMEOUT = 30.0


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
    """Find the file of a path, or of a name in the cache.

    Raises:
        DataError: if it is not found.
    """
    path = _file_of(source, cache)
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
    if otherwise is None or published(source) is None or _file_of(source, cache):
        return source
    return otherwise


def _file_of(source: str, cache: str | None) -> Path | None:
    vectors, paths = published(source), [Path(source).expanduser()]
    if vectors is not None:
        paths += [cache_folder(cache) / vectors.member, cache_folder(cache) / f"{vectors.member}.gz"]
    return next((path for path in paths if path.is_file()), None)


def fetch_vectors(
    name: str, cache: str | None = None, report: Callable[[int, int | None], None] = lambda done, total: None
) -> Path:
    """Download published vectors unless they are in the cache, and return the text file.

    An interrupted download is resumed by the next call. The archive is kept, as it has vectors of other lengths, too.

    Args:
        name: a name such as `6B.300d`.
        cache: see `cache_folder`.
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
    mirror = os.environ.get(MIRROR_VARIABLE) or PUBLISHER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with only_writer(archive):
            if not archive.is_file():
                _download(f"{mirror.rstrip('/')}/{archive.name}", archive, report)
            _extract(archive, target)
    except OSError as error:
        advice = "free disk space" if error.errno == errno.ENOSPC else "check the folder"
        raise DataError(
            f"{folder}: cannot be written ({error.strerror}); {advice}, or name another with --cache"
        ) from error
    return target


def _download(url: str, archive: Path, report: Callable[[int, int | None], None]) -> None:
    """Download a zip file, or the rest of it; a file that changed in between fails the checksums in it."""
    import httpx

    part = archive.with_name(f"{archive.name}.part")
    size = part.stat().st_size if part.is_file() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={size}-"} if size else {})
    try:
        with httpx.stream("GET", url, headers=headers, follow_redirects=True, timeout=TIMEOUT) as response:
            if response.status_code not in (200, 206, 416):
                raise DataError(
                    f"{url}: the server answered {response.status_code} {response.reason_phrase}; try again later, "
                    f"or set {MIRROR_VARIABLE} to another address with {archive.name}"
                )
            if response.status_code != 416:  # all is there, or more than all
                size = size if response.status_code == 206 else 0
                length = response.headers.get("content-length")
                total = size + int(length) if length else None
                with part.open("ab" if size else "wb") as file:
                    for block in response.iter_raw():
                        file.write(block)
                        size += len(block)
                        report(size, total)
    except (httpx.InvalidURL, httpx.HTTPError) as error:
        raise DataError(
            f"{url}: cannot be downloaded ({error or type(error).__name__}); check the network. The same command "
            f"resumes the download after {size:,} bytes"
        ) from error
    if not zipfile.is_zipfile(part):
        part.unlink()
        raise DataError(f"{url}: not a zip archive, or incomplete; it was deleted, try again")
    part.replace(archive)


def _extract(archive: Path, target: Path) -> None:
    """Extract one file of the archive; zipfile checks its CRC at the end."""
    try:
        with (
            zipfile.ZipFile(archive) as content,
            content.open(target.name) as source,
            atomic_write(target, "wb") as file,
        ):
            shutil.copyfileobj(source, file, 1 << 20)
    except KeyError as error:
        raise DataError(f"{archive}: does not contain {target.name}; remove it and fetch again") from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataError(f"{archive}: damaged ({error}); remove it and fetch again") from error
