"""Which posts are new: answered from keys of their ids and texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from linker.common.text_keys import keys_of
from linker.data.identity import CONTENT_ID, repeated
from linker.data.types import Post

#: In place of the text's key of a content id: none, or the number of its occurrences in this run, below `_COUNTS`.
_MADE, _COUNTS = 0, 1 << 32
#: Between the second numbers of the keys of an id's repeats.
_STEP = 0x9E3779B97F4A7C15

Key = tuple[int, int]


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


class KeyMap:
    """Numbers by keys of 128 bits, in sorted runs, each at least twice as long as the next; 24 bytes per key."""

    def __init__(self) -> None:
        self._runs: list[np.ndarray] = []  # uint64, 3 × keys, in the order of the first row

    def get(self, keys: Sequence[Key]) -> dict[Key, int]:
        """Return the numbers of those of some keys that are there."""
        numbers: dict[Key, int] = {}
        for asked, run, at in self._places(np.array(keys, dtype=np.uint64).reshape(-1, 2)):
            numbers.update(zip((keys[row] for row in asked.tolist()), run[2, at].tolist()))
        return numbers

    def put(self, rows: np.ndarray) -> None:
        """Add different keys with their numbers, or change the numbers of those that are there: uint64, keys × 3."""
        is_new = np.ones(len(rows), dtype=bool)
        for asked, run, at in self._places(rows):
            run[2, at], is_new[asked] = rows[asked, 2], False
        if not is_new.any():
            return
        added = rows[is_new].T
        while self._runs and self._runs[-1].shape[1] < 2 * added.shape[1]:
            added = np.concatenate([self._runs.pop(), added], axis=1)
        self._runs.append(np.ascontiguousarray(added[:, np.argsort(added[0])]))

    def _places(self, keys: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield which keys are in a run, the run, and where they are in it."""
        for run in self._runs:
            asked, at = np.arange(len(keys)), np.searchsorted(run[0], keys[:, 0])
            while len(asked):  # again where keys agree in their first number only
                asked, at = asked[at < run.shape[1]], at[at < run.shape[1]]
                alike = run[0, at] == keys[asked, 0]
                asked, at = asked[alike], at[alike]
                same = run[1, at] == keys[asked, 1]
                yield asked[same], run, at[same]
                asked, at = asked[~same], at[~same] + 1


class KnownPosts:
    """Keys of the ids and texts of all posts that are in the corpus, or about to be.

    Exact repeats of posts without ids have one content id, and are posts of their own, `id-2`, `id-3` and so on, as in
    `read_posts`. So the nth occurrence in the inputs of a run is the post `id-n`, new only if the corpus does not have
    it: an interrupted run, or one with the same file, gives the same ids. Equal content ids mean equal texts, so the
    count takes the place of the text's key, and costs no memory.

    Args:
        update: whether the last text of an id counts, not the first.
    """

    def __init__(self, update: bool = False) -> None:
        self._texts, self._update = KeyMap(), update

    def add(self, keys: np.ndarray) -> None:
        """Add posts of the corpus; see `post_keys`."""
        self._texts.put(keys)

    def new_posts(self, posts: Sequence[Post], added: Added) -> tuple[list[Post], list[str]]:
        """Return the new ones of the next posts and remember them; count the others in `added`.

        Returns:
            The new posts, in their order, and the ids of those that replace a post of the corpus.
        """
        keys = post_keys([post.id for post in posts], [post.text for post in posts])
        ids: list[Key] = list(map(tuple, keys[:, :2].tolist()))
        texts: list[int] = keys[:, 2].tolist()
        numbers, repeats = self._texts.get(ids), [1] * len(posts)
        counts: dict[Key, int] = {}
        for row, made in enumerate(ids):
            if texts[row] == _MADE:
                repeats[row] = counts[made] = counts.get(made, numbers.get(made, 0)) + 1
                ids[row] = _shifted(made, repeats[row])
        numbers |= self._texts.get([key for key, repeat in zip(ids, repeats) if repeat > 1])
        before, new = frozenset(numbers), dict[Key, int]()
        for row, (key, text) in enumerate(zip(ids, texts)):
            former = numbers.get(key)
            is_content = text == _MADE or (
                former is not None and former < _COUNTS
            )  # equal ids are equal posts
            if former is None or (self._update and text != former and not is_content):
                numbers[key], new[key] = text, row
            elif text == former or is_content:
                added.known += 1
            else:
                added.conflicting += 1
        changed = {key: numbers[key] for key in new} | counts
        self._texts.put(
            np.array([[*key, text] for key, text in changed.items()], dtype=np.uint64).reshape(-1, 3)
        )
        rows = sorted(new.values())
        chosen = [
            posts[row] if repeats[row] == 1 else replace(posts[row], id=repeated(posts[row].id, repeats[row]))
            for row in rows
        ]
        return chosen, [posts[row].id for row in rows if ids[row] in before]


def post_keys(ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
    """Return the keys of posts: uint64, posts × 3: 128 bits of the id, 64 of the text; 0 for content ids.

    A text is only compared with texts of the same id, so 64 bits suffice.
    """
    matches = [CONTENT_ID.fullmatch(id_) if id_[:1] == "p" else None for id_ in ids]
    keys = keys_of([match[1] if match else id_ for id_, match in zip(ids, matches)])
    keys = np.column_stack([keys, keys_of(texts)[:, 0]])
    for row, match in enumerate(matches):
        if match and match[2]:
            keys[row, :2] = _shifted((int(keys[row, 0]), int(keys[row, 1])), int(match[2]))
        elif match:
            keys[row, 2] = _MADE
    return keys


def _shifted(key: Key, repeat: int) -> Key:
    """Return the key of an exact repeat, counted from 1, of the post with a content id."""
    return key[0], (key[1] + _STEP * (repeat - 1)) % 2**64
