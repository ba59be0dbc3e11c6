"""Compare models on the same articles and posts."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from linker.common.errors import LinkerError
from linker.data.types import LinkedPosts
from linker.evaluation.evaluate import Evaluation, measure
from linker.evaluation.metrics.ranking import per_post
from linker.evaluation.significance import (
    bootstrap_p_value,
    bootstrap_weights,
    holm,
    mean_intervals,
    percentile_interval,
    randomization_test,
    resample_pair_metrics,
    swapped_p_values,
)

RESAMPLES = 1000
"""Bootstrap samples of the articles."""

LEAST_ARTICLES, LEAST_POOLED = 15, 30
"""Least numbers of articles with posts for intervals of means, and for those of metrics over all pairs."""


@dataclass(frozen=True)
class Difference:
    """A model's metric minus the baseline's, on the same articles."""

    model: str
    metric: str
    difference: float
    low: float
    """`low` and `high`: the 95 % interval of the difference; NaN with too few articles for one."""
    high: float
    p: float
    """Two-sided; randomization test, or for metrics over all pairs of 30 articles or more, bootstrap."""
    p_holm: float
    """Corrected for the number of models compared."""

    @property
    def significant(self) -> bool:
        """Whether the difference is significant: corrected p below 0.05."""
        return self.p_holm < 0.05


class Comparison:
    """Metrics of several models and the differences between them; keeps scores of few articles only.

    Args:
        linked: the articles and posts that all models are measured on.
        one_at_a_time: whether articles were scored independently; tables and files state it.

    Raises:
        LinkerError: if no post belongs to any of the articles.
    """

    def __init__(self, linked: LinkedPosts, one_at_a_time: bool = False) -> None:
        self.relevance = linked.relevance()
        self.article_ids = [article.id for article in linked.articles]
        self.post_ids = [post.id for post in linked.posts]
        self.one_at_a_time = one_at_a_time
        self.evaluations: dict[str, Evaluation] = {}
        self.per_post: dict[str, dict[str, np.ndarray]] = {}
        if not self.relevance.any():
            raise LinkerError(
                "none of the posts belongs to any of the articles: there is nothing to evaluate"
            )
        self._weights = bootstrap_weights(len(self.article_ids), RESAMPLES)
        self._samples: dict[str, dict[str, np.ndarray]] = {}
        self._scores: dict[str, np.ndarray] = {}
        self._linked = int(self.relevance.any(axis=1).sum())

    def add(self, name: str, scores: np.ndarray) -> Evaluation:
        """Measure one model's scores (articles × posts).

        Raises:
            LinkerError: as `linker.evaluation.evaluate.measure`.
        """
        evaluation = measure(scores, self.relevance, self.article_ids, self.post_ids)
        if self._linked < LEAST_POOLED:
            self._scores[name] = scores
        else:
            self._samples[name] = resample_pair_metrics(
                scores, self.relevance, self.article_ids, self.post_ids, self._weights
            )
        self.evaluations[name] = evaluation
        if len(self.article_ids) > 1:
            self.per_post[name] = per_post(scores, self.relevance, self.article_ids)
        return evaluation

    def metrics(self, name: str) -> dict[str, float]:
        """Return all metrics of a model, as fractions: those of its evaluation, then `POST_METRICS`.

        The latter rank the articles for every post; with a single article they are left out.
        """
        of_posts = {
            metric: float(np.nanmean(values)) for metric, values in self.per_post.get(name, {}).items()
        }
        return {**self.evaluations[name].metrics, **of_posts}

    def differences(self, baseline: str) -> list[Difference]:
        """Return the differences of every other model from `baseline`, in the order the models were added."""
        others = [name for name in self.evaluations if name != baseline]
        intervals: dict[tuple[str, str], tuple[float, float]] = {}
        p_values: dict[tuple[str, str], float] = {}
        by_article = {name: evaluation.per_article for name, evaluation in self.evaluations.items()}
        for values, axis in ((by_article, 1), (self.per_post, 0)):
            keys = [(name, metric) for name in others for metric in values.get(name, ())]
            if keys:
                columns = [values[name][metric] - values[baseline][metric] for name, metric in keys]
                paired = np.stack(columns, axis=1)[self.relevance.any(axis=axis)]
                if len(paired) >= LEAST_ARTICLES:
                    intervals |= zip(keys, zip(*mean_intervals(paired).tolist()))
                p_values |= zip(keys, randomization_test(paired).tolist())
        ids = self.relevance, self.article_ids, self.post_ids
        for name in others:
            if name in self._scores:
                found = swapped_p_values(self._scores[name], self._scores[baseline], *ids)
                p_values |= {(name, metric): p for metric, p in found.items()}
                continue
            for metric, drawn in self._samples[name].items():
                samples = drawn - self._samples[baseline][metric]
                intervals[name, metric] = percentile_interval(samples)
                p_values[name, metric] = bootstrap_p_value(samples)
        means = {name: self.metrics(name) for name in self.evaluations}
        corrected: dict[tuple[str, str], float] = {}
        for metric in means[baseline]:
            keys = [(name, metric) for name in others]
            corrected |= zip(keys, holm([p_values[key] for key in keys]))
        return [
            Difference(
                name,
                metric,
                value - means[baseline][metric],
                *intervals.get((name, metric), (math.nan, math.nan)),
                p_values[name, metric],
                corrected[name, metric],
            )
            for name in others
            for metric, value in means[name].items()
        ]

    def as_json(self, baseline: str, differences: Sequence[Difference]) -> dict[str, Any]:
        """Return all results as JSON values; metrics are fractions, undefined values null."""
        first = next(iter(self.evaluations.values()))
        return {
            "articles": first.articles,
            "posts": first.posts,
            "relevant_pairs": first.relevant_pairs,
            "articles_without_posts": first.articles_without_posts,
            "thresholds_left_out": list(first.thresholds_left_out),
            "scored": "one_at_a_time" if self.one_at_a_time else "together",
            "models": {name: self.metrics(name) for name in self.evaluations},
            "baseline": baseline,
            "differences": [
                {key: _defined(value) for key, value in asdict(difference).items()}
                for difference in differences
            ],
            "article_ids": self.article_ids,
            "per_article": {
                name: _values(evaluation.per_article) for name, evaluation in self.evaluations.items()
            },
            "post_ids": self.post_ids,
            "per_post": {name: _values(values) for name, values in self.per_post.items()},
        }


def _defined(value: Any) -> Any:
    """Return a value; None for NaN."""
    return None if value != value else value


def _values(by_metric: dict[str, np.ndarray]) -> dict[str, list[float | None]]:
    """Return values as JSON, null where they are not defined."""
    return {metric: [_defined(value) for value in values.tolist()] for metric, values in by_metric.items()}
