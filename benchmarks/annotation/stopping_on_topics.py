"""Measure what stopping rules cost on real topics, and how often they stop early.

    python -m benchmarks.annotation.stopping_on_topics --trec DIR [--crisislex DIR] --work WORK [--out PAGE]

The order in which the default query strategy labels each topic is recorded once in WORK, and every rule is applied to
it. After a sample, posts that it has taken are skipped; what the strategy would learn from these is not simulated.
buscarpy is needed for its rule. The page in the repository is results/stopping-on-topics.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.annotation.stopping_rules import End, buscarpy_end, knee_end, tail_end
from benchmarks.annotation.tasks import Source, VectorFiles, crises, subsampled, topics
from linker.annotation.build_pool import build_pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.session.session import STRATEGY
from linker.annotation.simulation.simulate import simulate
from linker.annotation.simulation.task import Task
from linker.annotation.stopping_rules.sequential_sampling import MarginalCostRule, RecallRule
from linker.common.files import atomic_write
from linker.config import build
from linker.models.files.resolve import resolve_model
from linker.models.model import Model
from linker.models.pretrained import BEST

BANDS = (
    ("under 1 %", 0.01),
    ("1 to 3 %", 0.03),
    ("3 to 10 %", 0.1),
    ("10 to 30 %", 0.3),
    ("30 % or more", 1.1),
)
PREVALENCES = (0.005, 0.02, 0.1, 0.4)
GROWTH = 0.1
#: Runs of rules that sample, per topic.
REPEATS = 3
TARGET = 0.95
Way = Callable[[np.ndarray, np.random.Generator], End]


@dataclass(frozen=True)
class Rule:
    """A measured rule: name, recall to reach, what ends a screening, and whether it samples (then it is repeated)."""

    name: str
    target: float
    end: Way
    random: bool = False


@dataclass(frozen=True)
class Stopped:
    """A stop: band of prevalence, and shares of the pool: labels, and those after the target was reached."""

    band: str
    labels: float
    surplus: float
    early: bool
    recall: float


def after_misses(number: float, least: float, relevant: np.ndarray, generator: np.random.Generator) -> End:
    """Stop after a number of labels in a row without a relevant post, or a share of the pool if it is below 1."""
    size = len(relevant)
    wait = round(number * size) if number < 1 else int(number)
    finds = np.flatnonzero(relevant)
    gaps = np.diff(finds, append=size) - 1
    for find, gap in zip(finds.tolist(), gaps.tolist(), strict=True):
        spent = max(find + 1 + wait, round(least * size))
        if spent <= find + 1 + gap:
            return ended(relevant, spent)
    return ended(relevant, size)


def after_share(share: float, relevant: np.ndarray, generator: np.random.Generator) -> End:
    """Stop after a share of the pool."""
    return ended(relevant, round(share * len(relevant)))


def ended(relevant: np.ndarray, spent: int) -> End:
    return End(spent, int(relevant[:spent].sum()), int(relevant.sum()), False)


def rules() -> list[Rule]:
    """All rules."""
    rules = [
        *(
            Rule(f"`recall` {100 * target:.0f} %", target, partial(tail_end, RecallRule(target)), True)
            for target in (0.8, 0.9, 0.95)
        ),
        *(
            Rule(f"`recall` 95 %, confidence {sure}", 0.95, partial(tail_end, RecallRule(0.95, level)), True)
            for level, sure in ((0.8, "80 %"), (0.5, "50 %"))
        ),
        *(
            Rule(f"buscarpy {100 * target:.0f} %", target, partial(buscarpy_end, target))
            for target in (0.8, 0.9, 0.95)
        ),
        Rule("`marginal_cost` 1 in 100", TARGET, partial(tail_end, MarginalCostRule()), True),
        Rule("`knee`", TARGET, partial(knee_end, TARGET)),
    ]
    misses: dict[str, tuple[float, float]] = {}
    misses |= {f"{number} in a row not relevant": (number, 0.0) for number in (50, 100, 200)}
    misses |= {
        f"{100 * share:.0f} % of the pool in a row not relevant": (share, 0.0) for share in (0.01, 0.05, 0.1)
    }
    misses["50 in a row and 10 % labeled (as in SAFE)"] = (50, 0.1)
    rules += [Rule(name, TARGET, partial(after_misses, *wait)) for name, wait in misses.items()]
    return rules + [
        Rule(f"after {100 * share:.0f} % of the pool", TARGET, partial(after_share, share))
        for share in (0.2, 0.5)
    ]


def recorded(task: Task, folder: Path, seed: int) -> np.ndarray:
    """Return which posts are relevant, in the order of labeling; kept in a file."""
    path = folder / f"{task.name}-{seed}.npz"
    if not path.is_file():
        labels = simulate(task, build(QueryStrategy, STRATEGY), seed, GROWTH).labels
        with atomic_write(path, "wb") as file:
            np.savez(file, relevant=labels.relevant)
    with np.load(path, allow_pickle=False) as file:
        return np.asarray(file["relevant"])


def orders(
    sources: Sequence[Source], model: Model, kept: VectorFiles, folder: Path, seed: int
) -> dict[str, np.ndarray]:
    """Return the order of every topic and of its subsampled versions, by name."""
    found = {}
    for name, seeds, posts, relevant in sources:
        task = Task.of(name, build_pool(seeds, posts, model, kept), relevant)
        versions = [task, *(subsampled(task, share) for share in PREVALENCES if name.startswith("trec"))]
        for version in versions:
            if version is not None and version.relevant.any():
                found[version.name] = recorded(version, folder, seed)
        print(f"{name}: recorded", flush=True)
    return found


def band_of(relevant: np.ndarray) -> str:
    return next(name for name, below in BANDS if relevant.mean() < below)


def stops(rule: Rule, screened: dict[str, np.ndarray]) -> list[Stopped]:
    """Return where a rule stops on each topic."""
    found = []
    for name, relevant in screened.items():
        wanted = rule.target * relevant.sum() - 1e-9
        needed = int(np.searchsorted(np.cumsum(relevant), wanted)) + 1
        for repeat in range(REPEATS if rule.random else 1):
            end = rule.end(relevant, np.random.default_rng([repeat, *name.encode()]))
            size, early = len(relevant), end.found < wanted
            found.append(
                Stopped(
                    band_of(relevant),
                    end.spent / size,
                    np.nan if early else (end.spent - needed) / size,
                    early,
                    end.found / end.relevant,
                )
            )
    return found


def table(measured: dict[str, list[Stopped]], title: str, cell: Callable[[list[Stopped]], str]) -> str:
    bands = [name for name, _ in BANDS]
    lines = [f"## {title}\n", f"| rule | all | {' | '.join(bands)} |", f"|---|{'--:|' * (len(bands) + 1)}"]
    for rule, found in measured.items():
        parts = [[one for one in found if one.band == band] for band in bands]
        lines.append(f"| {rule} | {' | '.join(cell(part) if part else '–' for part in [found, *parts])} |")
    return "\n".join(lines) + "\n"


def mean(values: Sequence[float]) -> str:
    known = [value for value in values if not np.isnan(value)]
    return f"{100 * np.mean(known):.1f}" if known else "–"


def page(measured: dict[str, list[Stopped]], topics_of: dict[str, int]) -> str:
    counts = ", ".join(f"{name}: {number}" for name, number in topics_of.items())
    surplus = "Surplus: labels after the target was reached, % of the pool, without early stops"

    def recall(part: list[Stopped]) -> str:
        recalls = [one.recall for one in part]
        return f"{mean(recalls)}, {100 * np.quantile(recalls, 0.05):.0f}"

    cells: dict[str, Callable[[list[Stopped]], str]] = {
        "Labels, % of the pool": lambda part: mean([one.labels for one in part]),
        surplus: lambda part: mean([one.surplus for one in part]),
        "Stops below the target, % of the runs": lambda part: mean([float(one.early) for one in part]),
        "Recall at the stop, %: mean, lowest 5 %": recall,
    }
    tables = [table(measured, title, cell) for title, cell in cells.items()]
    return f"Pools by share of relevant posts: {counts}.\n\n" + "\n".join(tables)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trec", type=Path, required=True)
    parser.add_argument("--crisislex", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    folder, vectors = given.work / "orders", given.work / "vectors"
    for one in (folder, vectors):
        one.mkdir(parents=True, exist_ok=True)
    model = resolve_model(BEST).load()
    sources = list(topics(given.trec))
    sources += list(crises(given.crisislex)) if given.crisislex else []
    screened = orders(sources, model, VectorFiles(vectors), folder, 0)
    measured = {}
    for rule in rules():
        measured[rule.name] = stops(rule, screened)
        print(f"{rule.name}: {mean([one.labels for one in measured[rule.name]])} % of the labels", flush=True)
    of_band = {name: sum(band_of(one) == name for one in screened.values()) for name, _ in BANDS}
    text = page(measured, of_band)
    print(text)
    if given.out:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
