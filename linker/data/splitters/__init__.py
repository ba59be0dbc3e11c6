"""The ways to divide articles and posts."""

from linker.data.splitters.by_article import ByArticleSplitter
from linker.data.splitters.by_time import ByTimeSplitter
from linker.data.splitters.given import GivenSplitter

__all__ = ["ByArticleSplitter", "ByTimeSplitter", "GivenSplitter"]
