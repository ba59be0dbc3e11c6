"""A random division that holds still."""

from __future__ import annotations

import hashlib

from linker.common.errors import ConfigError
from linker.data.splitters.splitter import Splits, Splitter, divide
from linker.data.types import LinkedPosts


@Splitter.register("by_article")
class ByArticleSplitter(Splitter):
    """Divides the articles by a hash of their ids; posts follow their (first) article.

    What is in a part stays there when articles or posts are added. Posts about no article are divided by
    their own ids.

    Args:
        train: share of the articles, about.
        dev: the same for dev; 0: no dev part.
        test: the same for test.
        seed: another seed, another division.
        keep_stories: keep articles of one story (column `story`) together, as they share much of their words.
    """

    def __init__(
        self,
        train: float = 0.8,
        dev: float = 0.1,
        test: float = 0.1,
        seed: int = 0,
        keep_stories: bool = True,
    ) -> None:
        if min(train, dev, test) < 0 or abs(train + dev + test - 1) > 1e-6 or train == 0:
            raise ConfigError(
                f"splitter by_article: train, dev, test are {train}, {dev}, {test}; they must add up to 1"
            )
        self.train, self.dev, self.test = train, dev, test
        self.seed, self.keep_stories = seed, keep_stories

    def split(self, data: LinkedPosts) -> Splits:
        """The parts.

        Raises:
            DataError: a part has no post with an article.
        """
        names = [name for name in ("train", "dev", "test") if getattr(self, name) > 0]
        return divide(
            data,
            names,
            lambda article: self._part((self.keep_stories and article.story) or article.id),
            lambda post: self._part(post.id),
        )

    def _part(self, key: str) -> str:
        digest = hashlib.sha256(f"{self.seed}:{key}".encode("utf-8", "surrogatepass")).digest()
        place = int.from_bytes(digest[:7], "big") / 2**56
        return "test" if place < self.test else "dev" if place < self.test + self.dev else "train"
