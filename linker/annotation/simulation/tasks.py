"""Tasks to simulate, from articles and labeled posts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from linker.annotation.build_pool import build_pool
from linker.annotation.simulation.simulate import Task
from linker.common.console import info
from linker.common.errors import DataError
from linker.data.labels.links import labels_in_posts
from linker.data.labels.post_labels import relevance_of
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
    articles: Sequence[Article],
    posts: Sequence[Post],
    relevant: str,
    topic: str | None,
    rows: Sequence[Post] | None = None,
) -> list[TaskSpec]:
    """Return a task per value of the column `topic`; its seed articles are those with that story or id.

    Args:
        articles: the seed articles.
        posts: the posts; `extra` has the columns.
        relevant: column with the labels, whose words are those of every command.
        topic: column with the task of each post; None: a single task with all articles.
        rows: the posts of all rows of the files, in which posts repeat that several people labeled; None: `posts`.

    Returns:
        Name, seed articles, posts and ids of the relevant posts of each task.

    Raises:
        DataError: if a column is missing, a label is unknown, or a task has no article.
    """
    labels = _labels(posts, rows or posts, relevant)
    labeled = [post for post in posts if post.id in labels]
    groups: dict[str, list[Post]] = {}
    for post in labeled:
        groups.setdefault(str(_value(post, topic)) if topic else "all posts", []).append(post)
    planned: list[TaskSpec] = []
    for name, group in groups.items():
        seeds = [article for article in articles if topic is None or name in (article.story, article.id)]
        if not seeds:
            raise DataError(
                f"{topic} {name!r}: no article has this as its id or story; add one, or leave these posts out"
            )
        planned.append((name, seeds, group, {post.id for post in group if labels[post.id]}))
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


def _labels(posts: Sequence[Post], rows: Sequence[Post], column: str) -> dict[str, bool]:
    """Return the labels of posts by id; prints what was read. Posts without a label are left out of a simulation."""
    if not any(column in post.extra for post in rows):
        _value(rows[0], column)
    found = labels_in_posts(rows, column)
    relevance = relevance_of(found.labels)
    left_out = sum(post.id not in relevance for post in posts)
    info(found.summary + (f"; {left_out:,} posts without a label left out" if left_out else ""))
    return relevance
