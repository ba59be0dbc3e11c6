"""Any input, in whatever format, as a table whose rows are read one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from linker.data.formats.bad_lines import InputFile, LineError
from linker.data.formats.delimited import csv_table, tsv_table
from linker.data.formats.json_lines import json_table
from linker.data.formats.opening import STANDARD_INPUT, open_bytes, shown_name
from linker.data.formats.parquet import parquet_table
from linker.data.formats.rows import MAX_LINE, Format, Line, Row, Table, not_utf8
from linker.errors import DataError

_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".txt": "txt",
}
#: How files of posts are called that are found in folders; each may be packed.
ENDINGS = tuple(_SUFFIXES)
_PACKED = {".gz", ".bz2", ".xz", ".zst"}
_BOM = b"\xef\xbb\xbf"


@contextmanager
def open_table(file: InputFile, sniff_for: set[str]) -> Iterator[Table]:
    """Open an input, whatever its format.

    Args:
        file: where bad lines are reported.
        sniff_for: column names that tell a header from plain text where the name has no known ending.

    Raises:
        DataError: the file as a whole cannot be read: missing, damaged, of no known format, without a header.
    """
    with open_bytes(file.path) as stream:
        format_ = format_of_name(shown_name(file.path))
        first = b"" if format_ == "parquet" else stream.readline(MAX_LINE + 1)
        format_ = format_ or _sniff(first, sniff_for, file.path)
        if format_ == "parquet":
            with parquet_table(file, first, stream) as table:
                yield table
            return
        lines = _lines(first, stream, file)
        make = {"jsonl": json_table, "csv": csv_table, "tsv": tsv_table, "txt": _text_table}[format_]
        yield make(file, lines)


def format_of_name(path: str) -> Format | None:
    """What a file is by the ending of its name, packed or not."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


def _sniff(first: bytes, sniff_for: set[str], path: str) -> Format:
    line = first.removeprefix(_BOM).strip()
    if first.startswith(b"PAR1"):
        return "parquet"
    if line.startswith((b"{", b"[")):
        return "jsonl"
    names = line.decode("utf-8", "replace")
    for format_, delimiters in (("tsv", "\t"), ("csv", ",;")):
        for delimiter in delimiters:
            if sniff_for & {name.strip('" ') for name in names.split(delimiter)} and delimiter in names:
                return format_  # type: ignore[return-value]
    if path == STANDARD_INPUT:
        return "txt"
    raise DataError(
        f"{shown_name(path)}: not JSON lines, and no known header; "
        "name the file .jsonl, .csv, .tsv, .parquet or (one post a line) .txt"
    )


def _lines(first: bytes, stream: BinaryIO, file: InputFile) -> Iterator[Line]:
    """Lines without their end. Only `\\n` and `\\r\\n` end lines: tweets do hold U+2028 and the like."""
    rest = iter(lambda: stream.readline(MAX_LINE + 1), b"")
    for number, line in enumerate(chain([first.removeprefix(_BOM)] if first else [], rest), start=1):
        if len(line) > MAX_LINE:
            raise DataError(f"{shown_name(file.path)}, line {number}: longer than {MAX_LINE >> 20} MiB")
        file.lines = number
        yield Line(number, line.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r"))


def _text_table(file: InputFile, lines: Iterator[Line]) -> Table:
    def rows() -> Iterator[Row]:
        for number, text in lines:
            if not text.strip():
                file.bad(number, LineError("blank line"), text)
            elif not_utf8(text):
                file.bad(number, LineError("invalid UTF-8"), text)
            else:
                yield Row(number, {"text": text}, text)

    return Table("txt", ["text"], rows())
