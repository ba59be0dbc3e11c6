"""Run and qrels files in the format of TREC, which trec_eval, ir-measures, ranx and Pyserini read."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from linker.common.errors import DataError, LinkerError
from linker.common.files import atomic_write
from linker.models.order import rank_posts

_SPACE = re.compile(r"\s")


def write_run(
    path: str | Path, scores: np.ndarray, article_ids: Sequence[str], post_ids: Sequence[str], tag: str
) -> None:
    """Write every article's ranking of all posts, a line each: `article Q0 post rank score tag`.

    Scores are written with the nine digits that tell any two float32 apart, and ranked as trec_eval ranks
    them: reading the file back gives the same order and the same ties.

    Raises:
        LinkerError: an id or the tag is empty or holds white space, which the format cannot hold.
    """
    check_ids(article_ids, post_ids)
    _check("tag", [tag])
    with atomic_write(path) as file:
        for article_id, row in zip(article_ids, np.asarray(scores, dtype=np.float32)):
            for rank, column in enumerate(rank_posts(row[None], post_ids)[0], start=1):
                file.write(f"{article_id} Q0 {post_ids[column]} {rank} {row[column]:.9g} {tag}\n")


def write_qrels(
    path: str | Path, relevance: np.ndarray, article_ids: Sequence[str], post_ids: Sequence[str]
) -> None:
    """Write the relevant pairs, a line each: `article 0 post label`. Pairs that are not there are irrelevant.

    Raises:
        LinkerError: as `write_run`.
    """
    check_ids(article_ids, post_ids)
    with atomic_write(path) as file:
        for row, column in np.argwhere(relevance > 0):
            file.write(f"{article_ids[row]} 0 {post_ids[column]} {int(relevance[row, column])}\n")


def read_run(path: str | Path) -> dict[str, dict[str, float]]:
    """Article id → post id → score.

    Raises:
        DataError: naming the line that is not of the format or repeats a pair.
    """
    run: dict[str, dict[str, float]] = {}
    for where, columns in _lines(path, 6, "article Q0 post rank score tag"):
        score = _number(columns[4], where, "score")
        _add(run, columns[0], columns[2], score, where)
    return run


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Article id → post id → label.

    Raises:
        DataError: as `read_run`; labels are whole numbers.
    """
    qrels: dict[str, dict[str, int]] = {}
    for where, columns in _lines(path, 4, "article 0 post label"):
        label = _number(columns[3], where, "label")
        if not label.is_integer():
            raise DataError(f"{where}: the label {columns[3]!r} is no whole number")
        _add(qrels, columns[0], columns[2], int(label), where)
    return qrels


def check_ids(article_ids: Sequence[str], post_ids: Sequence[str]) -> None:
    """Can the format hold these ids?

    Raises:
        LinkerError: an id is empty or holds white space.
    """
    _check("article", article_ids)
    _check("post", post_ids)


def _check(what: str, ids: Sequence[str]) -> None:
    for id_ in ids:
        if not id_ or _SPACE.search(id_):
            problem = "holds white space" if id_ else "is empty"
            raise LinkerError(
                f"{what} {'id ' if what != 'tag' else ''}{id_!r} {problem}: TREC files separate their "
                "columns by white space; rename it, or write --scores, which hold any id"
            )


def _lines(path: str | Path, count: int, columns: str) -> Iterator[tuple[str, list[str]]]:
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                fields = line.split()
                where = f"{path}, line {number}"
                if len(fields) != count:
                    raise DataError(f"{where}: {len(fields)} columns instead of {count} ({columns})")
                yield where, fields
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text") from error


def _number(text: str, where: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{where}: the {what} {text!r} is no finite number")
    return number


def _add(table: dict[str, dict], article_id: str, post_id: str, value: float, where: str) -> None:
    posts = table.setdefault(article_id, {})
    if post_id in posts:
        raise DataError(f"{where}: post {post_id!r} stands a second time under article {article_id!r}")
    posts[post_id] = value
