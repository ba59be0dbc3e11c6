"""From scores to statements about relevance: thresholds on a pile, and the probability of each post."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linker.evaluation.calibrated_thresholds import CalibratedThresholds
from linker.evaluation.dev_calibration import Calibration
from linker.evaluation.labelled_thresholds import LabelledThresholds
from linker.evaluation.thresholds import Thresholds
from linker.ranking.ranked import RankedPost, ReadInParts

if TYPE_CHECKING:
    from linker.models.passages import Passages


def thresholds_of(
    scores: np.ndarray,
    ids: Sequence[str],
    evidence: Mapping[str, bool] | Calibration,
    passages: Passages = "whole",
) -> Thresholds:
    """Thresholds on a pile, by labels of its posts or by a calibration.

    Args:
        scores: of all posts of the pile.
        ids: theirs.
        evidence: id → is it relevant, of some of them; or what other articles and posts taught.
        passages: how articles were read.

    Raises:
        LinkerError: no posts; labels of other posts only, or of one kind; a calibration with other passages.
    """
    if isinstance(evidence, Calibration):
        evidence.check(passages=passages)
        return CalibratedThresholds(evidence, scores)
    return LabelledThresholds.of(scores, ids, evidence)


def with_probabilities(ranking: Sequence[RankedPost], thresholds: Thresholds) -> Sequence[RankedPost]:
    """A ranking whose posts know how probable it is that they are relevant; read only as far as it is gone through."""
    return _WithProbabilities(ranking, thresholds)


class _WithProbabilities(ReadInParts):
    def __init__(self, ranking: Sequence[RankedPost], thresholds: Thresholds) -> None:
        self._ranking, self._thresholds = ranking, thresholds

    def __len__(self) -> int:
        return len(self._ranking)

    def _read(self, part: slice) -> list[RankedPost]:
        posts = self._ranking[part]
        if not posts:
            return []
        probabilities = self._thresholds.probabilities(np.array([ranked.score for ranked in posts]))
        return [
            replace(ranked, probability=float(probability))
            for ranked, probability in zip(posts, probabilities)
        ]
