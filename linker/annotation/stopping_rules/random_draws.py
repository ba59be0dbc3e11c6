"""What labels of randomly drawn posts say about the number of relevant posts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from linker.annotation.pool import Labels


@dataclass(frozen=True)
class RandomDraws:
    """Random draws without replacement, in runs between labels that were not drawn at random.

    If the pool holds r relevant posts in all, a draw hits one of them with probability (r − found) / unlabelled, both
    as they were at that moment. That is all that is assumed: how the other posts came to be labelled does not matter.

    Attributes:
        unlabelled: float, one per run: posts without a label before the run.
        found: float: relevant posts known before the run.
        drawn: float: the length of the run.
        hits: float: the relevant ones in it.
    """

    unlabelled: np.ndarray
    found: np.ndarray
    drawn: np.ndarray
    hits: np.ndarray

    @classmethod
    def of(cls, labels: Labels, pool_size: int, start: int = 0) -> RandomDraws:
        """The draws among the labels from place `start` on."""
        drawn = np.flatnonzero(labels.at_random[start:]) + start
        first = drawn[np.diff(drawn, prepend=-2) > 1]
        last = drawn[np.diff(drawn, append=len(labels) + 1) > 1]
        known = np.concatenate([[0], np.cumsum(labels.relevant)]).astype(float)
        return cls(
            pool_size - first.astype(float), known[first], last + 1.0 - first, known[last + 1] - known[first]
        )

    def with_run(self, unlabelled: int, found: int) -> RandomDraws:
        """These draws and a run that begins now and has no draws yet."""
        now = ((self.unlabelled, unlabelled), (self.found, found), (self.drawn, 0), (self.hits, 0))
        return RandomDraws(*(np.append(values, float(value)) for values, value in now))

    def followed_by_misses(self, number: int) -> RandomDraws:
        """These draws, the last run of them going on with so many posts that are not relevant."""
        drawn = self.drawn.copy()
        drawn[-1] += number
        return RandomDraws(self.unlabelled, self.found, drawn, self.hits)

    @property
    def size(self) -> int:
        """How many posts were drawn."""
        return int(self.drawn.sum())

    @property
    def relevant(self) -> int:
        """How many of them are relevant."""
        return int(self.hits.sum())

    def log_likelihood(self, totals: np.ndarray) -> np.ndarray:
        """The log-probability of the draws if the pool held so many relevant posts; −inf where it cannot."""
        left = np.asarray(totals, dtype=float)[:, None] - self.found
        others = self.unlabelled - left
        misses = self.drawn - self.hits
        possible = ((left >= self.hits) & (others >= misses)).all(axis=1)
        left, others = np.maximum(left, self.hits), np.maximum(others, misses)
        logs = _log_falling(left, self.hits) + _log_falling(others, misses)
        total = (logs - _log_falling(self.unlabelled, self.drawn)).sum(axis=1)
        return np.where(possible, total, -np.inf)


def _log_falling(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """ln(n (n − 1) … (n − k + 1))."""
    return gammaln(n + 1) - gammaln(n - k + 1)
