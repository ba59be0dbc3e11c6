"""Open inputs of any format as tables."""

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from linker.common.errors import DataError
from linker.data.files.encodings import UTF_8, Recoder, codec_of, shown_encoding
from linker.data.files.formats.delimited import delimited_table, is_delimited
from linker.data.files.formats.json_documents import json_document
from linker.data.files.formats.json_lines import json_table
from linker.data.files.formats.json_pages import is_list_around_posts, is_page, opened_data
from linker.data.files.formats.parquet import parquet_table
from linker.data.files.formats.spreadsheets import spreadsheet_table
from linker.data.files.known_columns import normal
from linker.data.files.line_errors import InputFile
from linker.data.files.rows import MAX_LINE, Format, Line, Row, Table
from linker.data.files.streams import STANDARD_INPUT, changed, open_bytes, rejoined, shown_name
from linker.data.platforms.recognition import platforms_of

#: Exact column names; or these and further names in their normal form.
SniffFor = set[str] | tuple[set[str], set[str]]

_SUFFIXES: dict[str, Format] = {
    **{".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json"},
    **{".csv": "csv", ".tsv": "tsv", ".tab": "tsv"},
    **{".parquet": "parquet", ".pq": "parquet"},
    **{".xlsx": "xlsx", ".xls": "xlsx", ".ods": "xlsx"},
    ".txt": "txt",
}
#: Endings of the files that are found in folders; each may be followed by that of a compression.
ENDINGS = tuple(_SUFFIXES)
_PACKED = {".gz", ".bz2", ".xz", ".zst"}
#: Lines that show whether text is a table.
_SNIFFED = 40
_MARKS = {
    codecs.BOM_UTF8: UTF_8,
    codecs.BOM_UTF32_LE: "utf_32",
    codecs.BOM_UTF16_LE: "utf_16",
    codecs.BOM_UTF16_BE: "utf_16",
}
# Keys of posts; an API response around a list of posts has none of them.
_OF_POSTS = frozenset(
    ("id", "text", "body", "content", "fulltext", "selftext", "caption", "idstr", "tweetid", "postid", "restid", "uri")
)  # fmt: skip
_GLANCE = 1 << 16
#: Bytes of a post at most in a file with an object per line; a longer object is one around a list.
_LONGEST_POST = 1 << 20
# The beginning of `[{...`, of `["...`, and of JSON that is indented or a single object with a list in it.
_IS_DOCUMENT = re.compile(
    rb"\s*(\[\s*(\[\s*\{|\{|\"|$)|\[\s*\]\s*$|\{\s*$|\{\s*\"(?:[^\"\\]|\\.)*\"\s*:\s*[\[{]\s*$)"
)
# Before the list in the files of a person's archive of Twitter.
_ASSIGNMENT = re.compile(rb"\s*window\.YTD\.\w+\.part\d+\s*=\s*")
_IS_OBJECT = re.compile(rb"\s*\{\s*(\"|\})")


