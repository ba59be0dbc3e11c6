"""Sequential sampling: when to start sampling at random, and when the sample is large enough to stop.

Callaghan and Müller-Hansen (2020, Systematic Reviews 9:273) sample at random once the query strategy seems exhausted
and test with the hypergeometric distribution whether too many relevant posts are left. Their error rate holds for
a single test; a rule that decides after every label tests many times and errs more often. Here sampling stops at a
boundary, whose probability of stopping wrongly is computed over all of these tests (`StoppingBoundary`, decision 199).

Labels that are not sampled at random may come in between. The relevant posts among them count as found by the sample,
the others do not count. That errs on the safe side: in a random order of all posts that were unlabeled when sampling
started, the posts drawn so far stand within a beginning that is at least as long and holds no more relevant posts.

Draws without a label, since people skipped the post or hold it on an open page, count as relevant posts that are not
found. What they turn out to be may depend on who skips what, so the boundary for each number of them spends a share of
the error rate of its own. The draws before them are a sample as well, and either may be enough.

If the sample contains too many relevant posts for the hypothesis to be rejected soon, labeling returns to the strategy,
which may have learned from them, until it seems exhausted again. Each sample spends a share of the allowed error rate.
"""

import math
from collections.abc import Callable

import numpy as np

from linker.annotation.pool import Labels
from linker.annotation.stopping_rules.boundary import StoppingBoundary
from linker.annotation.stopping_rules.estimate import last_label, without_label
from linker.annotation.stopping_rules.stopping_rule import Decision, StoppingRule
from linker.common.checks import at_least

# The strategy counts as exhausted after this share of the unlabeled posts without a relevant one, or after this share
# of the shortest sample if that is less, but not before this number of labels, unless `patience` is less. Chosen by
# cross-validation over topics (decision 199), as is the share of the error.
_OF_UNLABELED = 0.1
_OF_SAMPLE = 0.5
_LEAST_PATIENCE = 10

# A sample may be abandoned after this many relevant posts. The first sample spends the first share of the allowed error
# rate, all later ones the second, and tests with draws that have no label the third; later ones divide theirs likewise.
_MIN_HITS = 5
_ALPHA_SPENT, _ALPHA_LATER, _ALPHA_OPEN = 0.95, 0.04, 0.01
# Beginnings of a sample that are tested as well hold at most this number of draws without a label.
_MOST_OPEN = 4
# One that holds more relevant posts than this is abandoned as well: its boundary would take seconds to compute.
_MOST_HITS = 128


def exhausted_after(
    relevant: np.ndarray, patience: Callable[[int], int], position: int = 0, least: int = 1
) -> int | None:
    """Return after how many labels a strategy seems exhausted for the first time.

    Args:
        relevant: bool, one per label.
        patience: number of labels up to a relevant post → number of labels in a row without another one after which
            the strategy counts as exhausted.
        position: number of labels that came before the strategy's turn.
        least: the least patience, at least 1.

    Returns:
        None: not yet, or no relevant post was found at all.
    """
    finds = np.flatnonzero(relevant)
    if position:
        finds = np.append(position - 1, finds[finds >= position])
    waits = np.diff(finds, append=len(relevant)) - 1
    for i in np.flatnonzero(waits >= least).tolist():
        number = int(finds[i]) + 1
        if waits[i] >= (patient := patience(number)):
            return number + patient
    return None


