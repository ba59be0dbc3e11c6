"""The interface of every model that scores posts for articles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np

from linker.config import Registrable
from linker.data.types import Article, LinkedPosts, Post
from linker.models.score_scale import ScoreScale

Text = TypeVar("Text", Article, Post)
# Of more articles, a matrix product is much faster.
_FEW = 4


def dot_products(articles: np.ndarray, posts: np.ndarray) -> np.ndarray:
    """Return the dot products of embeddings, float32, articles × posts.

    Those of a few articles do not depend on where a post stands: BLAS adds up the last rows of a matrix in another
    order, so the same posts in another order would get other last bits.
    """
    if len(articles) > _FEW:
        return articles @ posts.T
    return np.einsum("ad,pd->ap", articles, posts)


class Model(Registrable):
    """A function from articles and posts to relevance scores; higher is more relevant.

    The scores of one call are comparable with each other. Their range depends on the model: log-odds (any real number)
    for `article_softmax` and so for the bundled models, cosines (−1 to 1) for bi-encoders and `tfidf` (0 to 1), ≥ 0 for
    `bm25`. `score_scale` maps them to the scores that users see; a calibration turns them into probabilities.
    """

    #: Config keys that do not affect the weights: origins of vectors and weights, and how scores are computed from
    #: embeddings. Training may start from a model folder that differs in them.
    keys_without_weights: ClassVar[frozenset[str]] = frozenset()
    #: Whether `linker train` can train it.
    trainable: ClassVar[bool] = False

    def prepare(self, data: LinkedPosts) -> None:
        """Learn from the training data what gradients do not (for example a vocabulary); by default nothing."""

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Score all pairs of articles and posts.

        Args:
            articles: n articles, in any order; they may repeat.
            posts: m posts, in any order; they may repeat.

        Returns:
            float32, n × m, finite. Posts with equal texts and times have equal scores. A score may depend on the other
            articles (`article_softmax`) or posts (`ensemble` with z-scores, `tfidf`) of the call.

        Raises:
            ModelError: if a file or package that the model needs is missing.
        """
        raise NotImplementedError

    def score_independently(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Score posts for each article independently of the other articles, as `linker rank` does.

        Models whose scores depend on the other articles of a call override this.

        Args:
            articles: n articles.
            posts: m posts.

        Returns:
            float32, n × m; row i equals `score([articles[i]], posts)[0]`.
        """
        return self.score(articles, posts)

    def score_scale(self) -> ScoreScale:
        """Return the map from scores of single articles to 0 to 100, the scores that users see.

        By default a curve that suits any real number: 0 becomes 50.
        """
        return ScoreScale("any")

    def submodels(self) -> Sequence[Model]:
        """Return the models that this one combines; by default none."""
        return ()

    def score_pairs(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Return the scores of the i-th of `articles` with the i-th of `posts`: float32, one per pair."""
        rows, columns = index_of(articles), index_of(posts)
        scores = self.score(list(rows), list(columns))
        return scores[[rows[article] for article in articles], [columns[post] for post in posts]]

    def article_vectors(self, articles: Sequence[Article]) -> np.ndarray | None:
        """Return the embeddings that `score` compares, float32, articles × dim; None for models without any."""
        return None

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray | None:
        """Return the embeddings that `score` compares, float32, posts × dim; None for models without any."""
        return None

    def similarities(self, articles: np.ndarray, posts: np.ndarray) -> np.ndarray:
        """Score embeddings, by default by their dot products.

        Args:
            articles: float32, articles × dim, from `article_vectors`.
            posts: float32, posts × dim, from `post_vectors`.

        Returns:
            float32, articles × posts.
        """
        return dot_products(articles, posts)

    def save_state(self, folder: Path) -> None:
        """Write into `folder` what the config does not hold (weights, vocabulary); by default nothing."""

    def load_state(self, folder: Path) -> None:
        """Read what `save_state` wrote into `folder`; by default nothing.

        Raises:
            ModelError: if a file is missing or damaged.
        """


def all_submodels(model: Model) -> Iterator[Model]:
    """Yield the model and everything that it combines, outermost first."""
    yield model
    for submodel in model.submodels():
        yield from all_submodels(submodel)


def embedding_submodel(model: Model) -> Model | None:
    """Return the outermost submodel that embeds texts: the model itself if it does, None if none does."""
    # Decided by the class, without encoding anything: models with embeddings override `post_vectors`.
    return next(
        (part for part in all_submodels(model) if type(part).post_vectors is not Model.post_vectors), None
    )


@contextmanager
def post_vectors_by(part: Model, look_up: Callable[[Sequence[Post]], np.ndarray | None]) -> Iterator[None]:
    """Let a model take the embeddings of posts from a function instead of `post_vectors`, within this context.

    Args:
        part: the model.
        look_up: returns what `post_vectors` would.
    """
    former = {name: one for name, one in vars(part).items() if name == "post_vectors"}  # of an outer context
    vars(part)["post_vectors"] = look_up  # an attribute of the instance hides the method of its class
    try:
        yield
    finally:
        del vars(part)["post_vectors"]
        vars(part).update(former)


def index_of(texts: Sequence[Text]) -> dict[Text, int]:
    """Map each distinct article or post to its index among the distinct ones, in order of first occurrence."""
    return {text: index for index, text in enumerate(dict.fromkeys(texts))}
