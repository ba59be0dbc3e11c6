"""Articles and posts: reading, splitting, tokenizing, word vectors."""

from linker.data.data_source import DataSource
from linker.data.io.columns import ArticleColumns, PairColumns, PostColumns
from linker.data.io.records import read_articles, read_posts
from linker.data.splitters.splitter import Splits
from linker.data.types import Article, LinkedPosts, Post

__all__ = [
    "Article", "ArticleColumns", "DataSource", "LinkedPosts", "PairColumns", "Post", "PostColumns", "Splits",
    "read_articles", "read_posts",
]  # fmt: skip