class SequentialSamplingRule(StoppingRule):
    """Base of rules that stop when a random sample rejects that too many relevant posts are left.

    Args:
        confidence: 1 − the error rate of the test, between 0 and 1.
        patience: the strategy counts as exhausted after at most this many labels in a row without a relevant post.

    Attributes:
        least_patience: the least number of labels in a row without a relevant post after which sampling starts.
    """

    def __init__(self, confidence: float, patience: int) -> None:
        if not 0 < confidence < 1:
            raise ValueError(f"confidence is {confidence}, but must be between 0 and 1")
        at_least(1, patience=patience)
        self.confidence, self.patience = confidence, patience
        self.least_patience = min(_LEAST_PATIENCE, patience)
        self._boundaries: dict[tuple[float, ...], StoppingBoundary] = {}

    def too_many(self, found: int, known: int, unlabeled: int) -> int:
        """Return the smallest number of relevant posts in the pool that would be too many.

        Args:
            found: relevant posts known now.
            known: relevant posts known when sampling started.
            unlabeled: posts without a label at that time.
        """
        raise NotImplementedError

    def spent(self, hits: int) -> float:
        """Return the share of a sample's error, 0 to 1, that stops up to a number of relevant posts in it may take.

        All of it where the number that is too many rises with each relevant post found, as in `recall`: a later stop
        then has a rarer error. Where it is fixed, a rule must leave something for later stops.
        """
        return 1.0

    def reached(self) -> str:
        """Return the conclusion when the rule stops, as part of a sentence."""
        raise NotImplementedError

    def patience_of(self, labels: Labels, pool_size: int) -> Callable[[int], int]:
        """Return a function of the number of labels so far: the patience after the last of them, a relevant post.

        It is a tenth of the unlabeled posts or half the shortest sample, in which no post is relevant, whichever is
        less: where many relevant posts were found, a sample teaches more than the end of the strategy's ranking
        (decision 199).
        """
        found = np.cumsum(labels.relevant)

        def patience(number: int) -> int:
            known, rest = int(found[number - 1]), pool_size - number
            left = self.too_many(known, known, rest) - known if rest else 0
            if not known or left >= rest:
                return self.least_patience if known else self.patience
            sample = math.log(1 - self.confidence) / math.log1p(-left / rest)
            wait = math.ceil(min(_OF_UNLABELED * rest, _OF_SAMPLE * sample))
            return max(self.least_patience, min(self.patience, wait))

        return patience

    def decide(self, labels: Labels, pool_size: int) -> Decision:
        """Decide whether labeling can stop; see `StoppingRule`."""
        rest = pool_size - len(labels)
        if rest <= 0:
            return Decision(True, "every post has a label")
        if labels.found and self.too_many(labels.found, labels.found, rest) > labels.found + rest:
            return Decision(True, f"{self.reached()}, even if all {rest:,} posts left were relevant")
        # When posts were added, the strategy's turn began again: it may find more among these.
        begin = min(labels.earlier, len(labels)) if labels.found else 0
        position, error = begin, 1 - self.confidence
        patience = self.patience_of(labels, pool_size)
        while True:
            start = exhausted_after(labels.relevant, patience, position, self.least_patience)
            if start is None:
                return Decision(False, _waiting(labels, patience, position, position > begin))
            abandoned = self._abandoned(labels, pool_size, start)
            if abandoned is None:
                return self._tested(labels, pool_size, start, error)
            position, error = abandoned, error * _ALPHA_LATER

    def _tested(self, labels: Labels, pool_size: int, start: int, error: float) -> Decision:
        """Decide by the sample from label `start` on, which with all later ones may err at the rate `error`."""
        places, before = labels.sample.T
        unlabeled = (places < 0) | (places >= start)
        # What was drawn for an earlier sample and had no label when this one began is not in its frame.
        outside, draws = places[unlabeled & (before < start)], places[unlabeled & (before >= start)]
        draws = draws[: last_label(draws)]
        lost, open_draws = int((outside < 0).sum()), np.flatnonzero(draws < 0).tolist()
        known = int(labels.relevant[:start].sum() + labels.relevant[outside[outside >= 0]].sum())
        hits, frame = labels.relevant[draws[draws >= 0]], pool_size - start - len(outside)
        sampled = f"{hits.sum():,} of {len(hits):,} randomly sampled posts are relevant"
        sampled += without_label(len(open_draws) + lost)
        # Beginnings of the sample: how many of their draws have no label → how long they are.
        for number, size in {**dict(enumerate(open_draws[:_MOST_OPEN])), len(open_draws): len(draws)}.items():
            enough = self.boundary(frame, known, error, number, lost)[labels.found - known + number]
            if size >= enough:
                return Decision(True, f"{sampled}: {self.reached()}, with {self.confidence:.0%} confidence")
        more = f"{min(enough - len(draws), pool_size - len(labels)):,} more without a relevant post would be enough"
        return Decision(False, f"{sampled}; {more}", draw_at_random=True)

    def boundary(
        self, frame: int, known: int, error: float, open_draws: int = 0, lost: int = 0
    ) -> StoppingBoundary:
        """Return the boundary of a sample; the latest ones are kept, since they are asked for after every label.

        Args:
            frame: number of posts that it is drawn from.
            known: relevant posts known outside of them.
            error: error rate of this sample and all later ones.
            open_draws: number of draws without a label.
            lost: number of posts without a label that are not in the frame.
        """
        key = (frame, known, error, open_draws, lost)
        if key not in self._boundaries:
            if len(self._boundaries) > 2 * _MOST_OPEN:
                self._boundaries.clear()
            share = _ALPHA_OPEN / (open_draws * (open_draws + 1)) if open_draws else _ALPHA_SPENT

            def too_many(hits: int) -> int:
                found = known + max(0, hits - open_draws)
                return self.too_many(found, known, frame) - known - lost

            self._boundaries[key] = StoppingBoundary(frame, too_many, share * error, self.spent, open_draws)
        return self._boundaries[key]

    def _abandoned(self, labels: Labels, pool_size: int, start: int) -> int | None:
        """Return after how many labels the sample from `start` on was abandoned for finding too many; else None."""
        drawn = np.flatnonzero(labels.at_random[start:]) + start
        known, unlabeled = int(labels.relevant[:start].sum()), pool_size - start
        found = np.cumsum(labels.relevant)
        for hits, place in enumerate(np.flatnonzero(labels.relevant[drawn]), 1):
            expected = hits / (place + 1) * unlabeled
            too_many = self.too_many(int(found[drawn[place]]), known, unlabeled) - known
            if (hits >= _MIN_HITS and expected >= too_many) or hits > _MOST_HITS:
                return int(drawn[place]) + 1
        return None


