"""Several models heard together: their scores made comparable, then added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from linker.common.errors import ConfigError
from linker.data.types import Article, LinkedPosts, Post
from linker.models.model import Model

_RRF_CONSTANT = 60
"""As in Cormack, Clarke and Büttcher 2009, who found that it hardly matters."""


@Model.register("hybrid")
class EnsembleModel(Model):
    """Weighted sum of the comparable scores of its parts, a lexical and a learned model say.

    Args:
        parts: the models.
        weights: one for each part; all 1 by default.
        fusion: how scores are made comparable before they are added. `zscore`: every article's scores get mean 0
            and standard deviation 1 over the posts. `zscore_all`: the same over all articles at once, which
            keeps the difference between articles that have good posts and articles that have none. `rrf`:
            1 / (60 + rank of the post for the article), tied posts at their mean rank. `sum`: scores as they are, for
            parts that already speak of the same range (cosines, say); then no score depends on the other posts.
    """

    def __init__(
        self,
        parts: list[Model],
        weights: list[float] | None = None,
        fusion: Literal["zscore", "zscore_all", "rrf", "sum"] = "zscore",
    ) -> None:
        if not parts:
            raise ConfigError("hybrid: parts is empty; give at least one model")
        if weights is not None and len(weights) != len(parts):
            raise ConfigError(
                f"hybrid: {len(weights)} weights for {len(parts)} parts; give one weight for each part"
            )
        self._parts = parts
        self.weights = weights or [1.0] * len(parts)
        self.fusion: Literal["zscore", "zscore_all", "rrf", "sum"] = fusion

    def submodels(self) -> Sequence[Model]:
        """The models heard."""
        return self._parts

    def prepare(self, data: LinkedPosts) -> None:
        """Prepare every part."""
        for part in self._parts:
            part.prepare(data)

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Fused scores, float32, articles × posts. They depend on which posts stand in the pool."""
        return self._fused([part.score(articles, posts) for part in self._parts], _FUSIONS[self.fusion])

    def score_independently(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """As `score`, every article scored by itself by all parts: float32, articles × posts."""
        return self.fuse_independently([part.score_independently(articles, posts) for part in self._parts])

    def fuse_independently(self, scores: Sequence[np.ndarray]) -> np.ndarray:
        """Fuse the scores of all parts, each articles × posts, every article by itself: float32, articles × posts."""
        # Over the posts of one article `zscore_all` is `zscore`.
        return self._fused(scores, _zscore if self.fusion == "zscore_all" else _FUSIONS[self.fusion])

    def _fused(
        self, scores: Sequence[np.ndarray], comparable: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        fused = np.zeros_like(scores[0], dtype=np.float32)
        for own, weight in zip(scores, self.weights):
            fused += np.float32(weight) * comparable(own)
        return fused

    def save_state(self, folder: Path) -> None:
        """Every part saves into a folder of its own, `part-0`, `part-1`, ..."""
        for number, part in enumerate(self._parts):
            part_folder = folder / f"part-{number}"
            part_folder.mkdir(parents=True, exist_ok=True)
            part.save_state(part_folder)

    def load_state(self, folder: Path) -> None:
        """Every part reads its own folder."""
        for number, part in enumerate(self._parts):
            part.load_state(folder / f"part-{number}")


def _zscore(scores: np.ndarray) -> np.ndarray:
    return _standardise(scores, axis=1)


def _zscore_all(scores: np.ndarray) -> np.ndarray:
    return _standardise(scores, axis=None)


def _standardise(scores: np.ndarray, axis: int | None) -> np.ndarray:
    if not scores.size:
        return scores
    centred = scores - scores.mean(axis=axis, keepdims=True, dtype=np.float64)
    deviation = centred.std(axis=axis, keepdims=True)
    # Equal scores may leave a deviation of rounding size; dividing by it would blow noise up to scores.
    varied = deviation > 1e-6 * np.abs(scores).max(axis=axis, keepdims=True)
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=varied).astype(np.float32)


def _reciprocal_rank(scores: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata  # half a second, for this fusion only

    return (1.0 / (_RRF_CONSTANT + rankdata(-scores, axis=1))).astype(np.float32)


def _as_they_are(scores: np.ndarray) -> np.ndarray:
    return scores


_FUSIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "zscore": _zscore,
    "zscore_all": _zscore_all,
    "rrf": _reciprocal_rank,
    "sum": _as_they_are,
}
