"""Verification of a corpus."""

from collections.abc import Iterator

from linker.common.console import track
from linker.common.errors import DataError
from linker.common.files import sha256_of
from linker.corpus.storage.array_files import ArrayFiles
from linker.corpus.storage.checksums import CHANGED, CHECKSUMS, MEND, manifests, read_checksums
from linker.corpus.storage.reader import COLUMNS, ROWS_AT_ONCE, batches
from linker.corpus.storage.shards import SHARDS
from linker.corpus.storage.store import Store

_AGAIN = "delete it, and it is created again"


def faults(store: Store) -> Iterator[str]:
    """Yield each damaged file with its problem and the remedy, reading everything once.

    Files without a checksum are of a command that was interrupted before it recorded them.
    """
    try:
        checksums = read_checksums(store.folder)
    except DataError as error:
        yield str(error)
        return
    if not checksums and manifests(store.folder):
        yield f"{store.folder / CHECKSUMS}: is missing; {MEND}"
    is_whole = True
    for name, sha256 in track(sorted(checksums.items()), "reading files", len(checksums)):
        path = store.folder / name
        if not path.is_file() or sha256_of(path) != sha256:
            if name not in read_checksums(store.folder):
                continue  # a writer has removed it meanwhile
            is_whole = False
            yield f"{path}: {CHANGED if path.is_file() else 'is missing'}; {MEND}"
    for path in track(ArrayFiles(store.folder / SHARDS).damaged(), "reading shards", None):
        is_whole = False
        yield f"{path}: {CHANGED}; {_AGAIN}"
    if not is_whole:
        return
    try:
        shards = store.shards()
        if shards is None:
            return
        for _ in track(batches(shards.dataset, COLUMNS), "reading posts", -(-shards.posts // ROWS_AT_ONCE)):
            pass
        for shard in shards:
            for name in shard.files.names():
                arrays = shard.files.read(name)
                if arrays is not None and not shard.fits(arrays):
                    yield f"{arrays.path}: does not have a row per post; {_AGAIN}"
    except DataError as error:
        yield str(error)
