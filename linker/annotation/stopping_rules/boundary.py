"""The exact boundary of a sequential test: how many random draws are enough, by the relevant posts among them."""

from __future__ import annotations

import math
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
    """

    def __init__(
        self,
        unlabeled: int,
        too_many: Callable[[int], int],
        error: float,
        spent: Callable[[int], float] = lambda hits: 1.0,
    ) -> None:
        self.unlabeled, self.error = unlabeled, error
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
        # Log-number of sequences that stop at each n_h, and of those that continue after the last, by relevant posts.
        self._stopping: list[float] = []
        self._continuing = np.full(most + 1, -np.inf)
        self._continuing[0] = 0.0

    def _add(self) -> None:
        hits, size = len(self._enough), self.unlabeled
        last = self._enough[-1] if self._enough else 0
        left = self._too_many(hits)
        if last > size or left <= hits:
            self._enough.append(size + 1)  # too many are known
            return
        ending = float(self._continuing[hits])
        enough = max(last, 1)
        if left <= size:
            enough = max(enough, self._least(hits, left, ending))
        self._enough.append(enough)
        self._stopping.append(ending)
        before = self._continuing[hits:]
        more = np.arange(len(before))
        choices = _log_choose(enough - last, more)
        added = more[:, None] - more  # (relevant posts after, before)
        ways = before + np.where(added < 0, -np.inf, choices[added])
        self._continuing = np.full(self._most + 1, -np.inf)
        self._continuing[hits + 1 :] = logsumexp(ways, axis=1)[1:]

    def _least(self, hits: int, left: int, ending: float) -> int:
        """Return the least number of draws that keeps the error if `left` relevant posts were unlabeled."""
        size = self.unlabeled
        all_ways = float(_log_choose(size, left))
        earlier = np.arange(hits)
        ways = _log_choose(size - np.array(self._enough, dtype=np.int64), left - earlier)
        taken = float(np.exp(np.array(self._stopping) + ways - all_ways).sum())
        room = self.error * self._spent(hits) - taken
        most = size - (left - hits) + 1  # with this number of draws, more than `hits` of them are relevant
        if room <= 0:
            return most
        allowed = math.log(room) + all_ways - ending
        return 1 + bisect_left(
            range(1, most), True, key=lambda drawn: float(_log_choose(size - drawn, left - hits)) <= allowed
        )


def _log_choose(n: np.ndarray | int, k: np.ndarray | int) -> np.ndarray:
    """Return the log of the binomial coefficient; −inf where it is 0."""
    n, k = np.asarray(n, dtype=float), np.asarray(k, dtype=float)
    possible = (k >= 0) & (k <= n)
    n, k = np.where(possible, n, 0.0), np.where(possible, k, 0.0)
    return np.where(possible, gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), -np.inf)
