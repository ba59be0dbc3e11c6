"""The likelihood of a random sample, given the number of relevant posts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from linker.annotation.pool import Labels


@dataclass(frozen=True)
class RandomDraws:
    """A random sample without replacement, in runs between labels that were not sampled at random.

    If the pool holds r relevant posts in all, a sampled post is relevant with probability (r − found) / unlabeled,
    both as of that moment. Nothing else is assumed: it does not matter how the other posts came to be labeled.

    Attributes:
        unlabeled: float, one per run: posts without a label before the run.
        found: float: relevant posts known before the run.
        drawn: float: the length of the run.
        hits: float: the relevant ones in it.
    """

    unlabeled: np.ndarray
    found: np.ndarray
    drawn: np.ndarray
    hits: np.ndarray

    @classmethod
    def of(cls, labels: Labels, pool_size: int) -> RandomDraws:
        """Return the sampled posts among the labels."""
        drawn = np.flatnonzero(labels.at_random)
        first = drawn[np.diff(drawn, prepend=-2) > 1]
        last = drawn[np.diff(drawn, append=len(labels) + 1) > 1]
        known = np.concatenate([[0], np.cumsum(labels.relevant)]).astype(float)
        return cls(
            pool_size - first.astype(float), known[first], last + 1.0 - first, known[last + 1] - known[first]
        )

    @property
    def size(self) -> int:
        """Number of sampled posts."""
        return int(self.drawn.sum())

    @property
    def relevant(self) -> int:
        """Number of relevant posts among them."""
        return int(self.hits.sum())

    def log_likelihood(self, totals: np.ndarray) -> np.ndarray:
        """Return the log-probability of the sample for each total of relevant posts; −inf where impossible."""
        left = np.asarray(totals, dtype=float)[:, None] - self.found
        others = self.unlabeled - left
        misses = self.drawn - self.hits
        possible = ((left >= self.hits) & (others >= misses)).all(axis=1)
        left, others = np.maximum(left, self.hits), np.maximum(others, misses)
        logs = _log_falling(left, self.hits) + _log_falling(others, misses)
        total = (logs - _log_falling(self.unlabeled, self.drawn)).sum(axis=1)
        return np.where(possible, total, -np.inf)


def _log_falling(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """ln(n (n − 1) … (n − k + 1))."""
    return gammaln(n + 1) - gammaln(n - k + 1)
