"""Open inputs of any format as tables."""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from linker.common.errors import DataError
from linker.data.io.encodings import UTF_8, Recoder, codec_of, line_feeds, shown_encoding, utf_16_of
from linker.data.io.formats.delimited import delimited_table, is_delimited
from linker.data.io.formats.event_streams import event_table, is_event_stream
from linker.data.io.formats.json_documents import json_document
from linker.data.io.formats.json_lines import json_table
from linker.data.io.formats.json_pages import (
    is_by_columns,
    is_keyed,
    is_list_around_posts,
    is_page,
    opened_data,
)
from linker.data.io.formats.parquet import parquet_table
from linker.data.io.formats.spreadsheets import spreadsheet_table
from linker.data.io.known_columns import normal
from linker.data.io.line_errors import InputFile, LineError
from linker.data.io.rows import MAX_LINE, Format, Line, Row, Table
from linker.data.io.streams import STANDARD_INPUT, changed, open_bytes, rejoined, shown_name
from linker.data.io.zip_archives import name_inside
from linker.data.platforms.recognition import platforms_of

#: Exact column names; or these and further names in their normal form.
SniffFor = set[str] | tuple[set[str], set[str]]

_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
    ".xls": "xlsx",
    ".ods": "xlsx",
    ".txt": "txt",
}
#: Endings of the files that are found in folders; each may be followed by that of a compression.
ENDINGS = tuple(_SUFFIXES)
_PACKED = {".gz", ".bz2", ".xz", ".zst", ".zip"}
#: Lines that show whether text is a table.
_SNIFFED = 40
# Bytes that show UTF-16, and what ends lines outside of quotes.
_FEW = 512
_END, _QUOTED = re.compile(rb"\r\n|\r|\n"), re.compile(rb'"[^"]*"')
# Keys of posts; an API response around a list of posts has none of them.
_OF_POSTS = {
    "id",
    "text",
    "body",
    "content",
    "fulltext",
    "selftext",
    "caption",
    "idstr",
    "tweetid",
    "postid",
    "restid",
    "uri",
}
_GLANCE = 1 << 16
# The beginning of `[{...`, of `["...`, and of JSON that is indented or a single object with a list in it.
_IS_DOCUMENT = re.compile(
    rb"\s*(\[\s*(\[\s*\{|\{|\"|$)|\[\s*\]\s*$|\{\s*$|\{\s*\"(?:[^\"\\]|\\.)*\"\s*:\s*[\[{]\s*$)"
)
# Before the list in the files of a person's archive of Twitter.
_ASSIGNMENT = re.compile(rb"\s*window\.YTD\.\w+\.part\d+\s*=\s*")
_IS_OBJECT = re.compile(rb"\s*\{\s*(\"|\})")


