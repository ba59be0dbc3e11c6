"""Delete posts from a corpus; its indexes follow without encoding or reading the others again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linker.common.errors import LinkerError
from linker.corpus.fingerprint import fingerprint
from linker.corpus.indexes.bm25 import Lexical
from linker.corpus.indexes.near_duplicates import Groups
from linker.corpus.indexes.vectors import Matrix, RowFile
from linker.corpus.search.filters import Filter, places
from linker.corpus.search.parts import further_vectors
from linker.corpus.storage.checksums import CHECKSUMS, FACTS, POSTS
from linker.corpus.storage.reader import batches
from linker.corpus.storage.store import LOCK, Store
from linker.data.io.fields import is_missing
from linker.data.io.line_errors import BadLines, LineError
from linker.data.io.paths import check_inputs
from linker.data.io.platform_rows import deletes
from linker.data.io.tables import open_table
from linker.models.resolve import resolve_model

if TYPE_CHECKING:
    import lance

_ROWS = 100_000
_AUTHOR = '"author"'


def delete_posts(store: Store, where: str) -> int:
    """Delete the posts that meet a condition.

    No command finds them any more. Their rows stay in the files of the store until the corpus is built again, and a
    search that has begun still sees them.

    Args:
        store: the corpus.
        where: an SQL condition, as in `Filter.where`.

    Returns:
        The number of deleted posts.

    Raises:
        DataError: if the condition is invalid.
        LinkerError: if another process is writing to the corpus, or a file cannot be written.
    """
    with store.writing():
        return _delete(store, where)


def delete_by_files(store: Store, deleted: set[bytes]) -> int:
    """Delete the posts that files of a platform delete, and those of authors that they delete; for the writer.

    Args:
        store: the corpus.
        deleted: digests, from `stream_posts`.

    Returns:
        The number of deleted posts.

    Raises:
        LinkerError: if a file cannot be written.
    """
    dataset, is_deleted = store.dataset(), deletes(deleted)
    if dataset is None or not deleted:
        return 0
    ids: list[str] = []
    for batch in batches(dataset, ["id", "extra"]):
        for id_, extra in zip(batch.column("id").to_pylist(), batch.column("extra").to_pylist()):
            author = json.loads(extra).get("author") if extra and _AUTHOR in extra else None
            if is_deleted(id_, author if isinstance(author, str) else None):
                ids.append(id_)
    return _delete(store, condition_of(ids)) if ids else 0


def _delete(store: Store, where: str) -> int:
    before = store.dataset()
    if before is None:
        return 0
    deleted = places(Filter(where=where), before)
    assert deleted is not None  # there is a condition
    if not len(deleted):
        return 0
    kept = np.ones(before.count_rows(), dtype=bool)
    kept[deleted] = False
    old = store.indexes(before)
    after = store.delete(before, where)
    new = store.indexes(after)
    with store.write_errors():
        if new != old:
            _carry(store, old, new, kept, after)
        else:  # all that was added last
            for file in _row_files(store, old, {}):
                file.cut(after.count_rows())
        _remove_others(store, new)
    return len(deleted)


def condition_of(ids: Iterable[str]) -> str:
    """Return the SQL condition that a post has one of these ids."""
    return "id IN ({})".format(", ".join("'" + id_.replace("'", "''") + "'" for id_ in ids))


def read_ids(paths: Sequence[str]) -> list[str]:
    """Read ids of posts, without repetitions.

    Args:
        paths: text files with an id a line, or tables and JSON Lines with a column `id`; see `input_files`.

    Raises:
        DataError: if a file cannot be read, or a row has no id.
    """
    found: dict[str, None] = {}
    with BadLines() as bad_lines:
        for path in check_inputs(paths):
            file = bad_lines.file(path)
            with open_table(file, {"id"}) as table:
                for row in table.rows:
                    value = row.values.get("id", row.values.get("text") if table.format == "txt" else None)
                    if isinstance(value, bool) or not isinstance(value, str | int) or is_missing(value):
                        file.bad(row.line, LineError("no id", "give one a line, or a column id"), row.raw)
                    else:
                        found[str(value)] = None
    return list(found)


def _carry(store: Store, old: Path, new: Path, kept: np.ndarray, dataset: lance.LanceDataset) -> None:
    """Write the rows that are left of the indexes in one folder to another one."""
    further = _further_vectors(store)
    for of_all, of_left in zip(_row_files(store, old, further), _row_files(store, new, further)):
        _carry_rows(of_all, of_left, kept)
    for words in Lexical.stored(old):
        words.carry(new, kept)
    Groups(new).complete(dataset)


def _carry_rows(of_all: RowFile, of_left: RowFile, kept: np.ndarray) -> None:
    rows = of_all.existing(len(kept))  # fewer after an interrupted build
    left = np.flatnonzero(kept[: len(rows)])

    def parts(have: int) -> Iterator[np.ndarray]:
        for start in range(have, len(left), _ROWS):
            yield rows[left[start : start + _ROWS]]

    of_left.complete(len(left), parts)


def _row_files(store: Store, folder: Path, further: Mapping[str, int]) -> list[RowFile]:
    """Return the files of a folder of indexes that have a row per post; `further` as from `further_vectors`."""
    vectors, signed = Matrix(folder, store.facts.dim).file, Groups(folder).signatures
    return [vectors, signed, *(RowFile(folder / name, np.float32, dim) for name, dim in further.items())]


def _further_vectors(store: Store) -> dict[str, int]:
    """Return `further_vectors` of the model of a corpus; empty if it was moved: their files are then made again."""
    try:
        found = resolve_model(store.facts.model, connect=False)
        return further_vectors(found.load()) if fingerprint(found) == store.facts.fingerprint else {}
    except LinkerError:
        return {}


def _remove_others(store: Store, current: Path) -> None:
    """Remove the indexes of earlier states; processes that use them keep them until they end."""
    for path in store.folder.iterdir():
        if path.name in (FACTS, POSTS, CHECKSUMS, LOCK) or path == current:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
