"""Runs, qrels and score matrices: files that other evaluation tools read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from linker.common.errors import DataError, LinkerError
from linker.common.files import atomic_write
from linker.data.files.streams import open_bytes
from linker.models.order import rank_posts
from linker.models.score_scale import UNSCALED, ScoreScale, run_score

_Number = TypeVar("_Number", int, float)
_SPACE = re.compile(r"\s")


def write_run(
    path: str | Path,
    scores: np.ndarray,
    article_ids: Sequence[str],
    post_ids: Sequence[str],
    tag: str,
    scale: ScoreScale = UNSCALED,
) -> None:
    """Write the ranking of all posts for every article as a TREC run: `article Q0 post rank score tag`.

    Scores have nine digits, which distinguish any two float32, and are ranked as trec_eval ranks them: other tools see
    the same order and the same ties.

    Args:
        path: the file.
        scores: raw scores, articles × posts.
        article_ids: ids of the rows.
        post_ids: ids of the columns.
        tag: name of the run.
        scale: the map from raw scores to those of the file.

    Raises:
        LinkerError: if an id or the tag is empty or contains white space.
    """
    check_ids(article_ids, post_ids)
    _check("tag", [tag])
    with atomic_write(path) as file:
        for article_id, row in zip(article_ids, np.asarray(scores, dtype=np.float32)):
            order = rank_posts(row[None], post_ids)[0]
            raw = row[order]
            ties, score_text = np.append(False, raw[1:] == raw[:-1]), np.float32(np.inf)
            for rank, (column, score, tied) in enumerate(zip(order, scale(raw), ties), start=1):
                score_text = run_score(score, score_text, tied)
                file.write(f"{article_id} Q0 {post_ids[column]} {rank} {score_text:.9g} {tag}\n")


def write_qrels(
    path: str | Path, relevance: np.ndarray, article_ids: Sequence[str], post_ids: Sequence[str]
) -> None:
    """Write the relevant pairs as TREC qrels: `article 0 post label`. Pairs that are not listed are irrelevant.

    Raises:
        LinkerError: as `write_run`.
    """
    check_ids(article_ids, post_ids)
    with atomic_write(path) as file:
        for row, column in np.argwhere(relevance > 0):
            file.write(f"{article_ids[row]} 0 {post_ids[column]} {int(relevance[row, column])}\n")


def read_run(path: str | Path) -> dict[str, dict[str, float]]:
    """Read a TREC run: lines of `article Q0 post rank score tag`, of which trec_eval reads article, post and score.

    Args:
        path: the file.

    Returns:
        Article id → post id → score, in the order of the file. `ir_measures` takes it as a run.

    Raises:
        DataError: if the file cannot be read, a line has other columns or a score that is not a number, or a post is
            there twice for an article.
    """
    return _read(path, 6, "article Q0 post rank score tag", 4, _finite)


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Read TREC qrels: lines of `article 0 post label`, where labels above 0 mean relevant.

    Args:
        path: the file.

    Returns:
        Article id → post id → label, in the order of the file. `ir_measures` takes it as qrels.

    Raises:
        DataError: as `read_run`; labels are whole numbers.
    """
    return _read(path, 4, "article 0 post label", 3, int)


def _read(
    path: str | Path, width: int, columns: str, place: int, number: Callable[[str], _Number]
) -> dict[str, dict[str, _Number]]:
    values: dict[str, dict[str, _Number]] = {}
    with open_bytes(str(path)) as lines:
        for count, line in enumerate(lines, 1):
            where = f"{path}, line {count}"
            try:
                fields = line.decode("utf-8").split()
            except UnicodeDecodeError as error:
                raise DataError(f"{where}: not UTF-8; save the file as UTF-8") from error
            if not fields:
                continue
            if len(fields) != width:
                raise DataError(f"{where}: {len(fields)} columns in place of {width}; expected {columns!r}")
            article, post = fields[0], fields[2]
            try:
                value = number(fields[place])
            except ValueError as error:
                raise DataError(
                    f"{where}: {fields[place][:60]!r} is not a number; expected {columns!r}"
                ) from error
            if post in values.setdefault(article, {}):
                raise DataError(
                    f"{where}: post {post!r} is there twice for {article!r}; remove one of the lines"
                )
            values[article][post] = value
    if not values:
        raise DataError(f"{path}: no lines; expected {columns!r}")
    return values


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(text)
    return value


def write_scores(
    path: str | Path, scores: np.ndarray, article_ids: Sequence[str], post_ids: Sequence[str]
) -> None:
    """Write `scores` (float64, articles × posts), `article_ids` and `post_ids` as .npz, without pickles."""
    with atomic_write(path, "wb") as file:
        np.savez_compressed(
            file,
            scores=np.asarray(scores, dtype=np.float64),
            article_ids=np.array(article_ids, dtype=np.str_),
            post_ids=np.array(post_ids, dtype=np.str_),
        )


def check_ids(article_ids: Sequence[str], post_ids: Sequence[str]) -> None:
    """Check that TREC files can contain these ids.

    Raises:
        LinkerError: if an id is empty or contains white space.
    """
    _check("article", article_ids)
    _check("post", post_ids)


def _check(kind: str, ids: Sequence[str]) -> None:
    for id_ in ids:
        if not id_ or _SPACE.search(id_):
            problem = "contains white space" if id_ else "is empty"
            raise LinkerError(
                f"{kind} {'id ' if kind != 'tag' else ''}{id_!r} {problem}: TREC files separate their "
                "columns by white space; rename it, or write --scores, which allow any id"
            )
