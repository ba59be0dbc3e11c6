"""Names and local files of published word vectors, compatible with torchtext."""

from __future__ import annotations

import difflib
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

from linker.common.errors import DataError

CACHE_VARIABLE = "LINKER_VECTOR_CACHE"
DEFAULT_CACHE = ".vector_cache"
MIRROR_VARIABLE = "LINKER_VECTOR_MIRROR"
STANFORD = "https://nlp.stanford.edu/data"


@dataclass(frozen=True)
class PublishedVectors:
    """Published vectors.

    Attributes:
        archive: name of the zip file.
        member: name of the text file in it.
        url: address of the zip file.
    """

    archive: str
    member: str
    url: str


def _glove(archive: str, *dims: int, corpus: str) -> dict[str, PublishedVectors]:
    return {
        f"{corpus}.{dim}d": PublishedVectors(archive, f"glove.{corpus}.{dim}d.txt", f"{STANFORD}/{archive}")
        for dim in dims
    }


PUBLISHED: dict[str, PublishedVectors] = {
    **_glove("glove.6B.zip", 50, 100, 200, 300, corpus="6B"),
    **_glove("glove.42B.300d.zip", 300, corpus="42B"),
    **_glove("glove.840B.300d.zip", 300, corpus="840B"),
    **_glove("glove.twitter.27B.zip", 25, 50, 100, 200, corpus="twitter.27B"),
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
    path = _as_file(source)
    if path is not None:
        return path
    vectors = published(source)
    if vectors is None:
        raise DataError(_unknown_source(source))
    folder = cache_folder(cache)
    found = _in_cache(vectors, folder)
    if found is not None:
        return found
    raise DataError(
        f"word vectors {source!r} not found in {folder}: get them with `linker vectors fetch "
        f"{source.removeprefix('glove.')}`, or set the folder by {CACHE_VARIABLE} or the config's `cache`"
    )


def available(source: str, otherwise: str | None, cache: str | None = None) -> str:
    """Return `source`, or `otherwise` if `source` is a published name whose vectors are not in the cache."""
    if otherwise is None or _as_file(source) is not None:
        return source
    vectors = published(source)
    return source if vectors is None or _in_cache(vectors, cache_folder(cache)) else otherwise


def _as_file(source: str) -> Path | None:
    """The path as a file, or as an archive and its member; None if it is neither."""
    path = Path(source).expanduser()
    return path if path.is_file() or path.parent.is_file() else None


def _in_cache(vectors: PublishedVectors, folder: Path) -> Path | None:
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


def _unknown_source(source: str) -> str:
    near = difflib.get_close_matches(source, PUBLISHED, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{source}: neither a vector file nor a name of published vectors ({', '.join(PUBLISHED)}){hint}"
