"""The data of a training run: a reader and a splitter."""

from linker.data.readers.reader import PairReader
from linker.data.splitters.by_article import ByArticleSplitter
from linker.data.splitters.by_column import ByColumnSplitter
from linker.data.splitters.splitter import Splits, Splitter, warn


class DataSource:
    """The data of a training run.

    Args:
        reader: reads articles and posts.
        splitter: assigns them to train, dev and test; null: by the column `split` if any row has one (`by_column`),
            else at random with 80 % of the articles for training (`by_article`).
    """

    def __init__(self, reader: PairReader, splitter: Splitter | None = None) -> None:
        self.reader = reader
        self.splitter = splitter

    def load(self) -> Splits:
        """Read and split all articles and posts.

        Raises:
            DataError: see the reader and the splitter.
        """
        data = self.reader.read()
        splitter = self.splitter
        if splitter is None and any(row.split for rows in (data.articles, data.posts) for row in rows):
            splitter = ByColumnSplitter()
        elif splitter is None:
            splitter = ByArticleSplitter()
            warn(
                "no column `split`: articles are split at random: "
                f"{splitter.train:.0%} train, {splitter.dev:.0%} dev, {splitter.test:.0%} test"
            )
        return splitter.split(data)
