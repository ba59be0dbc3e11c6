"""Splitter that holds out topics for testing and stratifies the others by class."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict

from linker.common.checks import between
from linker.common.errors import DataError
from linker.data.splitters.splitter import Splits, Splitter, require_links
from linker.data.types import LinkedPosts, Post


@Splitter.register("by_topic")
class ByTopicSplitter(Splitter):
    """Splitter of labeled texts (reader `labeled_texts`): hold out whole topics, stratify the rest by class.

    Links between parts are removed: a post is about the texts of its class in its own part.

    Paper: Feger and Dietze 2024, https://aclanthology.org/2024.findings-naacl.146

    Args:
        held_out: topic or topics of the test part; [] for none.
        dev: share of each class of the other topics that goes to dev; 0 for no dev part.
        seed: random seed of the split.
    """

    def __init__(self, held_out: str | list[str], dev: float = 0.4, seed: int = 0) -> None:
        between(0, 1, dev=dev)
        self.held_out = [held_out] if isinstance(held_out, str) else held_out
        self.dev, self.seed = dev, seed

    def split(self, data: LinkedPosts) -> Splits:
        """Return the parts of the data.

        Raises:
            DataError: if a text has no topic or class, a held-out topic has no text, or a part is empty.
        """
        for post in data.posts:
            if not post.extra.get("topic") or not post.extra.get("class"):
                raise DataError(
                    f"splitter by_topic: post {post.id} has no topic or no class; "
                    "read the data with the reader labeled_texts, and name the column of the topic"
                )
        topics = Counter(post.extra["topic"] for post in data.posts)
        if unknown := [topic for topic in self.held_out if topic not in topics]:
            raise DataError(
                f"splitter by_topic: no text has the topic {', '.join(unknown)}; topics: {', '.join(topics)}"
            )
        others = [post for post in data.posts if post.extra["topic"] not in self.held_out]
        dev = self._dev(others)
        parts = {"train": {post.id for post in others} - dev}
        parts |= {"dev": dev} if self.dev > 0 else {}
        parts |= {"test": {post.id for post in data.posts} - dev - parts["train"]} if self.held_out else {}
        return Splits(**{name: require_links(_part(data, ids), name) for name, ids in parts.items()})

    def _dev(self, posts: list[Post]) -> set[str]:
        """Return the ids of dev: the share `dev` of all texts and of each class, up to rounding."""
        of_class: dict[str, list[str]] = defaultdict(list)
        for post in posts:
            of_class[post.extra["class"]].append(post.id)
        wanted = {name: self.dev * len(ids) for name, ids in of_class.items()}
        count = {name: int(share) for name, share in wanted.items()}
        missing = round(self.dev * len(posts)) - sum(count.values())
        # The largest remainders are rounded up.
        for name in sorted(count, key=lambda name: count[name] - wanted[name])[:missing]:
            count[name] += 1
        return {text for name, ids in of_class.items() for text in sorted(ids, key=self._hash)[: count[name]]}

    def _hash(self, text_id: str) -> bytes:
        return hashlib.sha256(f"{self.seed}:{text_id}".encode("utf-8", "surrogatepass")).digest()


def _part(data: LinkedPosts, ids: set[str]) -> LinkedPosts:
    """Return the texts of a part. Posts of a class share one tuple, so that memory is linear in the texts."""
    cut: dict[tuple[str, ...], tuple[str, ...]] = {}
    posts = []
    for post in data.posts:
        if post.id in ids:
            if post.article_ids not in cut:
                cut[post.article_ids] = tuple(article for article in post.article_ids if article in ids)
            posts.append(
                Post(post.id, post.text, cut[post.article_ids], post.created_at, post.split, post.extra)
            )
    return LinkedPosts([article for article in data.articles if article.id in ids], posts)
