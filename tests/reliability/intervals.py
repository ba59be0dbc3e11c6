"""Intervals of 95 %, and p-values, on made posts and models whose truth is known: how often they hold."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np

from linker.annotation.pool import Labels
from linker.annotation.stopping_rules.sequential_sampling import RecallRule
from linker.calibration.labeled_thresholds import LabeledThresholds
from linker.calibration.probabilities import reliability_of
from linker.calibration.thresholds import Threshold
from linker.common.errors import LinkerError
from linker.data.labels.post_labels import relevance_of
from linker.data.labels.records import ImportedLabel
from linker.evaluation.comparison import LEAST_ARTICLES
from linker.evaluation.significance import mean_intervals, randomization_test
from tests.reliability.harness import Tally

_POSTS = 800
_BEGIN = datetime(2031, 3, 3, tzinfo=timezone.utc)
# Coverage of intervals of 95 %; three standard errors are allowed below it only where there are few cases.
_LEAST, _MOST = 0.93, 0.99
# The posts that a session draws, and whether at random, in the order of their labels.
Draws = list[tuple[int, bool]]


class World:
    """Posts, best first, of which a share is relevant, and in what order a good query strategy would label them.

    Scores go with relevance by kind: `bell`; `mixed`: four in ten relevant posts score like others; `wrong`: the
    best-ranked are irrelevant; `ties`: a dozen distinct scores; `copies`: one post in five has near-duplicates.
    """

    def __init__(self, kind: str, share: float, rng: np.random.Generator) -> None:
        relevant = np.arange(_POSTS) < max(4, round(share * _POSTS))
        lift = np.where(rng.random(_POSTS) < (0.4 if kind == "mixed" else 0), 0.3, 2.0)
        scores = rng.normal(size=_POSTS) + relevant * lift
        if kind == "wrong":
            scores[-_POSTS // 50 :] += 5
        if kind == "ties":
            scores = np.round(scores * 2) / 2
        copies = np.ones(_POSTS, dtype=int)
        if kind == "copies":
            copies += rng.poisson(2, _POSTS) * (rng.random(_POSTS) < 0.2 + 0.3 * relevant)
        order = np.argsort(-scores, kind="stable")
        self.copies, self.relevant = copies[order], relevant[order]
        self.scores = np.repeat(scores[order], self.copies).astype(np.float32)
        self.true = np.repeat(self.relevant, self.copies)
        noisy = self.relevant * 2.5 + scores[order] + rng.normal(size=_POSTS)
        self.strategy = np.argsort(-noisy).tolist()
        self.rng = rng

    def drawn(self, count: int, among: Iterable[int] = range(_POSTS)) -> Draws:
        """Draw posts at random."""
        return [(int(post), True) for post in self.rng.choice(list(among), count, replace=False)]

    def labels(self, draws: Draws, timed: bool = True) -> list[ImportedLabel]:
        """Return the labels of a session, near-duplicates included, as files of it have them."""
        first = np.concatenate([[0], np.cumsum(self.copies)])
        return [
            ImportedLabel(
                f"p{row}",
                "kim",
                "relevant" if self.relevant[post] else "not",
                time=_BEGIN + timedelta(seconds=20.000_001 * number) if timed else None,
                sample="random" if at_random else "active_learning",
            )
            for number, (post, at_random) in enumerate(draws)
            for row in range(first[post], first[post + 1])
        ]


def _recall_rule(world: World, target: float = 0.9) -> Draws:
    """Label until the stopping rule stops."""
    rule, queue = RecallRule(target), list(world.strategy)
    posts, at_random = np.zeros(_POSTS, dtype=np.int64), np.zeros(_POSTS, dtype=bool)
    for count in range(_POSTS + 1):
        labels = Labels(posts[:count], world.relevant[posts[:count]], at_random[:count])
        decision = rule.decide(labels, _POSTS)
        if decision.stop:
            break
        at_random[count] = decision.draw_at_random
        posts[count] = queue.pop(int(world.rng.integers(len(queue))) if decision.draw_at_random else 0)
    return list(zip(posts[:count].tolist(), at_random[:count].tolist()))


def _until_relevant(world: World, count: int = 20) -> Draws:
    """Label random posts until so many are relevant."""
    draws = world.drawn(_POSTS * 3 // 4)
    found = np.cumsum([world.relevant[post] for post, _ in draws])
    return draws[: int(np.searchsorted(found, count)) + 1]


def _strategy_then_random(world: World) -> Draws:
    chosen = world.strategy[:100]
    return [(post, False) for post in chosen] + world.drawn(100, set(range(_POSTS)).difference(chosen))


#: Designs, as sessions make them.
DESIGNS: dict[str, Callable[[World], Draws]] = {
    "20 random": lambda world: world.drawn(20),
    "50 random": lambda world: world.drawn(50),
    "100 random": lambda world: world.drawn(100),
    "170 random": lambda world: world.drawn(170),
    "300 random": lambda world: world.drawn(300),
    "until 20 relevant": _until_relevant,
    "recall rule": _recall_rule,
    "strategy, then random": _strategy_then_random,
    "random and strategy": lambda world: world.drawn(100) + [(post, False) for post in world.strategy[:100]],
    "without times": _strategy_then_random,
}
_KINDS = ("bell", "mixed", "wrong", "ties", "copies")
_SHARES = (0.01, 0.03, 0.1, 0.3)
_ARTICLES = (5, 10, 15, 29, 30, 60)


def thresholds_of(world: World, draws: Draws, timed: bool = True) -> Iterator[tuple[str, Threshold]]:
    """Yield thresholds by the labels of some draws, fixed ones and those that the labels choose."""
    labels = relevance_of(world.labels(draws, timed))
    scores = dict(zip((f"p{row}" for row in range(len(world.scores))), world.scores.tolist()))
    with suppress(LinkerError):  # all labels are alike
        estimated = LabeledThresholds.by_scores(world.scores, {post: scores[post] for post in labels}, labels)
        for share in (0.02, 0.1, 0.4):
            yield f"best {share:.0%}", estimated.at(float(world.scores[int(share * len(world.scores))]))
        yield "recall=0.9", estimated.for_recall(0.9)
        with suppress(LinkerError):  # no interval
            yield "recall>=0.8", estimated.for_recall(0.8, confident=True)
        for precision in (0.5, 0.8):
            with suppress(LinkerError):  # not reached
                yield f"precision={precision}", estimated.for_precision(precision)


def intervals(tally: Tally, folder: Path, runs: int, chance: random.Random) -> None:
    """Estimate thresholds by labels that were drawn in many ways, and compare models that are equal."""
    held: dict[str, list[bool]] = defaultdict(list)
    for number in range(runs):
        kind, share = _KINDS[number % len(_KINDS)], _SHARES[number // len(_KINDS) % len(_SHARES)]
        for design, draw in DESIGNS.items():
            world = World(kind, share, np.random.default_rng(chance.randrange(2**32)))
            for name, chosen in thresholds_of(world, draw(world), design != "without times"):
                hits = int(world.true[: chosen.kept].sum())
                precision, recall = hits / max(chosen.kept, 1), hits / int(world.true.sum())
                if name == "recall>=0.8":
                    held[f"recall of 0.8 reached, {design}"].append(recall >= 0.8)
                for of, bounds, true in (
                    ("precision", chosen.precision, precision),
                    ("recall", chosen.recall, recall),
                ):
                    if bounds.low is not None and bounds.high is not None:
                        contains = bounds.low - 1e-9 <= true <= bounds.high + 1e-9
                        for group in (
                            "",
                            f", {name}, {design}",
                            f", {share:.0%}",
                            f", {share:.0%}, {design}",
                        ):
                            held[f"{of}{group}"].append(contains)
        held["bins"] += _bins(np.random.default_rng(chance.randrange(2**32)))
    rates = {name: float(np.mean(cases)) for name, cases in held.items() if len(cases) >= min(40, runs)}
    for name, rate in rates.items():
        held_of = f"{name}: {rate:.1%} of {len(held[name]):,} held"
        tally.check(rate >= _LEAST - _error(len(held[name]), 1_000), held_of)
        tally.check(rate <= _MOST or name not in ("precision", "recall", "bins"), held_of)
    worst = min(rates, key=lambda name: rates[name])
    highest = max(_rejected(tally, articles, 50 * runs, chance.randrange(2**32)) for articles in _ARTICLES)
    tally.notes = (
        f"intervals of precision held in {rates['precision']:.1%} of {len(held['precision']):,}, of recall in "
        f"{rates['recall']:.1%}, of bins in {rates['bins']:.1%}; least {rates[worst]:.1%} of {len(held[worst]):,} "
        f"({worst}); at most {highest:.1%} of p-values of equal models are ≤ 0.05"
    )


def _bins(rng: np.random.Generator) -> list[bool]:
    """Return whether the intervals of the bins of a calibration hold; articles have more relevant posts or fewer."""
    scores, articles = rng.normal(-4, 1.5, size=(30, 100)), np.repeat(np.arange(30), 100)
    fewer, more = (1 / (1 + np.exp(-scores - shift)) for shift in (-1, 1))
    relevant = rng.random(scores.shape) < np.where(rng.random((30, 1)) < 0.5, fewer, more)
    bins = reliability_of((fewer + more).ravel() / 2, relevant.ravel(), articles).bins
    return [bin_.observed_low <= bin_.predicted <= bin_.observed_high for bin_ in bins]


def _rejected(tally: Tally, articles: int, runs: int, seed: int) -> float:
    """Compare two equal models, whose values are skewed, many times; return the share of p-values up to 0.05."""
    rng, rejected, covered = np.random.default_rng(seed), [], []
    for start in range(0, runs, 500):
        first, second = rng.lognormal(sigma=1.5, size=(2, articles, min(500, runs - start)))
        rejected += (randomization_test(first - second, seed=start) <= 0.05).tolist()
        differences = rng.exponential(size=first.shape) * (rng.random(first.shape) < 0.7)
        low, high = mean_intervals(differences)
        covered += ((low <= 0.7) & (high >= 0.7)).tolist()
    rate, held = float(np.mean(rejected)), float(np.mean(covered))
    tally.check(
        rate <= 0.055 + _error(runs, 20_000), f"{articles} articles: {rate:.1%} of p-values are ≤ 0.05"
    )
    if articles >= LEAST_ARTICLES:
        tally.check(
            held >= _LEAST - _error(runs, 1_000), f"{articles} articles: intervals held in {held:.1%}"
        )
    return rate


def _error(cases: int, enough: int) -> float:
    """Return three standard errors of a share of 5 %; 0 for enough cases."""
    return float(3 * (0.05 * 0.95 / cases) ** 0.5) if cases < enough else 0.0
