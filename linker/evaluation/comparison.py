"""Compare models on the same articles and posts."""

from __future__ import annotations

import math
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
    percentile_interval,
    randomization_test,
    resample_pair_metrics,
)

RESAMPLES = 1000
"""Bootstrap samples of the articles."""


@dataclass(frozen=True)
class Difference:
    """A model's metric minus the baseline's, on the same articles."""

    model: str
    metric: str
    difference: float
    low: float
    """`low` and `high`: the 95 % bootstrap interval of the difference."""
    high: float
    p: float
    """Two-sided; randomization test for metrics per article, bootstrap for those over all pairs."""
    p_holm: float
    """Corrected for the number of models compared."""

    @property
    def significant(self) -> bool:
        """Whether the difference is significant: corrected p below 0.05."""
        return self.p_holm < 0.05


class Comparison:
    """Metrics of several models and the differences between them; keeps no scores.

    Args:
        linked: the articles and posts that all models are measured on.
        seed: random seed of the resampling; the same for all models, so that differences are paired.
        one_at_a_time: whether articles were scored independently; tables and files state it.

    Raises:
        LinkerError: if no post belongs to any of the articles.
    """

    def __init__(self, linked: LinkedPosts, seed: int = 0, one_at_a_time: bool = False) -> None:
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
        self._seed = seed
        self._has_posts = np.asarray(self.relevance.any(axis=1))
        self._weights = bootstrap_weights(len(self.article_ids), RESAMPLES, seed)
        self._mean_weights = bootstrap_weights(int(self._has_posts.sum()), RESAMPLES, seed)
        self._has_articles = np.asarray(self.relevance.any(axis=0))
        self._post_weights = bootstrap_weights(int(self._has_articles.sum()), RESAMPLES, seed)
        self._samples: dict[str, dict[str, np.ndarray]] = {}

    def add(self, name: str, scores: np.ndarray) -> Evaluation:
        """Measure one model's scores (articles × posts).

        Raises:
            LinkerError: as `linker.evaluation.evaluate.measure`.
        """
        evaluation = measure(scores, self.relevance, self.article_ids, self.post_ids)
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
        rows = [row for name in others for row in self._against(name, baseline)]
        p_values = {(name, metric): p for name, metric, _, _, p in rows}
        corrected = {}
        for metric in self.metrics(baseline):
            values = holm([p_values[name, metric] for name in others])
            corrected.update({(name, metric): p for name, p in zip(others, values)})
        return [
            Difference(name, metric, difference, *interval, p, corrected[name, metric])
            for name, metric, difference, interval, p in rows
        ]

    def _against(self, name: str, baseline: str) -> list[tuple[str, str, float, tuple[float, float], float]]:
        ours, theirs = self.evaluations[name].per_article, self.evaluations[baseline].per_article
        paired = self._paired(ours, theirs, self._has_posts, self._mean_weights)
        if name in self.per_post:
            of_posts = self.per_post[name], self.per_post[baseline]
            paired |= self._paired(*of_posts, self._has_articles, self._post_weights)
        rows = []
        values, of_baseline = self.metrics(name), self.metrics(baseline)
        for metric in values:
            if metric in paired:
                samples, p = paired[metric]
            else:
                samples = self._samples[name][metric] - self._samples[baseline][metric]
                p = bootstrap_p_value(samples, int(self._has_posts.sum()))
            difference = values[metric] - of_baseline[metric]
            rows.append((name, metric, difference, percentile_interval(samples), p))
        return rows

    def _paired(
        self,
        ours: dict[str, np.ndarray],
        theirs: dict[str, np.ndarray],
        defined: np.ndarray,
        weights: np.ndarray,
    ) -> dict[str, tuple[np.ndarray, float]]:
        """Return resampled mean differences and the p-value of each metric that has a value per article, or per post.

        Args:
            ours: the values of a model by metric.
            theirs: those of the baseline.
            defined: which of the articles or posts have values: bool.
            weights: of the latter in each sample.
        """
        values = np.stack([ours[metric] - theirs[metric] for metric in ours], axis=1)[defined]
        p_values = randomization_test(values, seed=self._seed)
        means = (weights @ values / len(values)).T
        return {metric: (sample, float(p)) for metric, sample, p in zip(ours, means, p_values)}

    def as_json(self, baseline: str) -> dict[str, Any]:
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
            "differences": [asdict(difference) for difference in self.differences(baseline)],
            "article_ids": self.article_ids,
            "per_article": {name: _values(own.per_article) for name, own in self.evaluations.items()},
            "post_ids": self.post_ids,
            "per_post": {name: _values(own) for name, own in self.per_post.items()},
        }


def _values(by_metric: dict[str, np.ndarray]) -> dict[str, list[float | None]]:
    """Return values as JSON, null where they are not defined."""
    return {
        metric: [None if math.isnan(value) else float(value) for value in values]
        for metric, values in by_metric.items()
    }
