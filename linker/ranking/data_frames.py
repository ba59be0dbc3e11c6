"""Rows of data frames (pandas, polars, Arrow) as plain Python values."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from linker.common.errors import DataError, LinkerError

if TYPE_CHECKING:
    import pandas
    import polars

_BATCH = 4_096


@runtime_checkable
class ArrowStream(Protocol):
    """A table that exports Arrow record batches: pandas, polars, PyArrow, DuckDB, and others.

    Source: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
    """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a PyCapsule with the stream."""


class Frame:
    """A data frame of any library.

    Attributes:
        columns: the names of its columns, as text; those of a named pandas index are among them.
        kind: its type in messages, such as `pandas.DataFrame`.
    """

    columns: list[str]
    kind: str

    def __len__(self) -> int:
        raise NotImplementedError

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as column name → Python value, in order; empty cells are None."""
        raise NotImplementedError

    def labels(self) -> Sequence[object]:
        """Return names of the rows in messages: a unique pandas index, else 0, 1, 2, ..."""
        return range(len(self))

    def take(self, rows: Sequence[int]) -> Any:
        """Return rows by number, counted from 0, as a frame of the same library."""
        raise NotImplementedError

    def to_pandas(self, rows: Sequence[int]) -> pandas.DataFrame:
        """Return rows by number, counted from 0."""
        raise NotImplementedError

    def to_polars(self, rows: Sequence[int]) -> polars.DataFrame:
        """Return rows by number, counted from 0."""
        raise NotImplementedError

    def _check_names(self) -> None:
        twice = sorted(name for name, count in Counter(self.columns).items() if count > 1)
        if twice:
            raise DataError(f"the {self.kind} has several columns named {', '.join(twice)}; rename them")


class _PandasFrame(Frame):
    kind = "pandas.DataFrame"

    def __init__(self, frame: pandas.DataFrame) -> None:
        # A copy: later changes to the caller's frame must not change a ranking.
        self._frame = frame.copy(deep=False)
        of_index = [name for name in frame.index.names if name is not None and name not in frame.columns]
        # A named index was a column: frame.set_index("tweet_id").
        self._with_index = self._frame.reset_index(level=of_index) if of_index else self._frame
        self.columns = [_name(name) for name in self._with_index.columns]
        self._check_names()

    def __len__(self) -> int:
        return len(self._frame)

    def rows(self) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self), _BATCH):
            part = self._with_index.iloc[start : start + _BATCH]
            values = [map(_plain, part.iloc[:, n].tolist()) for n in range(len(self.columns))]
            yield from (dict(zip(self.columns, row)) for row in zip(*values))

    def labels(self) -> Sequence[object]:
        index = self._frame.index
        labels = [_plain(label) for label in index.tolist()]
        usable = index.is_unique and all(
            isinstance(label, (str, int)) and str(label).strip() for label in labels
        )
        return labels if usable else range(len(self))

    def take(self, rows: Sequence[int]) -> pandas.DataFrame:
        return self._frame.iloc[list(rows)].copy()

    def to_pandas(self, rows: Sequence[int]) -> pandas.DataFrame:
        return self.take(rows)

    def to_polars(self, rows: Sequence[int]) -> polars.DataFrame:
        return library("polars").from_pandas(self._with_index.iloc[list(rows)])


class _PolarsFrame(Frame):
    kind = "polars.DataFrame"

    def __init__(self, frame: polars.DataFrame) -> None:
        self._frame = frame.clone()
        self.columns = list(frame.columns)

    def __len__(self) -> int:
        return self._frame.height

    def rows(self) -> Iterator[dict[str, Any]]:
        return self._frame.iter_rows(named=True)

    def take(self, rows: Sequence[int]) -> polars.DataFrame:
        return self._frame[list(rows)]

    def to_pandas(self, rows: Sequence[int]) -> pandas.DataFrame:
        library("pandas")
        return self.take(rows).to_pandas()

    def to_polars(self, rows: Sequence[int]) -> polars.DataFrame:
        return self.take(rows)


class _ArrowFrame(Frame):
    def __init__(self, given: ArrowStream) -> None:
        import pyarrow

        self.kind = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
        try:
            self._table = pyarrow.table(given)
        except (pyarrow.ArrowException, TypeError, ValueError) as error:
            raise DataError(f"the {self.kind} cannot be read as a table ({error})") from error
        self.columns = list(self._table.column_names)
        self._check_names()

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def rows(self) -> Iterator[dict[str, Any]]:
        for batch in self._table.to_batches(max_chunksize=_BATCH):
            yield from batch.to_pylist()

    def take(self, rows: Sequence[int]) -> Any:
        return self._table.take(list(rows))

    def to_pandas(self, rows: Sequence[int]) -> pandas.DataFrame:
        library("pandas")
        frame: pandas.DataFrame = self.take(rows).to_pandas()
        return frame

    def to_polars(self, rows: Sequence[int]) -> polars.DataFrame:
        frame: polars.DataFrame = library("polars").from_arrow(self.take(rows))
        return frame


def _imported(name: str) -> Any:
    """Return a module if it is imported, and not just being imported by another thread."""
    module = sys.modules.get(name)
    return None if getattr(getattr(module, "__spec__", None), "_initializing", False) else module


def frame_of(value: object) -> Frame | None:
    """Return `value` as a Frame; None if it is not a data frame.

    Neither pandas nor polars is imported: who has one of their frames has imported them.

    Raises:
        DataError: a lazy frame, columns with the same name, or a table that Arrow cannot hold.
    """
    pandas, polars = _imported("pandas"), _imported("polars")
    if pandas is not None and isinstance(value, pandas.DataFrame):
        return _PandasFrame(value)
    if polars is not None and isinstance(value, polars.LazyFrame):
        raise DataError("a polars.LazyFrame has no rows yet; give frame.collect()")
    if polars is not None and isinstance(value, polars.DataFrame):
        return _PolarsFrame(value)
    if isinstance(value, type) or series_of(value) is not None or not isinstance(value, ArrowStream):
        return None
    return _ArrowFrame(value)


def series_of(value: object) -> list[tuple[object, Any]] | None:
    """Return labels and values of a pandas or polars Series or Arrow array; None for anything else."""
    pandas, polars = _imported("pandas"), _imported("polars")
    pyarrow = _imported("pyarrow")
    if pandas is not None and isinstance(value, (pandas.Series, pandas.Index)):
        frame = value.to_frame(name="value")
        return list(zip(_PandasFrame(frame).labels(), map(_plain, value.tolist())))
    if polars is not None and isinstance(value, polars.Series):
        return list(enumerate(value.to_list()))
    if pyarrow is not None and isinstance(value, (pyarrow.Array, pyarrow.ChunkedArray)):
        return list(enumerate(value.to_pylist()))
    return None


def row_of(value: object) -> Mapping[str, Any] | None:
    """Return a row as column name → value: a mapping, or a row from `iterrows` or `frame.loc[...]` of pandas."""
    if isinstance(value, Mapping):
        return value
    pandas = _imported("pandas")
    if pandas is not None and isinstance(value, pandas.Series):
        names = value.index.tolist()
        if all(isinstance(name, str) for name in names):
            return dict(zip(names, map(_plain, value.tolist())))
    return None


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


def _name(label: object) -> str:
    return ".".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _plain(value: Any) -> Any:
    """Return a pandas cell as a Python value; None for NaN, NA and NaT."""
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, float):
        return None if value != value else float(value)
    pandas = sys.modules["pandas"]
    if value is pandas.NA or value is pandas.NaT:
        return None
    if isinstance(value, datetime) and hasattr(value, "to_pydatetime"):
        return value.to_pydatetime(warn=False)
    # NumPy scalars and arrays.
    return value.tolist() if hasattr(value, "tolist") else value
