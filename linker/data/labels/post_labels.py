"""The labels of a file, and what they say of the posts of one query."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from linker.common.console import warn
from linker.common.errors import DataError
from linker.data.files.line_errors import counted
from linker.data.identity import content_id
from linker.data.labels.matching import Matches, match_labels
from linker.data.labels.records import ImportedLabel, SampledLabels, is_tie, latest, verdict, votes_by_post
from linker.data.labels.sampling import with_sample
from linker.data.types import Article, Post

#: Ids of articles that were quoted, read from standard input, or came from Python without one.
_UNNAMED = frozenset(("text", "stdin", "article-1"))


@dataclass(frozen=True)
class LabelFile:
    """The labels of a file, or from Python.

    Attributes:
        shown: name of the file in messages.
        labels: the labels in its order, with skipped posts and those of machines.
        records: number of records with the id or text of a post.
        without: number of records without a label.
        notes: what was guessed or converted, for the user.
    """

    shown: str
    labels: Sequence[ImportedLabel]
    records: int = 0
    without: int = 0
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What was read, in one line: `labels.csv: 42 labels of 40 posts (12 relevant, 28 not), 2 unsure left out`."""
        labels, others, ties = _counts(self.labels, self.without)
        parts = [labels + (f", {others} left out" if others else "")]
        if ties:
            parts.append(f"{counted(ties, 'tie')} counted as relevant")
        return f"{self.shown}: {'; '.join([*parts, *self.notes])}"

    @property
    def counts(self) -> str:
        """What the file has, in one line: `42 labels of 40 posts (12 relevant, 28 not), 2 unsure or skipped`."""
        labels, others, _ = _counts(self.labels, self.without)
        return labels + (f", {others}" if others else "")

    def by(self, annotator: str | None = None) -> LabelFile:
        """Return the last label that each annotator gave a post; a note counts those before.

        Args:
            annotator: annotator of labels for which the file names none; None: each may be of another.
        """
        named = [
            label if label.annotator is not None else replace(label, annotator=annotator)
            for label in self.labels
        ]
        found = latest(named)
        before = len(named) - len(found)
        note = (f"{counted(before, 'earlier label')} of the same annotator and post left out",)
        return replace(self, labels=found, notes=self.notes + note * bool(before))

    def of_articles(self, articles: Sequence[Article]) -> LabelFile:
        """Return the labels of a query; labels that name no article belong to all. A warning counts the others.

        Raises:
            DataError: if all labels are of other articles. Articles without a name of their own may be any: then a
                warning says of which the labels are.
        """
        names = {name for article in articles for name in (article.id, article.url) if name}
        if len(articles) > 1:
            names.add(name_of_query(articles))
        labels, shown = self.labels, self.shown
        of_query = [
            label for label in labels if not label.article_ids or names.intersection(label.article_ids)
        ]
        if len(of_query) == len(labels):
            return self
        others = list(
            dict.fromkeys(name for label in labels for name in label.article_ids if name not in names)
        )
        listed = ", ".join(map(repr, others[:3])) + (", …" if len(others) > 3 else "")
        ours = ", ".join(map(repr, sorted(names)[:3]))
        if of_query:
            warn(
                f"{shown}: {len(labels) - len(of_query):,} labels are of other articles ({listed}) and left out"
            )
            return replace(self, labels=of_query)
        if len(others) > 1 or not _UNNAMED & {*others, *names}:
            raise DataError(
                f"{shown}: all {len(labels):,} labels are of other articles ({listed}), not of {ours}; give labels of "
                f"this article, with {ours} in the column article_id or without this column"
            )
        warn(
            f"{shown}: the labels are of the article {listed}, read as labels of {ours}; check that it is the same"
        )
        return self

    def among(self, posts: Sequence[Post]) -> SampledLabels:
        """Return whether posts are relevant, by id: adjudicated labels, else the majority, ties being relevant.

        Raises:
            DataError: if no label belongs to a post.
        """
        return self._resolved(match_labels(posts, self.counted))

    @property
    def ids(self) -> list[str]:
        """The ids that labeled posts may have: those of the labels, and those that posts without one have."""
        return list(dict.fromkeys(name for label in self.counted for name in _ids(label)))

    def among_ids(self, present: Collection[str]) -> SampledLabels:
        """Return whether posts are relevant, by id, as `among`, for posts of which only the ids are known.

        Args:
            present: those of `ids` that posts have.

        Raises:
            DataError: if no label belongs to a post.
        """
        post_ids = [next((name for name in _ids(label) if name in present), None) for label in self.counted]
        by_content = sum(
            name not in (None, label.post_id) for label, name in zip(self.counted, post_ids, strict=True)
        )
        return self._resolved(Matches(self.counted, post_ids, by_content, 0))

    @property
    def counted(self) -> list[ImportedLabel]:
        """The labels that count: of people, and not skipped."""
        return [label for label in self.labels if label.value != "skip" and not label.machine]

    def _resolved(self, matches: Matches) -> SampledLabels:
        matches.report(self.shown)
        pairs = zip(self.counted, matches.post_ids, strict=True)
        listed = len({next(_ids(label)) for label in self.labels if not label.machine}) + self.without
        return relevance_of(
            [replace(label, post_id=post_id) for label, post_id in pairs if post_id is not None],
            listed if self.without else None,
        )


def _ids(label: ImportedLabel) -> Iterator[str]:
    if label.post_id:
        yield label.post_id
    if label.text:
        yield content_id(label.platform, label.author, label.created_at, label.text)


def relevance_of(labels: Sequence[ImportedLabel], posts: int | None = None) -> SampledLabels:
    """Return whether posts are relevant, by id, and how they were drawn; skips and labels of machines are ignored.

    Args:
        labels: labels with ids or texts of posts.
        posts: number of posts that the labels were chosen from; None: not known.
    """
    relevance = {post: verdict(votes) for post, votes in votes_by_post(labels).items()}
    return with_sample(relevance, labels, posts)


def name_of_query(articles: Sequence[Article]) -> str:
    """Return the name of some articles as one query."""
    return articles[0].id if len(articles) == 1 else f"{articles[0].id}+{len(articles) - 1}"


def _counts(labels: Sequence[ImportedLabel], without: int) -> tuple[str, str, int]:
    """Return how many labels count and of which posts, how many do not count and why, and the number of ties."""
    people = [label for label in labels if not label.machine]
    by_articles: dict[tuple[str, ...], list[ImportedLabel]] = {}
    for label in people:
        by_articles.setdefault(label.article_ids, []).append(label)
    votes = [these for group in by_articles.values() for these in votes_by_post(group).values()]
    posts, skipped = len(votes_by_post(people)), sum(label.value == "skip" for label in people)
    judged = counted(posts, "post")
    if len(votes) > posts:  # posts are judged for several articles
        judged = f"{len(votes):,} pairs of {judged} and {len(by_articles):,} articles"
    relevant = sum(map(verdict, votes))
    others = (
        (skipped, "unsure or skipped"),
        (without, "without a label"),
        (len(labels) - len(people), "of machines"),
    )
    return (
        f"{counted(len(people) - skipped, 'label')} of {judged} ({relevant:,} relevant, {len(votes) - relevant:,} not)",
        ", ".join(f"{count:,} {name}" for count, name in others if count),
        sum(map(is_tie, votes)),
    )
