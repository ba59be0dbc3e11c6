"""Near-duplicate detection in a corpus, in little memory."""

from __future__ import annotations

import numpy as np

from linker.corpus.storage.array_files import ArrayFiles, Arrays
from linker.corpus.storage.shards import SHARDS, Shard, Shards
from linker.data.near_duplicates import SIGNATURE, linked_groups, signatures

SIGNATURES, GROUPS = "signatures", "groups"


def signed(texts: list[str]) -> dict[str, np.ndarray]:
    """Return the lowest 8 bits of each number of the `signatures` of some texts, to store: uint8, texts × 48.

    Two different numbers agree in them once in 256 times, which raises estimates of the Jaccard index by 0.004 at most.
    """
    return {"values": signatures(texts).astype(np.uint8)}


class Groups:
    """For each post, the index of the first of its near-duplicates; computed when the corpus is opened.

    See `linked_groups`. Signatures are stored: 48 bytes per post on disk; as many in memory while posts are grouped.
    """

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._files = ArrayFiles(shards.folder / SHARDS)

    def complete(self) -> np.ndarray:
        """Return the groups: int64, one per post in the order of the store.

        Raises:
            LinkerError: if the disk is full.
        """
        stored = self._stored()
        if stored is None:
            groups = self.computed()
            narrow = np.uint32 if len(groups) < 1 << 32 else np.int64
            stored = self._files.keep(self._name, {"values": groups.astype(narrow)})
            if stored.path is not None:
                for path in set(self._files.folder.glob(f"{GROUPS}-*.safetensors")) - {stored.path}:
                    path.unlink(missing_ok=True)
        return stored["values"].astype(np.int64)

    def computed(self) -> np.ndarray:
        """Return the groups as `complete` does, from the signatures."""
        parts = [np.zeros((0, SIGNATURE), dtype=np.uint8)]
        for shard, arrays in zip(self._shards, self._shards.arrays(SIGNATURES, "comparing posts", _made)):
            values = np.asarray(arrays["values"])
            parts.append(values if shard.live is None else values[shard.live])
        return linked_groups(np.concatenate(parts))

    def fit(self) -> bool:
        """Return whether the stored groups are those of the signatures; True if none are stored."""
        stored = self._stored()
        return stored is None or np.array_equal(stored["values"], self.computed())

    @property
    def _name(self) -> str:
        return f"{GROUPS}-{self._shards.state}"

    def _stored(self) -> Arrays | None:
        found = self._files.read(self._name)
        return found if found is not None and len(found.get("values", ())) == self._shards.posts else None


def _made(shard: Shard) -> dict[str, np.ndarray]:
    return signed(shard.texts())