@StoppingRule.register("recall")
class RecallRule(SequentialSamplingRule):
    """Stop at a target recall, with the stated confidence, whatever the query strategy.

    Posts are labeled in the strategy's order until it seems exhausted, then in random order, until the hypothesis that
    recall is below the target is rejected, which may be tested after every label. At most 1 − confidence of all
    projects stop below the target. Recall is measured against the labels as given.

    Paper: Callaghan and Müller-Hansen 2020, https://doi.org/10.1186/s13643-020-01521-4

    Args:
        target: share of all relevant posts to find, between 0 and 1.
        confidence: share of projects that must reach the target, between 0 and 1.
        patience: the strategy counts as exhausted after at most this many labels in a row without a relevant post;
            after fewer if a tenth of the unlabeled posts or half the shortest sample is less.
    """

    def __init__(self, target: float = 0.95, confidence: float = 0.95, patience: int = 200) -> None:
        super().__init__(confidence, patience)
        if not 0 < target < 1:
            raise ValueError(f"target is {target}, but must be between 0 and 1")
        self.target = target

    def too_many(self, found: int, known: int, unlabeled: int) -> int:
        """Return the smallest total that would be too many; see `SequentialSamplingRule`."""
        # found / target may fall short of a whole number by rounding.
        return math.floor(found / self.target + 1e-9) + 1

    def reached(self) -> str:
        """Return the conclusion; see `SequentialSamplingRule`."""
        return f"recall is at least {self.target:.0%}"


@StoppingRule.register("marginal_cost")
class MarginalCostRule(SequentialSamplingRule):
    """Stop when one more relevant post would cost too many labels (marginal cost), with the stated confidence.

    Once the query strategy seems exhausted, posts are sampled at random, until the hypothesis is rejected that at least
    one in `labels` of the posts unlabeled at that time was relevant. It is tested as in `recall`: at most
    1 − confidence of all projects stop although it is true. With `labels` as large as the pool, only labeling nearly
    everything can reject it. The cost depends on `labels` and hardly on the pool: a little over three times `labels`
    if the sample holds no relevant post.

    Args:
        labels: number of random labels per relevant post that is too expensive, at least 1.
        confidence: share of projects in which the cost must be that high, between 0 and 1.
        patience: the strategy counts as exhausted after at most this many labels in a row without a relevant post;
            after fewer if a tenth of the unlabeled posts or half the shortest sample is less.
    """

    def __init__(self, labels: int = 100, confidence: float = 0.95, patience: int = 200) -> None:
        super().__init__(confidence, patience)
        at_least(1, labels=labels)
        self.labels = labels

    def too_many(self, found: int, known: int, unlabeled: int) -> int:
        """Return the smallest total that would be too many; see `SequentialSamplingRule`."""
        return known + math.ceil(unlabeled / self.labels)

    def spent(self, hits: int) -> float:
        """Return the error probability spent after `hits` relevant posts: 0.7 of it for none, nearly all for many."""
        return float(1 - 0.3 * 0.8**hits)

    def reached(self) -> str:
        """Return the conclusion; see `SequentialSamplingRule`."""
        return f"fewer than 1 in {self.labels:,} of the posts that the strategy left are relevant"


def _waiting(labels: Labels, patience: Callable[[int], int], position: int, abandoned: bool) -> str:
    if not labels.found:
        return "no relevant post found yet"
    if labels.at_random.all():
        return "in random order, recall is about the share of the posts that have a label"
    last = max(position, int(np.flatnonzero(labels.relevant)[-1]) + 1)
    since = len(labels) - last
    again = "the random sample found too many; back to the query strategy: " if abandoned else ""
    noun = "label" if since == 1 else "labels"
    what = "posts were added" if last == position and not abandoned else "the last relevant post"
    return f"{again}{since:,} {noun} since {what}; random sampling starts after {patience(last):,}"
