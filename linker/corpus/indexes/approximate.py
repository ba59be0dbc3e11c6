"""Approximate search: most posts are ruled out by a few numbers each, and only the rest is compared in full."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linker.common.errors import DataError, LinkerError
from linker.common.files import sha256_of
from linker.corpus.indexes.exact import BLOCK, Query, exact_scores, in_threads

INDEX = "approximate.json"
WANTED = 100
"""Recall is measured among so many best posts, and the numbers of candidates are for so many."""
# Below so many posts nothing is gained by ruling some out.
_FEW = 5_000
_COSTS = 4
"""A post that is looked up by itself costs at least as much as so many in a row."""
_PARTS = ("file", "sha256", "rows", "dim", "first", "second", "near", "nearest", "squares", "recall")


@dataclass(frozen=True)
class IndexMetadata:
    """What an index says of itself.

    Attributes:
        file: where its numbers are.
        sha256: of that file.
        rows: so many posts are in it, the first of the store.
        dim: of their vectors.
        first: directions by which all posts are ranked.
        second: further directions, by which the best of them are ranked again.
        near: how many those are.
        nearest: how many of them, again the best, are compared in full.
        squares: are the squares of the vectors' lengths there?
        recall: by what was asked for (`posts`, `articles`): the share of the 100 best that was found, the mean over the
            queries, and how many queries there were.
    """

    file: str
    sha256: str
    rows: int
    dim: int
    first: int
    second: int
    near: int
    nearest: int
    squares: bool
    recall: dict[str, tuple[float, int]]

    @property
    def told(self) -> str:
        """The recall in words."""
        return " and ".join(f"{share:.1%} for {count} {kind}" for kind, (share, count) in self.recall.items())


class Index:
    """Vectors turned so that their first numbers tell most, mapped into memory.

    A principal component analysis without centring, as scores are products. The file holds the rotation, the first
    numbers of all posts in blocks of 65,536 (all first ones, then all second ones, ...), then their further numbers
    post by post, then, for distances, the squares of their lengths. All float32.
    """

    def __init__(self, facts: IndexMetadata, path: Path) -> None:
        self.facts = facts
        numbers = np.memmap(path, np.float32, "r")
        if len(numbers) != size_of(facts):
            raise DataError(f"{path}: damaged; run `linker corpus index` again")
        rows, rotation, first = facts.rows, facts.dim * (facts.first + facts.second), facts.rows * facts.first
        self.rotation = numbers[:rotation].reshape(facts.dim, -1)
        self._first = numbers[rotation : rotation + first]
        second = numbers[rotation + first : rotation + first + rows * facts.second]
        self._second = second.reshape(rows, facts.second)
        self._squares = numbers[-rows:] if facts.squares else None

    @classmethod
    def open(cls, folder: Path) -> Index:
        """The index of a corpus.

        Raises:
            LinkerError: there is none.
            DataError: it is damaged.
        """
        for last_try in (False, True):
            facts = facts_of(folder)
            if facts is None:
                raise LinkerError(
                    f"{folder}: has no index for approximate search; run `linker corpus index {folder}`"
                )
            try:
                return cls(facts, folder / facts.file)
            except (FileNotFoundError, ValueError) as error:
                # Another process may just have put a new one in its place.
                if last_try:
                    raise DataError(
                        f"{folder / facts.file}: is missing; run `linker corpus index {folder}`"
                    ) from error
        raise AssertionError

    def all_products(self, vector: np.ndarray) -> np.ndarray:
        """Of the first numbers of every post with those of a turned vector: float32, one per post."""
        rows, width = self.facts.rows, self.facts.first
        products = np.empty(rows, dtype=np.float32)

        def multiply(start: int) -> None:
            stop = min(start + BLOCK, rows)
            block = self._first[start * width : stop * width].reshape(width, stop - start)
            np.einsum("i,ij->j", vector[:width], block, out=products[start:stop])

        in_threads(multiply, range(0, rows, BLOCK))
        return products

    def further_products(self, vector: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Of the further numbers of some posts with those of a turned vector."""
        return np.asarray(np.vecdot(self._second[places], vector[self.facts.first :]))

    def squares(self, places: np.ndarray | slice) -> np.ndarray | None:
        """Of the lengths of vectors, where they are known."""
        return None if self._squares is None else self._squares[places]


