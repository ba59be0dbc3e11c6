"""Measure the error rates and costs of stopping rules over simulated screenings.

    python -m benchmarks.annotation.stopping_rules [--screenings 1000] [--seed 13] [--out PAGE]

A screening is a pool of posts in an order of some quality, labeled from the front, or at random where a rule samples.
The page in the repository is benchmarks/annotation/results/stopping-rules.md.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.special import betaln
from scipy.stats import binom, hypergeom

from linker.annotation.pool import Labels
from linker.annotation.stopping_rules.estimate import _PRIOR, estimate
from linker.annotation.stopping_rules.sequential_sampling import (
    _ALPHA_LATER,
    _MIN_HITS,
    _MOST_HITS,
    MarginalCostRule,
    RecallRule,
    SequentialSamplingRule,
    exhausted_after,
)

POSTS = 2000
PREVALENCES = (0.01, 0.05, 0.2)


@dataclass(frozen=True)
class Quality:
    """Quality of a ranking.

    Attributes:
        name: what it is called.
        lift: how much higher relevant posts score, in standard deviations.
        hidden: the share of relevant posts that score like all others.
    """

    name: str
    lift: float
    hidden: float = 0.0


QUALITIES = (
    Quality("random order", 0.0),
    Quality("poor (AUC 0.76)", 1.0),
    Quality("good (AUC 0.92)", 2.0),
    Quality("very good (AUC 0.98)", 3.0),
    Quality("very good, 1 in 10 hidden", 3.0, 0.1),
    Quality("very good, half hidden", 3.0, 0.5),
)


@dataclass(frozen=True)
class End:
    """End of a screening: labels spent, relevant posts found and in all, and whether the rule's claim is false."""

    spent: int
    found: int
    relevant: int
    false: bool


def ordered(posts: int, prevalence: float, quality: Quality, generator: np.random.Generator) -> np.ndarray:
    """Return which posts are relevant, in the order of the simulated ranking."""
    relevant = np.zeros(posts, dtype=bool)
    relevant[: max(1, round(posts * prevalence))] = True
    lift = np.where(relevant, quality.lift, 0.0)
    lift[: round(quality.hidden * relevant.sum())] = 0.0
    return relevant[np.argsort(-(generator.normal(size=posts) + lift))]


def tail_end(rule: SequentialSamplingRule, relevant: np.ndarray, generator: np.random.Generator) -> End:
    """Return how the rule ends: as if asked after every label, but all draws of a sample are tested at once."""
    size = len(relevant)
    order, position, error = np.arange(size), 0, 1 - rule.confidence
    while True:
        flags = relevant[order]
        finds = np.cumsum(flags)
        labels = Labels(order, flags, np.zeros(size, dtype=bool))
        start = exhausted_after(flags, rule.patience_of(labels, size), position, rule.least_patience)
        for spent in range(position + 1, (start or size - 1) + 1):
            found = int(finds[spent - 1])
            if found and rule.too_many(found, found, size - spent) > found + size - spent:
                return ended(rule, flags, spent, spent)
        if start is None or start >= size:
            return End(size, int(finds[-1]), int(finds[-1]), False)
        order[start:] = generator.permutation(order[start:])
        known, rest = int(finds[start - 1]), size - start
        drawn, draws = np.arange(1, rest + 1), relevant[order[start:]]
        hits = np.cumsum(draws)
        bounds = np.array([rule.too_many(known + hit, known, rest) for hit in range(int(hits[-1]) + 1)])[hits]
        given_up = draws & (hits >= _MIN_HITS) & (hits / drawn * rest >= bounds - known)
        given_up |= draws & (hits > _MOST_HITS)
        before = int(given_up.argmax()) + 1 if given_up.any() else rest
        now = np.array([rule.too_many(known + hit, known + hit, 0) for hit in range(int(hits[-1]) + 1)])[hits]
        sure = (now > known + hits + rest - drawn) & (drawn < rest) & (known + hits > 0)
        sure[-1] = True
        boundary = rule.boundary(rest, known, error)
        hit_at = np.concatenate([[0], np.flatnonzero(draws) + 1, [rest + 1]])
        end = int(sure.argmax()) + 1
        for hit, (begin, following) in enumerate(pairwise(hit_at.tolist())):
            if begin > min(end, before):
                break
            if max(boundary[hit], begin, 1) < following:
                end = min(end, max(boundary[hit], begin, 1))
                break
        if not given_up.any() or before > end:
            return ended(rule, relevant[order], start + end, start)
        position, error = start + before, error * _ALPHA_LATER
        if position == end == size:
            return End(size, int(finds[-1]), int(finds[-1]), False)
        order[position:] = np.sort(order[position:])


def ended(rule: SequentialSamplingRule | None, order: np.ndarray, spent: int, start: int) -> End:
    found, total = int(order[:spent].sum()), int(order.sum())
    # The posts that every rule claims something about; with all labels there is nothing left to be wrong about.
    false = rule is not None and spent < len(order)
    if rule is not None and false:
        false = total >= rule.too_many(found, int(order[:start].sum()), len(order) - start)
    return End(spent, found, total, bool(false))


