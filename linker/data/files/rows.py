"""Lines, rows and tables: what every input is read into."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "xlsx", "txt"]
MAX_LINE = 64 << 20


class Row(NamedTuple):
    """A row of a table.

    Attributes:
        line: number of its (first) line, from 1.
        values: the values by column.
        raw: the text that it was read from.
        around: the other values of the JSON object around the row's list; None: none.
    """

    line: int
    values: dict[str, Any]
    raw: str
    around: dict[str, Any] | None = None


class Line(NamedTuple):
    """A line of a file, without its end."""

    number: int
    text: str


@dataclass(frozen=True)
class Table:
    """An open input.

    Attributes:
        format: format of the input.
        columns: the header; None if every row has its own keys (JSON).
        rows: the good rows; bad ones are reported to the `InputFile` when the iterator passes them.
        notes: information for the user, such as which of several sheets is read.
    """

    format: Format
    columns: list[str] | None
    rows: Iterator[Row]
    notes: tuple[str, ...] = ()
