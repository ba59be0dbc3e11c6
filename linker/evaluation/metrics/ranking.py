"""The retrieval field's metrics: every article is a query, all posts are ranked for it; or every post, all articles.

Defined as trec_eval defines them, and equal to it: scores are compared as float32, tied posts are in
*descending* order of their ids (by code point), a post is relevant where relevance is above 0, and nDCG takes
the label itself as gain. Every metric takes `ranked`, the relevance of all posts in the order of their ranks
(articles × posts), and gives one value per article, NaN for an article without relevant posts.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from linker.models.order import rank_posts

_ROWS_AT_ONCE = 256


def average_precision(ranked: np.ndarray, k: int | None = None) -> np.ndarray:
    """Mean over the relevant posts of the precision at their ranks; its mean over articles is MAP.

    With `k`, relevant posts beyond the k best count as not found (AP@k).
    """
    relevant = ranked > 0
    best = relevant[:, :k]
    precision = np.cumsum(best, axis=1) / np.arange(1, best.shape[1] + 1)
    return _divide((precision * best).sum(axis=1), relevant.sum(axis=1))


def r_precision(ranked: np.ndarray) -> np.ndarray:
    """Classical R-precision: precision among the R best, R being the article's number of relevant posts."""
    relevant = ranked > 0
    total = relevant.sum(axis=1)
    within = np.arange(ranked.shape[1]) < total[:, None]
    return _divide((relevant & within).sum(axis=1), total)


def reciprocal_rank(ranked: np.ndarray) -> np.ndarray:
    """1 / rank of the first relevant post; its mean over articles is MRR."""
    relevant = ranked > 0
    has_relevant = relevant.any(axis=1)
    first = relevant.argmax(axis=1) if ranked.shape[1] else np.zeros(len(ranked), dtype=int)
    return np.where(has_relevant, 1.0 / (first + 1), np.nan)


def precision(ranked: np.ndarray, k: int) -> np.ndarray:
    """P@k: relevant posts among the k best, divided by k (also where there are fewer than k posts)."""
    relevant = ranked > 0
    return np.where(relevant.any(axis=1), relevant[:, :k].sum(axis=1) / k, np.nan)


def recall(ranked: np.ndarray, k: int) -> np.ndarray:
    """recall@k: the share of the article's relevant posts that stand among the k best."""
    relevant = ranked > 0
    return _divide(relevant[:, :k].sum(axis=1), relevant.sum(axis=1))


def ndcg(ranked: np.ndarray, k: int) -> np.ndarray:
    """nDCG@k (Järvelin and Kekäläinen 2002): Σ label / log₂(rank + 1), over the ideal order's."""
    gains = np.asarray(ranked, dtype=np.float64)
    best = -np.sort(-gains, axis=1)[:, :k]
    discount = 1.0 / np.log2(np.arange(2, best.shape[1] + 2))
    return _divide(gains[:, :k] @ discount, best @ discount)


def _divide(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, NaN where whole is 0: an article without relevant posts has no value."""
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


METRICS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "MAP": average_precision,
    "R-precision": r_precision,
    "MRR": reciprocal_rank,
    "nDCG@10": lambda ranked: ndcg(ranked, 10),
    "nDCG@100": lambda ranked: ndcg(ranked, 100),
    "P@1": lambda ranked: precision(ranked, 1),
    "P@10": lambda ranked: precision(ranked, 10),
    "recall@10": lambda ranked: recall(ranked, 10),
    "recall@100": lambda ranked: recall(ranked, 100),
}
"""Name → one value per article. Reported is the mean over the articles that have relevant posts."""


POST_METRICS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "MAP@5 of posts": lambda ranked: average_precision(ranked, 5),
    "MRR of posts": reciprocal_rank,
    "P@1 of posts": lambda ranked: precision(ranked, 1),
}
"""Name → one value per post, whose articles are ranked. Reported is the mean over the posts that have articles."""


def per_article(scores: np.ndarray, relevance: np.ndarray, post_ids: Sequence[str]) -> dict[str, np.ndarray]:
    """Every metric of `METRICS` for every article (float64), NaN for articles without relevant posts."""
    return _per_query(scores, relevance, post_ids, METRICS)


def per_post(scores: np.ndarray, relevance: np.ndarray, article_ids: Sequence[str]) -> dict[str, np.ndarray]:
    """Every metric of `POST_METRICS` for every post (float64), NaN for posts without articles.

    Args:
        scores: articles × posts.
        relevance: articles × posts.
        article_ids: the articles; those with equal scores are in descending order of their ids.
    """
    return _per_query(scores.T, relevance.T, article_ids, POST_METRICS)


def _per_query(
    scores: np.ndarray,
    relevance: np.ndarray,
    ids: Sequence[str],
    metrics: Mapping[str, Callable[[np.ndarray], np.ndarray]],
) -> dict[str, np.ndarray]:
    values = {name: np.empty(len(scores)) for name in metrics}
    for start in range(0, len(scores), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        ranked = np.take_along_axis(relevance[rows], rank_posts(scores[rows], ids), axis=1)
        for name, metric in metrics.items():
            values[name][rows] = metric(ranked)
    return values
