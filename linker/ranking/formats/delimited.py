"""A ranking as CSV or TSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import IO, Any

from linker.data.formats.guard import guarded
from linker.ranking.formats.records import collected, flat
from linker.ranking.ranked import RankedPost

_BREAKS = re.compile(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


def write_csv(file: IO[str], ranking: Iterable[RankedPost]) -> None:
    """Write all fields, one row a post; cells that a spreadsheet might run get an apostrophe before them."""
    with collected(ranking) as records:
        writer = csv.DictWriter(file, list(records.columns), lineterminator="\n")
        writer.writeheader()
        for values in records:
            writer.writerow({name: _cell(name, value) for name, value in values.items()})


def write_tsv(file: IO[str], ranking: Iterable[RankedPost]) -> None:
    """The same without quotes: tabs and line breaks in a text become spaces."""
    with collected(ranking) as records:
        file.write("\t".join(map(_one_line, records.columns)) + "\n")
        for values in records:
            cells = (_cell(name, values.get(name)) for name in records.columns)
            file.write("\t".join("" if cell is None else _one_line(str(cell)) for cell in cells) + "\n")


def _cell(name: str, value: Any) -> Any:
    value = flat(name, value)
    return guarded(value) if isinstance(value, str) else value


def _one_line(text: str) -> str:
    return _BREAKS.sub(" ", text)
