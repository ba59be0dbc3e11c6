"""Reranking of each query's candidates, and scores of pairs (Di Giovanni & Brambilla 2021, section 4)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linker.common.errors import DataError, LinkerError
from linker.contrib.twitter4sse.mine_benchmarks import Candidate, Reranking
from linker.data.files.streams import open_bytes
from linker.data.types import Article, Post
from linker.evaluation.metrics.ranking import average_precision, ndcg
from linker.models.embedding_model import EmbeddingModel
from linker.models.model import Model
from linker.models.order import rank_posts


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
    scores = score_pairs(model, articles, posts)
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


def score_pairs(model: Model, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
    """Return the scores of the i-th of `articles` with the i-th of `posts`: float32, one per pair."""
    rows = {article: row for row, article in enumerate(dict.fromkeys(articles))}
    columns = {post: column for column, post in enumerate(dict.fromkeys(posts))}
    first, second = [rows[article] for article in articles], [columns[post] for post in posts]
    if not isinstance(model, EmbeddingModel):
        return model.score(list(rows), list(columns))[first, second]
    left = model.article_vectors(list(rows))[first]  # (pairs, dim)
    right = model.post_vectors(list(columns))[second]  # (pairs, dim)
    if model.similarity == "cosine":
        return np.einsum("ij,ij->i", left, right)
    return -np.linalg.norm(left - right, axis=1)
