"""All metrics of one model on one set of articles and posts, under the names used everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linker.common.errors import LinkerError
from linker.data.types import LinkedPosts
from linker.evaluation.metrics import pairwise
from linker.evaluation.metrics.ranking import METRICS, per_article

PAIR_METRICS = (*(f"r_precision@{r}" for r in pairwise.THRESHOLDS), "mRP", "pair AP", "AUC")
"""Over all pairs in one ranking (`linker.evaluation.metrics.pairwise`)."""

ARTICLE_METRICS = tuple(METRICS)
"""Means over the articles that have relevant posts (`linker.evaluation.metrics.ranking`)."""


@dataclass(frozen=True)
class Evaluation:
    """Metrics of one model, and the size of the data. All metrics are fractions: 1 is perfect."""

    metrics: dict[str, float]
    """In the order of `PAIR_METRICS` and `ARTICLE_METRICS`; what is not defined on the data is left out."""
    per_article: dict[str, np.ndarray]
    """Of every article, NaN for those without relevant posts."""
    articles: int
    posts: int
    relevant_pairs: int
    articles_without_posts: int
    thresholds_left_out: tuple[int, ...]
    """The r of r_precision@r that exceed the number of pairs."""


def evaluate(scores: np.ndarray, linked: LinkedPosts) -> dict[str, float]:
    """Return all metrics of `scores` (articles × posts) as fractions by name: `pair AP`, `AUC`, `mRP`, `MAP`, ...

    Raises:
        LinkerError: if scores have another shape or are not finite, or no post belongs to any of the articles.
    """
    article_ids = [article.id for article in linked.articles]
    return measure(scores, linked.relevance(), article_ids, [post.id for post in linked.posts]).metrics


def measure(
    scores: np.ndarray, relevance: np.ndarray, article_ids: Sequence[str], post_ids: Sequence[str]
) -> Evaluation:
    """Measure `scores` against `relevance` (both articles × posts; relevance boolean or graded from 0).

    Raises:
        LinkerError: as `evaluate`.
    """
    expected = (len(article_ids), len(post_ids))
    if scores.shape != expected or relevance.shape != expected:
        raise LinkerError(
            f"scores are {scores.shape} and relevance is {relevance.shape}, "
            f"but there are {expected[0]} articles and {expected[1]} posts"
        )
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0]
        raise LinkerError(
            f"the score of post {post_ids[column]!r} for article {article_ids[row]!r} is "
            f"{scores[row, column]}: scores must be finite to be ranked"
        )
    relevant = relevance > 0
    if not relevant.any():
        raise LinkerError("none of the posts belongs to any of the articles: there is nothing to evaluate")
    precisions = pairwise.r_precision_at(scores, relevance, article_ids, post_ids)
    metrics = {f"r_precision@{r}": value for r, value in precisions.items()}
    if precisions:
        metrics["mRP"] = float(np.mean(list(precisions.values())))
    metrics["pair AP"] = pairwise.average_precision(scores, relevance)
    if not relevant.all():
        metrics["AUC"] = pairwise.auc(scores, relevance)
    by_article = per_article(scores, relevance, post_ids)
    metrics |= {name: float(np.nanmean(values)) for name, values in by_article.items()}
    return Evaluation(
        metrics=metrics,
        per_article=by_article,
        articles=len(article_ids),
        posts=len(post_ids),
        relevant_pairs=int(relevant.sum()),
        articles_without_posts=int((~relevant.any(axis=1)).sum()),
        thresholds_left_out=tuple(r for r in pairwise.THRESHOLDS if r not in precisions),
    )
