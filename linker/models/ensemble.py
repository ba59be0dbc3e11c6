"""Ensembles: scores of several models, made comparable and added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from typing_extensions import override

from linker.common.errors import ConfigError
from linker.common.stats import zscore
from linker.data.types import Article, LinkedPosts, Post
from linker.models.model import Model

Fusion = Literal["zscore", "zscore_all", "rrf", "sum"]

#: Cormack, Clarke and Büttcher 2009, who found that results hardly depend on it.
_RRF_CONSTANT = 60


@Model.register("ensemble")
@Model.register("hybrid")
class EnsembleModel(Model):
    """Weighted sum of the comparable scores of several models, for example a lexical and a trained one.

    Args:
        parts: the models, at least one.
        weights: one number per model; by default all 1.
        fusion: how scores are made comparable. `zscore`: mean 0 and standard deviation 1 over the posts, per article.
            `zscore_all`: the same over all articles at once, which keeps the difference between articles with and
            without relevant posts. `rrf`: 1 / (60 + rank of the post for the article), ties at their mean rank. `sum`:
            the scores as they are, for models of one range (such as cosines); only then does a score not depend on the
            other posts.

    Raises:
        ConfigError: if `parts` is empty, or the numbers of models and weights differ.
    """

    keys_without_weights = frozenset({"weights", "fusion"})

    def __init__(
        self, parts: list[Model], weights: list[float] | None = None, fusion: Fusion = "zscore"
    ) -> None:
        if not parts:
            raise ConfigError("ensemble: `parts` is empty; give at least one model")
        if weights is not None and len(weights) != len(parts):
            raise ConfigError(
                f"ensemble: {len(weights)} weights for {len(parts)} parts; give one weight per part"
            )
        self._submodels = parts
        self.weights = weights or [1.0] * len(parts)
        self.fusion: Fusion = fusion

    @override
    def submodels(self) -> Sequence[Model]:
        return self._submodels

    @override
    def prepare(self, data: LinkedPosts) -> None:
        for model in self._submodels:
            model.prepare(data)

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Return fused scores: float32, articles × posts; unless `fusion` is `sum`, they depend on the other posts."""
        return self._fused([model.score(articles, posts) for model in self._submodels], _FUSIONS[self.fusion])

    @override
    def score_independently(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        return self.fuse_independently(
            [model.score_independently(articles, posts) for model in self._submodels]
        )

    def fuse_independently(self, scores: Sequence[np.ndarray]) -> np.ndarray:
        """Fuse the scores of all submodels, each article by itself.

        Args:
            scores: one array of articles × posts per submodel.

        Returns:
            float32, articles × posts.
        """
        # For a single article `zscore_all` equals `zscore`.
        return self._fused(scores, _zscore if self.fusion == "zscore_all" else _FUSIONS[self.fusion])

    def _fused(
        self, scores: Sequence[np.ndarray], comparable: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        fused = np.zeros_like(scores[0], dtype=np.float32)
        for part, weight in zip(scores, self.weights):
            fused += np.float32(weight) * comparable(part)
        return fused

    def save_state(self, folder: Path) -> None:
        """Write each submodel into a subfolder `part-0`, `part-1`, …"""
        for number, model in enumerate(self._submodels):
            subfolder = folder / f"part-{number}"
            subfolder.mkdir(parents=True, exist_ok=True)
            model.save_state(subfolder)

    @override
    def load_state(self, folder: Path) -> None:
        for number, model in enumerate(self._submodels):
            model.load_state(folder / f"part-{number}")


def _zscore(scores: np.ndarray) -> np.ndarray:
    return zscore(scores, axis=1).astype(np.float32)


def _zscore_all(scores: np.ndarray) -> np.ndarray:
    return zscore(scores).astype(np.float32)


def _reciprocal_rank(scores: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata  # takes half a second to import, needed for this fusion only

    return (1.0 / (_RRF_CONSTANT + rankdata(-scores, axis=1))).astype(np.float32)


_FUSIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "zscore": _zscore,
    "zscore_all": _zscore_all,
    "rrf": _reciprocal_rank,
    "sum": lambda scores: scores,
}
