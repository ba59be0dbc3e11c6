"""Near-duplicate detection in a corpus, in little memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linker.common.errors import LinkerError
from linker.common.files import atomic_write
from linker.corpus.indexes.vectors import RowFile
from linker.corpus.storage.reader import batches
from linker.data.near_duplicates import SIGNATURE, linked_groups, signatures

if TYPE_CHECKING:
    import lance

SIGNATURES, GROUPS = "signatures.u32", "groups.i64"


class Groups:
    """For each post, the index of the first of its near-duplicates; completed for new posts on opening.

    See `linked_groups`. Signatures are stored: 192 bytes per post on disk; about 70 bytes per post in memory.
    """

    def __init__(self, folder: Path) -> None:
        self.signatures = RowFile(folder / SIGNATURES, np.uint32, SIGNATURE)
        self._groups = folder / GROUPS

    def complete(self, dataset: lance.LanceDataset) -> np.ndarray:
        """Return the groups: int64, one per post in the order of the store.

        Raises:
            LinkerError: if the disk is full.
        """
        rows = dataset.count_rows()
        if self._is_complete(rows):
            return np.fromfile(self._groups, dtype=np.int64)

        def signed(have: int) -> Iterator[np.ndarray]:
            for batch in batches(dataset, ["text"], have):
                yield signatures(batch.column("text").to_pylist())

        groups = linked_groups(self.signatures.complete(rows, signed))
        try:
            with atomic_write(self._groups, "wb") as file:
                file.write(groups.tobytes())
        except (LinkerError, OSError):
            pass  # a read-only corpus can be searched; the groups are computed again next time
        return groups

    def fits(self, signed: np.ndarray) -> bool:
        """Return whether the stored groups, if any, are those of the signatures of all posts."""
        return not self._is_complete(len(signed)) or np.array_equal(
            np.fromfile(self._groups, dtype=np.int64), linked_groups(signed)
        )

    def _is_complete(self, rows: int) -> bool:
        return self._groups.is_file() and self._groups.stat().st_size == rows * 8
