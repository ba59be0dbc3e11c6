"""Filters of the posts of a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from linker.common.errors import DataError
from linker.corpus.storage.reader import counts, first_line
from linker.corpus.storage.shards import offsets as live_offsets
from linker.data.post_filter import Filter, in_utc

if TYPE_CHECKING:
    import lance

# An address is the number of a fragment and an offset in it.
_HALF, _LOWER = np.uint64(32), np.uint64(0xFFFFFFFF)


def sql(conditions: Filter) -> str | None:
    """Return all conditions as one SQL condition; None if there are none."""
    parts = []
    if conditions.since is not None:
        parts.append(f"created_at >= {_timestamp(conditions.since)}")
    if conditions.until is not None:
        parts.append(f"created_at < {_timestamp(conditions.until)}")
    if conditions.languages:
        parts.append(is_in("lang", conditions.languages))
    if conditions.where:
        parts.append(f"({conditions.where})")
    return " AND ".join(parts) or None


def is_in(column: str, values: Iterable[str]) -> str:
    """Return the SQL condition that a column has one of some values."""
    quoted = ("'" + value.replace("'", "''") + "'" for value in values)
    return f"{column} IN ({', '.join(quoted)})"


def passing_rows(conditions: Filter, dataset: lance.LanceDataset) -> np.ndarray | None:
    """Return the indices of the posts that pass: int64, ascending; None if there are no conditions.

    Raises:
        DataError: if `where` is invalid.
    """
    condition = sql(conditions)
    if condition is None:
        return None
    starts = {}
    count = 0
    fragments = dataset.get_fragments()
    for fragment in fragments:
        starts[fragment.fragment_id] = count
        count += fragment.count_rows()
    try:
        scanner = dataset.scanner(columns=[], filter=condition, with_row_address=True)
        addresses = scanner.to_table().column("_rowaddr").to_numpy().astype(np.uint64)
    except (ValueError, OSError) as error:
        if conditions.where:
            raise DataError(
                f"--where {conditions.where}: cannot be understood ({first_line(error)})"
            ) from error
        raise
    numbers = (addresses >> _HALF).astype(np.int64)
    offsets = (addresses & _LOWER).astype(np.int64)
    for fragment in fragments:
        if fragment.num_deletions:  # offsets count deleted posts too
            inside = numbers == fragment.fragment_id
            offsets[inside] = np.searchsorted(live_offsets(fragment), offsets[inside])
    begin = np.zeros(max(starts, default=0) + 1, dtype=np.int64)
    begin[list(starts)] = list(starts.values())
    return np.sort(begin[numbers] + offsets)


def left_out(conditions: Filter, dataset: lance.LanceDataset) -> list[str]:
    """Return sentences on the posts that are left out; see `Filter.left_out`.

    Raises:
        DataError: if no post has a field that a condition needs.
    """
    timeless = dataset.count_rows("created_at IS NULL") if conditions.by_time else 0
    languages = counts(dataset, "lang") if conditions.languages else Counter[str | None]()
    return conditions.sentences(dataset.count_rows(), timeless, languages)


def _timestamp(at: datetime) -> str:
    return f"timestamp '{in_utc(at).isoformat(' ', 'microseconds')}'"
