"""How well vectors tell the classes of texts: as similar pairs, and by a classifier (WRAPresentations)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from linker.common.errors import LinkerError
from linker.contrib.wrapresentations.batches import ClassPairs, balanced_pairs
from linker.evaluation.metrics.pairwise import Similar, at_threshold, average_precision, best_threshold

_PAIRS_TOGETHER = 1 << 16


@dataclass(frozen=True)
class PairFigures:
    """What balanced pairs of a set of texts show.

    Attributes:
        best: at the threshold with the best F1 on these very pairs, as in the paper.
        given: at a threshold from other pairs; None where none was given.
        average_precision: needs no threshold; 0.5 is chance.
        pairs: how many there are.
    """

    best: Similar
    given: Similar | None
    average_precision: float
    pairs: int


def pair_figures(
    vectors: np.ndarray, classes: Sequence[str], threshold: float | None = None, seed: int = 0
) -> PairFigures:
    """Is the cosine of two texts of one class above that of two others, over `balanced_pairs`?

    Args:
        vectors: float, texts × dim, of any length.
        classes: of each text.
        threshold: of cosines, from the pairs of the training texts.
        seed: decides which pairs of the commoner kind are used.

    Raises:
        LinkerError: a vector is not finite, or there are no pairs of both kinds.
    """
    pairs = balanced_pairs(classes, seed)
    cosines = _cosines(vectors, pairs)
    return PairFigures(
        best=at_threshold(cosines, pairs.same, best_threshold(cosines, pairs.same)),
        given=None if threshold is None else at_threshold(cosines, pairs.same, threshold),
        average_precision=average_precision(cosines, pairs.same),
        pairs=len(cosines),
    )


def cross_validated_f1(vectors: np.ndarray, classes: Sequence[str], folds: int = 5, seed: int = 0) -> float:
    """Macro F1 of a logistic regression on the vectors, over the guesses of a stratified cross-validation.

    Raises:
        LinkerError: a class has fewer texts than folds.
    """
    from sklearn.model_selection import StratifiedKFold

    names, counts = np.unique(np.asarray(classes), return_counts=True)
    if counts.min() < folds:
        raise LinkerError(
            f"the class {names[counts.argmin()]} has {counts.min()} texts; {folds} folds need as many of each class"
        )
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return _macro_f1(vectors, classes, splitter.split(vectors, classes))["all"]


def topic_wise_f1(vectors: np.ndarray, classes: Sequence[str], topics: Sequence[str]) -> dict[str, float]:
    """Macro F1 on each topic of a logistic regression that has learned from the others; `all`: over all guesses.

    Raises:
        LinkerError: there is only one topic.
    """
    from sklearn.model_selection import LeaveOneGroupOut

    if len(set(topics)) < 2:
        raise LinkerError("all texts have the same topic; to hold one out there must be another")
    return _macro_f1(vectors, classes, LeaveOneGroupOut().split(vectors, classes, topics), topics)


def _macro_f1(
    vectors: np.ndarray,
    classes: Sequence[str],
    splits: Iterable[tuple[np.ndarray, np.ndarray]],
    topics: Sequence[str] | None = None,
) -> dict[str, float]:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score

    named, guessed = np.asarray(classes), np.empty(len(classes), dtype=object)
    figures = {}
    for train, test in splits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LogisticRegression(max_iter=1000, class_weight="balanced").fit(
                vectors[train], named[train]
            )
        guessed[test] = model.predict(vectors[test])
        if topics is not None:
            here = f1_score(named[test], guessed[test].astype(str), average="macro", zero_division=0)
            figures[topics[test[0]]] = float(here)
    figures["all"] = float(f1_score(named, guessed.astype(str), average="macro", zero_division=0))
    return figures


def _cosines(vectors: np.ndarray, pairs: ClassPairs) -> np.ndarray:
    if not np.isfinite(vectors).all():
        raise LinkerError("a vector is not finite")
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    parts = range(0, len(pairs.first), _PAIRS_TOGETHER)
    return np.concatenate(
        [
            np.einsum(
                "ij,ij->i",
                unit[pairs.first[k : k + _PAIRS_TOGETHER]],
                unit[pairs.second[k : k + _PAIRS_TOGETHER]],
            )
            for k in parts
        ]
    )
