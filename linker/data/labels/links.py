"""Links between posts and articles that labels decide: relevant ones are links, others are not."""

from collections.abc import Sequence
from dataclasses import replace

from linker.common.console import info
from linker.common.errors import DataError
from linker.data.files.known_columns import normal
from linker.data.files.line_errors import LineError
from linker.data.files.rows import Row
from linker.data.labels import known_names
from linker.data.labels.collector import Collector
from linker.data.labels.matching import match_labels
from linker.data.labels.post_labels import LabelFile, name_of_query, relevance_of
from linker.data.labels.records import ImportedLabel
from linker.data.labels.table import TableReader
from linker.data.types import Article, Post


class RowLabels:
    """Labels in files of posts. Where a file has them, its articles' ids say which article a label is about.

    Args:
        shown: name of the files in messages.
    """

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self._rows: list[Row] = []

    def __len__(self) -> int:
        return len(self._rows)

    def take(self, post: Post) -> Post:
        """Remember the label of a post; return the post, without links if it has a column of labels."""
        if not any(normal(name) in known_names.LABELS for name in post.extra):
            return post
        self._rows.append(_row(post, len(self._rows) + 1))
        return replace(post, article_ids=())

    def linked(self, posts: Sequence[Post], articles: Sequence[Article]) -> list[Post]:
        """Return the posts with the links that the labels give, see `linked_by`."""
        return linked_by(_labels_in(self._rows, self.shown), posts, articles) if self._rows else list(posts)


def _row(post: Post, number: int) -> Row:
    line = post.source.rpartition(":")[2]
    about = {"post_id": post.id, "article_ids": list(post.article_ids), "text": post.text}
    return Row(int(line) if line.isdecimal() else number, {**post.extra, **about}, "")


def _labels_in(rows: Sequence[Row], shown: str) -> LabelFile:
    def refuse(line: int, error: LineError, raw: str) -> None:
        raise DataError(f"{shown}, line {line}: {error}") from error

    collector = Collector(shown)
    collector.read(rows, TableReader(rows, None, False, collector, loose=False), refuse)
    return collector.result()


def linked_by(label_file: LabelFile, posts: Sequence[Post], articles: Sequence[Article]) -> list[Post]:
    """Return the posts with the links that labels give, and their links to articles before that; prints what was read.

    A post is linked to an article if its adjudicated label, else the majority, says relevant; ties are relevant.

    Raises:
        DataError: if no label belongs to a post, or a relevant post names none of several articles.
    """
    counted = replace(label_file, labels=label_file.counted).of_articles(articles).labels
    matches = match_labels(posts, counted)
    matches.report(label_file.shown)
    by_article: dict[str, list[ImportedLabel]] = {}
    nowhere = 0
    for label, post_id in zip(counted, matches.post_ids, strict=True):
        if post_id is not None:
            names = label.article_ids
            of_all = len(articles) == 1 or name_of_query(articles) in names
            about = [a.id for a in articles if of_all or {a.id, a.url}.intersection(names)]
            nowhere += not about
            for article_id in about:
                by_article.setdefault(article_id, []).append(replace(label, post_id=post_id))
    if nowhere:
        raise DataError(
            f"{label_file.shown}: {nowhere:,} labels name none of the {len(articles):,} articles; "
            "add a column article_id"
        )
    judged = {(article_id, post.id) for post in posts for article_id in post.article_ids}
    links: dict[str, list[str]] = {}
    for article_id, labels in by_article.items():
        for post_id, is_relevant in relevance_of(labels).items():
            judged.add((article_id, post_id))
            if is_relevant:
                links.setdefault(post_id, []).append(article_id)
    unjudged = len(articles) * len(posts) - len(judged)
    pairs = "posts" if len(articles) == 1 else "pairs of an article and a post"
    info(f"{label_file.summary}; {unjudged:,} {pairs} without a label count as not relevant")
    return [
        replace(post, article_ids=tuple(dict.fromkeys([*post.article_ids, *links[post.id]])))
        if post.id in links
        else post
        for post in posts
    ]
