"""Top-k selection: the best posts by score, one per group of near-duplicates."""

from collections.abc import Callable

import numpy as np

#: Scores of posts, float32, and their rows, int64, ascending; None: all posts.
Candidates = tuple[np.ndarray, np.ndarray | None]
#: From rows to the ids of the posts.
Ids = Callable[[np.ndarray], list[str]]

# Posts to score per post of a ranking and of its group, and besides.
_MORE_COPIES, _BESIDES = 1.2, 10
# Posts of a group, at most, and groups per number that is asked for, at least; see `kth_largest_bound`.
_GROUP, _GROUPS = 64, 4


def best(
    ids: Ids, scores: np.ndarray, rows: np.ndarray | None, count: int, threshold: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and scores of the best posts, best first; equal scores in descending order of ids.

    Args:
        ids: the ids of posts in some rows, for equal scores.
        scores: float32, one per place.
        rows: int64, the scored posts; None: all posts, in its order.
        count, threshold: maximum number of posts, and their least score.

    Returns:
        Rows, int64, and scores, float32.
    """
    at, found = _reaching(scores, rows, count, threshold)
    at = _ties_broken(ids, at, found)
    return at[:count], found[:count]


def _reaching(
    scores: np.ndarray, rows: np.ndarray | None, count: int, threshold: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and scores of the best posts and of those with the score of the last one; see `best`."""
    count = min(count, len(scores))
    if not count:
        return np.zeros(0, dtype=np.int64), scores[:0]
    last = np.partition(scores, len(scores) - count)[len(scores) - count]
    if threshold is not None:
        last = max(last, np.float32(threshold))
    inside = np.flatnonzero(scores >= last)
    inside = inside[np.argsort(-scores[inside], kind="stable")]
    return inside if rows is None else rows[inside], scores[inside]


def _ties_broken(ids: Ids, at: np.ndarray, scores: np.ndarray) -> np.ndarray:
    same = scores[1:] == scores[:-1]
    if not same.any():
        return at
    tied = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
    run = np.cumsum(np.insert(~same, 0, False))[tied]
    order = sorted(range(len(tied)), key=ids(at[tied]).__getitem__, reverse=True)
    order.sort(key=run.tolist().__getitem__)
    at = at.copy()
    at[tied] = at[tied[order]]
    return at


def best_of_groups(
    ids: Ids,
    groups: np.ndarray,
    members: np.ndarray,
    scored: Callable[[int], Candidates],
    count: int,
    threshold: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and scores of the best post of each of the best groups; see `best`.

    Args:
        ids, count, threshold: see `best`.
        groups: int64, one per post of the table: its group.
        members: int64: number of posts of each group.
        scored: returns scores that include the n best posts.
    """
    # Near-duplicates among them are listed once; the best posts have more of them than others.
    posts_per_group = max(1.0, len(groups) / max(1, int(np.count_nonzero(members))))
    tried = int(_MORE_COPIES * count * posts_per_group) + _BESIDES
    while True:
        at, found = _reaching(*scored(tried), tried, threshold)
        at = _ties_broken(ids, at, found)
        _, first = np.unique(groups[at], return_index=True)
        if len(first) >= count or len(at) < tried:
            break
        tried = 2 * max(tried, tried * count // max(len(first), 1)) + 10
    first = np.sort(first)[:count]
    return at[first], found[first]


def kth_largest_bound(numbers: np.ndarray, count: int) -> float:
    """Return a number that at least `count` of the numbers reach, and not many more: the maxima of groups are fewer.

    Of fewer numbers than `count`, all reach it.
    """
    size = min(max(len(numbers) // (_GROUPS * max(count, 1)), 1), _GROUP)
    whole = len(numbers) // size * size
    highest = np.concatenate([numbers[:whole].reshape(size, -1).max(axis=0), numbers[whole:]])
    count = min(count, len(highest))
    return float(np.partition(highest, len(highest) - count)[len(highest) - count]) if count else np.inf
