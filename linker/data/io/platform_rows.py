"""Rows of posts out of the records of platforms: recognized, without what was deleted, every record accounted for."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from tempfile import TemporaryFile
from typing import Any

from linker.common.console import progress_bar
from linker.common.errors import DataError
from linker.data.io.column_detection import open_records
from linker.data.io.columns import Columns, PostColumns
from linker.data.io.formats.json_lines import json_object
from linker.data.io.formats.json_pages import is_empty_page, items_of
from linker.data.io.line_errors import BadLines, InputFile, LineError, SilentFile
from linker.data.io.post_times import PostTimes
from linker.data.io.rows import Row, Table
from linker.data.io.streams import STANDARD_INPUT, is_address, open_bytes
from linker.data.io.tables import format_of_name
from linker.data.platforms.mixture import Mixture
from linker.data.platforms.paths import nested
from linker.data.platforms.platform import AROUND, CLOCK, OLDER, Platform, Record, UnknownShapeError, hashed
from linker.data.platforms.sniffing import BY_COLUMNS, HEAD, platforms_of

#: What is counted beside the records of a format. Lines of CSV may be in the middle of a record.
_UNITS = {"jsonl": "line", "json": "item", "events": "line"}
#: In every record that deletes a post or an account; other lines of a stream are not parsed for deletions.
_DELETES = b"delete"
_TAKEN_DOWN = b"takendown"
_TABLES = ("csv", "tsv", "parquet")
#: The column of tables that says which versions of a post there are.
_VERSIONS = "edit_history_tweet_ids"
#: A history with several versions of a post of X.
_EDITED = re.compile(rb'"edit_history_tweet_ids"\s*:\s*\[[^\],]*,')
_MIB = 2**20
#: Bytes of the pseudonym of an author; see `hashed`.
_PSEUDONYM = 8


def recognized(table: Table, columns: Columns) -> tuple[Mixture | None, Table]:
    """Return the formats of a table with records of platforms, else None; and the table with all its rows.

    Only posts are recognized, and only where the user named no columns. `format` of the columns forces the answer.

    Raises:
        DataError: if the user named columns and a format.
    """
    if not isinstance(columns, PostColumns) or columns.format == BY_COLUMNS or table.format == "txt":
        return None, table
    if columns.format is not None:
        if not columns.are_default:
            raise DataError(
                f"format {columns.format}: has columns of its own; leave out the names of columns (--column), or read "
                f"by them alone: --posts-format {BY_COLUMNS}"
            )
        return Mixture(columns.format, is_forced=True, is_flat=_is_flat(table)), table
    if not columns.are_default:
        return None, table
    head = list(islice(table.rows, HEAD))
    table = replace(table, rows=chain(head, table.rows))
    is_flat = _is_flat(table) or any("." in name for row in head for name in row.values)
    if found := platforms_of([nested(row.values) if is_flat else row.values for row in head]):
        return Mixture(found[0], found, is_flat=is_flat), table
    if found := platforms_of([item for row in head for item in items_of(row.values)][:HEAD]):
        return Mixture(found[0], found, is_paged=True), table
    return None, table


def post_rows(
    file: InputFile, table: Table, formats: Mixture, columns: PostColumns, deleted: set[bytes]
) -> Iterator[tuple[Columns, Row]]:
    """Yield the posts of a table of records, with linker's columns.

    What is not a post is counted in `file.left_out` by its name. A record of an unknown shape is a bad line.

    Args:
        file: the input.
        table: its records.
        formats: the formats of the records.
        columns: whether authors are hashed, and which columns of the records are copied.
        deleted: digests of the ids of deleted posts and of deleted authors, see `deleted_in`.
    """
    times = PostTimes()
    flat = PostColumns().of_file({}, {})
    assert isinstance(flat, PostColumns)
    flat.plain = True
    with _replayed(file, table.rows, formats, deleted) as rows:
        for row in rows:
            for name, platform, post in _posts_of(row, formats, file):
                try:
                    found = platform.row(post)
                except UnknownShapeError as error:
                    file.bad(row.line, LineError(f"not a record of {platform.title}", str(error)), row.raw)
                    continue
                if isinstance(found, str):
                    file.left_out[found] += 1
                elif deleted and not deleted.isdisjoint(_digests(found)):
                    file.left_out["deleted posts"] += 1
                elif deleted and _digest(f"{OLDER}{found['id']}") in deleted:
                    file.left_out["older versions"] += 1
                else:
                    found["created_at"] = times.of(found.get("created_at"), found.pop(CLOCK, None))
                    found.update(
                        (column, row.values[column]) for column in columns.copied if column in row.values
                    )
                    yield flat, row._replace(values=_finished(found, name, columns.authors == "hashed"))
    file.notes = _report(file, formats.title, _UNITS.get(table.format), times)


def _posts_of(row: Row, formats: Mixture, file: InputFile) -> Iterator[tuple[str, Platform, Record]]:
    """The posts of a row, each with the name and the format that it is read by."""
    records = _records_of(row.values, formats)
    if not records:
        file.left_out["empty pages"] += 1
    for record in records:
        name, platform = formats.format_of(record)
        for post in platform.posts_of(record if row.around is None else {**record, AROUND: row.around}):
            yield name, platform, post


def _records_of(values: dict[str, Any], formats: Mixture) -> Sequence[Record]:
    """The record that a row is; those in it if it is a page."""
    if not formats.is_paged:
        return [formats.unflattened(values)]
    if platforms_of([values]):
        return [values]
    return items_of(values) or ([] if is_empty_page(values) else [values])


def deleted_in(paths: Iterable[str], columns: Columns) -> set[bytes]:
    """Return digests of what some files delete, in a pass of its own; inputs read once are left for `post_rows`.

    Platforms never use an id again, so a deletion counts wherever it is. A digest takes about 100 bytes of memory.
    """
    found: set[bytes] = set()
    if not isinstance(columns, PostColumns):
        return found
    for path in paths:
        if is_read_once(path) or format_of_name(path) == "xlsx":
            continue
        with BadLines("skip") as unused:
            with open_records(SilentFile(path, unused), columns) as (table, known):
                formats, table = recognized(table, known)
                if formats is None or not formats.has_deletions:
                    continue
                if table.format in _TABLES and _VERSIONS not in (table.columns or ()):
                    continue
                if table.format != "jsonl":
                    found |= deleted_by(formats, (row.values for row in table.rows))
                    continue
            for line in _lines_that_delete(path):
                try:
                    found |= _deleted_by(formats, json_object(line.decode("utf-8", "surrogateescape")))
                except LineError:  # reported when the file is read
                    continue
    return found


def deleted_by(formats: Mixture, records: Iterable[dict[str, Any]]) -> set[bytes]:
    """Return digests of what some records delete."""
    return set().union(*(_deleted_by(formats, record) for record in records))


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


def _is_flat(table: Table) -> bool:
    """Whether the columns of a table are paths into nested values."""
    return any("." in name for name in table.columns or ())


def is_read_once(path: str) -> bool:
    """Return whether an input cannot be read twice: standard input, and pipes like `<(zcat posts.gz)`."""
    return path == STANDARD_INPUT or not (is_address(path) or os.path.isfile(path))


def _lines_that_delete(path: str) -> Iterator[bytes]:
    """Yield the lines that may delete something; the bar shows the part of the file that was read, in MiB."""
    total = os.path.getsize(path) / _MIB if os.path.isfile(path) else None
    with progress_bar() as progress:
        bar = progress.add_task("reading deletions (MiB)", total=total)
        with open_bytes(path, on_read=lambda number: progress.advance(bar, number / _MIB)) as stream:
            yield from (
                line for line in stream if _DELETES in line or _TAKEN_DOWN in line or _EDITED.search(line)
            )


@contextmanager
def _replayed(
    file: InputFile, rows: Iterator[Row], formats: Mixture, deleted: set[bytes]
) -> Iterator[Iterator[Row]]:
    """The rows; those of an input that is read once, after all its deletions are in `deleted`."""
    if not (formats.has_deletions and is_read_once(file.path)):
        yield rows
        return
    with TemporaryFile("w+", encoding="ascii") as kept:
        around: dict[str, Any] | None = None
        for row in rows:
            deleted |= _deleted_by(formats, row.values)
            if row.around is not around:  # the same for all rows of a page
                around = row.around
                kept.write(json.dumps(around) + "\n")
            kept.write(json.dumps(row[:3]) + "\n")
        kept.seek(0)
        yield _rows_kept(kept)


def _rows_kept(lines: Iterable[str]) -> Iterator[Row]:
    """The rows in lines of JSON, behind a line with what is around them where that changes."""
    around: dict[str, Any] | None = None
    for line in lines:
        value = json.loads(line)
        if isinstance(value, list):
            number, values, raw = value
            yield Row(number, values, raw, around)
        else:
            around = value


def _deleted_by(formats: Mixture, values: dict[str, Any]) -> set[bytes]:
    return {
        _digest(deleted)
        for record in _records_of(values, formats)
        for deleted in formats.format_of(record)[1].deleted_by(record)
    }


def _digests(row: dict[str, Any]) -> Sequence[bytes]:
    return [_digest(str(row[name])) for name in ("id", "author") if name in row]


def _digest(text: str) -> bytes:
    # The first half of it is the pseudonym of an author.
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()[: 2 * _PSEUDONYM]


def _finished(row: dict[str, Any], name: str, hide: bool) -> dict[str, Any]:
    if hide:
        row.pop("author_name", None)
        if "author" in row:
            row["author"] = hashed(row["author"])
    row.setdefault("platform", name)  # a collector of several platforms names them itself
    return row


def _report(file: InputFile, title: str, unit: str | None, times: PostTimes) -> list[str]:
    """One line with the numbers of posts, records, and records left out by name; they add up."""
    rest = ", ".join(filter(None, [file.left_out_note(), file.bad_note()]))
    records = file.posts + file.left_out.total() + file.reasons.total()
    if unit is None:
        counted = _counted(records, "row")
    elif records == file.lines:
        counted = _counted(records, unit)
    else:  # some have several
        counted = f"{_counted(records, 'record')} in {_counted(file.lines, unit)}"
    line = f"read as {title}: {_counted(file.posts, 'post')} of {counted}"
    notes = [f"{line}; {rest}" if rest else line]
    notes += filter(None, [file.cleaned_note()])
    return notes + times.notes()


def _counted(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"
