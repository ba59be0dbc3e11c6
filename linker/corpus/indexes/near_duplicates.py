"""Near-duplicate detection in a corpus, in little memory, by any number of processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np

from linker.corpus.storage.array_files import mapped_by_worker
from linker.corpus.storage.shards import Shard, Shards
from linker.data.near_duplicates import BAND, BANDS, SIGNATURE, Links, band_links, row_keys, signatures

SIGNATURES, GROUPS = "plain-signatures", "plain-groups"
# Posts that are compared by one call in one band, on average; they take 1 GB.
_POSTS_AT_ONCE = 1 << 25
# Few enough signatures for what is computed of them to stay in the CPU's cache.
_BLOCK = 1 << 13


def signed(texts: list[str]) -> dict[str, np.ndarray]:
    """Return the lowest 8 bits of each number of the `signatures` of some texts, to store: uint8, texts × 48.

    Two different numbers agree in them once in 256 times, which raises estimates of the Jaccard index by 0.004 at most.
    """
    return {"values": signatures(texts).astype(np.uint8)}


@dataclass(frozen=True)
class SharedBands:
    """Links posts that have the same numbers in a band of their signatures; in any process.

    Attributes:
        files: for each shard its signatures, or the file that has them, and which posts are not deleted (None: all).
    """

    files: Sequence[tuple[Path | np.ndarray, np.ndarray | None]]

    def __call__(self, number: int, part: int, parts: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the links of a band, see `band_links`.

        Args:
            number: number of the band.
            part: which of `parts` equal ranges of values of the band to look at.
            parts: number of ranges.

        Raises:
            LinkerError: if a file of signatures is missing.
        """
        limits = [(1 << 32) * one // parts for one in (part, part + 1)]
        texts, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.uint32)]
        for first, some in self._band(number):
            at = (
                np.flatnonzero((some >= limits[0]) & (some < limits[1]))
                if parts > 1
                else np.arange(len(some))
            )
            texts.append(at + first)
            values.append(some[at])
        return band_links(np.concatenate(texts), np.concatenate(values), self._rows)

    def __getstate__(self) -> dict[str, Any]:
        return {"files": self.files}  # without what is cached

    def _signed(self, shard: int) -> np.ndarray:
        """Return the signatures of a shard, mapped again each time, so that what was read does not stay in memory."""
        source, _ = self.files[shard]
        return np.asarray(mapped_by_worker(source)["values"] if isinstance(source, Path) else source)

    @cached_property
    def _places(self) -> list[np.ndarray | None]:
        return [None if live is None else np.flatnonzero(live) for _, live in self.files]

    @cached_property
    def _starts(self) -> np.ndarray:
        counts = [len(self._signed(n) if at is None else at) for n, at in enumerate(self._places)]
        return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])

    def _band(self, number: int) -> Iterator[tuple[int, np.ndarray]]:
        """Yield runs of posts: the index of the first, and the numbers of the band of each, 4 × 8 bits as uint32."""
        for shard, (first, places) in enumerate(zip(self._starts.tolist(), self._places)):
            numbers = np.ascontiguousarray(self._signed(shard)[:, BAND * number : BAND * (number + 1)])
            band = numbers.view(np.uint32)[:, 0]
            yield first, band if places is None else band[places]

    def _rows(self, posts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the signatures of posts, and their `row_keys`."""
        signed = np.empty((len(posts), SIGNATURE), dtype=np.uint8)
        order = np.argsort(posts)
        limits = np.searchsorted(posts[order], self._starts)
        for shard in np.flatnonzero(np.diff(limits)).tolist():
            at = order[limits[shard] : limits[shard + 1]]
            rows, places = posts[at] - self._starts[shard], self._places[shard]
            signed[at] = self._signed(shard)[rows if places is None else places[rows]]
        blocks = (signed[i : i + _BLOCK] for i in range(0, len(signed), _BLOCK))
        return signed, np.concatenate([np.zeros(0, dtype=np.uint64), *map(row_keys, blocks)])


class Groups:
    """For each post, the index of the first of its near-duplicates; computed when the corpus is opened.

    See `linked_groups`. Signatures are stored, 48 bytes per post on disk, and mapped. Workers compare the posts that
    share a band; this process joins the links, in 16 bytes per post.

    Args:
        shards: the posts.
        calls: `map` of an engine, which compares posts elsewhere; it yields results in any order of the calls.
    """

    def __init__(self, shards: Shards, calls: Callable[..., Iterator[Any]] = starmap) -> None:
        self._shards, self._calls = shards, calls

    def complete(self) -> np.ndarray:
        """Return the groups: int64, one per post in the order of the store.

        Raises:
            LinkerError: if the disk is full.
        """

        def made() -> dict[str, np.ndarray]:
            groups = self.computed()
            return {"values": groups.astype(np.uint32 if len(groups) < 1 << 32 else np.int64)}

        return self._shards.joint_arrays(GROUPS, self._shards.posts, made)["values"].astype(np.int64)

    def computed(self) -> np.ndarray:
        """Return the groups as `complete` does, from the signatures."""
        arrays = self._shards.arrays(SIGNATURES, "comparing posts", _made)
        compared = SharedBands(
            [
                (one["values"] if one.path is None else one.path.absolute(), shard.live)
                for shard, one in zip(self._shards, arrays)
            ]
        )
        links, parts = Links(self._shards.posts), -(-self._shards.posts // _POSTS_AT_ONCE)
        every = ((number, part, parts) for number in range(BANDS) for part in range(parts))
        for found in self._calls(compared, every):
            links.add(*found)
        return links.groups()

    def fit(self) -> bool:
        """Return whether the stored groups are those of the signatures; True if none are stored."""
        stored = self._shards.stored_joint_arrays(GROUPS, self._shards.posts)
        return stored is None or np.array_equal(stored["values"], self.computed())


def _made(shard: Shard) -> dict[str, np.ndarray]:
    return signed(shard.texts())
