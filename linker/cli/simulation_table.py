"""The results of simulations as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from linker.annotation.simulation import Task
    from linker.annotation.studies import Plan, Study

_WIDE, _FEW = 200, 20


def print_study(study: Study, tasks: Sequence[Task], plan: Plan) -> None:
    """Print what each strategy and rule cost and found."""
    from linker.annotation.study_summary import summary

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
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
            "–" if labels is None else f"{labels:,.0f}",
            _percent(values["precision_of_first"]),
        )
    console.print(table)
    if 1 < len(tasks) <= _FEW:
        console.print(_by_task(study, tasks, plan))
    if means["rules"]:
        console.print(_rules(means["rules"]))


def _note(tasks: Sequence[Task], plan: Plan) -> Text:
    posts, distinct = sum(task.posts for task in tasks), sum(len(task.pool) for task in tasks)
    relevant, other = sum(task.total for task in tasks), sum(task.disagreeing for task in tasks)
    told = (
        f"{len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}, {posts:,} posts ({distinct:,} distinct), "
        f"{relevant:,} relevant; {other:,} of {posts - distinct:,} copies are labelled otherwise than what they copy; "
        f"{plan.seeds} {'run' if plan.seeds == 1 else 'runs'} of each. Labels in percent of the distinct posts; "
        "–: not reached in every run."
    )
    return Text(told)


def _by_task(study: Study, tasks: Sequence[Task], plan: Plan) -> Table:
    from linker.annotation.study_summary import share_of_labels

    table = _table("labels to 95% recall", *plan.strategies)
    for task in tasks:
        own = [one for one in study.outcomes if one.task == task.name]
        table.add_row(
            Text(task.name),
            *(
                _percent(share_of_labels([one for one in own if one.strategy == name], 0.95))
                for name in plan.strategies
            ),
        )
    return table


def _rules(rules: Sequence[dict]) -> Table:
    table = _table("rule", "strategy", "labels", "drawn", "recall", "lowest", "failed", "never stopped")
    for one in rules:
        table.add_row(
            Text(one["rule"]),
            Text(one["strategy"]),
            *(
                _percent(one[key])
                for key in ("labels_share", "drawn_share", "recall", "lowest_recall", "failure_rate")
            ),
            f"{one['never_stopped']} of {one['runs']}",
        )
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(Text(first))
    for name in others:
        table.add_column(Text(name), justify="right", no_wrap=True)
    return table


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"
