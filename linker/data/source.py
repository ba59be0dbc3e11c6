"""Where the data of a training come from and how they are divided."""

from __future__ import annotations

from linker.data.reading import PairReader
from linker.data.splitter import Splits, Splitter
from linker.data.splitters.given import GivenSplitter


class DataSource:
    """A reader and a splitter; without a splitter the `split` columns of the files say it (`given`)."""

    def __init__(self, reader: PairReader, splitter: Splitter | None = None) -> None:
        self.reader = reader
        self.splitter = splitter or GivenSplitter()

    def load(self) -> Splits:
        """Read and divide everything.

        Raises:
            DataError: see the reader and the splitter.
        """
        return self.splitter.split(self.reader.read())
