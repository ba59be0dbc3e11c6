"""Print the results of evaluations and simulations as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from linker.annotation.simulation.simulate import Task
    from linker.annotation.simulation.study import Plan, Study
    from linker.evaluation.comparison import Comparison, Difference


_WIDE = 200
_MAIN = ("mRP", "mAP", "AUC", "MAP", "R-precision", "nDCG@10", "MAP@5 of posts")
_ABSENT = "–"


def print_comparison(comparison: Comparison, baseline: str) -> None:
    """Print the metrics of all models in percent, and the differences from the baseline."""
    console = _console()
    differences = comparison.differences(baseline)
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
            interval = f"{100 * d.low:+.2f} … {100 * d.high:+.2f}"
            p = "< 0.001" if d.p_holm < 0.001 else f"{d.p_holm:.3f}"
            table.add_row(Text(d.model), d.metric, f"{100 * d.difference:+.2f}", interval, p)
    return table


def print_study(study: Study, tasks: Sequence[Task], plan: Plan) -> None:
    """Print cost and recall of each strategy and rule."""
    from linker.annotation.simulation.study import summary

    console = _console()
    means = summary(study)
    console.print(_note(tasks, plan), soft_wrap=True)
    table = _table("strategy", *(f"to {recall}" for recall in ("50%", "80%", "90%", "95%", "100%")), "WSS@95")
    table.add_column(f"first {plan.first}: labels", justify="right")
    table.add_column("precision", justify="right")
    for name, values in means["strategies"].items():
        shares = [_percent(share) for share in values["labels_share"].values()]
        labels = values["labels_to_first"]
        table.add_row(
            Text(name),
            *shares,
            _percent(values["work_saved_95%"]),
            _ABSENT if labels is None else f"{labels:,.0f}",
            _percent(values["precision_of_first"]),
        )
    console.print(table)
    if means["rules"]:
        console.print(_rules(means["rules"]))


def _note(tasks: Sequence[Task], plan: Plan) -> Text:
    posts, distinct = sum(task.posts for task in tasks), sum(len(task.pool) for task in tasks)
    relevant, other = sum(task.total for task in tasks), sum(task.disagreeing for task in tasks)
    return Text(
        f"{len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}, {posts:,} posts ({distinct:,} distinct), "
        f"{relevant:,} relevant; {other:,} of {posts - distinct:,} copies have another label than their original; "
        f"{plan.seeds} {'run' if plan.seeds == 1 else 'runs'} of each. Labels in percent of the distinct posts; "
        "–: not reached in every run."
    )


def _rules(rules: Sequence[dict]) -> Table:
    table = _table("rule", "strategy", "labels", "drawn", "recall", "lowest", "failed", "never stopped")
    for rule in rules:
        table.add_row(
            Text(rule["rule"]),
            Text(rule["strategy"]),
            *(
                _percent(rule[key])
                for key in ("labels_share", "drawn_share", "recall", "lowest_recall", "failure_rate")
            ),
            f"{rule['never_stopped']} of {rule['runs']}",
        )
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(Text(first))
    for name in others:
        table.add_column(Text(name), justify="right", no_wrap=True)
    return table


def _percent(value: float | None, decimals: int = 1) -> str:
    return _ABSENT if value is None else f"{100 * value:.{decimals}f}"
