"""Figures of Twitter4SSE with bootstrap intervals: values, gains over untrained models, corpus sizes."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from benchmarks.papers.twitter4sse_metrics import read_reranking, rerank, score_pairs
from linker.common.figures import COLORS, GREY, panels, save, style
from linker.common.files import atomic_write
from linker.contrib.twitter4sse.mine_benchmarks import Reranking
from linker.data.types import Article, Post
from linker.evaluation.significance import bootstrap_p_value, bootstrap_weights, holm, percentile_interval
from linker.models.model import Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESAMPLES = 2000
SETS = ("DQ", "DR", "CR", "PIT", "TURL", "STSb")
GRADES = {"PIT": "expert_score_0_5", "TURL": "votes_of_6", "STSb": "score"}


@dataclass(frozen=True)
class GradedPairs:
    """Pairs of texts, and a grade of each: NaN where there is none."""

    texts: list[tuple[str, str]]
    grades: np.ndarray


@dataclass(frozen=True)
class TestSets:
    """The six test sets: queries with candidates for nDCG, graded pairs for Pearson's r."""

    __test__ = False

    rerankings: dict[str, list[Reranking]]
    pairs: dict[str, GradedPairs]

    @classmethod
    def read(cls, rerankings: dict[str, Path], pairs: dict[str, Path], most: int) -> TestSets:
        """Read the sets.

        Args:
            rerankings: name → file of `linker mine benchmarks`.
            pairs: name → file of pairs with the column of `GRADES`.
            most: maximum number of pairs of a set; of more, a sample that is always the same.
        """
        graded = {}
        for name, path in pairs.items():
            table = pd.read_csv(path, sep="\t", quoting=csv.QUOTE_NONE, dtype={"text1": str, "text2": str})
            table = table.iloc[np.sort(np.random.default_rng(0).permutation(len(table))[:most])]
            grades = table[GRADES[name]].to_numpy(dtype=np.float64)
            graded[name] = GradedPairs(list(zip(table["text1"], table["text2"])), grades)
        return cls({name: read_reranking(path) for name, path in rerankings.items()}, graded)

    def measure(self, model: Model) -> dict[str, np.ndarray]:
        """Return nDCG of each query of a reranking set, and the score of each graded pair."""
        found = {name: rerank(model, queries)["nDCG"] for name, queries in self.rerankings.items()}
        for name, graded in self.pairs.items():
            # Equal texts have equal ids, so that each is encoded once.
            articles = [Article(first, first) for first, _ in graded.texts]
            posts = [Post(second, second) for _, second in graded.texts]
            found[name] = score_pairs(model, articles, posts)
        return found

    def sizes(self) -> list[str]:
        """Return a line for each set."""
        lines = [f"- {name}: {len(queries):,} queries." for name, queries in self.rerankings.items()]
        return lines + [f"- {name}: {len(graded.texts):,} pairs." for name, graded in self.pairs.items()]


class Values:
    """What a model reaches on every set: one value per seed, and the bootstrap samples of their mean.

    The same queries and pairs are drawn for every model, so that differences are paired.

    Args:
        sets: the test sets.
        seeds: for each seed, what `TestSets.measure` returned.
    """

    def __init__(self, sets: TestSets, seeds: Sequence[dict[str, np.ndarray]]) -> None:
        self.values: dict[str, list[float]] = {}
        self.samples: dict[str, np.ndarray] = {}
        self.sizes: dict[str, int] = {}
        for name in (*sets.rerankings, *sets.pairs):
            graded = sets.pairs[name].grades if name in sets.pairs else None
            measured = [one[name] for one in seeds]
            self.sizes[name] = len(measured[0])
            weights = bootstrap_weights(len(measured[0]), RESAMPLES).astype(np.float64)
            ones = np.ones((1, len(measured[0])))
            self.values[name] = [float(_metric(one, graded, ones)[0]) for one in measured]
            self.samples[name] = np.mean([_metric(one, graded, weights) for one in measured], axis=0)

    def mean(self, name: str) -> float:
        """The mean over the seeds."""
        return statistics.mean(self.values[name])

    def cell(self, name: str) -> str:
        """The mean in percent, with the standard deviation of several seeds."""
        values = self.values[name]
        spread = f" ± {100 * statistics.stdev(values):.1f}" if len(values) > 1 else ""
        return f"{100 * self.mean(name):.1f}{spread}"


