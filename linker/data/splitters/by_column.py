"""Split by the column `split` of the files."""

from collections import Counter

from linker.common.errors import ConfigError, DataError
from linker.data.splitters.splitter import Splits, Splitter, part_of, require_links, splits_of_posts, warn
from linker.data.types import LinkedPosts


@Splitter.register("by_column")
class ByColumnSplitter(Splitter):
    """Splits by the column `split` of posts and articles.

    A post without a value takes that of its first article that has one. An article without a value is a candidate in
    dev and test, linked or not, and in train if a train post is linked to it.

    Args:
        train: value or values of `split` for train.
        dev: value or values for dev; null: no dev part.
        test: value or values for test; null: no test part.

    Raises:
        ConfigError: if a value is assigned to two parts.
    """

    def __init__(
        self,
        train: str | list[str] = "train",
        dev: str | list[str] | None = "dev",
        test: str | list[str] | None = None,
    ) -> None:
        values = {"train": train, "dev": dev, "test": test}
        self.names = {
            part: {names} if isinstance(names, str) else set(names)
            for part, names in values.items()
            if names is not None
        }
        count = Counter(name for names in self.names.values() for name in names)
        if twice := [name for name, times in count.items() if times > 1]:
            raise ConfigError(f"splitter by_column: {twice[0]!r} is assigned to two parts; assign it to one")

    def split(self, data: LinkedPosts) -> Splits:
        """Return the parts of the data.

        Raises:
            DataError: if no row has a value, a part would have no link, or a post and its articles are in different
                parts.
        """
        of_post = splits_of_posts(data)
        if not any(of_post):
            raise DataError(
                "the column `split` is missing or empty in all posts and articles; name its column in the reader's "
                '`columns`, or choose another splitter: {"splitter": {"type": "by_article"}}'
            )
        parts = {}
        for part, names in self.names.items():
            posts = [post for post, split in zip(data.posts, of_post) if split in names]
            about = {i for post in posts for i in post.article_ids}
            articles = [
                article
                for article in data.articles
                if (article.split in names if article.split else part != "train" or article.id in about)
            ]
            parts[part] = require_links(
                part_of(articles, posts), f"{part} (split {' or '.join(sorted(names))})"
            )
        used = {name for names in self.names.values() for name in names}
        if left_out := {name: count for name, count in Counter(of_post).items() if name not in used}:
            each = [
                f"{count} with {f'split {name!r}' if name else 'none'}" for name, count in left_out.items()
            ]
            warn(f"posts without a part: {', '.join(each)}")
        return Splits(**parts)
