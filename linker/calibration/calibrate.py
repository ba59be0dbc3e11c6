"""Calibrate a model on a labeled dev set."""

import numpy as np

from linker.calibration.calibration import Calibration
from linker.calibration.probabilities import cross_validated_probabilities, reliability_of
from linker.common.errors import LinkerError
from linker.models.features.word_statistics import Statistics
from linker.models.score_scale import UNSCALED, ScoreScale

_SAMPLES = 200
_BINS = 50
_SEED = 13


def calibrate(
    scores: np.ndarray,
    relevance: np.ndarray,
    *,
    model: str = "model",
    fingerprint: str = "",
    scale: ScoreScale = UNSCALED,
    words: Statistics | None = None,
) -> Calibration:
    """Return a calibration from all pairs of a dev set.

    Args:
        scores: float, articles × posts, finite.
        relevance: bool, articles × posts.
        model: the model's name.
        fingerprint: the model's fingerprint.
        scale: the map from these scores to those that users see.
        words: the counts of words that the scores were computed with, see `word_statistics`.

    Raises:
        LinkerError: if scores are not finite, or there are too few articles with relevant posts or too few pairs.
    """
    scores, relevance = np.asarray(scores, dtype=np.float32), np.asarray(relevance, dtype=bool)
    if not np.isfinite(scores).all():
        raise LinkerError(f"{model}: gives scores that are not finite numbers; train it again")
    of_each = relevance.sum(axis=1)
    if (linked := int((of_each > 0).sum())) < 2:
        raise LinkerError(
            f"{linked} article with relevant posts: a calibration needs several; more than 20 are better"
        )
    of_article = np.repeat(np.arange(len(scores)), scores.shape[1])
    probabilities = cross_validated_probabilities(
        scores.ravel().astype(np.float64), relevance.ravel(), of_article, _SEED
    )
    quantiles = [_quantiles(scores[relevance]), _quantiles(scores), np.array([scores.min(), scores.max()])]
    edges = np.unique(np.concatenate(quantiles))[1:]
    relevant, others = _counts(scores, edges, relevance), _counts(scores, edges, ~relevance)
    samples = _samples(of_each > 0)
    return Calibration(
        model=model,
        fingerprint=fingerprint,
        articles=len(scores),
        effective_articles=float(of_each.sum() ** 2 / (of_each**2).sum()),
        posts=scores.shape[1],
        pairs=scores.size,
        relevant_pairs=int(relevance.sum()),
        edges=edges.astype(np.float64),
        relevant=_shares(samples @ relevant),
        others=_shares(samples @ others),
        reliability=reliability_of(probabilities, relevance.ravel(), of_article),
        scale=scale,
        words=words or {},
    )


def _quantiles(scores: np.ndarray) -> np.ndarray:
    """Return quantiles of the scores, denser at the upper end."""
    ends = 1 - np.geomspace(max(1 / scores.size, 1e-6), 1 / _BINS, _BINS // 5)
    shares = np.concatenate([np.arange(_BINS) / _BINS, ends])
    return np.asarray(np.quantile(scores, shares, method="closest_observation"), dtype=np.float32)


def _counts(scores: np.ndarray, edges: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Count the chosen pairs of each article in each bin: articles × bins."""
    bins = [np.searchsorted(edges, row[inside], side="right") for row, inside in zip(scores, chosen)]
    return np.array([np.bincount(of_article, minlength=len(edges) + 1) for of_article in bins], dtype=float)


def _samples(linked: np.ndarray) -> np.ndarray:
    """Return how often each article is in the dev set (first row: once) and in each bootstrap sample.

    Articles with and without relevant posts are sampled separately, so that every sample has relevant posts.
    """
    rng = np.random.default_rng(_SEED)
    weights = np.ones((_SAMPLES + 1, len(linked)))
    for kind in (linked, ~linked):
        if count := int(kind.sum()):
            weights[1:, kind] = rng.multinomial(count, np.full(count, 1 / count), size=_SAMPLES)
    return weights


def _shares(counts: np.ndarray) -> np.ndarray:
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
