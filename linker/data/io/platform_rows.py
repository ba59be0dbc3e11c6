"""Rows of posts out of the records of platforms: recognized, without what was deleted, every record accounted for."""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from linker.common.console import track
from linker.common.errors import DataError
from linker.data.files.formats.json_lines import json_object
from linker.data.files.formats.json_pages import is_empty_page, items_of
from linker.data.files.line_errors import InputFile, LineError, counted
from linker.data.files.rows import Row, Table
from linker.data.files.streams import STANDARD_INPUT, is_address, open_bytes
from linker.data.files.tables import format_of_name
from linker.data.io.column_detection import open_records
from linker.data.io.columns import Columns, PostColumns
from linker.data.io.date_styles import PostTimes
from linker.data.platforms.paths import nested
from linker.data.platforms.platform import AROUND, OLDER, RECEIVED, Record, UnknownShapeError, hashed
from linker.data.platforms.recognition import BY_COLUMNS, HEAD, MixedFormats, platforms_of

#: What is counted beside the records of a format. Lines of CSV may be in the middle of a record.
_UNITS = {"jsonl": "line", "json": "item"}
#: A history with several versions of a post of X.
_EDITED = re.compile(rb'"edit_history_tweet_ids"\s*:\s*\[[^\],]*,')
#: Bytes of the pseudonym of an author; see `hashed`.
_PSEUDONYM = 8


def recognized(table: Table, columns: Columns) -> tuple[MixedFormats | None, Table]:
    """Return the formats of a table with records of platforms, else None; and the table with all its rows.

    Only posts are recognized, and only where the user named no columns. `format` of the columns forces the answer.

    Raises:
        DataError: if the user named columns and a format.
    """
    if not isinstance(columns, PostColumns) or columns.format == BY_COLUMNS or table.format == "txt":
        return None, table
    # Whether the columns of a table are paths into nested values.
    is_flat = any("." in name for name in table.columns or ())
    if columns.format is not None and columns.are_default:
        return MixedFormats(columns.format, is_forced=True, is_flat=is_flat), table
    if columns.format is not None:
        raise DataError(
            f"format {columns.format}: has columns of its own; leave out the names of columns (--column), or read "
            f"by them alone: --posts-format {BY_COLUMNS}"
        )
    if not columns.are_default:
        return None, table
    head = list(islice(table.rows, HEAD))
    table = replace(table, rows=chain(head, table.rows))
    is_flat = is_flat or any("." in name for row in head for name in row.values)
    if names := platforms_of([nested(row.values) if is_flat else row.values for row in head]):
        return MixedFormats(names[0], names, is_flat=is_flat), table
    if names := platforms_of([item for row in head for item in items_of(row.values)][:HEAD]):
        return MixedFormats(names[0], names, is_paged=True), table
    return None, table


def post_rows(
    file: InputFile, table: Table, formats: MixedFormats, columns: PostColumns, deleted: set[bytes]
) -> Iterator[tuple[Columns, Row]]:
    """Yield the posts of a table of records, with linker's columns.

    What is not a post is counted in `file.left_out` by its name. A record of an unknown shape is a bad line. At the
    end, what became of all records is reported.

    Args:
        file: the input.
        table: its records.
        formats: the formats of the records.
        columns: whether authors are hashed, and which columns of the records are copied.
        deleted: digests of the ids of deleted posts and of deleted authors, see `deleted_in`.
    """
    times, flat = PostTimes(), PostColumns()
    flat.plain = True
    for row in _replayed(file, table.rows, formats, deleted):
        records = _records_of(row.values, formats)
        if not records:
            file.left_out["empty pages"] += 1
        for record in records:
            name, platform = formats.format_of(record)
            for post in platform.posts_of(record if row.around is None else {**record, AROUND: row.around}):
                try:
                    values = platform.row(post)
                except UnknownShapeError as error:
                    file.bad(row.line, LineError(f"not a record of {platform.title}", str(error)), row.raw)
                    continue
                if not isinstance(values, str):
                    values = _deleted_as(values, deleted) or values
                if isinstance(values, str):
                    file.left_out[values] += 1
                    continue
                values["created_at"] = times.of(values.get("created_at"), values.pop(RECEIVED))
                values |= {key: row.values[key] for key in columns.copied if key in row.values}
                if columns.authors == "hashed":
                    values.pop("author_name", None)
                    if "author" in values:
                        values["author"] = hashed(values["author"])
                values.setdefault("platform", name)  # a collector of several platforms names them itself
                yield flat, row._replace(values=values)
    unit, rows = _UNITS.get(table.format), counted(file.rows, "row")
    if unit is not None and file.rows == file.lines:
        rows = counted(file.rows, unit)
    elif unit is not None:  # some have several
        rows = f"{counted(file.rows, 'record')} in {counted(file.lines, unit)}"
    file.report([f"read as {formats.title}: {file.account('post', rows)}", *times.notes()])


