"""Write rankings as CSV, TSV and JSON."""

import csv
import re
from collections.abc import Iterable
from typing import IO, Any

from linker.common.console import info
from linker.data.files.formats.delimited import guarded
from linker.ranking.formats.records import collected, flat, json_text, record
from linker.ranking.ranked_post import RankedPost

_BREAKS = re.compile(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


def write_csv(file: IO[str], ranking: Iterable[RankedPost]) -> None:
    """Write all fields as CSV, one row per post; what a spreadsheet might run starts with an apostrophe."""
    with collected(ranking) as records:
        writer = csv.DictWriter(file, list(records.columns), lineterminator="\n")
        writer.writerow({name: guarded(name) for name in records.columns})
        for values in records:
            writer.writerow({name: _cell(name, value) for name, value in values.items()})


def write_tsv(file: IO[str], ranking: Iterable[RankedPost]) -> None:
    """Write all fields as TSV without quotes: tabs and line breaks in a text become spaces, and are counted."""
    broken = 0
    with collected(ranking) as records:
        file.write("\t".join(_one_line(guarded(name)) for name in records.columns) + "\n")
        for values in records:
            cells = [_cell(name, values.get(name)) for name in records.columns]
            broken += sum(isinstance(cell, str) and _BREAKS.search(cell) is not None for cell in cells)
            file.write("\t".join("" if cell is None else _one_line(str(cell)) for cell in cells) + "\n")
    if broken:
        info(
            f"{broken:,} cell{'s' * (broken > 1)} with tabs or line breaks, written as spaces: TSV has no quotes"
        )


def _cell(name: str, value: Any) -> Any:
    value = flat(name, value)
    return guarded(value) if isinstance(value, str) else value


def _one_line(text: str) -> str:
    return _BREAKS.sub(" ", text)


def write_json_lines(file: IO[str], ranking: Iterable[RankedPost]) -> None:
    """Write JSON Lines: one object per line."""
    file.writelines(json_text(record(ranked)) + "\n" for ranked in ranking)


def write_json(file: IO[str], ranking: Iterable[RankedPost]) -> None:
    """Write a JSON list with one object per line."""
    before = "[\n"
    for ranked in ranking:
        file.write(before + json_text(record(ranked)))
        before = ",\n"
    file.write("\n]\n" if before == ",\n" else "[]\n")
