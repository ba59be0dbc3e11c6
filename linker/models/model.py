"""The small interface that everything that scores posts for articles stands behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from linker.config import Registrable
from linker.data.types import Article, LinkedPosts, Post

Text = TypeVar("Text", Article, Post)


class Model(Registrable):
    """Scores posts for articles; higher is more relevant. Scores of one call may be compared with each other."""

    def prepare(self, data: LinkedPosts) -> None:
        """Learn from the training texts what no gradient teaches (a vocabulary, say). Nothing by default."""

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """float32, articles × posts."""
        raise NotImplementedError

    def score_independently(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Score every article by itself, as `linker rank` does: float32, articles × posts.

        Row i equals `score([articles[i]], posts)[0]`. A model whose scores depend on the other articles of a call has a
        method of its own.
        """
        return self.score(articles, posts)

    def submodels(self) -> Sequence[Model]:
        """The models that this one is made of. None by default."""
        return ()

    def score_pairs(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """The score of each article with the post at the same place: float32, one a pair."""
        rows, columns = places(articles), places(posts)
        scores = self.score(list(rows), list(columns))
        return scores[[rows[one] for one in articles], [columns[one] for one in posts]]

    def article_vectors(self, articles: Sequence[Article]) -> np.ndarray | None:
        """float32, articles × dim, that `score` compares; None where a model scores without vectors."""
        return None

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray | None:
        """float32, posts × dim, that `score` compares; None where a model scores without vectors."""
        return None

    def similarities(self, articles: np.ndarray, posts: np.ndarray) -> np.ndarray:
        """Scores from vectors, float32, articles × posts: their products, unless a model says otherwise."""
        return articles @ posts.T

    def save_state(self, folder: Path) -> None:
        """Write what the config does not hold (weights, vocabulary). Nothing by default."""

    def load_state(self, folder: Path) -> None:
        """Read what `save_state` wrote. Nothing by default."""


def all_submodels(model: Model) -> Iterator[Model]:
    """The model and all that it is made of, from the outside in."""
    yield model
    for part in model.submodels():
        yield from all_submodels(part)


def embedding_submodel(model: Model) -> Model | None:
    """The outermost part of a model whose texts have vectors: the model itself, if its have."""
    # Without asking it to encode anything: a model that gives vectors has a method of its own for them.
    return next(
        (part for part in all_submodels(model) if type(part).post_vectors is not Model.post_vectors), None
    )


def places(texts: Sequence[Text]) -> dict[Text, int]:
    """Each distinct article or post and its place among them."""
    return {text: place for place, text in enumerate(dict.fromkeys(texts))}
