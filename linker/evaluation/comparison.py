"""Compare models on the same articles and posts."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from linker.common.errors import LinkerError
from linker.data.types import LinkedPosts
from linker.evaluation.evaluate import ARTICLE_METRICS, Evaluation, measure
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
        if not self.relevance.any():
            raise LinkerError(
                "none of the posts belongs to any of the articles: there is nothing to evaluate"
            )
        self._seed = seed
        self._has_posts = self.relevance.any(axis=1)
        self._weights = bootstrap_weights(len(self.article_ids), RESAMPLES, seed)
        self._mean_weights = bootstrap_weights(int(self._has_posts.sum()), RESAMPLES, seed)
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
        return evaluation

    def differences(self, baseline: str) -> list[Difference]:
        """Return the differences of every other model from `baseline`, in the order the models were added."""
        others = [name for name in self.evaluations if name != baseline]
        rows = [row for name in others for row in self._against(name, baseline)]
        p_values = {(name, metric): p for name, metric, _, _, p in rows}
        corrected = {}
        for metric in self.evaluations[baseline].metrics:
            values = holm([p_values[name, metric] for name in others])
            corrected.update({(name, metric): p for name, p in zip(others, values)})
        return [
            Difference(name, metric, difference, *interval, p, corrected[name, metric])
            for name, metric, difference, interval, p in rows
        ]

    def _against(self, name: str, baseline: str) -> list[tuple[str, str, float, tuple[float, float], float]]:
        ours, theirs = self.evaluations[name], self.evaluations[baseline]
        by_article = np.stack([ours.per_article[m] - theirs.per_article[m] for m in ARTICLE_METRICS], axis=1)
        by_article = by_article[self._has_posts]
        p_values = dict(zip(ARTICLE_METRICS, randomization_test(by_article, seed=self._seed)))
        means = dict(zip(ARTICLE_METRICS, (self._mean_weights @ by_article / len(by_article)).T))
        rows = []
        for metric in ours.metrics:
            if metric in p_values:
                samples, p = means[metric], float(p_values[metric])
            else:
                samples = self._samples[name][metric] - self._samples[baseline][metric]
                p = bootstrap_p_value(samples, int(self._has_posts.sum()))
            difference = ours.metrics[metric] - theirs.metrics[metric]
            rows.append((name, metric, difference, percentile_interval(samples), p))
        return rows

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
            "models": {name: evaluation.metrics for name, evaluation in self.evaluations.items()},
            "baseline": baseline,
            "differences": [asdict(difference) for difference in self.differences(baseline)],
            "article_ids": self.article_ids,
            "per_article": {
                name: {
                    metric: [_or_null(v) for v in values] for metric, values in evaluation.per_article.items()
                }
                for name, evaluation in self.evaluations.items()
            },
        }


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