def _records_of(values: dict[str, Any], formats: MixedFormats) -> Sequence[Record]:
    """The record that a row is; those in it if it is a page."""
    if not formats.is_paged:
        return [nested(values) if formats.is_flat else values]
    if platforms_of([values]):
        return [values]
    return items_of(values) or ([] if is_empty_page(values) else [values])


def deleted_in(paths: Iterable[str], columns: Columns) -> set[bytes]:
    """Return digests of what some files delete, in a pass of its own; inputs read once are left for `post_rows`.

    Platforms never use an id again, so a deletion counts wherever it is. A digest takes about 100 bytes of memory.
    """
    deleted: set[bytes] = set()
    if not isinstance(columns, PostColumns):
        return deleted
    for path in paths:
        if is_read_once(path) or format_of_name(path) in ("csv", "parquet", "tsv", "xlsx"):
            continue
        with open_records(InputFile(path), columns) as table:
            formats, table = recognized(table, columns)
            if formats is None or not formats.has_deletions:
                continue
            if table.format != "jsonl":
                deleted |= deleted_by(formats, (row.values for row in table.rows))
                continue
        deleted |= deleted_by(formats, _records_that_delete(path))
    return deleted


def _records_that_delete(path: str) -> Iterator[dict[str, Any]]:
    """Yield the records in lines that may delete something; others are not parsed for deletions."""
    with open_bytes(path) as stream:
        for line in track(stream, "reading deletions"):
            if b"delete" in line or b"takendown" in line or _EDITED.search(line):
                with suppress(LineError):  # reported when the file is read
                    yield json_object(line.decode("utf-8", "surrogateescape"))


def deleted_by(formats: MixedFormats, records: Iterable[dict[str, Any]]) -> set[bytes]:
    """Return digests of what some records delete."""
    return {
        _digest(deleted)
        for values in records
        for record in _records_of(values, formats)
        for deleted in formats.format_of(record)[1].deleted_by(record)
    }


def deletes(deleted: set[bytes]) -> Callable[[str, str | None], bool]:
    """Return a function of a post's id and its author, hashed or not, that returns whether either is deleted.

    Args:
        deleted: digests, see `deleted_in`.
    """
    pseudonyms = {digest[:_PSEUDONYM].hex() for digest in deleted}

    def is_deleted(id_: str, author: str | None) -> bool:
        if _digest(id_) in deleted or _digest(f"{OLDER}{id_}") in deleted:
            return True
        return author is not None and (author in pseudonyms or _digest(author) in deleted)

    return is_deleted


def _deleted_as(values: dict[str, Any], deleted: set[bytes]) -> str:
    """The name that a deleted post is left out by; empty if it is not deleted."""
    if deleted and any(_digest(str(values[name])) in deleted for name in ("id", "author") if name in values):
        return "deleted posts"
    return "older versions" if deleted and _digest(f"{OLDER}{values['id']}") in deleted else ""


def _digest(text: str) -> bytes:
    # The first half of it is the pseudonym of an author.
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()[: 2 * _PSEUDONYM]


def is_read_once(path: str) -> bool:
    """Return whether an input cannot be read twice: standard input, and pipes like `<(zcat posts.gz)`."""
    return path == STANDARD_INPUT or not (is_address(path) or os.path.isfile(path))


def _replayed(
    file: InputFile, rows: Iterable[Row], formats: MixedFormats, deleted: set[bytes]
) -> Iterator[Row]:
    """Yield the rows; those of an input that is read once, after all its deletions are in `deleted`."""
    if formats.has_deletions and is_read_once(file.path):
        rows = list(rows)
        deleted |= deleted_by(formats, (row.values for row in rows))
    yield from rows
