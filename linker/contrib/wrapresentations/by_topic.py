"""Splitter that holds out topics for testing and stratifies the others by class."""

import hashlib
from collections import Counter

from linker.common.checks import between
from linker.common.errors import DataError
from linker.data.splitters.splitter import Splits, Splitter, part_of, require_links
from linker.data.types import LinkedPosts


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
        part_of_text = dict.fromkeys((post.id for post in data.posts), "test")
        others = [post for post in data.posts if post.extra["topic"] not in self.held_out]
        others.sort(key=lambda post: (post.extra["class"], self._hash(post.id)))
        # Evenly spaced among the texts sorted by class: the share of all texts and of each class, up to rounding.
        bounds = [round(self.dev * number) for number in range(len(others) + 1)]
        for post, before, after in zip(others, bounds, bounds[1:]):
            part_of_text[post.id] = "dev" if after > before else "train"
        names = ["train"] + ["dev"] * (self.dev > 0) + ["test"] * bool(self.held_out)
        parts = {}
        for name in names:
            articles = [article for article in data.articles if part_of_text[article.id] == name]
            posts = [post for post in data.posts if part_of_text[post.id] == name]
            parts[name] = require_links(part_of(articles, posts), name)
        return Splits(**parts)

    def _hash(self, text_id: str) -> bytes:
        return hashlib.sha256(f"{self.seed}:{text_id}".encode("utf-8", "surrogatepass")).digest()
