"""Workbooks of Excel and LibreOffice: the sheet and the row of the header are found."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from linker.common.errors import DataError
from linker.data.files.formats.delimited import Layout, TextRow, checked_header, layout_of
from linker.data.files.line_errors import InputFile, LineError
from linker.data.files.rows import Row, Table

#: Excel keeps 15 digits of a number; longer ids have lost their last digits.
_EXACT = 10**15
_PROGRAM = Path(__file__).with_name("workbook_process.py")
#: Limits of the process: seconds, and memory in MiB (on Linux).
_SECONDS, _MEGABYTES = 300.0, 6 * 1024
#: Rows in which the header is looked for.
_HEAD = 200


class _Sheet(NamedTuple):
    name: str
    path: Path
    first: int
    head: list[TextRow]
    layout: Layout


@contextmanager
def spreadsheet_table(
    file: InputFile, stream: BinaryIO, known_names: Callable[[Sequence[str]], int], sheet: str | None = None
) -> Iterator[Table]:
    """Open the sheet whose header has most columns with known names; rows have Excel's numbers.

    A process of its own (decision 023) writes the sheets to files; it needs about 700 bytes for a row of six cells.

    Args:
        file: the input.
        stream: its content.
        known_names: returns how many of some cells are names of columns that are read.
        sheet: name of the sheet; None: find it.

    Raises:
        DataError: if it is not a workbook, is damaged or empty, has no such sheet, or takes too much time or memory.
    """
    with tempfile.TemporaryDirectory() as folder:
        sheets = _sheets(file.shown, stream, Path(folder), known_names)
        if not sheets:
            raise DataError(f"{file.shown}: the file is empty; add a header line")
        file.reading["sheets"] = names = [candidate.name for candidate in sheets]
        candidates = [each for each in sheets if sheet is None or each.name.casefold() == sheet.casefold()]
        if not candidates:
            raise DataError(
                f'{file.shown}: no sheet "{sheet}" with cells; name one of {", ".join(names)} with --sheet'
            )
        chosen = max(candidates, key=lambda each: (each.layout.known, each.layout.fitting >= 0.5))
        header = chosen.layout.header.line
        columns = checked_header(
            [name or f"column {number}" for number, name in enumerate(chosen.layout.columns, 1)], file, header
        )
        notes, other = [], [name for name in names if name != chosen.name]
        file.reading["sheets"] = [chosen.name, *other]
        if other:
            listed = ", ".join(f'"{name}"' for name in other[:5])
            more = f" and {len(other) - 5} more" if len(other) > 5 else ""
            notes.append(f'sheet "{chosen.name}" (others, for --sheet: {listed}{more})')
        if above := [row for row in chosen.head if row.line < header and any(row.cells)]:
            notes.append(f"header in row {header}")
            file.left_out["lines above the header"] += len(above)
        with chosen.path.open(encoding="utf-8") as lines:
            yield Table("xlsx", columns, _rows(lines, columns, chosen, file), tuple(notes))


def _sheets(
    shown: str, stream: BinaryIO, folder: Path, known_names: Callable[[Sequence[str]], int]
) -> list[_Sheet]:
    """Return the sheets with text, as files in a folder, in the order of preference."""
    workbook, written = folder / "workbook", folder / "sheets"
    written.mkdir()
    with workbook.open("wb") as copy:
        shutil.copyfileobj(stream, copy)
    program = [sys.executable, "-I", "-S", str(_PROGRAM), json.dumps(sys.path)]
    try:
        done = subprocess.run(
            [*program, str(workbook), str(written), str(_MEGABYTES << 20)],
            capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
        status = done.returncode
    except subprocess.TimeoutExpired:
        status = None
    if status == 1 and "MemoryError" not in done.stderr:
        why = done.stderr.strip().rpartition("\n")[2]
        raise DataError(
            f"{shown}: not an Excel workbook, or damaged ({why}); save it as .xlsx or CSV; unpack zip archives"
        )
    if status != 0:
        why = f"takes more than {_SECONDS:g} seconds" if status is None else f"ended with status {status}"
        raise DataError(
            f"{shown}: damaged, or too large for {_MEGABYTES >> 10} GiB of memory, perhaps by a cell far "
            f"from the others (what reads it {why}); save it as CSV"
        )
    sheets = []
    for path in sorted(written.iterdir(), key=lambda path: int(path.name)):
        with path.open(encoding="utf-8") as lines:
            name, first = json.loads(next(lines))
            head = [
                TextRow(
                    number,
                    ["" if (value := _cell(cell)) is None else str(value) for cell in json.loads(line)],
                )
                for number, line in enumerate(islice(lines, _HEAD), first)
            ]
        if any(row.has_text for row in head):
            sheets.append(_Sheet(name, path, first, head, layout_of(head, known_names)))
    return sheets


def _rows(lines: Iterator[str], columns: list[str], sheet: _Sheet, file: InputFile) -> Iterator[Row]:
    for number, line in enumerate(lines, sheet.first - 1):
        if number <= sheet.layout.header.line:
            continue
        file.lines = number
        values = [_cell(cell) for cell in json.loads(line)]
        raw = json.dumps(values, ensure_ascii=False, default=str)
        if all(value is None for value in values):
            continue  # Excel keeps rows whose content was deleted
        if any(value is not None for value in values[len(columns) :]):
            count = f"{len(values)}, the header has {len(columns)}"
            file.bad(number, LineError("wrong number of fields", count), raw)
        elif long := next(
            (value for value in values if isinstance(value, int) and abs(value) >= _EXACT), None
        ):
            reason = f"{long} has more than 15 digits, and Excel drops the rest; store such ids as text"
            file.bad(number, LineError("truncated number", reason), raw)
        else:
            yield Row(number, dict(zip(columns, values)), raw)


def _cell(value: Any) -> Any:
    """Convert a cell: None if empty, whole numbers to int, times to text."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        kind, text = value
        return datetime.fromisoformat(text) if kind == "datetime" else date.fromisoformat(text)
    return value
