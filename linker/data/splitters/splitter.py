"""Base class of splitters, and the rules that all splits follow."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from linker.common.console import warn
from linker.common.errors import DataError
from linker.config import Registrable
from linker.data.types import Article, LinkedPosts, Post


@dataclass(frozen=True)
class Splits:
    """The parts of a dataset.

    Attributes:
        train: for training.
        dev: for choosing the best epoch; None: no such part.
        test: for reporting; None: no such part.
    """

    train: LinkedPosts
    dev: LinkedPosts | None = None
    test: LinkedPosts | None = None


class Splitter(Registrable):
    """Assigns articles and posts to train, dev and test; no post is in two parts."""

    def split(self, data: LinkedPosts) -> Splits:
        """Return the parts of the data.

        Raises:
            DataError: if a part would have no link, or the data lack what the splitter needs.
        """
        raise NotImplementedError


def divide(
    data: LinkedPosts,
    part_names: Iterable[str],
    article_part: Callable[[Article], str],
    post_part: Callable[[Post], str],
) -> Splits:
    """Split articles by `article_part` and assign each post to the part of its first article.

    No article or post is in two parts. Links from a post to articles of other parts are removed; their number is
    printed on standard error.

    Args:
        data: articles and posts.
        part_names: the parts to make, of `train`, `dev` and `test`.
        article_part: returns the part of an article.
        post_part: returns the part of a post without links.

    Raises:
        DataError: if a part would have no link.
    """
    part_of_article = {article.id: article_part(article) for article in data.articles}
    posts: dict[str, list[Post]] = {name: [] for name in part_names}
    for post in data.posts:
        posts[part_of_article[post.article_ids[0]] if post.article_ids else post_part(post)].append(post)
    parts = {}
    for name, chosen in posts.items():
        articles = [article for article in data.articles if part_of_article[article.id] == name]
        parts[name] = require_links(part_of(articles, chosen), name)
    if cut := _links(data.posts) - sum(_links(part.posts) for part in parts.values()):
        warn(f"{cut} of {_links(data.posts)} links were removed: post and article are in different parts")
    return Splits(**parts)


def splits_of_posts(data: LinkedPosts) -> list[str | None]:
    """Return the split of each post, or else of its first article that has one."""
    of_article = {article.id: article.split for article in data.articles}
    return [
        post.split or next((of_article[i] for i in post.article_ids if of_article.get(i)), None)
        for post in data.posts
    ]


def part_of(articles: list[Article], posts: Iterable[Post]) -> LinkedPosts:
    """Combine the articles and posts of one part, without links to articles of other parts.

    Raises:
        DataError: if all articles of a post are in other parts; without its links it would be a false negative.
    """
    ids_of_part = {article.id for article in articles}
    linked = []
    for post in posts:
        ids = tuple(i for i in post.article_ids if i in ids_of_part)
        if post.article_ids and not ids:
            raise DataError(
                f"post {post.id} (split {post.split!r}) and its article {post.article_ids[0]} are in different "
                "parts; give both the same split"
            )
        linked.append(post if ids == post.article_ids else replace(post, article_ids=ids))
    return LinkedPosts(articles, linked)


def require_links(part: LinkedPosts, name: str) -> LinkedPosts:
    """Return the part if it has at least one link.

    Raises:
        DataError: if it has none.
    """
    if not any(post.article_ids for post in part.posts):
        raise DataError(f"the part {name} would have no link; change the splitter's settings")
    return part


def _links(posts: Iterable[Post]) -> int:
    return sum(len(post.article_ids) for post in posts)
