"""Delete posts from a corpus, without encoding or reading the others again."""

import json
from collections.abc import Sequence

from linker.corpus.filters import is_in, passing_rows
from linker.corpus.indexes.near_duplicates import stored_groups
from linker.corpus.storage.reader import batches
from linker.corpus.storage.store import Store
from linker.data.files.line_errors import BadLines, LineError
from linker.data.files.tables import format_of_name, open_table
from linker.data.io.fields import clean_id, is_missing
from linker.data.io.input_files import check_inputs
from linker.data.io.platform_rows import deletes
from linker.data.post_filter import Filter

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
        deleted = delete_rows(store, where)
        if deleted:
            store.recover()
            if (shards := store.shards()) is not None:
                stored_groups(shards)
        return deleted


def delete_by_files(store: Store, deleted: set[bytes]) -> int:
    """Delete the posts that files of a platform delete, and those of authors that they delete; for the writer.

    Returns:
        The number of deleted posts; their near-duplicates are not grouped again.

    Raises:
        LinkerError: if a file cannot be written.
    """
    dataset = store.dataset()
    if dataset is None or not deleted:
        return 0
    ids, is_deleted = [], deletes(deleted)
    for batch in batches(dataset, ["id", "extra"]):
        for id_, extra in zip(batch.column("id").to_pylist(), batch.column("extra").to_pylist()):
            author = json.loads(extra).get("author") if extra and _AUTHOR in extra else None
            if is_deleted(id_, author if isinstance(author, str) else None):
                ids.append(id_)
    return delete_rows(store, is_in("id", ids)) if ids else 0


def delete_rows(store: Store, where: str) -> int:
    """Delete posts as `delete_posts` does, without grouping near-duplicates again; for the writer."""
    before = store.dataset()
    if before is None:
        return 0
    deleted = passing_rows(Filter(where=where), before)
    assert deleted is not None  # there is a condition
    if not len(deleted):
        return 0
    store.delete(before, where)
    return len(deleted)


def read_ids(paths: Sequence[str]) -> list[str]:
    """Read ids of posts, without repetitions.

    Args:
        paths: text files with an id a line, or tables and JSON Lines with a column `id`; see `input_files`.

    Raises:
        DataError: if a file cannot be read, or a row has no id.
    """
    ids: dict[str, None] = {}
    with BadLines(skippable=False) as bad_lines:
        for path in check_inputs(paths):
            if path not in paths and format_of_name(path) is None:
                continue  # such as the notes in a folder
            file = bad_lines.file(path)
            with open_table(file, {"id"}) as table:
                for row in table.rows:
                    value = row.values.get("id", row.values.get("text") if table.format == "txt" else None)
                    try:
                        if is_missing(value):
                            raise LineError("no id", "give one a line, or a column id")
                        ids[clean_id(value)] = None
                    except LineError as error:
                        file.bad(row.line, error, row.raw)
    return list(ids)
