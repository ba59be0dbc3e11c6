"""Hash tables of hashed ids and texts that grow to billions, with NumPy."""

from __future__ import annotations

import numpy as np

# Slots of an empty table; how many of them are filled at most, in per cent, and by which factor they grow.
_LEAST, _FULL, _GROWTH = 1 << 10, 60, 1.5
# A slot has the row of a key, from 1, in 40 bits, and the highest 24 bits of the key. 0: empty.
_ROW = np.uint64((1 << 40) - 1)
_HIGH = np.uint64(40)
# Few enough keys for what is computed of them to stay in the CPU's cache.
_BLOCK = 1 << 14


class KeySet:
    """Set of keys: a row for each, in the order in which they were added, and a hash table of rows with linear probing.

    The time to look up or to add a key does not depend on their number. Memory: 16 bytes per key (24 in a `KeyMap`)
    with up to an eighth in reserve, and 13 to 20 bytes of slots.
    """

    _columns = 2

    def __init__(self) -> None:
        self._count = 0
        self._rows = np.zeros((0, self._columns), dtype=np.uint64)
        self._slots = np.zeros(_LEAST, dtype=np.uint64)

    def __len__(self) -> int:
        return self._count

    def contains(self, keys: np.ndarray) -> np.ndarray:
        """Return whether each key is in the set: bool, one per key."""
        return self._find(keys) >= 0

    def add(self, keys: np.ndarray) -> None:
        """Add keys that are not in the set, each once."""
        before, self._count = self._count, self._count + len(keys)
        if self._count > len(self._rows):
            # Large arrays grow in place, without a copy.
            self._rows.resize((self._count + self._count // 8, self._columns), refcheck=False)
        self._rows[before : self._count] = keys
        if 100 * self._count > _FULL * len(self._slots):
            needed = 100 * self._count // _FULL + 1
            size = max(int(_GROWTH * len(self._slots)), needed)
            del self._slots  # first, so that both are never in memory
            self._slots = np.zeros(size, dtype=np.uint64)
            before = 0
        for first in range(before, self._count, _BLOCK):
            self._place(np.arange(first, min(first + _BLOCK, self._count)))

    def _place(self, rows: np.ndarray) -> None:
        """Enter rows into the first free slots from those of their keys."""
        keys = self._rows[rows, 0]
        entries = (keys >> _HIGH << _HIGH) | (rows + 1).astype(np.uint64)
        at = (keys % np.uint64(len(self._slots))).astype(np.int64)
        while len(entries):
            free = np.flatnonzero(self._slots[at] == 0)
            self._slots[at[free]] = entries[free]  # of several in one slot, the last
            left = np.flatnonzero(self._slots[at] != entries)
            entries, at = entries[left], self._next(at[left])

    def _find(self, keys: np.ndarray) -> np.ndarray:
        """Return the row of each key, -1 if it is not in the set: int64, one per key."""
        found = np.full(len(keys), -1, dtype=np.int64)
        at = (keys[:, 0] % np.uint64(len(self._slots))).astype(np.int64)
        asked = np.arange(len(keys))
        while len(asked):
            slots = self._slots[at]
            like = np.flatnonzero((slots >> _HIGH == keys[asked, 0] >> _HIGH) & (slots != 0))
            rows = (slots[like] & _ROW).astype(np.int64) - 1
            same = (self._rows[rows, :2] == keys[asked[like], :2]).all(axis=1)
            found[asked[like[same]]] = rows[same]
            left = np.flatnonzero((slots != 0) & (found[asked] < 0))
            asked, at = asked[left], self._next(at[left])
        return found

    def _next(self, at: np.ndarray) -> np.ndarray:
        at = at + 1
        at[at == len(self._slots)] = 0
        return at


class KeyMap(KeySet):
    """Map from keys to 64-bit numbers; rows of keys have the number as third column."""

    _columns = 3

    def values(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return whether each key is in the map, and its number, 0 if it is not: bool and uint64, one per key."""
        rows = self._find(keys)
        there = rows >= 0
        values = np.zeros(len(keys), dtype=np.uint64)
        values[there] = self._rows[rows[there], 2]
        return there, values

    def replace(self, rows: np.ndarray) -> None:
        """Change the numbers of keys that are in the map: uint64, keys × 3."""
        self._rows[self._find(rows), 2] = rows[:, 2]