#: Kinds of files that are no tables, by their first bytes.
_KINDS = (
    (rb"%PDF", "a PDF"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8|RIFF....WEBP|II\*\0|MM\0\*", "an image"),
    (rb"....ftyp|\x1aE\xdf\xa3|OggS|ID3|RIFF", "a video or sound"),
    (rb"SQLite format 3", "a database"),
    (rb".{257}ustar", "a tar archive, which is to be unpacked"),
    (rb"\s*(<!doctype html|<html)", "a web page"),
    (rb"\s*<(\?xml|rss|feed)", "XML"),
    (rb"\{\\rtf", "a text of a word processor"),
)


def other_kind(head: bytes) -> str | None:
    """Return what a file with these first bytes is if it is known to be no table: `a PDF`, `an image`, `a web page`."""
    return next((kind for magic, kind in _KINDS if re.match(magic, head, re.IGNORECASE | re.DOTALL)), None)


@contextmanager
def open_table(
    file: InputFile, sniff_for: SniffFor, encoding: str | None = None, sheet: str | None = None
) -> Iterator[Table]:
    """Open an input of any format.

    Unambiguous content (Parquet, workbooks, JSON) takes precedence over the ending of the name.

    Args:
        file: the input; its bad lines are reported there.
        sniff_for: column names that distinguish a header from plain text if the ending is unknown: exact ones, and
            optionally further ones in their normal form, of which two make a header.
        encoding: name of the encoding of text; None: recognize it.
        sheet: name of the sheet of a workbook; None: find it.

    Raises:
        DataError: if the file is missing, damaged, of an unknown format or without a header.
    """
    forced = None if encoding is None else codec_of(encoding)
    with open_bytes(file.path, as_table=True, on_read=file.count_bytes) as stream:
        head = stream.read(_FEW)
        magic, stream = head[:4], rejoined(head, stream)
        if format_of_name(file.path) != "txt" and (kind := other_kind(head)):
            raise DataError(
                f"{shown_name(file.path)}: {kind}, not a table; give a table, or an export of a platform"
            )
        if magic == b"PAR1":
            with parquet_table(file, b"", stream) as table:
                yield table
        elif magic in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
            found = spreadsheet_table(file, stream, lambda cells: _known_in(cells, sniff_for), sheet)
            yield without_headers(found, file)
        else:
            yield without_headers(_text_file(file, stream, sniff_for, forced), file)


def _text_file(file: InputFile, stream: BinaryIO, sniff_for: SniffFor, forced: str | None) -> Table:
    """Open a table that is text, in any encoding."""
    stream = _in_utf_8(file, stream, forced)
    # A JSON list may be one huge line, which is not read at once.
    above, first = _first_line(stream)
    if assignment := _ASSIGNMENT.match(first):
        first = first[assignment.end() :]
    named = format_of_name(name_inside(shown_name(file.path)))
    if first.startswith((b":", b"event:")):
        ahead = stream.read(_GLANCE)
        stream = rejoined(ahead, stream)
        named = "events" if is_event_stream(first + ahead) else named
    if named in (None, "txt") and not first.lstrip().startswith((b"{", b"[")):
        ahead = stream.read(_GLANCE)
        stream = rejoined(ahead, stream)
        texts = (first + ahead).decode("utf-8", "replace").splitlines()[:_SNIFFED]
        if is_delimited(texts, lambda cells: _known_in(cells, sniff_for), in_first=named == "txt"):
            named = "csv"
    format_ = _format(first, named, sniff_for, file.path)
    if format_ == "json":
        return json_document(file, rejoined(above + first, stream), lambda value: _is_post(value, sniff_for))
    if not first.endswith(b"\n"):
        first += stream.readline(MAX_LINE + 1 - len(first))
    lines = _lines(first, stream, file, above.count(b"\n"))
    if format_ in ("csv", "tsv"):
        return delimited_table(file, lines, lambda cells: _known_in(cells, sniff_for), tabs=format_ == "tsv")
    table_of = {"jsonl": json_table, "txt": _text_table, "events": event_table}[format_]
    return table_of(file, lines)


def _in_utf_8(file: InputFile, stream: BinaryIO, forced: str | None) -> BinaryIO:
    """Text in UTF-8 with `\\n` as line ends; what was recognized and changed is reported."""

    def chosen(codec: str) -> None:
        if codec not in (UTF_8, "utf_16"):
            file.note(f"read as {shown_encoding(codec)}")

    head = stream.read(_FEW)
    codec = UTF_8 if head.startswith(codecs.BOM_UTF8) else utf_16_of(head) or forced
    stream = changed(rejoined(head, stream), Recoder(codec, chosen, file.count_change))
    first = stream.readline(_GLANCE)
    ahead = first + stream.peek(_GLANCE) if b"\r" in first[:-2] else b""  # type: ignore[attr-defined]
    ends = Counter(_END.findall(_QUOTED.sub(b"", ahead)))
    stream = rejoined(first, stream)
    return changed(stream, line_feeds()) if ends[b"\r"] > ends[b"\n"] + ends[b"\r\n"] else stream


def without_headers(table: Table, file: InputFile) -> Table:
    """Leave out and count rows that repeat the header, as in `cat a.csv b.csv` and pandas' `to_csv(mode="a")`.

    A header of the same columns in another order is a bad line, as the rows below it would be read by the wrong names.
    """
    if table.format == "txt":
        return table
    names = set(table.columns or ())
    written = {name.casefold() for name in names}

    def rows() -> Iterator[Row]:
        for row in table.rows:
            name, value = next(iter(row.values.items()), ("", ""))
            if value not in (None, name) and not (
                isinstance(value, str) and value.strip().casefold() in written
            ):
                yield row  # nearly all rows
                continue
            filled = {
                name: str(value).strip() for name, value in row.values.items() if value not in (None, "")
            }
            if len(filled) > (not names) and all(
                name.casefold() == value.casefold() for name, value in filled.items()
            ):
                file.left_out["repeated headers"] += 1
            elif len(filled) > 1 and {value.casefold() for value in filled.values()} == written:
                file.bad(row.line, LineError("another header", "the same columns in another order"), row.raw)
            else:
                yield row

    return replace(table, rows=rows())


def _first_line(stream: BinaryIO) -> tuple[bytes, bytes]:
    """The blank lines at the beginning, and the (beginning of the) first other line; at most 64 KiB of each."""
    above, first = b"", stream.readline(_GLANCE)
    while first.endswith(b"\n") and not first.strip() and len(above) < _GLANCE:
        above, first = above + first, stream.readline(_GLANCE)
    return above, first


def format_of_name(path: str) -> Format | None:
    """Return the format that the ending of a name means, compressed or not; None if unknown."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


def _format(first: bytes, named: Format | None, sniff_for: SniffFor, path: str) -> Format:
    """The format by the first line (or its beginning) and by the name."""
    if named in ("parquet", "xlsx"):
        named = None
    line = first
    whole = len(first) < _GLANCE or first.endswith(b"\n")
    if _IS_DOCUMENT.match(line) or (
        _IS_OBJECT.match(line)
        and b"[" in line
        and is_page(line, whole, _is_known(sniff_for), lambda value: _is_post(value, sniff_for))
    ):
        return "json"
    text = line.decode("utf-8", "replace")
    if _IS_OBJECT.match(line) and (
        is_by_columns(text) or is_keyed(text, lambda value: _is_post(value, sniff_for))
    ):
        return "json"
    if named == "json":
        return "jsonl"
    if _IS_OBJECT.match(line) and (named != "txt" or _is_json(line)):
        return "jsonl"
    if named == "txt" and _names_columns(line, "\t", sniff_for):
        # Excel's "Text (Tab delimited)" and "Unicode text", whose cells are quoted as in CSV.
        return "tsv" if b"," in line or b";" in line else "csv"
    return named or _sniff(line, sniff_for, path)


def _is_known(sniff_for: SniffFor) -> Callable[[str], bool]:
    """Whether a key is that of a post, or of a column that is read."""
    starts = {
        name.partition(".")[0] for name in (sniff_for[0] if isinstance(sniff_for, tuple) else sniff_for)
    }
    return lambda name: name in starts or normal(name) in _OF_POSTS


def _is_post(value: dict[str, Any], sniff_for: SniffFor) -> bool:
    """Whether an object is a post, not a response around a list of posts."""
    if is_list_around_posts(value):
        return False
    is_known = _is_known(sniff_for)
    if any(not isinstance(item, list) and is_known(key) for key, item in opened_data(value).items()):
        return True
    return bool(value) and bool(platforms_of([value]))


def _sniff(line: bytes, sniff_for: SniffFor, path: str) -> Format:
    if line.lstrip().startswith((b"{", b"[")):
        return "jsonl"
    for format_, delimiters in (("tsv", "\t"), ("csv", ",;")):
        if any(_names_columns(line, delimiter, sniff_for) for delimiter in delimiters):
            return format_  # type: ignore[return-value]
    if path == STANDARD_INPUT:
        return "txt"
    raise DataError(
        f"{shown_name(path)}: unknown format, neither JSON nor a known header; "
        "name the file .jsonl, .json, .csv, .tsv, .xlsx, .parquet or .txt (one post per line)"
    )


def _names_columns(line: bytes, delimiter: str, sniff_for: SniffFor) -> bool:
    """Return whether a line is a header with a column that is read."""
    exact = sniff_for[0] if isinstance(sniff_for, tuple) else sniff_for
    cells = [name.strip('" \r\n') for name in line.decode("utf-8", "replace").split(delimiter)]
    return len(cells) > 1 and (bool(exact & set(cells)) or _known_in(cells, sniff_for) > 1)


def _known_in(cells: Sequence[str], sniff_for: SniffFor) -> int:
    """How many of some cells are names of columns that are read."""
    exact, known = sniff_for if isinstance(sniff_for, tuple) else (sniff_for, set())
    return sum(cell in exact or normal(cell) in known for cell in set(cells))


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _lines(first: bytes, stream: BinaryIO, file: InputFile, blank: int) -> Iterator[Line]:
    """Lines without line ends, after some blank ones.

    Only `\\n` and `\\r\\n` end a line: tweets contain U+2028 and similar characters.
    """
    for _ in range(blank):
        file.blank()
    file.lines = blank
    rest = iter(lambda: stream.readline(MAX_LINE + 1), b"")
    for number, line in enumerate(chain([first] if first else [], rest), start=blank + 1):
        yield line_of(line, number, file)


def line_of(line: bytes, number: int, file: InputFile) -> Line:
    """Return a line of a file without its line end, and count it.

    Raises:
        DataError: if it is too long.
    """
    if len(line) > MAX_LINE:
        raise DataError(
            f"{shown_name(file.path)}, line {number}: longer than {MAX_LINE >> 20} MiB; split the file into lines"
        )
    file.lines = number
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = line.decode("utf-8", "replace")
        file.count_change("bytes that are not UTF-8 read as \ufffd", text.count("\ufffd"))
    return Line(number, text.rstrip("\r\n").removeprefix("\ufeff"))


def _text_table(file: InputFile, lines: Iterator[Line]) -> Table:
    def rows() -> Iterator[Row]:
        for number, text in lines:
            if not text.strip():
                file.blank()
            else:
                yield Row(number, {"text": text}, text)

    return Table("txt", ["text"], rows())
