"""Errors of models by length of the article."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linker.evaluation.significance import bootstrap_weights, percentile_interval

RESAMPLES = 2000


def quarters(tokens: Sequence[int]) -> list[np.ndarray]:
    """Return the rows of each quarter of the articles by length, shortest first: int64."""
    return np.array_split(np.argsort(np.asarray(tokens), kind="stable"), 4)


def error_rows(found: dict[str, dict[str, np.ndarray]], tokens: Sequence[int]) -> str:
    """Return a table of AP per quarter, and of wrong first posts of the first model.

    Args:
        found: label of a model → metric → its value for each article, NaN for those without posts.
        tokens: number of tokens of each article.
    """
    first, *_ = found
    with_posts = np.flatnonzero(~np.isnan(found[first]["MAP"]))
    lengths = np.asarray(tokens)[with_posts]
    header = [f"{first}: first post wrong", *(f"{label}: AP" for label in found)]
    lines = ["| tokens | articles | " + " | ".join(header) + " |", "|---" * (len(header) + 2) + "|"]
    for rows in quarters(lengths.tolist()):
        weights = bootstrap_weights(len(rows), RESAMPLES)
        cells = [f"{100 * (1 - found[first]['P@1'][with_posts][rows].mean()):.0f} %"]
        for own in found.values():
            precision = own["MAP"][with_posts][rows]
            low, high = percentile_interval(weights @ precision / len(rows))
            cells.append(f"{100 * precision.mean():.1f} [{100 * low:.1f}, {100 * high:.1f}]")
        lines.append(
            f"| {lengths[rows].min()}–{lengths[rows].max()} | {len(rows)} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)
