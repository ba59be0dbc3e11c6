"""Print the results of evaluations and simulations as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from linker.annotation.simulation.outcomes import Outcome, Stop
    from linker.annotation.simulation.task import Task
    from linker.evaluation.comparison import Comparison, Difference


_WIDE = 200
_MAIN = ("mRP", "pair AP", "AUC", "MAP", "R-precision", "nDCG@10", "MAP@5 of posts")
_ABSENT = "–"


def print_comparison(comparison: Comparison, baseline: str, differences: list[Difference]) -> None:
    """Print the metrics of all models in percent, and the differences from the baseline."""
    console = _console()
    console.print(_metrics(comparison, differences))
    for line in _notes(comparison, baseline, differences):
        console.print(Text(line), soft_wrap=True)
    if differences:
        console.print()
        console.print(_differences(differences, baseline))


def _console() -> Console:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    return console


def _metrics(comparison: Comparison, differences: Iterable[Difference]) -> Table:
    from linker.evaluation.evaluate import ARTICLE_METRICS, PAIR_METRICS
    from linker.evaluation.metrics.ranking import POST_METRICS

    table = _table("%", *comparison.evaluations)
    stars = {(d.model, d.metric): "*" for d in differences if d.significant}
    figures = {name: comparison.metrics(name) for name in comparison.evaluations}
    for title, metrics in (
        ("all pairs in one ranking", PAIR_METRICS),
        ("mean over articles", ARTICLE_METRICS),
        ("mean over posts, articles ranked for each", tuple(POST_METRICS)),
    ):
        if not any(metric in own for metric in metrics for own in figures.values()):
            continue
        table.add_section()
        table.add_row(Text(title, style="italic"))
        for metric in metrics:
            values = [
                _percent(own.get(metric), 2) + stars.get((name, metric), " ") for name, own in figures.items()
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
    lonely = int((~comparison.relevance.any(axis=0)).sum())
    if lonely and comparison.per_post:
        yield f"Posts without an article, left out of the means over posts: {lonely:,}."
    if first.thresholds_left_out:
        left_out = ", ".join(f"r_precision@{r}" for r in first.thresholds_left_out)
        yield f"Left out, there are fewer pairs: {left_out}."
    if differences:
        yield f"* differs from {baseline}: p < 0.05, corrected for the number of models (Holm)."


def _differences(differences: Iterable[Difference], baseline: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=Text(f"Difference from {baseline}"), title_justify="left")
    for heading in ("model", "metric", "points", "95 % interval", "p (Holm)"):
        number = heading not in ("model", "metric")
        table.add_column(heading, justify="right" if number else "left", no_wrap=number)
    for d in differences:
        if d.metric in _MAIN:
            interval = f"{100 * d.low:+.2f} … {100 * d.high:+.2f}" if d.low <= d.high else "too few articles"
            p = "< 0.001" if d.p_holm < 0.001 else f"{d.p_holm:.3f}"
            table.add_row(Text(d.model), d.metric, f"{100 * d.difference:+.2f}", interval, p)
    return table


def print_study(tasks: Sequence[Task], outcomes: Sequence[Outcome], stops: Sequence[Stop]) -> None:
    """Print cost and recall of each strategy and rule, means over all runs."""
    from linker.annotation.simulation.outcomes import RECALLS

    console = _console()
    posts, distinct = sum(task.posts for task in tasks), sum(len(task.pool) for task in tasks)
    relevant, other = sum(task.total for task in tasks), sum(task.disagreeing for task in tasks)
    seeds = len({outcome.seed for outcome in outcomes})
    console.print(
        Text(
            f"{len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}, {posts:,} posts ({distinct:,} distinct), "
            f"{relevant:,} relevant; {other:,} of {posts - distinct:,} copies have another label than their original; "
            f"{seeds} {'run' if seeds == 1 else 'runs'} of each. Labels in percent of the distinct posts; "
            f"{_ABSENT}: not reached in every run."
        ),
        soft_wrap=True,
    )
    table = _table("strategy", *(f"to {recall:.0%}" for recall in RECALLS), "WSS@95")
    for name in dict.fromkeys(outcome.strategy for outcome in outcomes):
        runs = [outcome for outcome in outcomes if outcome.strategy == name]
        shares = [
            [None if (labels := run.labels_to[recall]) is None else labels / run.pool_size for run in runs]
            for recall in RECALLS
        ]
        table.add_row(Text(name), *map(_mean, shares), _mean([run.work_saved for run in runs]))
    console.print(table)
    table = _table("rule", "strategy", "labels", "drawn", "recall", "lowest", "failed", "never stopped")
    for strategy, rule in dict.fromkeys((stop.strategy, stop.rule) for stop in stops):
        ends = [stop for stop in stops if (stop.strategy, stop.rule) == (strategy, rule)]
        table.add_row(
            Text(rule),
            Text(strategy),
            _mean([stop.labels / stop.pool_size for stop in ends]),
            _mean([stop.drawn / stop.pool_size for stop in ends]),
            _mean([stop.recall for stop in ends]),
            _percent(min(stop.recall for stop in ends)),
            _mean([stop.failed for stop in ends]),
            f"{sum(not stop.stopped for stop in ends)} of {len(ends)}",
        )
    if stops:
        console.print(table)


def _mean(values: Sequence[float | None]) -> str:
    """Return the mean in percent; absent if a value is missing, because the mean of the others would be biased."""
    return _percent(None if None in values else fmean(value for value in values if value is not None))


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(Text(first))
    for name in others:
        table.add_column(Text(name), justify="right", no_wrap=True)
    return table


def _percent(value: float | None, decimals: int = 1) -> str:
    return _ABSENT if value is None else f"{100 * value:.{decimals}f}"
