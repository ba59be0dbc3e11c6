"""Near-duplicates among the posts of a corpus, found in memory that a corpus of any size leaves small."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linker.corpus.matrix import ROWS_AT_ONCE
from linker.data.duplicates import SIGNATURE, band_keys, signatures
from linker.files import atomic_write

if TYPE_CHECKING:
    import lance

SIGNATURES, GROUPS = "signatures.u32", "groups.i64"
LIKE = 0.8
"""The least Jaccard index of near-duplicates, as MinHash estimates it (48 hash functions, ± 0.06)."""
_BYTES = SIGNATURE * 4


class Groups:
    """For each post the place of the first one that says the same; what new posts need is made up for on opening.

    Unlike `duplicate_groups`, which compares texts, this compares signatures, 192 bytes a post on disk, band by band:
    8 bytes a post and band in memory. Groups are linked through: a is in the group of c if it is like b and b like c.
    """

    def __init__(self, folder: Path) -> None:
        self._signatures, self._groups = folder / SIGNATURES, folder / GROUPS

    def complete(self, dataset: lance.LanceDataset) -> np.ndarray:
        """int64, one per post in the order of the store."""
        rows = dataset.count_rows()
        have = self._signatures.stat().st_size // _BYTES if self._signatures.is_file() else 0
        if have < rows or not self._groups.is_file() or self._groups.stat().st_size != rows * 8:
            self._sign(dataset, have, rows)
            groups = _groups_of(np.memmap(self._signatures, np.uint32, "r", shape=(rows, SIGNATURE)))
            with atomic_write(self._groups, "wb") as file:
                file.write(groups.tobytes())
            return groups
        return np.fromfile(self._groups, dtype=np.int64)

    def _sign(self, dataset: lance.LanceDataset, have: int, rows: int) -> None:
        with open(self._signatures, "ab") as file:
            file.truncate(have * _BYTES)  # a torn end
            if have < rows:
                scanner = dataset.scanner(
                    columns=["text"], offset=have, batch_size=ROWS_AT_ONCE, scan_in_order=True
                )
                for batch in scanner.to_batches():
                    file.write(signatures(batch.column("text").to_pylist()).tobytes())


def _groups_of(signed: np.ndarray) -> np.ndarray:
    """The first post that each is like, through as many steps as it takes."""
    first = np.arange(len(signed), dtype=np.int64)
    bands = np.concatenate(
        [band_keys(signed[i : i + ROWS_AT_ONCE]) for i in range(0, len(signed), ROWS_AT_ONCE)]
    )
    for band in bands.T:
        order = np.argsort(band, kind="stable")
        starts = np.flatnonzero(np.concatenate([[True], band[order][1:] != band[order][:-1]]))
        leaders = np.repeat(order[starts], np.diff(np.append(starts, len(order))))
        pairs = np.flatnonzero(leaders < first[order])
        for i in range(0, len(pairs), ROWS_AT_ONCE):
            some, others = order[pairs[i : i + ROWS_AT_ONCE]], leaders[pairs[i : i + ROWS_AT_ONCE]]
            alike = (signed[some] == signed[others]).mean(axis=1) >= LIKE
            first[some[alike]] = others[alike]
    while (again := first[first]).tolist() != first.tolist():
        first = again
    return first
