"""The readers of article–post pairs."""

from linker.data.readers.articles_and_posts import ArticlesAndPosts

__all__ = ["ArticlesAndPosts"]
