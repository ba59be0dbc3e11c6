"""Write rankings as Parquet files and Excel workbooks."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from io import BytesIO
from itertools import islice
from typing import IO, Any

from linker.common.console import stderr
from linker.common.errors import LinkerError
from linker.ranking.formats.records import collected, flat, json_text, moment
from linker.ranking.ranked_post import RankedPost

_A_MOMENT = "2000-01-01T00:00:00+00:00"
_BATCH = 4_096
_INT64 = range(-(2**63), 2**63)


def write_parquet(file: IO[bytes], ranking: Iterable[RankedPost]) -> None:
    """Write typed columns: `created_at` is a time in UTC, `article_ids` a list of strings, others are JSON.

    A column that holds values of several kinds is one of strings.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    of_kinds = {
        frozenset({bool}): pa.bool_(),
        frozenset({int}): pa.int64(),
        frozenset({float}): pa.float64(),
        frozenset({int, float}): pa.float64(),
    }
    with collected(ranking) as records:
        types = {name: of_kinds.get(frozenset(kinds), pa.string()) for name, kinds in records.columns.items()}
        types |= {"rank": pa.int64(), "score": pa.float64()}
        for name, kind in types.items():
            if kind == pa.int64() and any(
                row.get(name) not in _INT64 for row in records if row.get(name) is not None
            ):
                types[name] = pa.string()
        if all(moment(row.get("created_at", _A_MOMENT)) for row in records):
            types.update({"created_at": pa.timestamp("us", tz="UTC")} if "created_at" in types else {})
        if records.columns.get("article_ids") == {list}:
            types["article_ids"] = pa.list_(pa.string())
        schema = pa.schema(list(types.items()))
        with pq.ParquetWriter(file, schema) as writer:
            rows = iter(records)
            while batch := list(islice(rows, _BATCH)):
                arrays = [
                    pa.array([_value(name, kind, row.get(name)) for row in batch], kind, from_pandas=False)
                    for name, kind in types.items()
                ]
                writer.write_batch(pa.record_batch(arrays, schema=schema))


def _value(name: str, kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if name == "created_at" and str(kind).startswith("timestamp"):
        return moment(value)
    if str(kind).startswith("list"):
        return list(map(str, value))
    if str(kind) == "string" and not isinstance(value, str):
        return json_text(value)
    return float(value) if str(kind) == "double" else value


_ROWS, _COLUMNS, _CHARACTERS = 1_048_575, 16_384, 32_767
"""Excel's limits: rows below the header, characters in a cell."""
_EXACT = 10**15
_WIDTHS = {"rank": 6, "score": 10, "id": 14, "text": 90, "created_at": 19, "note": 30, "time": 28}
_CUT = "…"


def write_spreadsheet(file: IO[bytes], ranking: Iterable[RankedPost]) -> None:
    """Write a ranking as a sheet, see `write_sheet`; times are in UTC.

    Whole numbers of more than 15 digits become texts, since Excel would round them.

    Raises:
        LinkerError: more rows or columns than a sheet holds.
    """
    with collected(ranking) as records:
        rows = ({name: _cell(name, value) for name, value in values.items()} for values in records)
        write_sheet(file, "posts", list(records.columns), rows, records.count)


def write_sheet(
    file: IO[bytes], title: str, names: Sequence[str], rows: Iterable[Mapping[str, Any]], count: int
) -> None:
    """Write one sheet: a frozen bold header, filters, and texts that are never formulas.

    Texts of more than 32,767 characters are cut, with a note on standard error.

    Args:
        file: where to.
        title: name of the sheet.
        names: the columns.
        rows: values by column: truth values, numbers, times without a zone, texts or None.
        count: number of rows.

    Raises:
        LinkerError: more rows or columns than a sheet holds.
    """
    import xlsxwriter

    if count > _ROWS or len(names) > _COLUMNS:
        raise LinkerError(
            f"{count:,} {title} with {len(names):,} fields: a sheet of Excel holds {_ROWS:,} rows and "
            f"{_COLUMNS:,} columns; write fewer, or .csv"
        )
    # xlsxwriter leaves its archive open when the disk is full, and Python reports that at its end.
    packed = BytesIO()
    book = xlsxwriter.Workbook(packed, {"constant_memory": True, "strings_to_urls": False})
    sheet = book.add_worksheet(title)
    bold = book.add_format({"bold": True, "bottom": 1})
    wrapped = book.add_format({"text_wrap": True, "valign": "top"})
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss", "valign": "top"})
    top = book.add_format({"valign": "top"})
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, count, len(names) - 1)
    for column, name in enumerate(names):
        sheet.set_column(column, column, _WIDTHS.get(name, 16))
        sheet.write_string(0, column, name, bold)
    cut = 0
    for number, values in enumerate(rows, start=1):
        for column, name in enumerate(names):
            value = values.get(name)
            if isinstance(value, bool):
                sheet.write_boolean(number, column, value, top)
            elif isinstance(value, (int, float)):
                sheet.write_number(number, column, value, top)
            elif isinstance(value, datetime):
                sheet.write_datetime(number, column, value, moment)
            elif value is not None:
                value = str(value).encode("utf-8", "replace").decode()  # halves of surrogate pairs
                if len(value) > _CHARACTERS:
                    cut, value = cut + 1, value[: _CHARACTERS - len(_CUT)] + _CUT
                sheet.write_string(number, column, value, wrapped if name == "text" else top)
    book.close()
    file.write(packed.getbuffer())
    if cut:
        stderr.print(
            f"{cut:,} cells were cut: Excel holds {_CHARACTERS:,} characters in one; .csv keeps the whole",
            highlight=False,
        )


def _cell(name: str, value: Any) -> Any:
    value = flat(name, value)
    if name == "created_at" and (at := moment(value)) is not None and at.tzinfo is not None:
        at = at.astimezone(timezone.utc).replace(tzinfo=None)
        # Excel has no days before 1901 and shows no fractions of a second.
        return at if at.year > 1900 and not at.microsecond else value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _EXACT:
        return str(value)
    return value
