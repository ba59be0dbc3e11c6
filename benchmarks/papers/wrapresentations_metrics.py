"""Separation of classes by embeddings: similarity of pairs, and a classifier (WRAPresentations)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linker.common.errors import LinkerError
from linker.contrib.wrapresentations.batches import ClassPairs, balanced_pairs
from linker.evaluation.metrics.pairwise import average_precision
from linker.evaluation.significance import bootstrap_weights, percentile_interval

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Similar:
    """Classification of pairs by a threshold: precision, recall and F1 as fractions."""

    precision: float
    recall: float
    f1: float
    threshold: float


def best_threshold(cosines: np.ndarray, same: np.ndarray) -> float:
    """Return the threshold on the cosines with the best F1; the lowest if several are."""
    from sklearn.metrics import precision_recall_curve

    precision, recall, thresholds = precision_recall_curve(same, cosines)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    return float(thresholds[np.argmax(f1[:-1])])


def at_threshold(cosines: np.ndarray, same: np.ndarray, threshold: float) -> Similar:
    """Return precision, recall and F1 at a threshold."""
    called = cosines >= threshold
    hits = int((called & same).sum())
    precision, recall = hits / max(int(called.sum()), 1), hits / max(int(same.sum()), 1)
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return Similar(precision, recall, f1, threshold)


@dataclass(frozen=True)
class PairFigures:
    """Metrics of the balanced pairs of a set of texts.

    Attributes:
        best: at the threshold with the best F1 on the same pairs, as in the paper.
        given: at a threshold from other pairs, or None.
        average_precision: 0 to 1; 0.5 is chance.
        pairs: number of pairs.
    """

    best: Similar
    given: Similar | None
    average_precision: float
    pairs: int


def pair_figures(
    vectors: np.ndarray,
    classes: Sequence[str],
    threshold: float | None = None,
    seed: int = 0,
    max_pairs: int | None = None,
) -> PairFigures:
    """Measure how well cosines separate pairs of one class from pairs of two, over `balanced_pairs`.

    Args:
        vectors: float, texts × dim, of any length.
        classes: class of each text.
        threshold: threshold of the cosines, from pairs of training texts.
        seed: random seed for the choice among the pairs of the more frequent kind.
        max_pairs: maximum number of pairs, a random sample.

    Raises:
        LinkerError: if a vector is not finite, or one kind has no pairs.
    """
    pairs = balanced_pairs(classes, seed, max_pairs)
    cosines = _cosines(vectors, pairs)
    return PairFigures(
        best=at_threshold(cosines, pairs.same, best_threshold(cosines, pairs.same)),
        given=None if threshold is None else at_threshold(cosines, pairs.same, threshold),
        average_precision=average_precision(cosines, pairs.same),
        pairs=len(cosines),
    )


def precision_interval(
    vectors: np.ndarray,
    classes: Sequence[str],
    seed: int = 0,
    max_pairs: int | None = None,
    resamples: int = 200,
) -> tuple[float, float]:
    """Return the 95 % interval of the average precision of `pair_figures`, by a bootstrap over texts.

    A pair counts as often as the product of how often its two texts are drawn: pairs that share a text are not
    independent.
    """
    pairs = balanced_pairs(classes, seed, max_pairs)
    order = np.argsort(-_cosines(vectors, pairs), kind="stable")
    first, second, same = (rows[order] for rows in (pairs.first, pairs.second, pairs.same))
    samples = []
    for drawn in bootstrap_weights(len(classes), resamples):
        weights = (drawn[first] * drawn[second]).astype(np.float64)
        found = np.cumsum(weights * same)
        precision = found / np.maximum(np.cumsum(weights), 1)
        samples.append(float((precision * weights * same).sum() / found[-1]))
    return percentile_interval(np.array(samples))


def cross_validated_f1(vectors: np.ndarray, classes: Sequence[str], folds: int = 5, seed: int = 0) -> float:
    """Return the macro F1 of a logistic regression on the vectors in a stratified cross-validation.

    Raises:
        LinkerError: if a class has fewer texts than folds.
    """
    from sklearn.model_selection import StratifiedKFold

    names, counts = np.unique(np.asarray(classes), return_counts=True)
    if counts.min() < folds:
        raise LinkerError(
            f"the class {names[counts.argmin()]} has {counts.min()} texts, too few for {folds} folds; use fewer folds"
        )
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return _macro_f1(classes, _predictions(vectors, classes, splitter))


def topic_wise_f1(vectors: np.ndarray, classes: Sequence[str], topics: Sequence[str]) -> dict[str, float]:
    """Return the macro F1 on each topic of a logistic regression trained on the others; `all`: over all predictions.

    Raises:
        LinkerError: if there is only one topic.
    """
    from sklearn.model_selection import LeaveOneGroupOut

    if len(set(topics)) < 2:
        raise LinkerError("all texts have the same topic; holding one out needs at least two")
    predicted = _predictions(vectors, classes, LeaveOneGroupOut(), topics)
    named, topic_of = np.asarray(classes), np.asarray(topics)
    masks = {topic: topic_of == topic for topic in sorted(set(topics))}
    figures = {topic: _macro_f1(named[mask], predicted[mask]) for topic, mask in masks.items()}
    return figures | {"all": _macro_f1(named, predicted)}


def _predictions(
    vectors: np.ndarray, classes: Sequence[str], splitter: Any, groups: Sequence[str] | None = None
) -> np.ndarray:
    """Return the predicted class of each text, by a model that was not trained on it."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    model = LogisticRegression(max_iter=1000, class_weight="balanced")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return cross_val_predict(model, vectors, np.asarray(classes), groups=groups, cv=splitter)


def _macro_f1(classes: Sequence[str] | np.ndarray, predicted: np.ndarray) -> float:
    from sklearn.metrics import f1_score

    return float(f1_score(classes, predicted, average="macro", zero_division=0))


def _cosines(vectors: np.ndarray, pairs: ClassPairs) -> np.ndarray:
    """Return the cosine of each pair, float, pairs; in chunks, to bound memory."""
    if not np.isfinite(vectors).all():
        raise LinkerError("a vector is not finite")
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    parts = [slice(start, start + _CHUNK) for start in range(0, len(pairs.first), _CHUNK)]
    return np.concatenate(
        [np.einsum("ij,ij->i", unit[pairs.first[part]], unit[pairs.second[part]]) for part in parts]
    )
