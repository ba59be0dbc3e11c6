"""Means of simulations."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean
from typing import Any

from linker.annotation.outcomes import RECALLS, Outcome, Stop
from linker.annotation.studies import Study


def summary(study: Study) -> dict[str, Any]:
    """Means over seeds, then over tasks, of each strategy, and of each rule with each strategy."""
    strategies = dict.fromkeys(outcome.strategy for outcome in study.outcomes)
    pairs = dict.fromkeys((stop.strategy, stop.rule) for stop in study.stops)
    return {
        "strategies": {
            name: _of_outcomes([one for one in study.outcomes if one.strategy == name]) for name in strategies
        },
        "rules": [
            {
                "strategy": strategy,
                "rule": rule,
                **_of_stops([one for one in study.stops if (one.strategy, one.rule) == (strategy, rule)]),
            }
            for strategy, rule in pairs
        ],
    }


def share_of_labels(outcomes: Iterable[Outcome], recall: float) -> float | None:
    """Labels to this recall as a share of the distinct posts, the mean; None if one run never gets there."""
    return _mean(
        None if (labels := one.labels_to[recall]) is None else labels / one.pool_size for one in outcomes
    )


def _of_outcomes(outcomes: list[Outcome]) -> dict[str, Any]:
    return {
        "labels_share": {f"{recall:.0%}": share_of_labels(outcomes, recall) for recall in RECALLS},
        "never_95%": sum(one.labels_to[0.95] is None for one in outcomes),
        "work_saved_95%": _mean(one.work_saved for one in outcomes),
        "labels_to_first": _mean(one.labels_to_first for one in outcomes),
        "precision_of_first": fmean(one.precision_of_first for one in outcomes),
    }


def _of_stops(stops: list[Stop]) -> dict[str, Any]:
    recalls = sorted(stop.recall for stop in stops)
    return {
        "runs": len(stops),
        "labels_share": fmean(stop.labels / stop.pool_size for stop in stops),
        "drawn_share": fmean(stop.drawn / stop.pool_size for stop in stops),
        "recall": fmean(recalls),
        "lowest_recall": recalls[0],
        "failure_rate": fmean(stop.failed for stop in stops),
        "never_stopped": sum(not stop.stopped for stop in stops),
    }


def _mean(values: Iterable[float | int | None]) -> float | None:
    """The mean; None if a value is missing, as a mean of the others would flatter."""
    known = list(values)
    return None if None in known else fmean(value for value in known if value is not None)
