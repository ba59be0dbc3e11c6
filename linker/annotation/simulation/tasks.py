"""Tasks to simulate, out of articles and labelled posts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from linker.annotation.build_pool import build_pool
from linker.annotation.simulation.simulate import Task
from linker.common.errors import DataError
from linker.data.io.labels import parse_label
from linker.data.types import Article, Post
from linker.models.model import Model

TaskSpec = tuple[str, list[Article], list[Post], set[str]]


def linked_tasks(articles: Sequence[Article], posts: Sequence[Post]) -> list[TaskSpec]:
    """A task for each story, or for each article without one: all posts, of which those linked to it are relevant.

    Returns:
        name, seed articles, posts, ids of the relevant ones; only tasks that have some.
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


def labelled_tasks(
    articles: Sequence[Article], posts: Sequence[Post], relevant: str, topic: str | None
) -> list[TaskSpec]:
    """A task for each value of the column `topic`, whose seeds are the articles with that story or id.

    Args:
        articles: the seeds; all of them where there is no column `topic`.
        posts: with the columns in `extra`.
        relevant: the column that says yes or no: 1 and 0, true and false, a grade from 0 up.
        topic: the column that says which task a post belongs to.

    Raises:
        DataError: a column is not there, a value cannot be understood, or a task has no article.
    """
    groups: dict[str, list[Post]] = {}
    for post in posts:
        groups.setdefault(str(_value(post, topic)) if topic else "all posts", []).append(post)
    planned: list[TaskSpec] = []
    for name, own in groups.items():
        seeds = [one for one in articles if topic is None or name in (one.story, one.id)]
        if not seeds:
            raise DataError(
                f"{topic} {name!r}: no article has this as its id or story; add one, or leave these posts out"
            )
        planned.append((name, seeds, own, {post.id for post in own if _is_relevant(post, relevant)}))
    return planned


def build_tasks(planned: Sequence[TaskSpec], model: Model) -> Iterator[Task | str]:
    """The tasks with their pools; the name instead where no post is relevant, or none that is labelled as such."""
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
        there = ", ".join([*post.extra, *known])
        raise DataError(f"post {post.id}: nothing in column {column!r} (there are: {there})")
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
