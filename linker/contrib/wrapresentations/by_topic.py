"""One topic to test on, the others divided with all classes in the same proportions."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict

from linker.common.checks import between
from linker.common.errors import DataError
from linker.data.splitters.splitter import Splits, Splitter, require_links
from linker.data.types import LinkedPosts, Post


@Splitter.register("by_topic")
class ByTopicSplitter(Splitter):
    """Divides labelled texts (reader `labelled_texts`): whole topics are held out, the rest is stratified by class.

    Links between parts are cut: a post is about those of its class that are in its part.

    Args:
        held_out: topic or topics that are the part test; []: there is no such part.
        dev: share of the other topics' texts that are dev, the same of each class; 0: no dev part.
        seed: another seed, another division.
    """

    def __init__(self, held_out: str | list[str], dev: float = 0.4, seed: int = 0) -> None:
        between(0, 1, dev=dev)
        self.held_out = [held_out] if isinstance(held_out, str) else held_out
        self.dev, self.seed = dev, seed

    def split(self, data: LinkedPosts) -> Splits:
        """The parts.

        Raises:
            DataError: a text has no topic or class, a topic to hold out has no text, or a part is empty.
        """
        for post in data.posts:
            if not post.extra.get("topic") or not post.extra.get("class"):
                raise DataError(
                    f"splitter by_topic: post {post.id} has no topic or no class; "
                    "read the data with the reader labelled_texts, and name the column of the topic"
                )
        topics = Counter(post.extra["topic"] for post in data.posts)
        if unknown := [topic for topic in self.held_out if topic not in topics]:
            raise DataError(
                f"splitter by_topic: no text has the topic {', '.join(unknown)}; there are: {', '.join(topics)}"
            )
        chosen = self._dev([post for post in data.posts if post.extra["topic"] not in self.held_out])
        parts: dict[str, set[str]] = {"train": set()}
        parts |= {"dev": chosen} if self.dev > 0 else {}
        parts |= {"test": set()} if self.held_out else {}
        for post in data.posts:
            if post.extra["topic"] in self.held_out:
                parts["test"].add(post.id)
            elif post.id not in chosen:
                parts["train"].add(post.id)
        return Splits(**{name: require_links(_part(data, ids), name) for name, ids in parts.items()})

    def _dev(self, posts: list[Post]) -> set[str]:
        """The ids of dev: `dev` of all, as near as whole numbers allow, and of each class."""
        of_class: dict[str, list[str]] = defaultdict(list)
        for post in posts:
            of_class[post.extra["class"]].append(post.id)
        wanted = {name: self.dev * len(ids) for name, ids in of_class.items()}
        count = {name: int(share) for name, share in wanted.items()}
        missing = round(self.dev * len(posts)) - sum(count.values())
        # The largest remainders are rounded up.
        for name in sorted(count, key=lambda name: count[name] - wanted[name])[:missing]:
            count[name] += 1
        return {own for name, ids in of_class.items() for own in sorted(ids, key=self._place)[: count[name]]}

    def _place(self, own: str) -> bytes:
        return hashlib.sha256(f"{self.seed}:{own}".encode("utf-8", "surrogatepass")).digest()


def _part(data: LinkedPosts, ids: set[str]) -> LinkedPosts:
    """Texts of one part. Posts of a class go on sharing one tuple, so that memory grows with the texts alone."""
    cut: dict[tuple[str, ...], tuple[str, ...]] = {}
    posts = []
    for post in data.posts:
        if post.id in ids:
            if post.article_ids not in cut:
                cut[post.article_ids] = tuple(own for own in post.article_ids if own in ids)
            posts.append(
                Post(post.id, post.text, cut[post.article_ids], post.created_at, post.split, post.extra)
            )
    return LinkedPosts([article for article in data.articles if article.id in ids], posts)
