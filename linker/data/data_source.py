"""Where the data of a training run come from and how they are divided."""

from __future__ import annotations

from linker.data.readers.reader import PairReader
from linker.data.splitters.by_article import ByArticleSplitter
from linker.data.splitters.by_column import ByColumnSplitter
from linker.data.splitters.splitter import Splits, Splitter, tell
from linker.data.types import LinkedPosts


class DataSource:
    """A reader and a splitter.

    Args:
        reader: reads articles and posts.
        splitter: divides them; null: by the column `split` where any row has one (`given`), else at random, four fifths
            of the articles for training (`by_article`).
    """

    def __init__(self, reader: PairReader, splitter: Splitter | None = None) -> None:
        self.reader = reader
        self.splitter = splitter

    def load(self) -> Splits:
        """Read and divide everything.

        Raises:
            DataError: see the reader and the splitter.
        """
        data = self.reader.read()
        return (self.splitter or _fitting(data)).split(data)


def _fitting(data: LinkedPosts) -> Splitter:
    if any(row.split for rows in (data.articles, data.posts) for row in rows):
        return ByColumnSplitter()
    splitter = ByArticleSplitter()
    tell(
        "no row has a `split`, so the articles are divided at random: "
        f"{splitter.train:.0%} train, {splitter.dev:.0%} dev, {splitter.test:.0%} test"
    )
    return splitter
