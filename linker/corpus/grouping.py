"""Near-duplicates among the posts of a corpus, found in memory that a corpus of any size leaves small."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linker.corpus.derived import RowFile
from linker.corpus.reading import ROWS_AT_ONCE, batches
from linker.data.duplicates import BAND, BANDS, SIGNATURE, band_keys, signatures
from linker.errors import LinkerError
from linker.files import atomic_write

if TYPE_CHECKING:
    import lance

SIGNATURES, GROUPS = "signatures.u32", "groups.i64"
LIKE = 0.8
"""The least Jaccard index of near-duplicates, as MinHash estimates it (48 hash functions, ± 0.06)."""


class Groups:
    """For each post the place of the first one that says the same; what new posts need is made up for on opening.

    Unlike `duplicate_groups`, which compares texts, this compares signatures, 192 bytes a post on disk, band by band:
    some 50 bytes a post in memory. Groups are linked through: a is in the group of c if it is like b and b like c.
    """

    def __init__(self, folder: Path) -> None:
        self.signatures = RowFile(folder / SIGNATURES, np.uint32, SIGNATURE)
        self._groups = folder / GROUPS

    def complete(self, dataset: lance.LanceDataset) -> np.ndarray:
        """int64, one per post in the order of the store.

        Raises:
            LinkerError: there is no room for the signatures.
        """
        rows = dataset.count_rows()
        if self._there(rows):
            return np.fromfile(self._groups, dtype=np.int64)

        def signed(have: int) -> Iterator[np.ndarray]:
            for batch in batches(dataset, ["text"], have):
                yield signatures(batch.column("text").to_pylist())

        groups = _groups_of(self.signatures.complete(rows, signed))
        try:
            with atomic_write(self._groups, "wb") as file:
                file.write(groups.tobytes())
        except (LinkerError, OSError):
            pass  # They spare time next time, no more: a corpus can be asked where it cannot be written to.
        return groups

    def fits(self, signed: np.ndarray) -> bool:
        """Are the groups that were kept, if they were, those of the signatures of all posts?"""
        return not self._there(len(signed)) or np.array_equal(
            np.fromfile(self._groups, dtype=np.int64), _groups_of(signed)
        )

    def _there(self, rows: int) -> bool:
        return self._groups.is_file() and self._groups.stat().st_size == rows * 8


def _groups_of(signed: np.ndarray) -> np.ndarray:
    """The first post that each is like, through as many steps as it takes."""
    first = np.arange(len(signed), dtype=np.int64)
    for number in range(BANDS):
        band = np.concatenate(
            [
                band_keys(signed[i : i + ROWS_AT_ONCE, BAND * number : BAND * (number + 1)])[:, 0]
                for i in range(0, len(signed), ROWS_AT_ONCE)
            ]
        )
        order = np.argsort(band)
        band = band[order]
        starts = np.flatnonzero(np.concatenate([[True], band[1:] != band[:-1]]))
        leaders = np.repeat(np.minimum.reduceat(order, starts), np.diff(np.append(starts, len(order))))
        pairs = np.flatnonzero(leaders < first[order])
        for i in range(0, len(pairs), ROWS_AT_ONCE):
            some, others = order[pairs[i : i + ROWS_AT_ONCE]], leaders[pairs[i : i + ROWS_AT_ONCE]]
            alike = (signed[some] == signed[others]).mean(axis=1) >= LIKE
            first[some[alike]] = others[alike]
    while not np.array_equal(again := first[first], first):
        first = again
    return first