def repeated_test_end(target: float, relevant: np.ndarray, generator: np.random.Generator) -> End:
    """The hypergeometric test of Callaghan and Müller-Hansen after every random draw, as if it were the only one."""
    size = len(relevant)
    start = exhausted_after(relevant, lambda number: 200)
    if start is None or start >= size:
        return End(size, int(relevant.sum()), int(relevant.sum()), False)
    order = np.concatenate([relevant[:start], generator.permutation(relevant[start:])])
    known, rest = int(order[:start].sum()), size - start
    hits, drawn = np.cumsum(order[start:]), np.arange(1, rest + 1)
    least = np.floor((known + hits) / target + 1e-9).astype(int) + 1 - known
    sure = (least > rest) | (hypergeom.cdf(hits, rest, np.minimum(least, rest), drawn) < 0.05)
    sure[-1] = True
    return below(target, order, start + int(sure.argmax()) + 1)


def buscarpy_end(target: float, relevant: np.ndarray, generator: np.random.Generator) -> End:
    """Return where buscarpy stops: the minimum over all windows that end now, after every 20 labels."""
    from buscarpy import calculate_h0

    for spent in range(20, len(relevant), 20):
        if (
            relevant[:spent].any()
            and calculate_h0(relevant[:spent].astype(int), len(relevant), target) < 0.05
        ):
            return below(target, relevant, spent)
    return below(target, relevant, len(relevant))


def knee_end(target: float, relevant: np.ndarray, generator: np.random.Generator) -> End:
    """Return where the recall curve has a knee (Cormack and Grossman 2016, SIGIR), looked for after every 10 labels.

    The slope before the knee must be 156 minus the number of relevant posts found times the slope after it, counting
    one more relevant post, and at least 6 times. Below the target it counts as false.
    """
    for spent in range(100, len(relevant), 10):
        finds = np.cumsum(relevant[:spent])
        above = finds - finds[-1] * np.arange(1, spent + 1) / spent
        knee = int(above.argmax()) + 1
        if knee == spent or above[knee - 1] <= 0:
            continue
        before, after = finds[knee - 1] / knee, (finds[-1] - finds[knee - 1] + 1) / (spent - knee)
        if before / after >= 156 - min(int(finds[-1]), 150):
            return below(target, relevant, spent)
    return below(target, relevant, len(relevant))


def below(target: float, order: np.ndarray, spent: int) -> End:
    found, total = int(order[:spent].sum()), int(order.sum())
    return End(spent, found, total, found < target * total - 1e-9)


@dataclass(frozen=True)
class Screened:
    """A measured rule: a name, what ends a screening, and how many of the screenings are simulated (1 in `every`)."""

    name: str
    end: Callable[[np.ndarray, np.random.Generator], End]
    every: int = 1


def contenders() -> list[Screened]:
    """All rules."""
    strict, loose, more = RecallRule(), RecallRule(target=0.8), MarginalCostRule()
    return [
        Screened("`recall` 95 %", lambda order, generator: tail_end(strict, order, generator)),
        Screened("`recall` 80 %", lambda order, generator: tail_end(loose, order, generator)),
        Screened("`marginal_cost` 1 in 100", lambda order, generator: tail_end(more, order, generator)),
        Screened(
            "test of 95 % after every draw",
            lambda order, generator: repeated_test_end(0.95, order, generator),
        ),
        Screened("`knee`, counted against 80 %", lambda order, generator: knee_end(0.8, order, generator), 4),
        Screened("buscarpy, 95 %", lambda order, generator: buscarpy_end(0.95, order, generator), 8),
    ]


def upper(failures: int, number: int) -> float:
    """Return the probability of at least this number of failures if each screening fails with 5 %."""
    return float(binom.sf(failures - 1, number, 0.05))