class Search:
    """The search for one query; what was added since the index was made is compared in full.

    Args:
        index: of the first posts.
        vectors: of all posts.
        query: what they are compared with.
        passing: ascending places of the posts to look at; None: all.
        fuse: from scores of posts by vectors, and their places, to their scores.
    """

    def __init__(
        self,
        index: Index,
        vectors: np.ndarray,
        query: Query,
        passing: np.ndarray | None = None,
        fuse: Callable[[np.ndarray, np.ndarray | slice], np.ndarray] | None = None,
    ) -> None:
        self._index, self._vectors, self._query = index, vectors, query
        self._fuse = fuse or _as_they_are
        rows = index.facts.rows
        if passing is None:
            self._old, self._new = None, np.arange(rows, len(vectors))
        else:
            self._old, self._new = np.split(passing, [np.searchsorted(passing, rows)])
        self._turned = query.vectors @ index.rotation
        self._added = self._exact(self._new)
        self._products: list[np.ndarray] | None = None
        self._rough: np.ndarray | None = None

    def __len__(self) -> int:
        return (self._index.facts.rows if self._old is None else len(self._old)) + len(self._new)

    def best(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Scores and places, ascending, of posts among which almost all of the `count` best are."""
        old = self._candidates(count)
        scores = self._exact(old)
        return np.concatenate([scores, self._added]), np.concatenate([old, self._new])

    def _candidates(self, count: int) -> np.ndarray:
        facts = self._index.facts
        times = max(count, WANTED) / WANTED
        near, nearest = int(facts.near * times), int(facts.nearest * times)
        total = facts.rows if self._old is None else len(self._old)
        if total < _FEW or near * _COSTS > total:
            return np.arange(facts.rows) if self._old is None else self._old
        if self._rough is None or self._products is None:
            self._products = [self._index.all_products(vector) for vector in self._turned]
            rough = self._query.scores(self._products, self._index.squares(slice(None)))
            rough = self._fuse(rough, slice(facts.rows))
            self._rough = rough if self._old is None else rough[self._old]
        chosen = highest(self._rough, near)
        if self._old is not None:
            chosen = self._old[chosen]
        products = [
            product[chosen] + self._index.further_products(vector, chosen)
            for product, vector in zip(self._products, self._turned)
        ]
        scores = self._fuse(self._query.scores(products, self._index.squares(chosen)), chosen)
        return chosen[highest(scores, nearest)]

    def _exact(self, places: np.ndarray) -> np.ndarray:
        if len(places) and places[-1] - places[0] + 1 == len(places):
            scores = exact_scores(self._vectors, self._query, int(places[0]), int(places[-1]) + 1)
        else:
            parts = [
                exact_scores(self._vectors[places[i : i + BLOCK]], self._query)
                for i in range(0, len(places), BLOCK)
            ]
            scores = np.concatenate([np.zeros(0, dtype=np.float32), *parts])
        return self._fuse(scores, places)


def facts_of(folder: Path) -> IndexMetadata | None:
    """What a corpus's index says of itself; None where there is none.

    Raises:
        DataError: it is damaged.
    """
    path = folder / INDEX
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        recall = {kind: (float(share), int(count)) for kind, (share, count) in content["recall"].items()}
        return IndexMetadata(**{name: content[name] for name in _PARTS} | {"recall": recall})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: damaged ({error}); run `linker corpus index` again") from error


def damaged(folder: Path) -> str | None:
    """The file of the index that is not what was written, if one is."""
    try:
        facts = facts_of(folder)
    except DataError:
        return INDEX
    if facts is None:
        return None
    path = folder / facts.file
    return facts.file if not path.is_file() or sha256_of(path) != facts.sha256 else None


def size_of(facts: IndexMetadata) -> int:
    """How many numbers there are in the file."""
    width = facts.first + facts.second
    return facts.dim * width + facts.rows * (width + facts.squares)


def highest(scores: np.ndarray, count: int) -> np.ndarray:
    """The places of the highest, ascending."""
    if count >= len(scores):
        return np.arange(len(scores))
    return np.sort(np.argpartition(scores, len(scores) - count)[len(scores) - count :])


def _as_they_are(scores: np.ndarray, places: np.ndarray | slice) -> np.ndarray:
    return scores
