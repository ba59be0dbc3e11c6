"""Tasks to simulate, from articles and labeled posts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from linker.annotation.build_pool import build_pool, by_id
from linker.annotation.simulation.simulate import Task
from linker.common.console import info
from linker.common.errors import DataError
from linker.data.labels.links import labels_in_posts
from linker.data.labels.post_labels import relevance_of
from linker.data.labels.records import ImportedLabel
from linker.data.types import Article, Post
from linker.models.features.memory_table import EmbeddingCache
from linker.models.model import Model, embedding_submodel

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
    planned: list[TaskSpec] = []
    for name, labels in _labels(posts, rows or posts, relevant, topic).items():
        group = [post for post in posts if post.id in labels]
        seeds = [article for article in articles if topic is None or name in (article.story, article.id)]
        if not seeds:
            raise DataError(
                f"{topic} {name!r}: no article has this as its id or story; add one, or leave these posts out"
            )
        planned.append((name, seeds, group, {post.id for post in group if labels[post.id]}))
    return planned


def build_tasks(planned: Sequence[TaskSpec], model: Model) -> Iterator[Task | str]:
    """Yield the tasks with their pools; for a task without a relevant post, only its name."""
    embeddings, encoder = EmbeddingCache(), embedding_submodel(model)
    if encoder is not None:
        # Tasks often share their posts.
        every = {post.text: post for _, _, posts, relevant in planned if relevant for post in by_id(posts)}
        embeddings.post_vectors(encoder, [*every.values()])
    for name, seeds, posts, relevant in planned:
        if relevant:
            yield Task.of(name, build_pool(seeds, posts, model, embeddings), relevant)
        else:
            yield name


def _labels(
    posts: Sequence[Post], rows: Sequence[Post], column: str, topic: str | None
) -> dict[str, dict[str, bool]]:
    """Return the labels of posts by topic and id; prints what was read.

    Posts without a label are left out of a simulation.
    """
    if not any(column in post.extra for post in rows):
        _value(rows[0], column)

    def topic_of(post: Post) -> str | None:
        labeled = post.extra.get(column) not in (None, "")
        return str(_value(post, topic)) if topic and labeled else None

    read = labels_in_posts(rows, column, topic_of if topic else None)
    by_topic: dict[str, list[ImportedLabel]] = {}
    for label in read.labels:
        by_topic.setdefault(label.article_ids[0] if topic else "all posts", []).append(label)
    articles = {name for label in read.labels for name in label.article_ids}
    if topic is None and len(articles) > 1:
        raise DataError(
            f"{read.shown}: labels of {len(articles):,} articles; add --task article_id, which makes a task of each"
        )
    relevance = {name: relevance_of(labels) for name, labels in by_topic.items()}
    labeled = set().union(*relevance.values())
    left_out = sum(post.id not in labeled for post in posts)
    info(read.summary + (f"; {left_out:,} posts without a label left out" if left_out else ""))
    return {name: dict(labels) for name, labels in relevance.items() if labels}


def _value(post: Post, column: str) -> Any:
    fields = {"article_id": next(iter(post.article_ids), None), "split": post.split} | post.extra
    value = fields.get(column)
    if value is None or value == "":
        columns = ", ".join(dict.fromkeys([*post.extra, "article_id", "split"]))
        raise DataError(f"post {post.id}: no value in column {column!r} (its columns: {columns})")
    return value
