"""What an input is made of: lines, and rows with the number of the line they begin on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "xlsx", "txt"]
MAX_LINE = 64 << 20


class Row(NamedTuple):
    """A row: number of its (first) line, values by column, and the text it was read from."""

    line: int
    values: dict[str, Any]
    raw: str


class Line(NamedTuple):
    """A line of a file; bytes that are no UTF-8 became lone surrogates (`surrogateescape`)."""

    number: int
    text: str


@dataclass(frozen=True)
class Table:
    """An open input.

    Attributes:
        format: what it is.
        columns: its header; None where every row has its own (JSON lines).
        rows: the good rows; the bad ones are reported to the InputFile when the iterator moves past them.
        notes: what to tell the user, such as which of several sheets is read.
    """

    format: Format
    columns: list[str] | None
    rows: Iterator[Row]
    notes: tuple[str, ...] = ()


def not_utf8(text: str) -> bool:
    """Did the text come from bytes that are no UTF-8, or does it hold half a surrogate pair?"""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
