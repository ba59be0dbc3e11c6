"""Near-duplicate detection in a corpus, in little memory."""

from __future__ import annotations

import zlib
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
#: Bytes of the CRC-32 after the groups.
_CHECK = 4


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
        stored = self._stored(rows)
        if stored is not None:
            return stored

        def signed(have: int) -> Iterator[np.ndarray]:
            for batch in batches(dataset, ["text"], have):
                yield signatures(batch.column("text").to_pylist())

        groups = linked_groups(self.signatures.complete(rows, signed))
        try:
            with atomic_write(self._groups, "wb") as file:
                file.write(groups.tobytes() + _check(groups.tobytes()))
        except (LinkerError, OSError):
            pass  # a read-only corpus can be searched; the groups are computed again next time
        return groups

    def fits(self, signed: np.ndarray) -> bool:
        """Return whether the stored groups, if any, are those of the signatures of all posts."""
        rows = len(signed)
        if not self._groups.is_file() or self._groups.stat().st_size not in (rows * 8, rows * 8 + _CHECK):
            return True
        stored = self._stored(rows)
        return stored is not None and np.array_equal(stored, linked_groups(signed))

    def _stored(self, rows: int) -> np.ndarray | None:
        """Return the stored groups; None if their number differs or they are damaged."""
        try:
            data = self._groups.read_bytes()
        except OSError:
            return None
        body, check = data[: rows * 8], data[rows * 8 :]
        # Files of earlier versions have no check.
        if len(body) < rows * 8 or check not in (b"", _check(body)):
            return None
        groups = np.frombuffer(body, dtype=np.int64)
        plausible = np.all((groups >= 0) & (groups <= np.arange(rows))) and np.array_equal(
            groups[groups], groups
        )
        return groups if plausible else None


def _check(groups: bytes) -> bytes:
    return zlib.crc32(groups).to_bytes(_CHECK, "little")
