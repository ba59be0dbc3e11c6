"""Softmax over articles: scores that are comparable across articles, with "none of them" as one more class."""

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy

import numpy as np
from typing_extensions import override

from linker.common.checks import above, at_least
from linker.common.errors import ConfigError
from linker.data.types import Article
from linker.models.elapsed_time import ElapsedTime, ElapsedTimeModel
from linker.models.features.feature import DATE, Contributions, Feature, Share
from linker.models.model import Model
from linker.models.score_scale import ScoreScale

#: Log-odds of the text of a single article above which they count half, so that the date can outweigh a good match of
#: another week (decision 167). `uncompressed` is the inverse for this slope only.
_KNEE = 6.0
_SLOPE_ABOVE = 0.5


@Model.register("article_softmax")
class ArticleSoftmaxModel(Model):
    """Log-odds of p(article | post), a softmax over the articles scored together and "none of them".

    Some posts are similar to every article and some articles to every post, so one threshold on raw similarities
    selects the wrong pairs. Here a pair scores high if the article is by far the post's best and good enough in
    absolute terms. At 0 the article is as likely as all the others and "none of them" together. A score depends on the
    other articles of the call. The order of articles for one post never does (without `neighbor_weight`), nor does the
    order of posts for an article that is scored alone. This is one side of the dual softmax of Cheng et al. 2021; the
    other side, a softmax over posts, would give every article a best post, though most articles have none.

    Articles may report the same story; a post about one is then relevant to the other. With `neighbor_weight`, the odds
    of a post gain its probabilities for the other articles, each times the share of the article's posts that are as
    likely about the other one: one step of a random walk from article to post to article (decision 131). Scores then
    depend on the other posts too, unless an article is scored alone.

    With `time`, the log ratio of the time between article and post is added to the log-odds before the softmax. If
    several articles are scored together, its profile is estimated from these articles and posts by
    expectation-maximization, without labels; an article scored alone uses the profile as it is, and the log-odds of its
    text are compressed above 6 (decision 167).

    Paper: Cheng et al. 2021, https://arxiv.org/abs/2109.04290

    Args:
        model: the model whose scores enter the softmax.
        temperature: divisor of the scores, > 0: a difference of `temperature` is a factor of e in probability.
        null_score: score of the class "none of them", on the scale of `model`.
        neighbor_weight: weight of the random-walk term, ≥ 0; 0 turns it off.
        time: an `elapsed_time` model; None: ignore when articles and posts were published.
        score_center: log-odds of an article scored alone that users see as 50, of 0 to 100 (decision 169).
        score_width: width of that logistic curve, in log-odds, > 0; it does not change rankings.

    Raises:
        ConfigError: if `time` is another model.
    """

    keys_without_weights = frozenset(
        {"temperature", "null_score", "neighbor_weight", "time", "score_center", "score_width"}
    )

    def __init__(
        self,
        model: Model,
        temperature: float,
        null_score: float,
        neighbor_weight: float = 0.0,
        time: Model | None = None,
        score_center: float = 0.0,
        score_width: float = 1.0,
    ) -> None:
        above(0, temperature=temperature, score_width=score_width)
        at_least(0, neighbor_weight=neighbor_weight)
        if time is not None and not isinstance(time, ElapsedTimeModel):
            raise ConfigError("article_softmax: `time` is not an `elapsed_time` model")
        self.model, self.temperature = model, temperature
        self.null_score, self.neighbor_weight = null_score, neighbor_weight
        self.time = time
        self.score_center, self.score_width = score_center, score_width

    @override
    def score_scale(self) -> ScoreScale:
        return ScoreScale("logistic", self.score_center, self.score_width, dates=self.time is not None)

    @override
    def submodels(self) -> Sequence[Model]:
        return [self.model] if self.time is None else [self.model, self.time]

    @override
    def suited_to(self, articles: Sequence[Article], of_posts: Counter[str]) -> Model:
        suited = copy(self)
        suited.model = self.model.suited_to(articles, of_posts)
        return suited

    @override
    def combine(
        self, scores: Mapping[Feature, np.ndarray], articles: Sequence[Article], together: bool = False
    ) -> np.ndarray:
        """Return ln p / (1 − p): float32, articles × posts, any real number.

        If articles are scored by themselves, or there is only one, it is the log-odds against "none of them" only.
        """
        together = together and len(articles) != 1
        inner = self.model.combine(scores, articles, together)
        if not together:
            odds = self._against_none(inner)
            return odds if self.time is None else odds + self.time.combine(scores, articles)
        divided = self._divided(inner)
        if not divided.size:
            return divided.astype(np.float32)
        if self.time is not None:
            bins = scores[ElapsedTime()]
            divided += self.time.estimated_scores(
                bins, divided, lambda sums: _probabilities(self._log_odds(sums))
            )
        odds = self._log_odds(divided)
        if self.neighbor_weight and len(odds) > 1:
            with np.errstate(divide="ignore"):  # ln 0 adds nothing
                neighbors = _neighbor_probabilities(_probabilities(odds))
                odds = np.logaddexp(odds, np.log(self.neighbor_weight * neighbors))
        return odds.astype(np.float32)

    @override
    def parts_by_kind(
        self, scores: Mapping[Feature, np.ndarray], articles: Sequence[Article]
    ) -> dict[Share, np.ndarray]:
        inner = self.model.parts_by_kind(scores, articles)
        uncompressed = self._divided(sum(inner.values(), np.zeros(1)))
        compressed = self._against_none(uncompressed * self.temperature) + self.null_score / self.temperature
        # Compression lowers all parts of the text alike.
        one = np.ones_like(uncompressed)
        ratio = np.divide(compressed, uncompressed, out=one, where=uncompressed != 0) / self.temperature
        parts = {share: part * ratio for share, part in inner.items()}
        # Where no article has a date, no share is that of dates.
        if self.time is None or not any(article.published is not None for article in articles):
            return parts
        return {**parts, DATE: self.time.combine(scores, articles)}

    @override
    def parts_by_word(
        self, words: Mapping[Feature, Contributions], articles: Sequence[Article]
    ) -> Contributions | None:
        inner = self.model.parts_by_word(words, articles)
        return inner and [{word: part / self.temperature for word, part in of.items()} for of in inner]

    @override
    def separable(self, articles: Sequence[Article]) -> bool:
        return self.model.separable(articles)

    def _log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Log-odds of the softmax over scores that were divided by the temperature: articles × posts."""
        scores = scores.copy()  # changed below
        log_p = scores - self._log_denominator(scores)
        # Only a post's best article can have p near 1, where 1 − p is lost in rounding: it is computed separately.
        best = (scores.argmax(axis=0), np.arange(scores.shape[1]))
        log_p[best] = -1
        odds = log_p - np.log(-np.expm1(log_p))
        best_scores = scores[best]
        scores[best] = -np.inf
        odds[best] = best_scores - self._log_denominator(scores)[0]
        return np.asarray(odds)

    def _against_none(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds of texts against "none of them" only, from scores of the inner model: float32."""
        odds = self._divided(scores) - self.null_score / self.temperature
        if self.time is not None:
            above = odds - _KNEE
            # ln(1 + e^above), by functions that take less time than `logaddexp`
            odds -= (1 - _SLOPE_ABOVE) * (np.log1p(np.exp(-np.abs(above))) + np.maximum(above, 0))
        return odds.astype(np.float32)

    def _log_denominator(self, scores: np.ndarray) -> np.ndarray:
        """Log of the softmax's denominator: 1 × posts."""
        of_articles = np.logaddexp.reduce(scores, axis=0, keepdims=True)
        return np.asarray(np.logaddexp(of_articles, self.null_score / self.temperature))

    def _divided(self, scores: np.ndarray) -> np.ndarray:
        return scores.astype(np.float64) / self.temperature


def _probabilities(log_odds: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(-np.logaddexp(0, -log_odds)))


def _neighbor_probabilities(p: np.ndarray) -> np.ndarray:
    """Random-walk step: Σ_j p(j | post) · Σ_m p(article | m) p(j | m) / Σ_m p(article | m), j ≠ article, m any post.

    The divisor is at least 1, so an article without relevant posts has no neighbors.

    Args:
        p: p(article | post), articles × posts.

    Returns:
        articles × posts.
    """
    joint = p @ p.T  # articles × articles
    np.fill_diagonal(joint, 0)
    return np.asarray(joint @ p / np.maximum(p.sum(axis=1, keepdims=True), 1))
