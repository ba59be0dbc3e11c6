"""Sets of hashed ids and texts, 16 bytes each, that grow to billions."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


def keys_of(texts: Sequence[str]) -> np.ndarray:
    """Return 128-bit BLAKE2b hashes: uint64, texts × 2. In practice, different texts have different keys."""
    digests = b"".join(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts
    )
    return np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)


class KeySet:
    """Set of keys in sorted runs; a run is merged into the previous one when it has half its length.

    Adding n keys takes O(n log n), and there are at most about 30 runs to search.
    """

    def __init__(self) -> None:
        self._runs: list[np.ndarray] = []

    def __len__(self) -> int:
        return sum(len(run) for run in self._runs)

    def contains(self, keys: np.ndarray) -> np.ndarray:
        """Return whether each key is in the set: bool, one per key."""
        found = np.zeros(len(keys), dtype=bool)
        for run in self._runs:
            places = np.searchsorted(run[:, 0], keys[:, 0])
            at = np.flatnonzero((places < len(run)) & ~found)
            at = at[run[places[at], 0] == keys[at, 0]]
            found[at] = run[places[at], 1] == keys[at, 1]
            # Equal in the first half only, which is very rare: compare all rows with that half.
            for i in at[~found[at]]:
                end = np.searchsorted(run[:, 0], keys[i, 0], side="right")
                found[i] = bool((run[places[i] : end, 1] == keys[i, 1]).any())
        return found

    def add(self, keys: np.ndarray) -> None:
        """Add keys."""
        if not len(keys):
            return
        self._runs.append(_sorted(keys))
        while len(self._runs) > 1 and 2 * len(self._runs[-1]) > len(self._runs[-2]):
            last = self._runs.pop()
            self._runs[-1] = _sorted(np.concatenate([self._runs[-1], last]))


def _sorted(keys: np.ndarray) -> np.ndarray:
    return keys[np.argsort(keys[:, 0], kind="stable")]
