"""Making the index for approximate search, and measuring what a search with it finds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO

import numpy as np

from linker.common.console import track
from linker.common.files import atomic_write, sha256_of
from linker.corpus.indexes.approximate import INDEX, WANTED, Index, IndexMetadata, Search, highest
from linker.corpus.indexes.exact import BLOCK, Query, exact_scores

# What directions must tell of the vectors: the share of the squares of their lengths.
_FIRST, _SECOND = 0.65, 0.85
_STEP = 16
_SAMPLE = 65_536
# So many posts are asked for: half to set how many candidates there must be, half to measure.
QUERIES = 200
# Of the best posts so many must be among the candidates, twice: so 97 % are found.
_KEPT = 0.985
_UNFINISHED = "approximate.new"


def make_index(
    folder: Path, vectors: np.ndarray, similarity: str, articles: np.ndarray | None = None
) -> IndexMetadata:
    """Make a corpus's index anew, and measure it; for its only writer.

    Args:
        folder: the corpus.
        vectors: float32, posts × dim.
        similarity: as for `Query`.
        articles: vectors of articles to ask for, besides posts of the corpus.

    Raises:
        LinkerError: it cannot be written.
    """
    rotation, first = _directions(vectors)
    rows, dim = vectors.shape
    unmeasured = IndexMetadata(
        "", "", rows, dim, first, rotation.shape[1] - first, rows, rows, similarity == "euclidean", {}
    )
    temporary = folder / _UNFINISHED
    # The index that was in use, and what a kill left.
    before = [*folder.glob("approximate-*.f32"), *folder.glob(f".{_UNFINISHED}.*")]
    try:
        with atomic_write(temporary, "wb") as file:
            _write(file, unmeasured, vectors, rotation)
        queries = {"posts": vectors[_evenly(rows, QUERIES)]}
        if articles is not None:
            queries["articles"] = articles
        facts = _measured(Index(unmeasured, temporary), vectors, similarity, queries)
        sha256 = sha256_of(temporary)
        facts = replace(facts, file=f"approximate-{sha256[:16]}.f32", sha256=sha256)
        temporary.replace(folder / facts.file)
    finally:
        temporary.unlink(missing_ok=True)
    with atomic_write(folder / INDEX) as file:
        json.dump(asdict(facts), file, indent=2)
    for path in before:
        if path.name != facts.file:
            path.unlink(missing_ok=True)
    return facts


def _directions(vectors: np.ndarray) -> tuple[np.ndarray, int]:
    """The directions that tell most of the vectors, dim × n, and how many come first."""
    sample = np.asarray(vectors[_evenly(len(vectors), _SAMPLE)], dtype=np.float64)
    values, directions = np.linalg.eigh(sample.T @ sample)
    told = np.cumsum(np.maximum(values[::-1], 0))
    told /= told[-1] or 1
    dim = vectors.shape[1]

    def enough(share: float) -> int:
        count = int(np.searchsorted(told, share)) + 1
        return min(-(-count // _STEP) * _STEP, dim)

    first = enough(_FIRST)
    total = max(enough(_SECOND), min(first + _STEP, dim))
    return directions[:, ::-1][:, :total].astype(np.float32), first


def _write(file: IO[bytes], facts: IndexMetadata, vectors: np.ndarray, rotation: np.ndarray) -> None:
    """See `Index` for what stands where."""
    file.write(np.ascontiguousarray(rotation).tobytes())
    start_second = file.tell() + facts.rows * facts.first * 4
    start_squares = start_second + facts.rows * facts.second * 4
    for start in track(range(0, facts.rows, BLOCK), "turning vectors"):
        rows = np.asarray(vectors[start : start + BLOCK])
        turned = rows @ rotation
        file.write(turned[:, : facts.first].T.tobytes())
        here = file.tell()
        file.seek(start_second + start * facts.second * 4)
        file.write(turned[:, facts.first :].tobytes())
        if facts.squares:
            file.seek(start_squares + start * 4)
            file.write(np.vecdot(rows, rows).tobytes())
        file.seek(here)


def _measured(
    index: Index, vectors: np.ndarray, similarity: str, queries: dict[str, np.ndarray]
) -> IndexMetadata:
    """The numbers of candidates that the even queries need, and what the odd ones find with them."""
    asked = {kind: [Query(one[None], similarity) for one in some] for kind, some in queries.items()}
    bests = {kind: _best(vectors, some) for kind, some in asked.items()}
    ranks = {
        kind: [
            _ranks(index, query, best) for query, best in track(list(zip(some, bests[kind]))[::2], "setting")
        ]
        for kind, some in asked.items()
    }
    near = max(_quantile([rough for rough, _ in of_kind]) for of_kind in ranks.values())
    # Of those that are no candidates the second rank does not count.
    nearest = max(
        _quantile([second[rough < near] for rough, second in of_kind]) for of_kind in ranks.values()
    )
    wanted = min(WANTED, len(vectors))
    facts = replace(index.facts, near=max(near, wanted), nearest=max(nearest, wanted))
    index.facts = facts
    recall = {}
    for kind, some in asked.items():
        held = list(zip(some, bests[kind]))[1::2] or list(zip(some, bests[kind]))
        found = [_share(index, vectors, query, best) for query, best in track(held, "measuring")]
        recall[kind] = (round(float(np.mean(found)), 4), len(held))
    return replace(facts, recall=recall)


def _best(vectors: np.ndarray, queries: Sequence[Query]) -> list[np.ndarray]:
    """The places of the best posts for each query."""
    wanted = min(WANTED, len(vectors))
    places = [np.zeros(0, dtype=np.int64)] * len(queries)
    scores = [np.zeros(0, dtype=np.float32)] * len(queries)
    together = np.concatenate([query.vectors for query in queries])
    for start in track(range(0, len(vectors), BLOCK), "searching exactly"):
        rows = np.asarray(vectors[start : start + BLOCK])
        squares = np.vecdot(rows, rows) if queries[0].distances else None
        for i, products in enumerate((rows @ together.T).T):
            own = queries[i].scores([np.ascontiguousarray(products)], squares)
            all_scores = np.concatenate([scores[i], own])
            all_places = np.concatenate([places[i], np.arange(start, start + len(rows))])
            kept = highest(all_scores, wanted)
            scores[i], places[i] = all_scores[kept], all_places[kept]
    return places


def _ranks(index: Index, query: Query, best: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many posts stand before each of the best by the first numbers; and by all numbers."""
    (turned,) = query.vectors @ index.rotation
    products = index.all_products(turned)
    rough = query.scores([products], index.squares(slice(None)))
    before = len(rough) - np.searchsorted(np.sort(rough), rough[best], side="right")
    candidates = highest(rough, min(int(before.max()) + 1, len(rough)))
    again = [products[candidates] + index.further_products(turned, candidates)]
    second = query.scores(again, index.squares(candidates))
    own = second[np.searchsorted(candidates, best)]
    return before, len(second) - np.searchsorted(np.sort(second), own, side="right")


def _quantile(ranks: Sequence[np.ndarray]) -> int:
    pooled = np.concatenate(ranks)
    return int(np.quantile(pooled, _KEPT, method="higher")) + 1 if len(pooled) else 1


def _share(index: Index, vectors: np.ndarray, query: Query, best: np.ndarray) -> float:
    """The share of the best that is found; another post counts if its score is as high as the last of theirs."""
    least = exact_scores(vectors[best], query).min()
    scores, _ = Search(index, vectors, query).best(len(best))
    return min(1.0, float((scores >= least).sum()) / len(best))


def _evenly(rows: int, count: int) -> np.ndarray:
    """So many places at equal distances."""
    return np.unique(np.linspace(0, rows - 1, min(count, rows)).astype(np.int64))
