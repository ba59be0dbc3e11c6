"""GloVe by the names that torchtext gave it: files in torchtext's cache, downloaded if they are not there."""

import difflib
import os
import shutil
import zipfile
import zlib
from pathlib import Path

from linker.common.console import info
from linker.common.errors import DataError
from linker.common.files import atomic_write
from linker.common.locks import only_writer

CACHE_VARIABLE, DEFAULT_CACHE = "LINKER_VECTOR_CACHE", ".vector_cache"
PUBLISHER = "https://nlp.stanford.edu/data"

#: Name → archive with its file.
ARCHIVES = {
    f"{corpus}.{dim}d": archive
    for archive, corpus, dims in (
        ("glove.6B.zip", "6B", (50, 100, 200, 300)),
        ("glove.42B.300d.zip", "42B", (300,)),
        ("glove.840B.300d.zip", "840B", (300,)),
        ("glove.twitter.27B.zip", "twitter.27B", (25, 50, 100, 200)),
    )
    for dim in dims
}


def vector_file(source: str, cache: str | None = None) -> Path:
    """Return the file of word vectors; GloVe is downloaded unless it is in the cache.

    Args:
        source: a file, or a name of GloVe such as `6B.300d` or torchtext's `glove.6B.300d`.
        cache: folder of named vectors; None: LINKER_VECTOR_CACHE, else `.vector_cache`.

    Raises:
        DataError: if it is neither, or the download fails.
        LinkerError: if another process downloads it.
    """
    path, name = Path(source).expanduser(), source.removeprefix("glove.")
    if path.is_file():
        return path
    if name not in ARCHIVES:
        near = difflib.get_close_matches(source, ARCHIVES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise DataError(f"{source}: neither a vector file nor a name of GloVe ({', '.join(ARCHIVES)}){hint}")
    folder = Path(cache or os.environ.get(CACHE_VARIABLE) or DEFAULT_CACHE).expanduser()
    target = folder / f"glove.{name}.txt"
    for path in (target, folder / f"{target.name}.gz"):
        if path.is_file():
            return path
    _download(folder / ARCHIVES[name], target)
    return target


def _download(archive: Path, target: Path) -> None:
    """Download an archive unless it is there, and extract a file of it; zipfile checks its CRC."""
    from torch.hub import download_url_to_file

    url = f"{PUBLISHER}/{archive.name}"
    try:
        with only_writer(archive):
            if not archive.is_file():
                info(f"downloading the word vectors {url}")
                download_url_to_file(url, str(archive))
            with (
                zipfile.ZipFile(archive) as content,
                content.open(target.name) as source,
                atomic_write(target, "wb") as file,
            ):
                shutil.copyfileobj(source, file, 1 << 20)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        archive.unlink()
        raise DataError(f"{url}: incomplete or damaged ({error}); it was deleted, try again") from error
    except OSError as error:
        raise DataError(
            f"{url}: cannot be downloaded into {archive.parent} ({error}); check network and disk space, or put the "
            "file there"
        ) from error