def table(screened: Screened, screenings: int, seed: int) -> Iterable[str]:
    yield f"## {screened.name}\n"
    yield "| ordering | relevant | screenings | false | P | mean recall | lowest 5 % of recall | labels, mean |"
    yield "|---|---|---|---|---|---|---|---|"
    failures = number = 0
    for quality in QUALITIES:
        for prevalence in PREVALENCES:
            generator = np.random.default_rng([seed, QUALITIES.index(quality), PREVALENCES.index(prevalence)])
            ends = [
                screened.end(ordered(POSTS, prevalence, quality, generator), generator)
                for _ in range(screenings // screened.every)
            ]
            false = sum(end.false for end in ends)
            failures, number = failures + false, number + len(ends)
            recall = np.array([end.found / end.relevant for end in ends])
            yield (
                f"| {quality.name} | {prevalence:.0%} | {len(ends):,} | {false / len(ends):.1%} "
                f"| {upper(false, len(ends)):.2g} | {recall.mean():.3f} | {np.quantile(recall, 0.05):.3f} "
                f"| {np.mean([end.spent for end in ends]) / POSTS:.0%} |"
            )
    yield f"| all | | {number:,} | {failures / number:.1%} | {upper(failures, number):.2g} | | | |\n"


def hard(screenings: int, seed: int) -> Iterable[str]:
    """Return screenings whose ranking ends just below the target, where stopping too early is easiest."""
    yield "## An ordering that ends at a recall of 94.5 %\n"
    yield "1,000 relevant posts: 945 come first, then 200 others, then 55 among 1,500 in any order.\n"
    yield "| rule | screenings | false | P | labels, mean |"
    yield "|---|---|---|---|---|"
    rule = RecallRule()
    ways: dict[str, Callable[[np.ndarray, np.random.Generator], End]] = {
        "`recall` 95 %": lambda order, generator: tail_end(rule, order, generator),
        "test of 95 % after every draw": lambda order, generator: repeated_test_end(0.95, order, generator),
    }
    for name, way in ways.items():
        generator = np.random.default_rng([seed, 11])
        ends = []
        for _ in range(screenings):
            rest = generator.permutation(np.arange(1500) < 55)
            ends.append(way(np.r_[np.ones(945, dtype=bool), np.zeros(200, dtype=bool), rest], generator))
        false = sum(end.false for end in ends)
        spent = np.mean([end.spent for end in ends]) / 2645
        yield f"| {name} | {len(ends):,} | {false / len(ends):.1%} | {upper(false, len(ends)):.2g} | {spent:.0%} |"
    yield ""


def missed(
    relevant: np.ndarray, share: float, generator: np.random.Generator
) -> tuple[bool, list[tuple[int, int]]]:
    """Simulate a screening with a share of random draws: whether the truth left the interval, and its widths."""
    size, total = len(relevant), int(relevant.sum())
    at_random = generator.random(size) < share
    left, places = list(range(size)), []
    for drawn in at_random:
        places.append(left.pop(int(generator.integers(len(left))) if drawn else 0))
    labels = Labels(np.array(places), relevant[places], at_random)
    found = np.cumsum(labels.relevant) - labels.relevant
    chance = (total - found) / (size - np.arange(size))
    with np.errstate(divide="ignore"):
        logs = np.where(labels.at_random, np.log(np.where(labels.relevant, chance, 1 - chance)), 0.0)
    drawn, hits = np.cumsum(at_random), np.cumsum(labels.relevant & at_random)
    a, b = _PRIOR
    expected = betaln(hits + a, drawn - hits + b) - betaln(a, b)
    ever = bool((np.cumsum(logs) <= expected + math.log(0.05)).any())
    widths = []
    for spent in (size // 10, size // 2):
        part = Labels(labels.posts[:spent], labels.relevant[:spent], labels.at_random[:spent])
        estimated = estimate(part, size)
        widths.append((estimated.high - estimated.low, estimated.middle - (total - part.found)))
    return ever, widths


def estimates(screenings: int, seed: int) -> Iterable[str]:
    yield "## The estimate of what is left, 95 %\n"
    yield (
        "| ordering | relevant | random labels | screenings | truth outside, ever | P "
        "| width, middle's error after 10 % | after 50 % |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for quality in (QUALITIES[1], QUALITIES[3], QUALITIES[5]):
        for prevalence in PREVALENCES:
            for share in (1.0, 0.1):
                generator = np.random.default_rng(
                    [seed, 7, QUALITIES.index(quality), PREVALENCES.index(prevalence)]
                )
                runs = [
                    missed(ordered(POSTS, prevalence, quality, generator), share, generator)
                    for _ in range(screenings // 5)
                ]
                outside = sum(ever for ever, _ in runs)
                cells = [
                    f"{np.mean([widths[at][0] for _, widths in runs]):.0f}, "
                    f"{np.mean([abs(widths[at][1]) for _, widths in runs]):.0f}"
                    for at in (0, 1)
                ]
                yield (
                    f"| {quality.name} | {prevalence:.0%} | {share:.0%} | {len(runs):,} | {outside / len(runs):.1%} "
                    f"| {upper(outside, len(runs)):.2g} | {cells[0]} | {cells[1]} |"
                )
    yield ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--screenings", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    began = time.monotonic()
    parts = [table(one, arguments.screenings, arguments.seed) for one in contenders()]
    parts += [hard(5 * arguments.screenings, arguments.seed), estimates(arguments.screenings, arguments.seed)]
    lines = []
    for part in parts:
        for line in part:
            lines.append(line)
            print(line, flush=True)
    lines.append(
        f"`python -m benchmarks.annotation.stopping_rules --screenings {arguments.screenings} --seed "
        f"{arguments.seed}`, {time.monotonic() - began:.0f} s, "
        f"Python {platform.python_version()}, numpy {np.__version__}."
    )
    text = "\n".join(lines) + "\n"
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
