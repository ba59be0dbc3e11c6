"""The family of splitters: which posts and articles train, which choose, which test."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from linker.config import Registrable
from linker.data.types import Article, LinkedPosts, Post
from linker.errors import DataError


@dataclass(frozen=True)
class Splits:
    """What to train on, what to choose the best epoch by, and what to report on; None where there is no such part."""

    train: LinkedPosts
    dev: LinkedPosts | None = None
    test: LinkedPosts | None = None


class Splitter(Registrable):
    """Divides articles and posts. No post is in two parts."""

    def split(self, data: LinkedPosts) -> Splits:
        """The parts.

        Raises:
            DataError: a part that was asked for would be empty, or cannot be made from these data.
        """
        raise NotImplementedError


def part_of(articles: list[Article], posts: Iterable[Post]) -> LinkedPosts:
    """Articles and posts of one part, links to articles of other parts cut.

    Raises:
        DataError: all articles of a post are in other parts: as a post about nothing it would be a wrong negative.
    """
    here = {article.id for article in articles}
    kept = []
    for post in posts:
        ids = tuple(i for i in post.article_ids if i in here)
        if post.article_ids and not ids:
            raise DataError(
                f"post {post.id} is in another part (split {post.split!r}) than its article {post.article_ids[0]}; "
                "give both the same split"
            )
        kept.append(post if ids == post.article_ids else replace(post, article_ids=ids))
    return LinkedPosts(articles, kept)


def require_posts(part: LinkedPosts, name: str) -> LinkedPosts:
    """The part itself, if it holds at least one link.

    Raises:
        DataError: it does not.
    """
    if not any(post.article_ids for post in part.posts):
        raise DataError(
            f"the part {name} has no post with an article; set the splitter so that it has, or to null"
        )
    return part
