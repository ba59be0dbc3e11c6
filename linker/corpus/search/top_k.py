"""Top-k selection: the best posts by score, one per group of near-duplicates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from linker.corpus.storage.rows import Rows

Scored: TypeAlias = Callable[[int], "tuple[np.ndarray, np.ndarray | None]"]
"""From a number n to scores of posts that include the n best, and their indices in the store; None: all posts."""

# Posts to score per post of a ranking and of its group, and besides.
_MORE_COPIES, _BESIDES = 1.2, 10


def best(
    rows: Rows,
    scores: np.ndarray,
    places: np.ndarray | None,
    count: int,
    threshold: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return places and scores of the best posts, best first; equal scores in descending order of ids.

    Args:
        rows: the posts, for the ids of posts with equal scores.
        scores: float32, one per place.
        places: int64, indices of the scored posts in the store; None: all posts, in its order.
        count: maximum number of posts.
        threshold: leave out lower scores.

    Returns:
        Places, int64, and scores, float32.
    """
    at, found = _reaching(scores, places, count, threshold)
    at = _ties_broken(rows, at, found)
    return at[:count], found[:count]


def _reaching(
    scores: np.ndarray, places: np.ndarray | None, count: int, threshold: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return places and scores of the best posts and of those with the score of the last one; see `best`."""
    count = min(count, len(scores))
    if not count:
        return np.zeros(0, dtype=np.int64), scores[:0]
    last = np.partition(scores, len(scores) - count)[len(scores) - count]
    if threshold is not None:
        last = max(last, np.float32(threshold))
    inside = np.flatnonzero(scores >= last)
    inside = inside[np.argsort(-scores[inside], kind="stable")]
    return inside if places is None else places[inside], scores[inside]


def _ties_broken(rows: Rows, at: np.ndarray, scores: np.ndarray) -> np.ndarray:
    same = scores[1:] == scores[:-1]
    if not same.any():
        return at
    tied = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
    run = np.cumsum(np.insert(~same, 0, False))[tied]
    ids = rows.at(at[tied], ["id"]).column("id").to_pylist()
    order = sorted(range(len(tied)), key=ids.__getitem__, reverse=True)
    order.sort(key=run.tolist().__getitem__)
    at = at.copy()
    at[tied] = at[tied[order]]
    return at


def best_of_groups(
    rows: Rows,
    groups: np.ndarray,
    scored: Scored,
    count: int,
    posts_per_group: float,
    threshold: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return places and scores of the best post of each of the best groups; see `best`.

    Args:
        rows: the posts.
        groups: int64, one per post of the store: its group.
        scored: returns scores that include the n best posts.
        count: maximum number of posts.
        posts_per_group: mean number of posts of a group.
        threshold: leave out lower scores.

    Returns:
        Places, int64, and scores, float32.
    """
    # Near-duplicates among them are listed once; the best posts have more of them than others.
    tried = int(_MORE_COPIES * count * posts_per_group) + _BESIDES
    while True:
        at, found = _reaching(*scored(tried), tried, threshold)
        at = _ties_broken(rows, at, found)
        _, first = np.unique(groups[at], return_index=True)
        if len(first) >= count or len(at) < tried:
            break
        tried = 2 * max(tried, tried * count // max(len(first), 1)) + 10
    first = np.sort(first)[:count]
    return at[first], found[first]


def others(groups: np.ndarray, chosen: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the number of other posts of each chosen post's group among `places`: int64."""
    if not len(chosen):
        return np.zeros(0, dtype=np.int64)
    wanted = np.zeros(len(groups), dtype=bool)
    wanted[groups[chosen]] = True
    among = groups[places]
    members = np.bincount(among[wanted[among]], minlength=int(groups[chosen].max()) + 1)
    return members[groups[chosen]] - 1
