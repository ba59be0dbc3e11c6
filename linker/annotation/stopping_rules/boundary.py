"""The exact boundary of a sequential test: how many random draws are enough, by the relevant posts among them."""

from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, logsumexp

# Relevant posts in a sample for which the boundary is computed at first; doubled when a sample holds more.
_AT_FIRST = 32


class StoppingBoundary:
    """The least numbers of random draws, n₀ ≤ n₁ ≤ …, after which 0, 1, … relevant posts among them are few enough.

    Sampling without replacement stops at the first n_h with at most h relevant posts. The probability of stopping
    while too many are left is computed exactly, over all earlier stops: sequences of draws with the same number of
    relevant posts are equally likely, so the sequences that do not stop before are counted once for all hypotheses
    (a hypergeometric group-sequential test, see Jennison and Turnbull 2000, ch. 12). Decision 199.

    Args:
        unlabeled: posts without a label before the first draw.
        too_many: relevant posts among the draws → the smallest number of relevant posts among the unlabeled ones with
            which stopping would be wrong; it must not decrease.
        error: allowed probability of stopping wrongly, 0 to 1.
        spent: relevant posts among the draws → share of `error`, 0 to 1, that stops up to this number may take; it must
            not decrease.
        first: the least number of relevant posts among the draws with which sampling may stop.
    """

    def __init__(
        self,
        unlabeled: int,
        too_many: Callable[[int], int],
        error: float,
        spent: Callable[[int], float] = lambda hits: 1.0,
        first: int = 0,
    ) -> None:
        self.unlabeled, self.error, self._least_hits = unlabeled, error, first
        self._too_many, self._spent = too_many, spent
        self._begin(_AT_FIRST)

    def __getitem__(self, hits: int) -> int:
        """Return how many draws are enough with `hits` relevant posts among them; `unlabeled` + 1 if no number is."""
        if hits > self._most:
            self._begin(max(hits, 2 * self._most))
        while len(self._enough) <= hits:
            self._add()
        return self._enough[hits]

    def _begin(self, most: int) -> None:
        self._most = most
        self._enough: list[int] = []
        self._first, self._last = self._least_hits, 0
        # Draws, relevant posts and log-number of the sequences that stop; log-number of those that continue after the
        # last n_h, by relevant posts.
        self._stops = np.zeros((0, 3))
        self._continuing = np.full(most + 1, -np.inf)
        self._continuing[0] = 0.0

    def _add(self) -> None:
        hits, size = len(self._enough), self.unlabeled
        left = self._too_many(hits)
        if hits < self._first or left <= hits:  # too many are known
            self._first = max(self._first, hits + 1)
            self._enough.append(size + 1)
            return
        enough = max(self._last, 1)
        if left <= size:
            enough = max(enough, self._least(hits, left))
        self._enough.append(enough)
        self._stops = np.vstack([self._stops, self._ending(hits, enough)])
        fewest = hits if hits > self._first else 0
        before = self._continuing[fewest:]
        more = np.arange(len(before))
        choices = _log_choose(enough - self._last, more)
        added = more[:, None] - more  # (relevant posts after, before)
        ways = before + np.where(added < 0, -np.inf, choices[added])
        self._continuing[fewest:] = logsumexp(ways, axis=1)
        self._continuing[: hits + 1] = -np.inf
        self._last = enough

    def _ending(self, hits: int, drawn: int) -> np.ndarray:
        """Return the sequences that stop with `drawn` draws and at most `hits` relevant posts, as rows of `_stops`."""
        if hits > self._first:
            return np.array([[drawn, hits, self._continuing[hits]]])
        fewer = np.arange(hits + 1)
        return np.column_stack([np.full(hits + 1, drawn), fewer, _log_choose(drawn, fewer)])

    def _least(self, hits: int, left: int) -> int:
        """Return the least number of draws that keeps the error if `left` relevant posts were unlabeled."""
        size = self.unlabeled
        all_ways = float(_log_choose(size, left))

        def error(stops: np.ndarray) -> float:
            drawn, relevant, ways = stops.T
            return float(np.exp(ways + _log_choose(size - drawn, left - relevant) - all_ways).sum())

        room = self.error * self._spent(hits) - error(self._stops)
        most = size - (left - hits) + 1  # with this number of draws, more than `hits` of them are relevant
        if room <= 0:
            return most
        return 1 + bisect_left(
            range(1, most), True, key=lambda drawn: error(self._ending(hits, drawn)) <= room
        )


def _log_choose(n: np.ndarray | int, k: np.ndarray | int) -> np.ndarray:
    """Return the log of the binomial coefficient; −inf where it is 0."""
    n, k = np.asarray(n, dtype=float), np.asarray(k, dtype=float)
    possible = (k >= 0) & (k <= n)
    n, k = np.where(possible, n, 0.0), np.where(possible, k, 0.0)
    return np.where(possible, gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), -np.inf)
