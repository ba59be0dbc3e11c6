"""Which posts of a chunk are new: answered from keys of their ids and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linker.common.text_keys import keys_of
from linker.corpus.indexes.id_set import KeyMap
from linker.corpus.storage.reader import Part
from linker.data.identity import CONTENT_ID

#: In place of the text's key of a content id: none, or the number of its occurrences in this run, below `_COUNTS`.
_MADE, _COUNTS = np.uint64(0), np.uint64(1 << 32)
#: Between the second numbers of the keys of an id's repeats.
_STEP = np.uint64(0x9E3779B97F4A7C15)


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
        repeats: int64, one per row of `rows`: 1, or the number of an exact repeat of a post without an id.
    """

    rows: np.ndarray
    replaced: np.ndarray
    repeats: np.ndarray


class KnownPosts:
    """Keys of the ids and texts of all posts that are in the corpus, or about to be; 24 bytes per post.

    Exact repeats of posts without ids have one content id, and are posts of their own, `id-2`, `id-3` and so on, as in
    `read_posts`. So the nth occurrence in the inputs of a run is the post `id-n`, new only if the corpus does not have
    it: an interrupted run, or one with the same file, gives the same ids. Occurrences are counted here, where chunks
    come in the order of the files, whatever process read them. Equal content ids mean equal texts, so the count takes
    the place of the text's key, and costs no memory.

    Args:
        update: whether the last text of an id counts, not the first.
    """

    def __init__(self, update: bool = False) -> None:
        self._texts = KeyMap()
        self._occurrences = np.zeros((0, 3), dtype=np.uint64)
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
        repeats = self._number_repeats(keys := keys.copy())
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
        # Equal content ids are equal posts.
        is_new &= (keys[:, 2] != _MADE) & ~(there & (texts < _COUNTS))[group]
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
        rows = np.sort(order[chosen[chosen >= 0]])
        self._count_repeats()
        return Answer(rows, np.sort(order[chosen[replaced]]), repeats[rows])

    def _number_repeats(self, keys: np.ndarray) -> np.ndarray:
        """Change the keys of content ids to those of the repeats that they are; return their numbers, from 1."""
        repeats = np.ones(len(keys), dtype=np.int64)
        made = np.flatnonzero(keys[:, 2] == _MADE)
        self._occurrences = np.zeros((0, 3), dtype=np.uint64)
        if not len(made):
            return repeats
        distinct, group, counts = np.unique(keys[made, :2], axis=0, return_inverse=True, return_counts=True)
        group = group.reshape(-1)  # of another shape in some versions of NumPy
        _, before = self._texts.values(distinct)
        before = np.where(before < _COUNTS, before, 0)
        order = np.argsort(group, kind="stable")
        within = np.empty(len(made), dtype=np.int64)
        within[order] = np.arange(len(made)) - np.repeat(np.cumsum(counts) - counts, counts)
        repeats[made] = before[group].astype(np.int64) + within + 1
        keys[made, 1] += _STEP * (repeats[made] - 1).astype(np.uint64)
        self._occurrences = np.column_stack([distinct, before + counts.astype(np.uint64)])
        return repeats

    def _count_repeats(self) -> None:
        """Store how often the content ids of the last chunk occurred in this run."""
        self._texts.replace(self._occurrences)


def post_keys(ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
    """Return the keys of posts: uint64, posts × 3: 128 bits of the id, 64 of the text; 0 for content ids.

    A text is only compared with texts of the same id, so 64 bits suffice.
    """
    found = [CONTENT_ID.fullmatch(id_) if id_[:1] == "p" else None for id_ in ids]
    keys = keys_of([match[1] if match else id_ for id_, match in zip(ids, found)])
    keys = np.column_stack([keys, keys_of(texts)[:, 0]])
    for row, match in enumerate(found):
        if match and match[2]:
            steps = int(_STEP) * (int(match[2]) - 1)
            keys[row, 1] = (int(keys[row, 1]) + steps) % 2**64
        elif match:
            keys[row, 2] = _MADE
    return keys


def keys_in(part: Part) -> np.ndarray:
    """Return the keys of posts of a corpus, see `post_keys`."""
    found = [
        post_keys(batch.column("id").to_pylist(), batch.column("text").to_pylist())
        for batch in part.batches(["id", "text"])
    ]
    return np.concatenate([np.zeros((0, 3), dtype=np.uint64), *found])
