"""Articles, posts, and how they become tokens."""

from linker.data.columns import ArticleColumns, PairColumns, PostColumns
from linker.data.records import read_articles, read_posts
from linker.data.source import DataSource
from linker.data.splitter import Splits
from linker.data.types import Article, LinkedPosts, Post

__all__ = [
    "Article",
    "ArticleColumns",
    "DataSource",
    "LinkedPosts",
    "PairColumns",
    "Post",
    "PostColumns",
    "Splits",
    "read_articles",
    "read_posts",
]
