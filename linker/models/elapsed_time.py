"""Elapsed time: log ratio of relevant to other posts as a function of the delay after publication."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from typing_extensions import override

from linker.common.checks import above
from linker.common.errors import ConfigError, ModelError
from linker.common.files import atomic_write
from linker.data.types import Article, LinkedPosts
from linker.models.features.feature import DATE, Feature
from linker.models.features.post_times import BINS, KNOTS, LIMITS, PostTimes, axis
from linker.models.features.table import PostTable
from linker.models.model import Model
from linker.models.score_scale import ScoreScale

_FILE = "elapsed_time.json"

#: Days since the beginning of the day of the article (UTC), and the natural logarithm of the density of posts about it
#: relative to posts that are spread evenly over the year before and the two years after. Rounded from the links of two
#: sources that weigh the same: comments on the news of the day, and replies with fact-checks (decision 167).
DEFAULT_PROFILE = (
    (-365.0, -3.8), (-30.0, -3.0), (-7.0, -0.8), (-3.0, 0.4), (-1.0, 2.0), (0.0, 4.2), (0.5, 5.8), (1.0, 6.0),
    (2.0, 4.4), (4.0, 2.9), (7.0, 1.8), (14.0, 0.8), (30.0, 0.2), (120.0, -0.3), (365.0, -0.8), (1000.0, -1.3),
)  # fmt: skip

#: Rounds of expectation-maximization, after which profiles hardly change.
_ROUNDS = 10
_LEAST_PROBABILITY = 0.02
_PAIRS_OF_AN_ESTIMATE = 2_000_000
#: Pairs that a profile counts for, so that a few posts change it little.
_PSEUDO_COUNTS = 50.0
#: Share of posts that appear at any time, whatever the article: bounds the effect of wrong clocks.
_ANY_TIME = 0.02


@Model.register("elapsed_time")
class ElapsedTimeModel(Model):
    """Log ratio of the densities of posts about an article and of all posts, as a function of the time between them.

    Use it as `time` of `article_softmax`, which estimates its profile from the posts if several articles are scored
    together. Training learns the profile from the links of the training set. Pairs with a missing time score 0.

    Args:
        weight: factor of the log ratio, > 0; below 1 because text and time are not independent.
        estimated_weight: `weight` of a profile that was estimated from the posts themselves, > 0.
        profile: pairs of days since the beginning of the article's day (UTC) and the log ratio, by days; in between it
            is interpolated on a logarithmic axis. None: `DEFAULT_PROFILE`.

    Raises:
        ConfigError: if `profile` is not such a list.
    """

    keys_without_weights = frozenset({"weight", "estimated_weight", "profile"})

    def __init__(
        self, weight: float = 0.75, estimated_weight: float = 0.9, profile: list[list[float]] | None = None
    ) -> None:
        above(0, weight=weight, estimated_weight=estimated_weight)
        self.weight, self.estimated_weight = weight, estimated_weight
        given = np.array(DEFAULT_PROFILE if profile is None else profile, dtype=np.float64)
        if given.ndim != 2 or given.shape[1:] != (2,) or not len(given) or (np.diff(given[:, 0]) <= 0).any():
            raise ConfigError(
                "elapsed_time: `profile` is not a list of [days, log ratio] in the order of days"
            )
        self._log_ratios = np.interp(axis(KNOTS), axis(given[:, 0]), given[:, 1])

    @override
    def prepare(self, data: LinkedPosts) -> None:
        """Learn the profile from the links; of few links, it stays close to what it was."""
        bins = PostTimes.of(data.posts).bins(data.articles)
        # On the scale of the default profile, whose reference does not depend on the training posts.
        self._log_ratios = self._maximized(bins, data.relevance()) + self._log_mean(bins)

    @override
    def features(self) -> Sequence[Feature]:
        return [ElapsedTime()]

    @override
    def combine(
        self, scores: Mapping[Feature, np.ndarray], articles: Sequence[Article], together: bool = False
    ) -> np.ndarray:
        """Return the weighted log ratio, 0 where a time is missing: float32, articles × posts."""
        return self._looked_up(scores[ElapsedTime()], self._log_ratios, self.weight)

    @override
    def separable(self, articles: Sequence[Article]) -> bool:
        return True

    def estimated_scores(
        self, bins: np.ndarray, scores: np.ndarray, probabilities: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Return the weighted log ratios by a profile that is estimated from the pairs, without labels.

        Expectation-maximization: the E-step is `probabilities` with the profile so far, the M-step a new profile from
        the pairs that are relevant with a probability of at least 2 %.

        Args:
            bins: scores of `ElapsedTime`, articles × posts.
            scores: of the texts, articles × posts.
            probabilities: maps sums of scores of texts and times to probabilities of relevance.

        Returns:
            float32, articles × posts; 0 where a time is missing.
        """
        # Evenly spaced posts are enough for an estimate.
        some = slice(None, None, max(1, bins.size // _PAIRS_OF_AN_ESTIMATE))
        bins_of_some, scores_of_some = bins[:, some], scores[:, some]
        profile = self._log_ratios - self._log_mean(bins_of_some)  # on the scale where the mean ratio is 1
        for _ in range(_ROUNDS):
            of_times = self._looked_up(bins_of_some, profile, self.estimated_weight)
            relevant = probabilities(scores_of_some + of_times)
            relevant[relevant < _LEAST_PROBABILITY] = 0
            profile = self._maximized(bins_of_some, relevant)
        return self._looked_up(bins, profile, self.estimated_weight)

    def _maximized(self, bins: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """Log ratios at the knots, with pseudo-counts of the profile; the profile if no pair has both times."""
        every = _at_knots(bins)
        if not every.sum():
            return self._log_ratios
        every /= every.sum()
        relevant = _at_knots(bins, probabilities)
        expected = np.exp(self._log_ratios) * every
        density = (relevant + _PSEUDO_COUNTS * expected / expected.sum()) / (relevant.sum() + _PSEUDO_COUNTS)
        ratios = np.divide(density, every, out=np.zeros_like(density), where=every > 0)
        # Without any pair nearby, the profile stands, on the same scale.
        ratios = np.where(every > 0, ratios, np.exp(self._log_ratios) / expected.sum())
        learned: np.ndarray = np.log((1 - _ANY_TIME) * ratios + _ANY_TIME)
        return learned

    def _log_mean(self, bins: np.ndarray) -> float:
        every = _at_knots(bins)
        return float(np.log((np.exp(self._log_ratios) * every).sum() / every.sum())) if every.sum() else 0.0

    def _looked_up(self, bins: np.ndarray, log_ratios: np.ndarray, weight: float) -> np.ndarray:
        """Return the score of each pair by its class of elapsed time, 0 of an unknown one: float32."""
        table = np.zeros(BINS + 1, dtype=np.float32)
        table[:BINS] = _INTERPOLATION @ log_ratios * weight
        return np.asarray(table[bins])

    @override
    def save_state(self, folder: Path) -> None:
        """Write the profile as JSON: days and log ratios."""
        profile = [[day, round(float(ratio), 6)] for day, ratio in zip(KNOTS.tolist(), self._log_ratios)]
        with atomic_write(folder / _FILE) as file:
            json.dump({"profile": profile}, file)

    @override
    def load_state(self, folder: Path) -> None:
        """Read the profile; a folder without one has the profile of the config.

        Raises:
            ModelError: if the file is damaged.
        """
        path = folder / _FILE
        if not path.exists():
            return
        try:
            profile = np.array(json.loads(path.read_text(encoding="utf-8"))["profile"], dtype=np.float64)
            if profile.shape != (len(KNOTS), 2) or not np.isfinite(profile).all():
                raise ValueError("not a list of days and log ratios")
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{path}: damaged ({error}); train the model again") from error
        self._log_ratios = profile[:, 1]


@dataclass(frozen=True)
class ElapsedTime(Feature):
    """The time between an article and a post, as one of 250 classes on a logarithmic axis, and one of unknown time."""

    share = DATE

    def scores(
        self, table: PostTable, articles: Sequence[Article], rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the classes of elapsed time: uint8, articles × rows."""
        bins = table.times.bins(articles)
        return bins if rows is None else bins[:, rows]


def without_dates(articles: Sequence[Article]) -> list[Article]:
    """Return the articles without their time of publication, so that their scores depend on text alone."""
    return [replace(article, published=None) for article in articles]


def user_scale(model: Model, table: PostTable, articles: Sequence[Article]) -> ScoreScale:
    """Return the map from raw scores of these articles to those that users see; `dates` tells whether dates count."""
    timed = any(feature.share == DATE for feature in model.features()) and table.times.known
    return replace(
        model.score_scale(), dates=timed and any(article.published is not None for article in articles)
    )


_CENTERS = (LIMITS[1:] + LIMITS[:-1]) / 2
#: Weights of the knots in each bin's center: bins × knots, rows add up to 1.
_INTERPOLATION = np.stack([np.interp(_CENTERS, axis(KNOTS), row) for row in np.eye(len(KNOTS))], axis=1)


def _at_knots(bins: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the number, or sum of weights, of the pairs near each knot: float64."""
    flat = None if weights is None else np.asarray(weights, dtype=np.float64).ravel()
    return np.asarray(np.bincount(bins.ravel(), flat, minlength=BINS + 1)[:BINS] @ _INTERPOLATION)
