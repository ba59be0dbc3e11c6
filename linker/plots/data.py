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


def read_scored_pairs(path: str, score: str = "score", answer: str | None = None) -> ScoredPairs:
    """Read scores and labels from a table, such as a ranking of labeled posts or an export of labels.

    Columns and words of labels are those of every command. Rows without a label, skipped ones, and those of machines
    are left out.

    Args:
        path: JSON Lines, CSV, TSV or Parquet.
        score: column of the scores.
        answer: column of the labels; None: find it.

    Raises:
        DataError: if the file cannot be read, a column is missing, or all labels are the same.
    """
    scores: list[float] = []
    relevant: list[bool] = []
    left_out = 0
    with BadLines(skippable=False) as bad_lines:
        file = bad_lines.file(path)
        with open_table(file, {score, answer or "label"}) as table:
            for row in table.rows:
                try:
                    label = None if is_machine(row.values) else _answer(row.values, answer)
                    if label is None:
                        left_out += 1
                        continue
                    scores.append(_number(row.values, score))
                    relevant.append(label)
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


def _answer(values: dict[str, Any], answer: str | None) -> bool | None:
    order = (*known_names.LABELS, *known_names.LOOSE_LABELS)
    found = (
        [name for name in values if name == answer] if answer else [n for n in values if normal(n) in order]
    )
    if not found:
        raise LineError("no label", f"column {answer or 'label'} not found; name it with --label")
    name = min(found, key=lambda name: order.index(normal(name)) if normal(name) in order else 0)
    try:
        label = parse_label(values[name]).value
    except ValueError as error:
        raise LineError("label", f"{error} (column {name!r})") from None
    return None if label in (None, "skip") else label == "relevant"


def _number(values: dict[str, Any], name: str) -> float:
    if name not in values:
        raise LineError("no score", f"column {name} not found; name it with --score")
    try:
        number = float(values[name])
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise LineError("no score", f"{str(values[name])[:40]!r} in {name!r} is not a finite number")
    return number