def format_of_name(path: str) -> Format | None:
    """Return the format that the ending of a name means, compressed or not; None if unknown."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


class _Names:
    """The names of columns and keys by which tables and posts are recognized; see `open_table`."""

    def __init__(self, sniff_for: SniffFor) -> None:
        self._exact, self._known = sniff_for if isinstance(sniff_for, tuple) else (sniff_for, set())
        self._starts = {name.partition(".")[0] for name in self._exact}

    def count(self, cells: Sequence[str]) -> int:
        """Return how many of some cells are names of columns that are read; exact ones count twice."""
        return sum(2 if cell in self._exact else normal(cell) in self._known for cell in set(cells))

    def is_post(self, value: dict[str, Any]) -> bool:
        """Return whether an object is a post, not a response around a list of posts."""
        if is_list_around_posts(value):
            return False
        for key, item in opened_data(value).items():
            if not isinstance(item, list) and (key in self._starts or normal(key) in _OF_POSTS):
                return True
        return bool(value) and bool(platforms_of([value]))


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
    names = _Names(sniff_for)
    forced = None if encoding is None else codec_of(encoding)
    with open_bytes(file.path, as_table=True, on_read=file.count_bytes) as stream:
        head = stream.read(4)
        stream = rejoined(head, stream)
        if head == b"PAR1":
            with parquet_table(file, stream) as table:
                yield table
        elif head in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
            with spreadsheet_table(file, stream, names.count, sheet) as table:
                yield _without_headers(table, file)
        else:
            yield _without_headers(_text_file(file, stream, names, forced), file)


def _text_file(file: InputFile, stream: BinaryIO, names: _Names, forced: str | None) -> Table:
    """Open a table that is text, in any encoding."""
    stream = _in_utf_8(file, stream, forced)
    # The blank lines at the beginning, and the (beginning of the) first other line; a JSON list may be one huge line.
    above, first = b"", stream.readline(_GLANCE)
    while first.endswith(b"\n") and not first.strip() and len(above) < _GLANCE:
        above, first = above + first, stream.readline(_GLANCE)
    if assignment := _ASSIGNMENT.match(first):
        first = first[assignment.end() :]
    named = format_of_name(file.shown)
    if named in ("parquet", "xlsx"):
        named = None
    if _IS_OBJECT.match(first) and not first.endswith(b"\n"):
        first += stream.readline(_LONGEST_POST - len(first))
    if named in (None, "txt") and not first.lstrip().startswith((b"{", b"[")):
        ahead = stream.read(_GLANCE)
        stream = rejoined(ahead, stream)
        texts = (first + ahead).decode("utf-8", "replace").splitlines()[:_SNIFFED]
        if is_delimited(texts, names.count, in_first=named == "txt"):
            named = "csv"
    format_ = _format(first, named, names, file.path)
    if format_ == "json":
        return json_document(file, rejoined(above + first, stream), names.is_post)
    if not first.endswith(b"\n"):
        first += stream.readline(MAX_LINE + 1 - len(first))
    lines = _lines(first, stream, file, above.count(b"\n"))
    if format_ in ("csv", "tsv"):
        return delimited_table(file, lines, names.count, tabs=format_ == "tsv")
    return json_table(file, lines) if format_ == "jsonl" else _text_table(file, lines)


def _in_utf_8(file: InputFile, stream: BinaryIO, forced: str | None) -> BinaryIO:
    """Text in UTF-8; what was recognized and changed is reported."""

    def chosen(codec: str) -> None:
        file.reading["encoding"] = shown_encoding(codec)
        if codec not in _MARKS.values():
            file.note(f"read as {shown_encoding(codec)}")

    head = stream.read(4)
    marked = (codec for mark, codec in _MARKS.items() if head.startswith(mark))
    return changed(rejoined(head, stream), Recoder(next(marked, forced), chosen, file.changed))


def _format(first: bytes, named: Format | None, names: _Names, path: str) -> Format:
    """The format by the first line (or its beginning) and by the name."""
    if _IS_DOCUMENT.match(first):
        return "json"
    is_object = _IS_OBJECT.match(first)
    if is_object and (len(first) >= _LONGEST_POST or (b"[" in first and is_page(first, names.is_post))):
        return "json"
    if named == "json" or (is_object and named != "txt"):
        return "jsonl"
    if is_object:  # in a file of texts
        with suppress(ValueError):
            json.loads(first)
            return "jsonl"
    if named is not None:
        return named
    if first.lstrip().startswith((b"{", b"[")):
        return "jsonl"
    if path == STANDARD_INPUT:
        return "txt"
    raise DataError(
        f"{shown_name(path)}: unknown format, neither JSON nor a known header; "
        "name the file .jsonl, .json, .csv, .tsv, .xlsx, .parquet or .txt (one post per line)"
    )


def _lines(first: bytes, stream: BinaryIO, file: InputFile, blank: int) -> Iterator[Line]:
    """Lines without line ends, after some blank ones.

    Only `\\n` and `\\r\\n` end a line: tweets contain U+2028 and similar characters.
    """
    if blank:
        file.left_out["blank lines"] += blank
    file.lines = blank
    rest = iter(lambda: stream.readline(MAX_LINE + 1), b"")
    for number, line in enumerate(chain([first] if first else [], rest), start=blank + 1):
        if len(line) > MAX_LINE:
            raise DataError(
                f"{file.shown}, line {number}: longer than {MAX_LINE >> 20} MiB; split the file into lines"
            )
        file.lines = number
        yield Line(number, line.decode().rstrip("\r\n").removeprefix("\ufeff"))


def _text_table(file: InputFile, lines: Iterator[Line]) -> Table:
    def rows() -> Iterator[Row]:
        for number, text in lines:
            if not text.strip():
                file.blank()
            else:
                yield Row(number, {"text": text}, text)

    return Table("txt", ["text"], rows())


def _without_headers(table: Table, file: InputFile) -> Table:
    """Leave out and count rows that repeat the header, as in `cat a.csv b.csv` and pandas' `to_csv(mode="a")`."""
    if table.format == "txt":
        return table

    def rows() -> Iterator[Row]:
        for row in table.rows:
            name, value = next(iter(row.values.items()), ("", ""))
            if value in (None, name) or (
                isinstance(value, str) and value.strip().casefold() == name.casefold()
            ):
                # Only some rows are looked at as a whole.
                cells = [
                    (name, str(cell).strip()) for name, cell in row.values.items() if cell not in (None, "")
                ]
                if len(cells) > (not table.columns) and all(a.casefold() == b.casefold() for a, b in cells):
                    file.left_out["repeated headers"] += 1
                    continue
            yield row

    return replace(table, rows=rows())
