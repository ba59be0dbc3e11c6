"""Agreement of scores with graded or labeled pairs of texts (PIT-2015, TURL, STS benchmark)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import pearsonr, spearmanr

from linker.common.errors import DataError, LinkerError
from linker.data.files.line_errors import BadLines, LineError, OnError
from linker.data.files.tables import open_table
from linker.data.io.fields import is_missing
from linker.data.types import Article, Post
from linker.evaluation.metrics.pairwise import average_precision, best_f1
from linker.models.model import Model

SIMILARITY_METRICS = ("Pearson", "Spearman", "AP", "best F1")


@dataclass(frozen=True)
class PairColumns:
    """The columns of a file of pairs: both texts, and a grade, a label, or both."""

    text1: str = "text1"
    text2: str = "text2"
    grade: str | None = None
    label: str | None = None


@dataclass(frozen=True)
class GradedPairs:
    """Pairs of texts with grades and labels.

    Attributes:
        texts: both texts of each pair.
        grades: float, of any scale, more is more alike; NaN where there is none.
        labels: float, 1 alike or 0 not; NaN for pairs that people could not agree on.
    """

    texts: list[tuple[str, str]]
    grades: np.ndarray
    labels: np.ndarray

    @property
    def size(self) -> str:
        """How many there are, for people."""
        graded, labeled = (int((~np.isnan(values)).sum()) for values in (self.grades, self.labels))
        return f"{len(self.texts):,} pairs, {graded:,} graded, {labeled:,} labeled"


def read_pairs(path: str | Path, columns: PairColumns, on_error: OnError = "strict") -> GradedPairs:
    """Read a file of pairs: TSV, CSV, JSON lines or Parquet, packed or not.

    An empty grade or label is none; a pair may have neither. `on_error` is about bad lines, as of the reader
    `articles_and_posts`.

    Raises:
        DataError: if the file cannot be read, a column or text is missing, a grade is not a number, or a label
            neither 0 nor 1.
    """
    texts: list[tuple[str, str]] = []
    grades, labels = [], []
    names = [name for name in vars(columns).values() if name is not None]
    with BadLines(on_error) as bad_lines:
        file = bad_lines.file(str(path))
        with open_table(file, set(names)) as table:
            missing = [name for name in names if table.columns is not None and name not in table.columns]
            if missing:
                raise DataError(
                    f'{path}: column "{missing[0]}" not found; the columns are {", ".join(table.columns or [])}'
                )
            for row in table.rows:
                try:
                    texts.append((_text(row.values, columns.text1), _text(row.values, columns.text2)))
                    grades.append(_number(row.values, columns.grade))
                    labels.append(_label(row.values, columns.label))
                except LineError as error:
                    file.bad(row.line, error, row.raw)
    if not texts:
        raise DataError(f"{path}: no pairs in this file")
    return GradedPairs(texts, np.array(grades), np.array(labels))


def similarity_figures(model: Model, pairs: GradedPairs) -> dict[str, float]:
    """Measure how a model's scores agree with the grades (Pearson, Spearman) and labels (AP, best F1).

    The threshold of best F1 is chosen on the same pairs, as in the papers. AP and F1 are of the pairs labeled 1.

    Returns:
        Values by the names of `SIMILARITY_METRICS`; without grades no correlations, without labels no AP and F1.

    Raises:
        LinkerError: if a score is not finite.
    """
    articles = [Article(str(number), first) for number, (first, _) in enumerate(pairs.texts)]
    posts = [Post(str(number), second) for number, (_, second) in enumerate(pairs.texts)]
    return agreement(model.score_pairs(*_one_id_a_text(articles, posts)), pairs.grades, pairs.labels)


def agreement(scores: np.ndarray, grades: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Measure the agreement of given scores: all arguments float, one value per pair."""
    if not np.isfinite(scores).all():
        bad = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise LinkerError(f"the score of pair {bad + 1} is {scores[bad]}")
    figures = {}
    scores = scores.astype(np.float64)
    graded = ~np.isnan(grades)
    if graded.any():
        if np.ptp(grades[graded]) == 0 or np.ptp(scores[graded]) == 0:
            raise LinkerError("all grades or all scores are the same: there is nothing to correlate")
        figures["Pearson"] = float(pearsonr(scores[graded], grades[graded]).statistic)
        figures["Spearman"] = float(spearmanr(scores[graded], grades[graded]).statistic)
    labeled = ~np.isnan(labels)
    if labeled.any():
        same, of_labeled = labels[labeled] == 1, scores[labeled]
        if same.all() or not same.any():
            raise LinkerError("all labels are the same: there is nothing to measure")
        figures["AP"] = average_precision(of_labeled, same)
        figures["best F1"] = best_f1(of_labeled, same)
    return figures


def _one_id_a_text(articles: Sequence[Article], posts: Sequence[Post]) -> tuple[list[Article], list[Post]]:
    """Give equal texts equal ids, so that each is encoded once."""
    first = {article.text: article for article in reversed(articles)}
    second = {post.text: post for post in reversed(posts)}
    return [first[article.text] for article in articles], [second[post.text] for post in posts]


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    if is_missing(value) or not isinstance(value, str):
        raise LineError("no text", f'nothing in "{name}"')
    return value


def _number(values: dict[str, Any], name: str | None) -> float:
    value = values.get(name) if name else None
    if is_missing(value):
        return float("nan")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        raise LineError("no number", f'{value!r} in "{name}"')
    return number


def _label(values: dict[str, Any], name: str | None) -> float:
    number = _number(values, name)
    if number not in (0, 1) and not np.isnan(number):
        raise LineError("no label", f'{values[name]!r} in "{name}"; labels are 0, 1 or empty')  # type: ignore[index]
    return number
