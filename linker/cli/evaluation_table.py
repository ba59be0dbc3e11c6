"""The results of an evaluation as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from linker.evaluation.benchmarks import Benchmark
    from linker.evaluation.comparison import Comparison, Difference

_WIDE = 200
_MAIN = ("mRP", "mAP", "AUC", "MAP", "R-precision", "nDCG@10")
_ABSENT = "–"


def print_comparison(comparison: Comparison, baseline: str) -> None:
    """Print the metrics of all models in percent, and how far the others are from the baseline."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    differences = comparison.differences(baseline)
    console.print(_metrics(comparison, differences))
    for line in _notes(comparison, baseline, differences):
        console.print(Text(line), soft_wrap=True)
    if differences:
        console.print()
        console.print(_differences(differences, baseline))


def print_benchmarks(benchmarks: Sequence[Benchmark]) -> None:
    """Print every benchmark's figures in percent, a column a model."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("%")
    for name in benchmarks[0].models:
        table.add_column(Text(name), justify="right", no_wrap=True)
    for benchmark in benchmarks:
        table.add_section()
        table.add_row(Text(f"{benchmark.name} ({benchmark.size})", style="italic"))
        for metric in next(iter(benchmark.models.values())):
            table.add_row(metric, *(_percent(own.get(metric)) for own in benchmark.models.values()))
    console.print(table)


def _metrics(comparison: Comparison, differences: Iterable[Difference]) -> Table:
    from linker.evaluation.protocol import ARTICLE_METRICS, PAIR_METRICS

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("%")
    for name in comparison.evaluations:
        table.add_column(Text(name), justify="right", no_wrap=True)
    stars = {(d.model, d.metric): "*" for d in differences if d.significant}
    for title, metrics in (
        ("all pairs in one ranking", PAIR_METRICS),
        ("mean over articles", ARTICLE_METRICS),
    ):
        table.add_section()
        table.add_row(Text(title, style="italic"))
        for metric in metrics:
            values = [
                _percent(evaluation.metrics.get(metric)) + stars.get((name, metric), " ")
                for name, evaluation in comparison.evaluations.items()
            ]
            if any(value.strip() != _ABSENT for value in values):
                table.add_row(metric, *values)
    return table


def _notes(comparison: Comparison, baseline: str, differences: list[Difference]) -> Iterable[str]:
    first = comparison.evaluations[baseline]
    if comparison.one_at_a_time:
        yield "Scored one article at a time, as `linker rank` does."
    else:
        yield "Scored all articles together; for the scores of `linker rank` add --one-at-a-time."
    yield (
        f"{first.articles:,} articles × {first.posts:,} posts = {first.articles * first.posts:,} pairs, "
        f"{first.relevant_pairs:,} of them relevant."
    )
    if first.articles_without_posts:
        yield f"{first.articles_without_posts:,} articles have no relevant post: left out of the means."
    if first.thresholds_left_out:
        left_out = ", ".join(f"r_precision@{r}" for r in first.thresholds_left_out)
        yield f"Left out, there are fewer pairs: {left_out}."
    if differences:
        yield f"* differs from {baseline}: p < 0.05, corrected for the number of models (Holm)."


def _differences(differences: Iterable[Difference], baseline: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=Text(f"Difference from {baseline}"), title_justify="left")
    table.add_column("model")
    table.add_column("metric")
    for heading in ("points", "95 % interval", "p (Holm)"):
        table.add_column(heading, justify="right", no_wrap=True)
    for d in differences:
        if d.metric in _MAIN:
            interval = f"{100 * d.low:+.2f} … {100 * d.high:+.2f}"
            p = "< 0.001" if d.p_holm < 0.001 else f"{d.p_holm:.3f}"
            table.add_row(Text(d.model), d.metric, f"{100 * d.difference:+.2f}", interval, p)
    return table


def _percent(value: float | None) -> str:
    return _ABSENT if value is None else f"{100 * value:.2f}"
