"""The ways to divide articles and posts."""

from linker.data.splitters.given import GivenSplitter

__all__ = ["GivenSplitter"]
