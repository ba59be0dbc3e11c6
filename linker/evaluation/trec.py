"""Runs, qrels and score matrices: files that other evaluation tools read."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TypeAlias

import numpy as np

from linker.common.errors import LinkerError
from linker.common.files import atomic_write
from linker.models.order import rank_posts
from linker.models.score_scale import UNSCALED, ScoreScale

_SPACE = re.compile(r"\s")
#: Rank and id of a post, whether its score may be that of the post before, and the score.
RunRow: TypeAlias = tuple[int, str, bool, float]


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
            ties, ids = np.append(False, raw[1:] == raw[:-1]), (post_ids[column] for column in order)
            file.writelines(run_lines(article_id, zip(count(1), ids, ties, scale(raw)), tag))


def run_lines(query: str, rows: Iterable[RunRow], tag: str) -> Iterator[str]:
    """Yield the lines of a TREC run: `query Q0 post rank score tag`.

    Scores are float32, which tools compare runs in, and each is below the one before unless both may tie.
    """
    before = np.float32(np.inf)
    for rank, post_id, may_tie, score in rows:
        before = min(np.float32(score), before if may_tie else np.nextafter(before, np.float32(-np.inf)))
        yield f"{query} Q0 {post_id} {rank} {before:.9g} {tag}\n"


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
