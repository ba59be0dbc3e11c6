"""The family of splitters: which posts and articles train, which choose, which test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from linker.common.console import warn
from linker.common.errors import DataError
from linker.config import Registrable
from linker.data.types import Article, LinkedPosts, Post


@dataclass(frozen=True)
class Splits:
    """What to train on, what to choose the best epoch by, what to report on; None: there is no such part."""

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


def divide(
    data: LinkedPosts,
    part_names: Iterable[str],
    article_part: Callable[[Article], str],
    post_part: Callable[[Post], str],
) -> Splits:
    """Put every article into a part and every post where its first article is.

    So neither an article nor a post is ever in two parts. The links of a post to articles of other parts
    are cut, and counted on standard error.

    Args:
        data: what to divide.
        part_names: the parts there are to be.
        article_part: the part of an article.
        post_part: the part of a post that is about no article.

    Raises:
        DataError: a part has no post with an article.
    """
    places = {article.id: article_part(article) for article in data.articles}
    posts: dict[str, list[Post]] = {name: [] for name in part_names}
    for post in data.posts:
        posts[places[post.article_ids[0]] if post.article_ids else post_part(post)].append(post)
    parts = {}
    for name, chosen in posts.items():
        articles = [article for article in data.articles if places[article.id] == name]
        parts[name] = require_links(part_of(articles, chosen), name)
    cut = _links(data.posts) - sum(_links(part.posts) for part in parts.values())
    if cut:
        tell(f"{cut} of {_links(data.posts)} links go from a post to an article of another part and were cut")
    return Splits(**parts)


def part_of(articles: list[Article], posts: Iterable[Post]) -> LinkedPosts:
    """Articles and posts of one part, links to articles of other parts cut.

    Raises:
        DataError: all articles of a post are in other parts; without them it would be a wrong negative.
    """
    here = {article.id for article in articles}
    kept = []
    for post in posts:
        ids = tuple(i for i in post.article_ids if i in here)
        if post.article_ids and not ids:
            raise DataError(
                f"post {post.id} (split {post.split!r}) is in another part than its article "
                f"{post.article_ids[0]}; give both the same split"
            )
        kept.append(post if ids == post.article_ids else replace(post, article_ids=ids))
    return LinkedPosts(articles, kept)


def require_links(part: LinkedPosts, name: str) -> LinkedPosts:
    """The part itself, if it holds at least one link.

    Raises:
        DataError: it does not.
    """
    if not any(post.article_ids for post in part.posts):
        raise DataError(f"the part {name} would have no post with an article; change the splitter's settings")
    return part


def tell(message: str) -> None:
    """Say on standard error what the division did that one might not expect."""
    warn(message)


def _links(posts: Iterable[Post]) -> int:
    return sum(len(post.article_ids) for post in posts)