def _metric(measured: np.ndarray, grades: np.ndarray | None, weights: np.ndarray) -> np.ndarray:
    """Return the mean, or with grades Pearson's r, of every sample: float64, samples."""
    total = weights.sum(axis=1)
    if grades is None:
        return weights @ measured / total
    known = ~np.isnan(grades)
    x, y, of = measured[known].astype(np.float64), grades[known], weights[:, known]
    x, y, total = x - x.mean(), y - y.mean(), of.sum(axis=1)
    mean_x, mean_y = of @ x / total, of @ y / total
    covariance = of @ (x * y) / total - mean_x * mean_y
    spread = (of @ (x * x) / total - mean_x**2) * (of @ (y * y) / total - mean_y**2)
    return covariance / np.sqrt(spread)


@dataclass(frozen=True)
class Gain:
    """A difference on one set in points: the 95 % interval, and whether Holm's p is below 0.05."""

    points: float
    low: float
    high: float
    significant: bool

    def __str__(self) -> str:
        points, low, high = (round(value, 1) + 0.0 for value in (self.points, self.low, self.high))
        return f"{points:+.1f} [{low:+.1f}, {high:+.1f}]{'*' if self.significant else ''}"


def gains(new: Values, old: Values) -> dict[str, Gain]:
    """Return the differences of two models on the six sets; Holm's correction is over the sets."""
    names = list(new.values)
    differences = {name: new.samples[name] - old.samples[name] for name in names}
    corrected = holm([bootstrap_p_value(differences[name]) for name in names])
    found = {}
    for name, p in zip(names, corrected):
        low, high = percentile_interval(differences[name])
        found[name] = Gain(100 * (new.mean(name) - old.mean(name)), 100 * low, 100 * high, p < 0.05)
    return found


def verdict(label: str, found: dict[str, Gain]) -> str:
    """State on how many sets a difference is significant, in which direction, and what the others could have shown."""
    better = [name for name, gain in found.items() if gain.significant and gain.points > 0]
    worse = [name for name, gain in found.items() if gain.significant and gain.points < 0]
    open_sets = [name for name, gain in found.items() if not gain.significant]
    parts = [f"significantly better on {len(better)} of {len(found)} sets"]
    parts[0] += f" ({', '.join(better)})" if better else ""
    if worse:
        parts.append(f"significantly worse on {', '.join(worse)}")
    if open_sets:
        widths = ", ".join(f"{name} ±{(found[name].high - found[name].low) / 2:.1f}" for name in open_sets)
        parts.append(f"undecided on {len(open_sets)}, with intervals of {widths} points")
    return f"- {label}: {'; '.join(parts)}."


def rows_of(models: dict[str, Values]) -> str:
    """Return the table of the values in percent."""
    lines = ["| % | " + " | ".join(SETS) + " |", "|---" * (len(SETS) + 1) + "|"]
    lines += [
        f"| {label} | " + " | ".join(own.cell(name) for name in SETS) + " |" for label, own in models.items()
    ]
    return "\n".join(lines)


def gain_rows(found: dict[str, dict[str, Gain]]) -> str:
    """Return the table of differences in points, * if significant."""
    lines = ["| points | " + " | ".join(SETS) + " |", "|---" * (len(SETS) + 1) + "|"]
    lines += [
        f"| {label} | " + " | ".join(str(own[name]) for name in SETS) + " |" for label, own in found.items()
    ]
    return "\n".join(lines)


def draw_curves(curves: dict[str, dict[int, dict[str, Gain]]], path: Path) -> None:
    """Plot the gain over the untrained model by the number of training pairs, a panel per set, and write an SVG."""
    save(_curves(curves), path)


@style()
def _curves(curves: dict[str, dict[int, dict[str, Gain]]]) -> Figure:
    figure, axes = panels(10.5, 5.2, columns=3, rows=2)
    for axis, name in zip(axes, SETS):
        for color, (model, of_sizes) in zip(COLORS, curves.items()):
            own = {size: found[name] for size, found in sorted(of_sizes.items())}
            points = [gain.points for gain in own.values()]
            axis.plot(list(own), points, marker="o", color=color, label=model)
            low, high = ([getattr(gain, end) for gain in own.values()] for end in ("low", "high"))
            axis.fill_between(list(own), low, high, color=color, alpha=0.15, linewidth=0)
        axis.axhline(0, color=GREY, linewidth=0.8)
        axis.set_xscale("log")
        sizes = sorted({size for of_model in curves.values() for size in of_model})
        axis.set_xticks(sizes, [f"{size / 1000:.2g}k" for size in sizes])
        axis.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        axis.set_title(name)
    axes[0].set_ylabel("points")
    axes[4].set_xlabel("training pairs")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def kept(path: Path, model: Callable[[], Model], sets: TestSets) -> dict[str, np.ndarray]:
    """Return what `TestSets.measure` returned for a model, from the file if it exists."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, "wb") as file:
            np.savez(file, **sets.measure(model()))  # type: ignore[arg-type]
    with np.load(path) as arrays:
        return {name: arrays[name] for name in arrays.files}
