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
        return self._find(keys)[0] >= 0

    def _find(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the run of each key, -1 if it is in none, and its row there: int64, one per key."""
        runs = np.full(len(keys), -1, dtype=np.int64)
        rows = np.zeros(len(keys), dtype=np.int64)
        for number, run in enumerate(self._runs):
            places = np.searchsorted(run[:, 0], keys[:, 0])
            at = np.flatnonzero((places < len(run)) & (runs < 0))
            at = at[run[places[at], 0] == keys[at, 0]]
            same = run[places[at], 1] == keys[at, 1]
            runs[at[same]], rows[at[same]] = number, places[at[same]]
            # Equal in the first half only, which is very rare: compare all rows with that half.
            for i in at[~same]:
                end = np.searchsorted(run[:, 0], keys[i, 0], side="right")
                equal = np.flatnonzero(run[places[i] : end, 1] == keys[i, 1])
                if len(equal):
                    runs[i], rows[i] = number, places[i] + equal[0]
        return runs, rows

    def add(self, keys: np.ndarray) -> None:
        """Add keys that are not in the set, each once."""
        if not len(keys):
            return
        self._runs.append(_sorted(keys))
        while len(self._runs) > 1 and 2 * len(self._runs[-1]) > len(self._runs[-2]):
            last = self._runs.pop()
            self._runs[-1] = _sorted(np.concatenate([self._runs[-1], last]))


class KeyMap(KeySet):
    """Map from keys to 64-bit numbers; rows of keys have the number as third column."""

    def values(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return whether each key is in the map, and its number, 0 if it is not: bool and uint64, one per key."""
        runs, rows = self._find(keys)
        values = np.zeros(len(keys), dtype=np.uint64)
        for number, run in enumerate(self._runs):
            at = np.flatnonzero(runs == number)
            values[at] = run[rows[at], 2]
        return runs >= 0, values

    def replace(self, rows: np.ndarray) -> None:
        """Change the numbers of keys that are in the map: uint64, keys × 3."""
        runs, places = self._find(rows)
        for number, run in enumerate(self._runs):
            at = runs == number
            run[places[at], 2] = rows[at, 2]


def _sorted(keys: np.ndarray) -> np.ndarray:
    return keys[np.argsort(keys[:, 0], kind="stable")]
