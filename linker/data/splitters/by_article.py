"""Random but reproducible split by articles."""

import hashlib

from linker.common.errors import ConfigError
from linker.data.splitters.splitter import Splits, Splitter, divide
from linker.data.types import LinkedPosts


@Splitter.register("by_article")
class ByArticleSplitter(Splitter):
    """Splits articles by a hash of their ids; posts follow their first article.

    An article stays in its part when articles or posts are added. Posts without links are split by their ids.

    Args:
        train: approximate share of the articles; the three shares sum to 1.
        dev: share of dev; 0: no dev part.
        test: share of test; 0: no test part.
        seed: random seed of the split.
        keep_stories: keep the articles of a story (column `story`) together, because they share many words.

    Raises:
        ConfigError: if the shares do not sum to 1.
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
                f"splitter by_article: the shares {train}, {dev}, {test} do not sum to 1; change train, dev or test"
            )
        self.train, self.dev, self.test = train, dev, test
        self.seed, self.keep_stories = seed, keep_stories

    def split(self, data: LinkedPosts) -> Splits:
        """Return the parts of the data.

        Raises:
            DataError: if a part would have no link.
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
        number = int.from_bytes(digest[:7], "big") / 2**56  # uniform in [0, 1)
        return "test" if number < self.test else "dev" if number < self.test + self.dev else "train"
