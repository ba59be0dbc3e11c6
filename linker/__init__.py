"""linker: given a news article and a pile of posts, put the posts that talk about it first."""

from linker.version import __version__

__all__ = ["__version__"]
