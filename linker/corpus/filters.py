"""Which posts of a corpus may be found at all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import numpy as np

from linker.errors import DataError

if TYPE_CHECKING:
    import lance


@dataclass(frozen=True)
class Filter:
    """Conditions that all must hold; a post without the field in question is left out.

    Attributes:
        since: posted then or later.
        until: posted before then.
        languages: one of these.
        where: an SQL condition over id, text, created_at, lang and extra, such as
            `json_get_int(extra, 'likes') > 5`.
    """

    since: datetime | None = None
    until: datetime | None = None
    languages: tuple[str, ...] = ()
    where: str | None = None

    def sql(self) -> str | None:
        """All conditions as one; None where there is none."""
        conditions = []
        if self.since is not None:
            conditions.append(f"created_at >= {_timestamp(self.since)}")
        if self.until is not None:
            conditions.append(f"created_at < {_timestamp(self.until)}")
        if self.languages:
            names = ", ".join("'" + name.replace("'", "''") + "'" for name in self.languages)
            conditions.append(f"lang IN ({names})")
        if self.where:
            conditions.append(f"({self.where})")
        return " AND ".join(conditions) or None

    def places(self, dataset: lance.LanceDataset) -> np.ndarray | None:
        """int64, ascending: the places of the posts that pass; None: all do.

        Raises:
            DataError: `where` cannot be understood.
        """
        sql = self.sql()
        if sql is None:
            return None
        starts = {}
        count = 0
        for fragment in dataset.get_fragments():
            starts[fragment.fragment_id] = count
            count += fragment.count_rows()
        try:
            scanner = dataset.scanner(columns=[], filter=sql, with_row_address=True)
            addresses = scanner.to_table().column("_rowaddr").to_numpy().astype(np.uint64)
        except (ValueError, OSError) as error:
            if self.where:
                raise DataError(
                    f"--where {self.where}: cannot be understood ({_first_line(error)})"
                ) from error
            raise
        fragments = (addresses >> np.uint64(32)).astype(np.int64)
        offsets = (addresses & np.uint64(0xFFFFFFFF)).astype(np.int64)
        begin = np.zeros(max(starts, default=0) + 1, dtype=np.int64)
        begin[list(starts)] = list(starts.values())
        return np.sort(begin[fragments] + offsets)


def _timestamp(at: datetime) -> str:
    at = at.replace(tzinfo=timezone.utc) if at.tzinfo is None else at.astimezone(timezone.utc)
    return f"timestamp '{at:%Y-%m-%d %H:%M:%S.%f}+00:00'"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].split(", /")[0]
