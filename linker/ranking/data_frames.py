"""Data frames and Series of any library, read by narwhals, as plain Python values."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from linker.common.errors import DataError, LinkerError

if TYPE_CHECKING:
    import pandas
    import polars


#: Advice where values of a Series are missing.
EMPTY_IN_SERIES = "leave missing values out with series.dropna()"


@runtime_checkable
class ArrowStream(Protocol):
    """A table that exports Arrow record batches: pandas, polars, PyArrow, DuckDB, and others.

    Source: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
    """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a PyCapsule with the stream."""


class Frame:
    """A data frame of any library.

    Args:
        frame: the data frame as narwhals has it.
        kind: its type in messages, such as `pandas.DataFrame`.
        with_index: the same, with the index of pandas as columns.

    Attributes:
        columns: the names of its columns, as text; those of a named pandas index are among them.
    """

    def __init__(self, frame: Any, kind: str, with_index: Any = None) -> None:
        self.kind = kind
        self._frame, self._with_index = frame, frame if with_index is None else with_index
        self.columns: list[str] = list(self._with_index.columns)

    def __len__(self) -> int:
        return len(self._frame)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as column name → Python value, in order; empty cells are None."""
        for row in self._with_index.iter_rows(named=True, buffer_size=4_096):
            yield {name: plain(value) for name, value in row.items()}

    @property
    def index(self) -> list[object] | None:
        """The index of pandas, one value per row; None for other libraries."""
        return _index(self._frame)

    def labels(self) -> Sequence[object]:
        """Return names of the rows in messages: a unique pandas index, else 0, 1, 2, ..."""
        index = self.index
        return range(len(self)) if index is None or len(set(index)) < len(index) else index

    def without_empty(self, column: str) -> str:
        """Return advice to leave out rows in which a column is empty; nothing for rare libraries."""
        if self.kind == "pandas.Series":
            return EMPTY_IN_SERIES
        calls = {"pandas": f"dropna(subset=[{column!r}])", "polars": f"drop_nulls({column!r})"}
        call = calls.get(self.kind.partition(".")[0])
        return f"leave such rows out with frame.{call}" if call else ""

    def to_pandas(self, rows: Sequence[int]) -> pandas.DataFrame:
        """Return rows by number, counted from 0."""
        library("pandas")
        frame: pandas.DataFrame = self._frame[list(rows)].to_pandas()
        return frame.copy()

    def to_polars(self, rows: Sequence[int]) -> polars.DataFrame:
        """Return rows by number, counted from 0."""
        library("polars")
        frame: polars.DataFrame = self._with_index[list(rows)].to_polars()
        return frame


def _native(value: object) -> Any:
    """Return a DataFrame, LazyFrame or Series of narwhals; None for anything else.

    Neither pandas nor polars is imported: who has one of their frames has imported them.
    """
    if type(value).__module__ in ("builtins", "pathlib") or isinstance(value, (Mapping, type)):
        return None
    with suppress(TypeError):  # not one that narwhals knows
        return _wrapped(value)
    if not hasattr(value, "__arrow_c_array__") and not isinstance(value, ArrowStream):
        return None
    import pyarrow

    try:
        is_table = isinstance(value, ArrowStream)
        arrow = pyarrow.table(value) if is_table else pyarrow.chunked_array([value])
    except (TypeError, ValueError) as error:  # errors of Arrow are ValueErrors, too
        raise DataError(f"the {kind_of(value)} cannot be read as a table ({error})") from error
    return _wrapped(arrow)


def _wrapped(value: object) -> Any:
    import narwhals

    try:
        return narwhals.from_native(value, allow_series=True)
    except narwhals.exceptions.DuplicateError as error:
        names = ", ".join(re.findall(r"- '(.*)' \d+ times", str(error)))
        raise DataError(f"the {kind_of(value)} has several columns named {names}; rename them") from error


def kind_of(value: object) -> str:
    """Return the name of a type with its package: `int`, `pandas.Series`."""
    return f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}".removeprefix("builtins.")


def frame_of(value: object) -> Frame | None:
    """Return `value` as a Frame, a lazy one collected; None if it is not a data frame.

    A Series of texts with a named index, such as `frame.set_index("id")["text"]`, is a frame with the column `text`.

    Raises:
        DataError: columns with the same name, or a table that Arrow cannot hold.
    """
    pandas: Any = sys.modules.get("pandas")
    if isinstance(value, getattr(pandas, "DataFrame", ())):
        return _pandas_frame(value)
    series: Any = value if isinstance(value, getattr(pandas, "Series", ())) else None
    if series is not None and series.index.name and all(isinstance(one, str) for one in series.dropna()):
        return _pandas_frame(series.rename("text").to_frame(), "pandas.Series")
    frame = _native(value)
    frame = frame.collect() if hasattr(frame, "collect") else frame
    return Frame(frame, kind_of(value)) if hasattr(frame, "iter_rows") else None


def _pandas_frame(value: pandas.DataFrame, kind: str = "pandas.DataFrame") -> Frame:
    # A named index was a column: frame.set_index("tweet_id").
    index = [name for name in value.index.names if name is not None and name not in value]
    flat = value.reset_index(level=index) if index else value.copy(deep=False)
    names = [".".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in flat.columns]
    flat = flat.set_axis(names, axis=1)
    # A copy: later changes to the caller's frame must not change a ranking.
    return Frame(_wrapped(value.copy(deep=False)), kind, _wrapped(flat))


def series_of(value: object) -> tuple[list[Any], list[object] | None] | None:
    """Return the values of a pandas or polars Series or Arrow array and its index in pandas; None for anything else."""
    series = _native(value)
    return ([*map(plain, series.to_list())], _index(series)) if hasattr(series, "to_list") else None


def _index(of: Any) -> list[object] | None:
    import narwhals

    index: Any = narwhals.maybe_get_index(of)
    return None if index is None else index.tolist()


def row_of(value: Any) -> Mapping[str, Any] | None:
    """Return a row as column name → plain value: a mapping, or a row of pandas (`iterrows`, `frame.loc[...]`)."""
    if isinstance(value, Mapping):
        return {name: plain(cell) for name, cell in value.items()}
    pandas: Any = sys.modules.get("pandas")
    series: Any = value if isinstance(value, getattr(pandas, "Series", ())) else None
    if series is None or not all(isinstance(name, str) for name in series.index):
        return None
    return dict(zip(series.index, map(plain, series.tolist())))


def library(name: str) -> Any:
    """Import pandas or polars.

    Raises:
        LinkerError: it is not installed.
    """
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise LinkerError(f"{name} is not installed; install it with: pip install {name}") from error


def plain(value: Any) -> Any:
    """Return a cell as a Python value; None for NaN, NA and NaT."""
    if value is None or type(value) in (str, int, bool, list, dict):
        return value
    if isinstance(value, float):
        return None if value != value else float(value)
    if isinstance(value, datetime) and hasattr(value, "to_pydatetime"):
        return None if value != value else value.to_pydatetime(warn=False)
    if type(value).__name__ == "NAType":
        return None
    # NumPy scalars and arrays.
    return value.tolist() if hasattr(value, "tolist") else value
