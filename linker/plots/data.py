"""Scores with labels, for plots: read from a file, or computed by a model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from linker.common.errors import DataError, LinkerError
from linker.data.files.known_columns import normal
from linker.data.files.line_errors import BadLines, LineError
from linker.data.files.tables import open_table
from linker.data.labels import known_names
from linker.data.labels.table import is_machine
from linker.data.labels.values import parse_label
from linker.data.types import LinkedPosts
from linker.models.model import Model
from linker.models.score_scale import UNSCALED, ScoreScale


@dataclass(frozen=True)
class ScoredPairs:
    """Scores and labels of pairs of article and post.

    Attributes:
        scores: float64, one per pair; raw scores if a model computed them.
        relevant: bool, one per pair.
        left_out: number of pairs that were left out because they have no label.
        scale: the map from these scores to those that users see.
    """

    scores: np.ndarray
    relevant: np.ndarray
    left_out: int = 0
    scale: ScoreScale = UNSCALED


def read_scored_pairs(path: str, score: str = "score", label: str | None = None) -> ScoredPairs:
    """Read scores and labels from a table, such as a ranking of labeled posts or an export of labels.

    Columns and words of labels are those of every command. Rows without a label, skipped ones, and those of machines
    are left out.

    Args:
        path: JSON Lines, CSV, TSV or Parquet.
        score: column of the scores.
        label: column of the labels; None: find it.

    Raises:
        DataError: if the file cannot be read, a column is missing, or all labels are the same.
    """
    scores: list[float] = []
    relevant: list[bool] = []
    left_out = 0
    with BadLines(skippable=False) as bad_lines:
        file = bad_lines.file(path)
        with open_table(file, {score, label or "label"}) as table:
            for row in table.rows:
                try:
                    is_relevant = None if is_machine(row.values) else _label(row.values, label)
                    if is_relevant is None:
                        left_out += 1
                        continue
                    scores.append(_score(row.values, score))
                    relevant.append(is_relevant)
                except LineError as error:
                    file.bad(row.line, error, row.raw)
    return _both_kinds(ScoredPairs(np.array(scores), np.array(relevant, dtype=bool), left_out), path)


def score_pairs(model: Model, linked: LinkedPosts, name: str = "the model") -> ScoredPairs:
    """Score all pairs of articles and posts with a model.

    Args:
        model: the model.
        linked: articles, posts and their links.
        name: name of the model in messages.

    Raises:
        LinkerError: if a score is not finite, or all pairs are relevant or none is.
    """
    scores = model.score(linked.articles, linked.posts).astype(np.float64)
    if not np.isfinite(scores).all():
        raise LinkerError(f"{name}: its scores are not finite numbers; train it again")
    pairs = ScoredPairs(scores.ravel(), linked.relevance().ravel(), scale=model.score_scale())
    return _both_kinds(pairs, "the posts")


def _both_kinds(scored: ScoredPairs, where: str) -> ScoredPairs:
    if not scored.relevant.any() or scored.relevant.all():
        counts = f"{int(scored.relevant.sum())} relevant, {int((~scored.relevant).sum())} others"
        raise DataError(f"{where}: both relevant and other pairs are needed, but there are {counts}")
    return scored


def _label(values: dict[str, Any], column: str | None) -> bool | None:
    if column is None:
        order = (*known_names.LABELS, *known_names.LOOSE_LABELS)
        names = sorted(
            (name for name in values if normal(name) in order), key=lambda n: order.index(normal(n))
        )
        column = names[0] if names else "label"
    if column not in values:
        raise LineError("no label", f"column {column} not found; name it with --label")
    try:
        label = parse_label(values[column]).value
    except ValueError as error:
        raise LineError("label", f"{error} (column {column!r})") from None
    return None if label in (None, "skip") else label == "relevant"


def _score(values: dict[str, Any], column: str) -> float:
    if column not in values:
        raise LineError("no score", f"column {column} not found; name it with --score")
    try:
        score = float(values[column])
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise LineError("no score", f"{str(values[column])[:40]!r} in {column!r} is not a finite number")
    return score
