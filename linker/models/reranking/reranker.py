"""Rerankers: the best pairs of a fast model are scored again by a slow one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from typing_extensions import override

from linker.common.checks import above, at_least
from linker.common.errors import ModelError
from linker.common.files import atomic_write
from linker.data.types import Article, LinkedPosts, Post
from linker.models.archive import load_model
from linker.models.model import Model
from linker.models.pretrained import FOLDERS
from linker.models.score_scale import ScoreScale

FIRST_STAGE = "first-stage"


@Model.register("reranker")
class RerankerModel(Model):
    """Scores of a first stage; those of its best pairs are corrected by another model, such as a `cross_encoder`.

    A pair is scored again if the post is among the first `top` of its article and, where several articles are scored
    together, the article among the first `top` of its post. Training trains the second stage only.

    Args:
        second_stage: the model that scores the best pairs again.
        first_stage: the model that scores all pairs: `best`, `distilled` or a model folder. A copy of it is kept in the
            folder of this model.
        top: number of best posts of an article that are scored again, ≥ 1.
        weight: what a point of the second stage's score adds to the first stage's, > 0.

    Raises:
        ConfigError: if `second_stage` is trained together with others.
    """

    keys_without_weights = frozenset({"first_stage", "top", "weight"})

    def __init__(
        self, second_stage: Model, first_stage: str = "best", top: int = 50, weight: float = 0.4
    ) -> None:
        at_least(1, top=top)
        above(0, weight=weight)
        self.second_stage, self.top, self.weight = second_stage, top, weight
        self._folder = FOLDERS.get(first_stage, Path(first_stage))
        self._loaded: Model | None = None

    @property
    def first_stage(self) -> Model:
        """Return the model that scores all pairs; it is loaded on first use.

        Raises:
            ModelError: if its folder is missing or damaged.
        """
        if self._loaded is None:
            self._loaded = load_model(self._folder, for_scoring=True)
        return self._loaded

    @override
    def submodels(self) -> Sequence[Model]:
        return [self.first_stage, self.second_stage]

    @override
    def score_scale(self) -> ScoreScale:
        return self.first_stage.score_scale()

    @override
    def prepare(self, data: LinkedPosts) -> None:
        self.second_stage.prepare(data)

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Return corrected scores: float32, articles × posts, on the scale of the first stage."""
        scores = self.first_stage.score(articles, posts)
        chosen = self._first(scores) & self._first(scores.T).T if len(articles) > 1 else self._first(scores)
        return self._corrected(scores, chosen, articles, posts)

    @override
    def score_independently(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        scores = self.first_stage.score_independently(articles, posts)
        return self._corrected(scores, self._first(scores), articles, posts)

    def _first(self, scores: np.ndarray) -> np.ndarray:
        """Return which scores are among the first `top` of their row, ties included: bool."""
        if scores.shape[1] <= self.top:
            return np.ones(scores.shape, dtype=bool)
        least = np.partition(scores, -self.top, axis=1)[:, -self.top, None]
        return np.asarray(scores >= least)

    def _corrected(
        self, scores: np.ndarray, chosen: np.ndarray, articles: Sequence[Article], posts: Sequence[Post]
    ) -> np.ndarray:
        rows, columns = np.nonzero(chosen)
        again = self.second_stage.score_pairs(
            [articles[i] for i in rows.tolist()], [posts[j] for j in columns.tolist()]
        )
        corrected = scores.copy()
        corrected[rows, columns] += self.weight * again
        return corrected

    def save_state(self, folder: Path) -> None:
        """Write the second stage, and a copy of the first one's folder.

        Raises:
            ModelError: if the folder of the first stage was removed.
        """
        files = [file for file in self._folder.rglob("*") if file.is_file()]
        if not files:
            raise ModelError(f"{self._folder}: model folder not found; restore it")
        for file in files:
            with atomic_write(folder / FIRST_STAGE / file.relative_to(self._folder), "wb") as copy:
                copy.write(file.read_bytes())
        self.second_stage.save_state(folder)

    @override
    def load_state(self, folder: Path) -> None:
        self._folder, self._loaded = folder / FIRST_STAGE, None
        self.second_stage.load_state(folder)
