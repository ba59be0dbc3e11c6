"""Hash-based split of texts without links."""

from hashlib import sha256

from linker.common.checks import between
from linker.common.errors import DataError
from linker.data.splitters.splitter import Splits, Splitter
from linker.data.types import LinkedPosts, Post


@Splitter.register("by_text")
class ByTextSplitter(Splitter):
    """Splits posts by a hash of their texts, links or not. A text stays in its part when others are added.

    Args:
        dev: share of the texts in the dev set, approximately; 0: no dev set.
        seed: another seed gives another split.
    """

    def __init__(self, dev: float = 0.02, seed: int = 0) -> None:
        between(0, 1, dev=dev)
        self.dev, self.seed = dev, seed

    def split(self, data: LinkedPosts) -> Splits:
        """Return the parts; no dev set if no text falls into it.

        Raises:
            DataError: if fewer than 2 texts remain to train on.
        """
        train = [post for post in data.posts if not self._in_dev(post)]
        dev = [post for post in data.posts if self._in_dev(post)]
        if len(train) < 2:
            raise DataError(f"{len(data.posts)} texts, {len(train)} of them to train on: give at least 2")
        return Splits(LinkedPosts(data.articles, train), LinkedPosts(data.articles, dev) if dev else None)

    def _in_dev(self, post: Post) -> bool:
        digest = sha256(f"{self.seed}:{post.text}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:7], "big") < self.dev * 2**56
