"""Compare models on the same articles and posts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from linker.common.errors import LinkerError
from linker.data.types import LinkedPosts
from linker.evaluation.evaluate import Evaluation, measure
from linker.evaluation.metrics.ranking import per_post
from linker.evaluation.significance import (
    bootstrap_means,
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
        self._has_articles = np.asarray(self.relevance.any(axis=0))
        self._samples: dict[str, dict[str, np.ndarray]] = {}
        self._differences: dict[str, list[Difference]] = {}  # by baseline, until a model is added

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
        self._differences.clear()
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
        if baseline in self._differences:
            return self._differences[baseline]
        others = [name for name in self.evaluations if name != baseline]
        by_article = {name: evaluation.per_article for name, evaluation in self.evaluations.items()}
        tested = self._paired(by_article, self._has_posts, others, baseline)
        tested |= self._paired(self.per_post, self._has_articles, others, baseline)
        reference, linked = self.metrics(baseline), int(self._has_posts.sum())
        for name in others:
            for metric in self.metrics(name).keys() - {metric for of, metric in tested if of == name}:
                samples = self._samples[name][metric] - self._samples[baseline][metric]
                tested[name, metric] = samples, bootstrap_p_value(samples, linked)
        corrected: dict[tuple[str, str], float] = {}
        for metric in reference:
            values = holm([tested[name, metric][1] for name in others])
            corrected.update({(name, metric): p for name, p in zip(others, values)})
        rows = []
        for name in others:
            for metric, value in self.metrics(name).items():
                samples, p = tested[name, metric]
                interval = percentile_interval(samples)
                rows.append(
                    Difference(name, metric, value - reference[metric], *interval, p, corrected[name, metric])
                )
        self._differences[baseline] = rows
        return rows

    def _paired(
        self,
        values: Mapping[str, Mapping[str, np.ndarray]],
        defined: np.ndarray,
        others: Sequence[str],
        baseline: str,
    ) -> dict[tuple[str, str], tuple[np.ndarray, float]]:
        """Return the resampled mean differences and the p-value of each model and metric.

        Args:
            values: model → metric → one value per article, or per post; may be empty.
            defined: which of the articles or posts have values: bool.
            others: the models to compare with the baseline, all on the same samples.
            baseline: name of the baseline.
        """
        keys = [(name, metric) for name in others for metric in values.get(name, ())]
        if not keys:
            return {}
        columns = [values[name][metric] - values[baseline][metric] for name, metric in keys]
        differences = np.stack(columns, axis=1)[defined]
        means = bootstrap_means(differences, RESAMPLES, self._seed)
        p_values = randomization_test(differences, seed=self._seed).tolist()
        return {key: (samples, p) for key, samples, p in zip(keys, means.T, p_values)}

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
            "per_article": {
                name: _values(evaluation.per_article) for name, evaluation in self.evaluations.items()
            },
            "post_ids": self.post_ids,
            "per_post": {name: _values(values) for name, values in self.per_post.items()},
        }


def _values(by_metric: dict[str, np.ndarray]) -> dict[str, list[float | None]]:
    """Return values as JSON, null where they are not defined."""
    return {
        metric: [None if math.isnan(value) else float(value) for value in values]
        for metric, values in by_metric.items()
    }
