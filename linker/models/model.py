"""The interface of every model that scores posts for articles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from linker.config import Registrable
from linker.data.languages import among_posts
from linker.data.types import Article, LinkedPosts, Post
from linker.models.features.content_words import shortened
from linker.models.features.feature import TEXT, Contributions, Embedding, Feature, Share, loss_by_word
from linker.models.features.memory_table import MemoryTable
from linker.models.features.table import PostTable
from linker.models.features.text_encoder import TextEncoder
from linker.models.score_scale import ScoreScale


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
    #: ISO 639-1 codes of the languages that the model was trained on; None: all, or unknown.
    languages: Sequence[str] | None = None
    #: Whether articles in other languages are scored in another way.
    adapts_to_languages: bool = False

    def prepare(self, data: LinkedPosts) -> None:
        """Learn from the training data what gradients do not (a vocabulary, say); by default its submodels do."""
        for model in self.submodels():
            model.prepare(data)

    def features(self) -> Sequence[Feature]:
        """Return what the model reads of posts; by default what its submodels do, else it has only a `score`.

        Corpora store features and sessions keep them, so that posts are read once.
        """
        of_submodels = dict.fromkeys(feature for model in self.submodels() for feature in model.features())
        if not of_submodels and type(self).score is Model.score:
            raise NotImplementedError(f"{type(self).__name__} has neither features() nor score()")
        return list(of_submodels) or [Text(self)]

    def suited_to(self, articles: Sequence[Article], of_posts: Counter[str]) -> Model:
        """Return the model without parts that do not count for these articles and posts; by default the model itself.

        Args:
            articles: the articles; none: all in the language of most posts.
            of_posts: languages of some of the posts, from `languages_of`; none: the languages of its training.
        """
        return self

    def combine(
        self, scores: Mapping[Feature, np.ndarray], articles: Sequence[Article], together: bool = False
    ) -> np.ndarray:
        """Return the scores of posts from those of each feature, by default of the only one.

        Args:
            scores: what `Feature.scores` returned, articles × posts, at least for the features of this model.
            articles: the articles.
            together: whether scores may depend on the other articles, as in `score`; else each article is scored by
                itself, as in `score_independently`.

        Returns:
            float32, articles × posts, finite.
        """
        features = self.features()
        if len(features) != 1:
            raise NotImplementedError(f"{type(self).__name__} has {len(features)} features and no combine()")
        return scores[features[0]]

    def parts_by_kind(
        self, scores: Mapping[Feature, np.ndarray], articles: Sequence[Article]
    ) -> dict[Share, np.ndarray]:
        """Return the parts of scores by the kind of feature that they are from; they add up, but for a constant.

        Args:
            scores: as for `combine`.
            articles: the articles, each scored by itself.

        Returns:
            Float, articles × posts, by part of the score; by default all of it is the first feature's.
        """
        return {self.features()[0].share: self.combine(scores, articles)}

    def parts_by_word(
        self, words: Mapping[Feature, Contributions], articles: Sequence[Article]
    ) -> Contributions | None:
        """Return for each post: word → its part of the score; None if no feature has contributions.

        Args:
            words: what `Feature.contributions` returned, for features that can be explained.
            articles: the articles.
        """
        found = [words[feature] for feature in self.features() if feature in words]
        return [_added(of_post) for of_post in zip(*found)] if found else None

    def separable(self, articles: Sequence[Article]) -> bool:
        """Return whether a post's score depends on no other post, and rises with that of each embedding.

        Then searches leave out posts whose upper bounds are low; False if in doubt.

        Args:
            articles: the articles, each scored by itself.
        """
        return False

    def score_table(
        self, table: PostTable, articles: Sequence[Article], together: bool = False
    ) -> np.ndarray:
        """Score all posts of a table; `ranking.search` does the same for some of them, by bounds.

        Args:
            table: the posts.
            articles: the articles.
            together: as for `combine`.

        Returns:
            float32, articles × posts, finite.
        """
        languages = table.languages(None)
        articles = among_posts(articles, languages)
        model = self.suited_to(articles, languages)
        scores = {
            feature: feature.scores_together(table, articles) if together else feature.scores(table, articles)
            for feature in model.features()
        }
        return model.combine(scores, articles, together)

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
        return self.score_table(MemoryTable(posts), articles, together=True)

    def score_independently(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Score posts for each article independently of the other articles, as `linker rank` does.

        Args:
            articles: n articles.
            posts: m posts.

        Returns:
            float32, n × m; row i equals `score([articles[i]], posts)[0]`.
        """
        return self.score_table(MemoryTable(posts), articles)

    def score_scale(self) -> ScoreScale:
        """Return the map from scores of single articles to 0 to 100, the scores that users see.

        By default a curve that suits any real number: 0 becomes 50.
        """
        return ScoreScale("any")

    def submodels(self) -> Sequence[Model]:
        """Return the models that this one combines; by default none."""
        return ()

    def subfolder(self, number: int) -> str:
        """Return the subfolder with the state of a submodel; by default the folder of this model."""
        return ""

    def save_state(self, folder: Path) -> None:
        """Write into `folder` what the config does not hold (weights, vocabulary), by default of its submodels."""
        for number, model in enumerate(self.submodels()):
            of_model = folder / self.subfolder(number)
            of_model.mkdir(parents=True, exist_ok=True)
            model.save_state(of_model)

    def load_state(self, folder: Path) -> None:
        """Read what `save_state` wrote into `folder`.

        Raises:
            ModelError: if a file is missing or damaged, or does not match the config.
        """
        for number, model in enumerate(self.submodels()):
            model.load_state(folder / self.subfolder(number))


