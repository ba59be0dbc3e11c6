"""Byte ranges of large files of JSON lines, so that several processes can read one file."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from typing import BinaryIO

from linker.common.errors import DataError
from linker.data.files.encodings import UTF_8, codec_of
from linker.data.files.formats.json_lines import json_table
from linker.data.files.line_errors import InputFile
from linker.data.files.rows import MAX_LINE, Line, Row
from linker.data.files.streams import shown_name
from linker.data.files.tables import line_of, without_headers
from linker.data.io.column_detection import columns_of, nested_names, open_records, with_paths
from linker.data.io.columns import Columns
from linker.data.io.platform_rows import recognized
from linker.data.io.recorded_lines import RecordedLines

_SUFFIXES = (".jsonl", ".ndjson")
_BLOCK = 1 << 20


@dataclass(frozen=True)
class FileRange:
    """Consecutive lines of a file of JSON lines.

    Attributes:
        begin: byte at which the first line begins.
        end: byte after the last line.
        columns: columns of the file, detected from its beginning.
        paths: dotted names of columns inside nested values.
        notes: information for the user on the detected columns.
        is_last: whether the file ends with it.
        line: number of the first line, from 1.
    """

    begin: int
    end: int
    columns: Columns
    paths: list[str]
    notes: list[str]
    is_last: bool
    line: int = 1


def ranges_of(path: str, columns: Columns, size: int) -> list[FileRange]:
    """Divide a local file into ranges of about a number of bytes; their lines are not counted yet.

    Returns:
        The ranges; none if the file is read as a whole: it is compressed, not of JSON lines, not in UTF-8, has records
        of a platform, or cannot be read.
    """
    if Path(path).suffix.lower() not in _SUFFIXES:
        return []
    try:
        with open(path, "rb") as file:
            if file.read(1) != b"{":
                return []
            with open_records(InputFile(path), columns) as (table, columns):
                if table.format != "jsonl":
                    return []
                formats, table = recognized(table, columns)
                if formats is not None:
                    return []
                paths, detected = nested_names(columns, table), columns_of(columns, table, path)
                # Columns that only later lines have are known at the end of the file.
                detected.check(shown_name(path))
            if not _is_utf_8(file, columns.encoding):
                return []
            limits = _limits(file, os.path.getsize(path), size)
    except (OSError, DataError):  # reported when the file is read
        return []
    return [
        FileRange(begin, end, detected.columns, paths, [*table.notes, *detected.notes], end == limits[-1])
        for begin, end in pairwise(limits)
    ]


def _is_utf_8(file: BinaryIO, encoding: str | None) -> bool:
    """Whether a file is valid UTF-8 without NUL: the encoding of others is recognized from their beginning."""
    if encoding is not None and codec_of(encoding) != UTF_8:
        return False
    decoder = codecs.getincrementaldecoder(UTF_8)()
    file.seek(0)
    try:
        while block := file.read(_BLOCK):
            decoder.decode(block)
            if b"\0" in block:
                return False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _limits(file: BinaryIO, total: int, size: int) -> list[int]:
    """Return where the ranges begin, and the end of the file."""
    limits, parts = [0], -(-total // size)
    for part in range(1, parts):
        file.seek(max(total * part // parts, limits[-1]))
        while len(line := file.readline(MAX_LINE)) == MAX_LINE and not line.endswith(b"\n"):
            pass
        if limits[-1] < file.tell() < total:
            limits.append(file.tell())
    return [*limits, total]


def lines_in(path: str, begin: int, end: int) -> int:
    """Return the number of line ends between two bytes of a file."""
    line_ends = 0
    with open(path, "rb") as file:
        file.seek(begin)
        while begin < end and (block := file.read(min(_BLOCK, end - begin))):
            line_ends += block.count(b"\n")
            begin += len(block)
    return line_ends


def range_rows(
    path: str, part: FileRange, bad_lines: RecordedLines
) -> Iterator[tuple[InputFile, Columns, Row]]:
    """Yield the rows of a range of a file as `iter_rows` does; what was left out is reported at its end.

    Raises:
        DataError: if the file cannot be read.
    """
    file = bad_lines.part(path, part.line - 1)
    columns = deepcopy(part.columns)  # counts dates that are left out
    if part.line == 1:
        bad_lines.note(shown_name(path), part.notes)
    table = without_headers(json_table(file, _lines(path, part, file)), file)
    for row in with_paths(table.rows, part.paths):
        yield file, columns, row
    bad_lines.part_read(file, columns, part.is_last)


def _lines(path: str, part: FileRange, file: InputFile) -> Iterator[Line]:
    try:
        with open(path, "rb") as stream:
            stream.seek(part.begin)
            at = part.begin
            for number in count(part.line):
                if at >= part.end or not (line := stream.readline(MAX_LINE + 1)):
                    return
                at += len(line)
                file.count_bytes(len(line))
                yield line_of(line, number, file)
    except OSError as error:
        raise DataError(f"{shown_name(path)}: cannot be read ({error.strerror})") from error
