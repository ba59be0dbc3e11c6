"""A training set from the labels of projects."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linker.annotation.formats.label_format import LabeledPost
from linker.annotation.project.project import Project
from linker.annotation.session.session import Session
from linker.common.errors import DataError
from linker.common.files import write_lines

#: Fewer projects have too few articles to distinguish posts by them, and none for a dev set.
FEWEST = 3
_FOLDER = "_training"  # no project's folder begins with _


@dataclass(frozen=True)
class TrainingSet:
    """Files of a training set.

    Attributes:
        folder: holds `articles.jsonl` and `posts.jsonl`.
        projects: number of projects with relevant posts.
        posts: number of labeled posts.
        relevant: number of relevant ones.
    """

    folder: Path
    projects: int
    posts: int
    relevant: int


def write_training_set(root: Path, projects: Iterable[tuple[Project, Session]]) -> TrainingSet:
    """Write the labels of projects as articles and posts for `linker train --data`.

    Relevant posts have the ids of the project's articles, others none; skipped ones are left out. The articles of the
    last project are the dev set.

    Args:
        root: the folder of projects.
        projects: the projects with their sessions.

    Raises:
        DataError: if fewer than `FEWEST` projects have relevant posts.
        LinkerError: if the files cannot be written.
    """
    labeled = [(project, _labeled(session)) for project, session in projects]
    useful = [(project, records) for project, records in labeled if any(_is_relevant(one) for one in records)]
    if len(useful) < FEWEST:
        raise DataError(
            f"a training set needs relevant posts of at least {FEWEST} projects, since training distinguishes "
            f"articles; {len(useful)} of {len(labeled)} have some"
        )
    useful.sort(key=lambda one: one[0].settings.created)
    articles: list[dict[str, Any]] = []
    posts: list[dict[str, Any]] = []
    for project, records in useful:
        split = "dev" if project is useful[-1][0] else "train"
        ids = [f"{project.key}/{article.id}" for article in project.settings.articles]
        articles += [
            {"id": name, "title": article.title, "text": article.text, "story": project.key, "split": split}
            | ({"published": article.published.isoformat()} if article.published else {})
            for name, article in zip(ids, project.settings.articles)
        ]
        posts += [
            {"id": f"{project.key}/{one.post.id}", "text": one.post.text, "split": split}
            | ({"article_ids": ids} if _is_relevant(one) else {})
            | ({"created_at": one.post.created_at.isoformat()} if one.post.created_at else {})
            for one in records
        ]
    folder = root / _FOLDER
    for name, rows in (("articles", articles), ("posts", posts)):
        write_lines(folder / f"{name}.jsonl", (json.dumps(row) + "\n" for row in rows))
    return TrainingSet(folder, len(useful), len(posts), sum("article_ids" in row for row in posts))


def _labeled(session: Session) -> list[LabeledPost]:
    return [one for one in session.labeled(resolved=True) if one.value in ("relevant", "not")]


def _is_relevant(record: LabeledPost) -> bool:
    return record.value == "relevant"
