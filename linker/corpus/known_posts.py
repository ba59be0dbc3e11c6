"""Which posts of a chunk are new: answered from keys of their ids and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linker.corpus.indexes.id_set import KeyMap, keys_of
from linker.corpus.storage.reader import Part


@dataclass
class Added:
    """Numbers of posts that were read.

    Attributes:
        new: posts encoded and appended.
        known: posts skipped because the corpus has their id with the same text.
        conflicting: posts skipped because the corpus has their id with another text.
        updated: posts of `new` that replaced posts of the corpus with the same id and another text.
        deleted: posts of the corpus that were deleted, because the files delete them or their authors.
    """

    new: int = 0
    known: int = 0
    conflicting: int = 0
    updated: int = 0
    deleted: int = 0


@dataclass(frozen=True)
class Answer:
    """The posts of a chunk that are new.

    Attributes:
        rows: int64, ascending: their rows.
        replaced: int64: those of the rows that replace a post of the corpus with the same id.
    """

    rows: np.ndarray
    replaced: np.ndarray


class KnownPosts:
    """Keys of the ids and texts of all posts that are in the corpus, or about to be; 24 bytes per post.

    Args:
        update: whether the last text of an id counts, not the first.
    """

    def __init__(self, update: bool = False) -> None:
        self._texts = KeyMap()
        self._update = update

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, keys: np.ndarray) -> None:
        """Add posts of the corpus; see `post_keys`."""
        self._texts.add(keys)

    def answer(self, keys: np.ndarray, added: Added) -> Answer:
        """Return the new posts of a chunk and remember them; count the others in `added`.

        Args:
            keys: the keys of the chunk's posts, see `post_keys`.
            added: where posts are counted.
        """
        order = np.lexsort((keys[:, 1], keys[:, 0]))  # stable: posts with one id stay in their order
        keys = keys[order]
        begins = np.ones(len(keys), dtype=bool)
        begins[1:] = (keys[1:, :2] != keys[:-1, :2]).any(axis=1)
        firsts = np.flatnonzero(begins)
        there, texts = self._texts.values(keys[firsts])
        group = np.cumsum(begins) - 1
        # The text that each post is compared with: that before it, or that which counts.
        if self._update:
            former = np.empty(len(keys), dtype=np.uint64)
            former[1:] = keys[:-1, 2]
            former[firsts] = texts
            is_new = keys[:, 2] != former
        else:
            is_new = keys[:, 2] != np.where(there, texts, keys[firsts, 2])[group]
        is_new[firsts] |= ~there
        added.known += int((~is_new).sum())
        if self._update:
            # Of several new texts with one id, the last.
            chosen = np.full(len(firsts), -1, dtype=np.int64)
            at = np.flatnonzero(is_new)
            np.maximum.at(chosen, group[at], at)
            replaced = (chosen >= 0) & there
            self._texts.replace(keys[chosen[replaced]])
        else:
            chosen = np.where(there, -1, firsts)
            replaced = np.zeros(len(firsts), dtype=bool)
            added.conflicting += int(is_new.sum()) - int((~there).sum())
        self._texts.add(keys[chosen[(chosen >= 0) & ~there]])
        return Answer(np.sort(order[chosen[chosen >= 0]]), np.sort(order[chosen[replaced]]))


def post_keys(ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
    """Return the keys of posts: uint64, posts × 3: 128 bits of the id, 64 of the text.

    A text is only compared with texts of the same id, so 64 bits suffice.
    """
    return np.column_stack([keys_of(ids), keys_of(texts)[:, 0]])


def keys_in(part: Part) -> np.ndarray:
    """Return the keys of posts of a corpus, see `post_keys`."""
    found = [
        post_keys(batch.column("id").to_pylist(), batch.column("text").to_pylist())
        for batch in part.batches(["id", "text"])
    ]
    return np.concatenate([np.zeros((0, 3), dtype=np.uint64), *found])
