"""Posts read from the store, in bounded memory; what is damaged is told in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from linker.errors import DataError, LinkerError

if TYPE_CHECKING:
    import lance
    import numpy as np
    import pyarrow as pa

ROWS_AT_ONCE = 16_384


def batches(dataset: lance.LanceDataset, columns: Sequence[str], start: int = 0) -> Iterator[pa.RecordBatch]:
    """The posts from a place on, in their order, 16,384 at once.

    Raises:
        DataError: something is damaged.
    """
    with readable(dataset.uri):
        scanner = dataset.scanner(
            columns=list(columns),
            offset=start,
            batch_size=ROWS_AT_ONCE,
            batch_readahead=2,
            fragment_readahead=2,
            scan_in_order=True,
        )
        yield from scanner.to_batches()


def rows_at(dataset: lance.LanceDataset, places: np.ndarray, columns: Sequence[str]) -> pa.Table:
    """The posts at some places, in that order.

    Raises:
        DataError: something is damaged.
    """
    with readable(dataset.uri):
        return dataset.take(places, columns=list(columns))


@contextmanager
def readable(uri: str) -> Iterator[None]:
    """What goes wrong while posts are read, in words.

    Raises:
        DataError: something is damaged.
    """
    try:
        yield
    except (LinkerError, GeneratorExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        # Lance comes down with some damage as with a defect of its own.
        panic = type(error).__name__ == "PanicException"
        if not panic and not isinstance(error, (OSError, ValueError, RuntimeError)):
            raise
        raise DataError(
            f"{uri}: cannot be read ({first_line(error)}); `linker corpus verify` names what is damaged"
        ) from error


def first_line(error: BaseException) -> str:
    """What an error of Lance says, without where in Lance it was."""
    return (str(error).splitlines() or [type(error).__name__])[0].split(", /")[0]
