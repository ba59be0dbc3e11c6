"""Reader that combines several data sets."""

from __future__ import annotations

from dataclasses import replace

from linker.common.errors import ConfigError, DataError
from linker.data.readers.reader import PairReader
from linker.data.types import Article, LinkedPosts, Post


@PairReader.register("concatenated")
class Concatenated(PairReader):
    """Reads one data set after the other.

    Args:
        readers: one reader per data set.
        prefixes: one text per reader, put before all its ids; for data sets that use the same ids.

    Raises:
        ConfigError: if the numbers of readers and prefixes differ.
    """

    def __init__(self, readers: list[PairReader], prefixes: list[str] | None = None) -> None:
        if prefixes is not None and len(prefixes) != len(readers):
            raise ConfigError(f"reader concatenated: {len(prefixes)} prefixes for {len(readers)} readers")
        self.readers = readers
        self.prefixes = prefixes or [""] * len(readers)

    def read(self) -> LinkedPosts:
        """Return all articles and posts, reader by reader.

        Raises:
            DataError: if an id is in two data sets; see also the readers.
        """
        articles: dict[str, Article] = {}
        posts: dict[str, Post] = {}
        for prefix, reader in zip(self.prefixes, self.readers, strict=True):
            data = reader.read()
            for article in data.articles:
                _add(articles, replace(article, id=prefix + article.id))
            for post in data.posts:
                ids = tuple(prefix + i for i in post.article_ids)
                _add(posts, replace(post, id=prefix + post.id, article_ids=ids))
        return LinkedPosts(list(articles.values()), list(posts.values()))


def _add(items: dict, item: Article | Post) -> None:
    if item.id in items:
        kind = type(item).__name__.lower()
        raise DataError(
            f"reader concatenated: {kind} id {item.id} is in two sets; "
            'distinguish them by prefixes: {"prefixes": ["a:", "b:"]}'
        )
    items[item.id] = item
