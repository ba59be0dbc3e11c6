"""Tasks to simulate, from articles and labeled posts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from linker.annotation.build_pool import build_pool
from linker.annotation.simulation.simulate import Task
from linker.common.errors import DataError
from linker.data.labels.values import parse_label
from linker.data.types import Article, Post
from linker.models.model import Model

TaskSpec = tuple[str, list[Article], list[Post], set[str]]


def linked_tasks(articles: Sequence[Article], posts: Sequence[Post]) -> list[TaskSpec]:
    """Return a task per story, or per article without one, in which the linked posts are relevant.

    Args:
        articles: the articles.
        posts: the posts of every task.

    Returns:
        Name, seed articles, posts and ids of the relevant posts of each task that has relevant posts.

    Raises:
        DataError: if no post is linked to an article.
    """
    groups: dict[str, list[Article]] = {}
    for article in articles:
        groups.setdefault(article.story or article.id, []).append(article)
    linked: dict[str, set[str]] = {}
    for post in posts:
        for article_id in post.article_ids:
            linked.setdefault(article_id, set()).add(post.id)
    planned = []
    for name, seeds in groups.items():
        relevant = set().union(*(linked.get(article.id, ()) for article in seeds))
        if relevant:
            planned.append((name, seeds, list(posts), relevant))
    if not planned:
        raise DataError(
            "no post is linked to an article; name the column that says which are relevant with --relevant"
        )
    return planned


def labeled_tasks(
    articles: Sequence[Article], posts: Sequence[Post], relevant: str, topic: str | None
) -> list[TaskSpec]:
    """Return a task per value of the column `topic`; its seed articles are those with that story or id.

    Args:
        articles: the seed articles.
        posts: the posts; `extra` has the columns.
        relevant: column with the label of each post: 1 or 0, true or false, or a grade from 0.
        topic: column with the task of each post; None: a single task with all articles.

    Returns:
        Name, seed articles, posts and ids of the relevant posts of each task.

    Raises:
        DataError: if a column is missing, a label is unknown, or a task has no article.
    """
    groups: dict[str, list[Post]] = {}
    for post in posts:
        groups.setdefault(str(_value(post, topic)) if topic else "all posts", []).append(post)
    planned: list[TaskSpec] = []
    for name, group in groups.items():
        seeds = [article for article in articles if topic is None or name in (article.story, article.id)]
        if not seeds:
            raise DataError(
                f"{topic} {name!r}: no article has this as its id or story; add one, or leave these posts out"
            )
        planned.append((name, seeds, group, {post.id for post in group if _is_relevant(post, relevant)}))
    return planned


def build_tasks(planned: Sequence[TaskSpec], model: Model) -> Iterator[Task | str]:
    """Yield the tasks with their pools; for a task without a relevant post, only its name."""
    for name, seeds, posts, relevant in planned:
        if relevant:
            yield Task.of(name, build_pool(seeds, posts, model), relevant)
        else:
            yield name


def _value(post: Post, column: str) -> Any:
    known: Mapping[str, Callable[[], Any]] = {
        "article_id": lambda: post.article_ids[0] if post.article_ids else None,
        "split": lambda: post.split,
    }
    value = post.extra.get(column) if column in post.extra else known.get(column, lambda: None)()
    if value is None or value == "":
        columns = ", ".join([*post.extra, *known])
        raise DataError(f"post {post.id}: no value in column {column!r} (its columns: {columns})")
    return value


def _is_relevant(post: Post, column: str) -> bool:
    value = _value(post, column)
    try:
        label = parse_label(value, grades=True)
    except ValueError as error:
        raise DataError(f"post {post.id}, column {column!r}: {error}") from None
    if label in (None, "skip"):
        raise DataError(
            f"post {post.id}, column {column!r}: {value!r} is not a label for a simulation; leave the post out"
        )
    return label == "relevant"
