"""Labels for the posts of one query: of its articles, matched with the posts, one per post."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from linker.common.console import warn
from linker.common.errors import DataError
from linker.data.identity import content_id
from linker.data.labels.matching import Matches, match_labels
from linker.data.labels.records import ImportedLabel, verdict, votes_by_post
from linker.data.labels.sampled_labels import SampledLabels
from linker.data.types import Article, Post


@dataclass(frozen=True)
class PostLabels:
    """Labels from a file or Python, not matched with posts yet.

    Attributes:
        records: the labels.
        shown: name of the file in messages.
    """

    records: Sequence[ImportedLabel]
    shown: str = "labels"

    def of_articles(self, articles: Sequence[Article]) -> PostLabels:
        """Return the labels of a query; a warning counts those of other articles.

        Raises:
            DataError: if all labels are of other articles.
        """
        records = labels_of_articles(self.records, article_names(articles), self.shown)
        return self if len(records) == len(self.records) else replace(self, records=records)

    def among(self, posts: Sequence[Post]) -> SampledLabels:
        """Return whether posts are relevant, by id: adjudicated labels, else the majority, ties being relevant.

        Raises:
            DataError: if no label belongs to a post.
        """
        return self._resolved(match_labels(posts, self._counted))

    @property
    def ids(self) -> list[str]:
        """The ids that labeled posts may have: those of the labels, and those that posts without one have."""
        return list(dict.fromkeys(name for label in self._counted for name in _ids(label)))

    def among_ids(self, present: Collection[str]) -> SampledLabels:
        """Return whether posts are relevant, by id, as `among`, for posts of which only the ids are known.

        Args:
            present: those of `ids` that posts have.

        Raises:
            DataError: if no label belongs to a post.
        """
        found = [next((name for name in _ids(label) if name in present), None) for label in self._counted]
        by_content = sum(
            name not in (None, label.post_id) for label, name in zip(self._counted, found, strict=True)
        )
        return self._resolved(Matches(self._counted, found, by_content, 0))

    @property
    def _counted(self) -> list[ImportedLabel]:
        return [label for label in self.records if label.value != "skip" and not label.machine]

    def _resolved(self, matches: Matches) -> SampledLabels:
        matches.report(self.shown)
        pairs = zip(self._counted, matches.post_ids, strict=True)
        return relevance_of(
            replace(label, post_id=post_id) for label, post_id in pairs if post_id is not None
        )


def _ids(label: ImportedLabel) -> Iterator[str]:
    if label.post_id:
        yield label.post_id
    if label.text:
        yield content_id(label.platform, label.author, label.created_at, label.text)


def relevance_of(labels: Iterable[ImportedLabel]) -> SampledLabels:
    """Return whether posts are relevant, by id; skips and labels of machines are ignored."""
    votes_of = votes_by_post(labels)
    relevance = {post: verdict(votes) for post, votes in votes_of.items()}
    drawn = [post for post, votes in votes_of.items() if any(is_random(label) for label in votes)]
    return SampledLabels(relevance, drawn)


def is_random(label: ImportedLabel) -> bool:
    """Return whether a file says that the post was drawn at random."""
    return (label.sample or "").strip().casefold() == "random"


def article_names(articles: Sequence[Article]) -> set[str]:
    """Return the names that labels may give the articles of a query: ids, addresses, and that of all together."""
    names = {article.id for article in articles} | {article.url for article in articles if article.url}
    if len(articles) > 1:
        names.add(f"{articles[0].id}+{len(articles) - 1}")
    return names


def labels_of_articles(
    labels: Sequence[ImportedLabel], names: Collection[str], shown: str
) -> list[ImportedLabel]:
    """Return the labels of some articles; labels that name no article belong to all. A warning counts the others.

    The id of an article may depend on where it was read. A file of labels of a single article is therefore taken to be
    of this one, with a warning.

    Raises:
        DataError: if the labels are of several articles, all of them others.
    """
    kept = [label for label in labels if not label.article_ids or set(label.article_ids) & set(names)]
    if len(kept) == len(labels):
        return list(labels)
    others = list(dict.fromkeys(name for label in labels for name in label.article_ids if name not in names))
    listed = ", ".join(map(repr, others[:3])) + (", …" if len(others) > 3 else "")
    ours = ", ".join(map(repr, sorted(names)[:3]))
    if kept:
        warn(f"{shown}: {len(labels) - len(kept):,} labels are of other articles ({listed}) and left out")
    elif len(others) == 1:
        warn(
            f"{shown}: the labels are of the article {listed}, read as labels of {ours}; check that it is the same"
        )
        return list(labels)
    else:
        raise DataError(
            f"{shown}: all {len(labels):,} labels are of other articles ({listed}), not of {ours}; give labels of this "
            "article, or remove the column article_id if they are"
        )
    return kept
