"""Reranking of each query's candidates (Di Giovanni & Brambilla 2021, section 4)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linker.common.errors import DataError, LinkerError
from linker.data.files.streams import open_bytes
from linker.data.types import Article, Post
from linker.evaluation.metrics.ranking import average_precision, ndcg
from linker.models.model import Model
from linker.models.order import rank_posts


@dataclass(frozen=True)
class Candidate:
    """A tweet to be ranked."""

    id: str
    text: str
    relevant: bool


@dataclass(frozen=True)
class Reranking:
    """A query and its candidates, in an order independent of their relevance.

    Attributes:
        set: dq, dr, cq or cr.
        parent_id: the tweet that the relevant candidates quote or answer; of dq and dr it is the query.
    """

    set: str
    query_id: str
    query: str
    parent_id: str
    candidates: tuple[Candidate, ...]


def read_reranking(path: str | Path) -> list[Reranking]:
    """Read the queries of a reranking set.

    Raises:
        DataError: if the file cannot be read, or a line is not a query.
    """
    queries = []
    with open_bytes(str(path)) as file:
        for number, line in enumerate(file, 1):
            try:
                value: dict[str, Any] = json.loads(line)
                candidates = tuple(Candidate(**candidate) for candidate in value.pop("candidates"))
                queries.append(Reranking(**value, candidates=candidates))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise DataError(
                    f"{path}, line {number}: not a query of a reranking set; `linker mine benchmarks` writes them"
                ) from error
    if not queries:
        raise DataError(f"{path}: no queries in this file")
    return queries


def rerank(model: Model, queries: Sequence[Reranking]) -> dict[str, np.ndarray]:
    """Rank every query's candidates by a model's scores, the query as the article; ties by descending id.

    Returns:
        `nDCG` of the whole ranking and `AP`, one value per query.

    Raises:
        LinkerError: if a score is not finite, or a query has no relevant candidates.
    """
    articles, posts = [], []
    for query in queries:
        articles += [Article(query.query_id, query.query)] * len(query.candidates)
        posts += [Post(candidate.id, candidate.text) for candidate in query.candidates]
    scores = model.score_pairs(articles, posts)
    figures = []
    start = 0
    for query in queries:
        relevant = np.array([candidate.relevant for candidate in query.candidates])
        of_query = scores[None, start : start + len(relevant)]
        if not relevant.any() or not np.isfinite(of_query).all():
            raise LinkerError(
                f"the query {query.query_id} has no relevant candidate, or scores are not finite"
            )
        ranked = relevant[rank_posts(of_query, [candidate.id for candidate in query.candidates])]
        figures.append((ndcg(ranked, len(relevant))[0], average_precision(ranked)[0]))
        start += len(relevant)
    return dict(zip(("nDCG", "AP"), np.array(figures).T))
