"""The readers of article–post pairs."""

from linker.data.readers.articles_and_posts import ArticlesAndPosts
from linker.data.readers.concatenated import Concatenated
from linker.data.readers.single_file import SingleFile

__all__ = ["ArticlesAndPosts", "Concatenated", "SingleFile"]
