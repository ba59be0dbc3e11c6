"""Ensembles: scores of several models, made comparable and added."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Literal

import numpy as np
from typing_extensions import override

from linker.common.errors import ConfigError
from linker.common.stats import zscore
from linker.data.languages import language_of, language_of_most
from linker.data.types import Article
from linker.models.features.feature import TEXT, Contributions, Feature, Share
from linker.models.features.first_posts import UNRELATED, FirstPosts
from linker.models.model import Model, embedding_submodel
from linker.models.score_scale import ScoreScale

Fusion = Literal["zscore", "sum"]


@Model.register("ensemble")
class EnsembleModel(Model):
    """Weighted sum of the comparable scores of several models, for example a lexical and a trained one.

    Args:
        parts: the models, at least one.
        weights: one number per model; by default all 1.
        fusion: how scores are made comparable. `zscore`: mean 0 and standard deviation 1 over the posts, per article.
            `sum`: the scores as they are, for models of one range (such as cosines); only then does a score not depend
            on the other posts.
        languages: ISO 639-1 codes of the languages of training; commands warn of others; None: all, or unknown.
        other_weights: the weights for articles that are in another language than these (decision 170); None: `weights`.
        cross_weights: the weights for articles that are in another language than most posts; None: the article decides.
        rerank_weights: one number per model: the first 30 posts gain this times their similarity by it above 0.2,
            for articles that have `weights`, where dates are unknown; None: no reranking (decision 170).

    Raises:
        ConfigError: if `parts` is empty, the numbers of models and weights differ, weights across languages lack other
            weights, or these lack `languages`, or a part without embeddings has a weight to rerank.
    """

    keys_without_weights = frozenset(
        {"weights", "fusion", "languages", "other_weights", "cross_weights", "rerank_weights"}
    )

    def __init__(
        self,
        parts: list[Model],
        weights: list[float] | None = None,
        fusion: Fusion = "zscore",
        languages: list[str] | None = None,
        other_weights: list[float] | None = None,
        cross_weights: list[float] | None = None,
        rerank_weights: list[float] | None = None,
    ) -> None:
        if not parts:
            raise ConfigError("ensemble: `parts` is empty; give at least one model")
        given = {"weights": weights, "other_weights": other_weights, "cross_weights": cross_weights}
        for name, numbers in {**given, "rerank_weights": rerank_weights}.items():
            if numbers is not None and len(numbers) != len(parts):
                raise ConfigError(
                    f"ensemble: {len(numbers)} {name} for {len(parts)} parts; give one weight per part"
                )
        if cross_weights is not None and other_weights is None:
            raise ConfigError("ensemble: `cross_weights` without `other_weights`; add `other_weights`")
        if other_weights is not None and not languages:
            raise ConfigError("ensemble: `other_weights` without `languages`; state the models' languages")
        self._submodels = parts
        self.weights = weights or [1.0] * len(parts)
        self.languages, self.other_weights, self.cross_weights = languages, other_weights, cross_weights
        self._rerankers = [(part, weight) for part, weight in zip(parts, rerank_weights or []) if weight]
        if any(embedding_submodel(part) is None for part, _ in self._rerankers):
            raise ConfigError("ensemble: `rerank_weights` of a part without embeddings; set it to 0")
        self._reranking: dict[FirstPosts, float] = {}
        self._of_posts: Counter[str] = Counter()
        self.fusion: Fusion = fusion
        self.adapts_to_languages = other_weights is not None

    @override
    def submodels(self) -> Sequence[Model]:
        return self._submodels

    @override
    def subfolder(self, number: int) -> str:
        return f"part-{number}"

    @override
    def score_scale(self) -> ScoreScale:
        if self.fusion == "zscore" or max(self.weights) <= 0:
            return ScoreScale("standardized")
        scales = [model.score_scale() for model in self._submodels]
        if any(scale.kind != "similarity" for scale in scales):
            return ScoreScale("any")
        widths = [weight * scale.width for weight, scale in zip(self.weights, scales) if weight > 0]
        widths += [weight * (1 - UNRELATED) for _, weight in self._rerankers]
        return ScoreScale("similarity", width=sum(widths))

    @override
    def suited_to(self, articles: Sequence[Article], of_posts: Counter[str]) -> Model:
        """Return the ensemble of the models that have a weight for some of the articles among these posts."""
        suited = copy(self)
        suited._of_posts = of_posts
        of_each = suited.weights_for(articles or [Article("any", "", language=language_of_most(of_posts))])
        used = [i for i in range(len(self._submodels)) if any(weights[i] for weights in of_each)]
        suited._submodels = [self._submodels[i].suited_to(articles, of_posts) for i in used]
        suited.weights = [self.weights[i] for i in used]
        suited.other_weights = self.other_weights and [self.other_weights[i] for i in used]
        suited.cross_weights = self.cross_weights and [self.cross_weights[i] for i in used]
        first = copy(suited)
        first._rerankers = []
        suited._reranking = {
            FirstPosts(first, encoder): weight
            for part, weight in self._rerankers
            if self.weights in of_each and (encoder := embedding_submodel(part))
        }
        return suited if used else self

    @override
    def features(self) -> Sequence[Feature]:
        return [*super().features(), *self._reranking]

    @override
    def combine(
        self, scores: Mapping[Feature, np.ndarray], articles: Sequence[Article], together: bool = False
    ) -> np.ndarray:
        """Return fused scores: float32, articles × posts; unless `fusion` is `sum`, they depend on the other posts."""
        of_models = [model.combine(scores, articles, together) for model in self._submodels]
        return sum(self._reranked(scores, articles), self._fused(of_models, articles))

    @override
    def parts_by_kind(
        self, scores: Mapping[Feature, np.ndarray], articles: Sequence[Article]
    ) -> dict[Share, np.ndarray]:
        of_models = [model.parts_by_kind(scores, articles) for model in self._submodels]
        zeros = np.zeros_like(next(iter(of_models[0].values())))
        fused = {
            share: self._fused([parts.get(share, zeros) for parts in of_models], articles)
            for share in dict.fromkeys(share for parts in of_models for share in parts)
        }
        for part in self._reranked(scores, articles):
            fused[TEXT] = fused.get(TEXT, 0) + part
        return fused

    def _reranked(
        self, scores: Mapping[Feature, np.ndarray], articles: Sequence[Article]
    ) -> list[np.ndarray]:
        """Return what ranking the first posts again adds to scores: float32, articles × posts."""
        holds = np.array([weights is self.weights for weights in self.weights_for(articles)])
        return [scores[feature] * holds[:, None] * weight for feature, weight in self._reranking.items()]

    @override
    def parts_by_word(
        self, words: Mapping[Feature, Contributions], articles: Sequence[Article]
    ) -> Contributions | None:
        """Add up the contributions; if scores are standardized, those of each model are divided by their sum."""
        of_models = [model.parts_by_word(words, articles) for model in self._submodels]
        # Contributions are means over the articles, and so are the weights where articles have different ones.
        weights = np.mean(self.weights_for(articles), axis=0).tolist()
        explained = [(part, weight) for part, weight in zip(of_models, weights) if part is not None]
        total = sum(abs(weight) for _, weight in explained) or 1
        added: Contributions = []
        for of_post in zip(*(part for part, _ in explained)):
            sums: defaultdict[str, float] = defaultdict(float)
            for parts, (_, weight) in zip(of_post, explained):
                if self.fusion != "sum":
                    parts = {word: part for word, part in parts.items() if part > 0}
                    weight = weight / total / (sum(parts.values()) or 1)
                for word, part in parts.items():
                    sums[word] += weight * part
            added.append(dict(sums))
        return added if explained else None

    @override
    def separable(self, articles: Sequence[Article]) -> bool:
        weights = [weight for of_article in self.weights_for(articles) for weight in of_article]
        all_separable = all(model.separable(articles) for model in self._submodels)
        return self.fusion == "sum" and min(weights, default=0) >= 0 and all_separable

    def weights_for(self, articles: Sequence[Article]) -> list[list[float]]:
        """Return the weight of each model for each article, by its language and the languages of the posts."""
        return [self._weights_for(article) for article in articles]

    def _weights_for(self, article: Article) -> list[float]:
        if self.other_weights is None or self.languages is None:
            return self.weights
        language, of_most = language_of(article), language_of_most(self._of_posts)
        in_known = sum(self._of_posts[known] for known in self.languages) * 2 >= self._of_posts.total()
        if language is None or language in self.languages:  # an unknown language counts as a known one
            if in_known or self.cross_weights is None:
                return self.weights
            return self.cross_weights if of_most else self.other_weights
        return (of_most not in (None, language) and self.cross_weights) or self.other_weights

    def _fused(self, scores: Sequence[np.ndarray], articles: Sequence[Article]) -> np.ndarray:
        fused = np.zeros_like(scores[0], dtype=np.float32)
        weights = np.array(self.weights_for(articles) or [self.weights], dtype=np.float32)  # articles × parts
        for part, of_each in zip(scores, weights.T):
            comparable = zscore(part, axis=1).astype(np.float32) if self.fusion == "zscore" else part
            fused += of_each[:, None] * comparable
        return fused