class EncoderModel(TextEncoder, Model):
    """A model that embeds texts: `article_vectors` and `post_vectors` are all that it needs."""

    def score_scale(self) -> ScoreScale:
        """Return the map of cosines, or of negative distances."""
        return ScoreScale("similarity" if self.similarity == "cosine" else "distance")

    def features(self) -> Sequence[Feature]:
        """Return the embedding."""
        return [Embedding(self)]

    def separable(self, articles: Sequence[Article]) -> bool:
        """Return True: the score is the similarity."""
        return True


@dataclass(frozen=True)
class Text(Feature):
    """The text of a post, for models that only have a `score` of their own; nothing is stored."""

    model: Model
    share = TEXT
    slow_to_explain = True

    def scores(
        self, table: PostTable, articles: Sequence[Article], rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the model's scores of all posts, float32, or of those in `rows`: they may depend on the others."""
        scores = np.zeros((len(articles), len(table)), dtype=np.float32)
        for row, article in enumerate(articles):
            scores[row] = self.model.score([article], table.posts())[0]
        return scores if rows is None else scores[:, rows]

    def scores_together(self, table: PostTable, articles: Sequence[Article]) -> np.ndarray:
        """Return the model's scores of all posts for all articles: float32, articles × posts."""
        return self.model.score(articles, table.posts())

    def contributions(
        self, table: PostTable, articles: Sequence[Article], posts: Sequence[Post]
    ) -> Contributions:
        """Return the loss of score of each post without each of its content words; may be negative."""
        return [
            loss_by_word(post.text, self.model.score(articles, shortened(post.text).posts)) for post in posts
        ]


def all_submodels(model: Model) -> Iterator[Model]:
    """Yield the model and everything that it combines, outermost first."""
    yield model
    for submodel in model.submodels():
        yield from all_submodels(submodel)


def embedding_submodel(model: Model) -> EncoderModel | None:
    """Return the first submodel that embeds texts: the model itself if it does, None if none does."""
    encoders = (feature.encoder for feature in model.features())
    return next((encoder for encoder in encoders if isinstance(encoder, EncoderModel)), None)


def _added(contributions: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for words in contributions:
        for word, part in words.items():
            total[word] = total.get(word, 0.0) + part
    return total
