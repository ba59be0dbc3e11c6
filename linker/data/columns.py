"""How the columns of someone's files are called: our names as parameters, theirs as values."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache

from linker.errors import DataError


class Columns:
    """A mapping from our column names to those of a file; each subclass's signature lists ours.

    A list of columns is joined, with a blank line between the non-empty ones. None: there is no such column. They stay
    as they were made.

    Attributes:
        required: our columns that must be there.
        any_of: our columns of which one must be there.
    """

    required: tuple[str, ...] = ("id",)
    any_of: tuple[str, ...] = ("text",)

    def names(self, ours: str) -> list[str]:
        """The columns of the file that one of ours is read from."""
        return _names(self, ours)

    def all_names(self) -> set[str]:
        """All columns of the file that are read."""
        return _all_names(self)

    def check(self, present: list[str], shown: str) -> None:
        """Are the columns there that must be: those required and those that were renamed?

        Raises:
            DataError: naming a missing column of the input called `shown`, and one with a similar name.
        """
        for ours in vars(self):
            for name in self.names(ours):
                if name not in present and (ours in self.required or name != ours):
                    raise DataError(f"{shown}: {missing_column(name, ours, present)}")
        texts = [name for ours in self.any_of for name in self.names(ours)]
        if not set(texts) & set(present):
            raise DataError(f"{shown}: {missing_column(texts[-1], self.any_of[-1], present)}")

    def plain_text(self, shown: str) -> Columns:
        """The columns of an input that is plain text.

        Raises:
            DataError: these columns cannot be had from one.
        """
        raise DataError(
            f"{shown}: plain text can hold posts, one a line, nothing else; use JSON lines, CSV or TSV"
        )


# Every line of a file asks for the same.
@lru_cache(maxsize=256)
def _names(columns: Columns, ours: str) -> list[str]:
    theirs = getattr(columns, ours)
    return theirs if isinstance(theirs, list) else [] if theirs is None else [theirs]


@lru_cache(maxsize=16)
def _all_names(columns: Columns) -> set[str]:
    return {name for ours in vars(columns) for name in columns.names(ours)}


class ArticleColumns(Columns):
    """Columns of a file of articles."""

    any_of = ("title", "text")

    def __init__(
        self,
        id: str = "id",
        title: str | list[str] | None = "title",
        text: str | list[str] | None = "text",
        url: str | None = "url",
        published: str | None = "published",
        story: str | None = "story",
        split: str | None = "split",
    ) -> None:
        self.id, self.title, self.text, self.url = id, title, text, url
        self.published, self.story, self.split = published, story, split


class PostColumns(Columns):
    """Columns of a file of posts; with `id: null` the line numbers are the ids."""

    def __init__(
        self,
        id: str | None = "id",
        text: str | list[str] = "text",
        article_id: str | None = "article_id",
        article_ids: str | None = "article_ids",
        created_at: str | None = "created_at",
        split: str | None = "split",
    ) -> None:
        self.id, self.text, self.article_id = id, text, article_id
        self.article_ids, self.created_at, self.split = article_ids, created_at, split

    def plain_text(self, shown: str) -> Columns:
        """The text is all there is."""
        return PostColumns(id=None, article_id=None, article_ids=None, created_at=None, split=None)


class SingleFileColumns(Columns):
    """Columns of a file with an article and a post on every line; without `id` line numbers are the ids."""

    required = ("url", "article")

    def __init__(
        self,
        url: str = "url",
        article: str | list[str] = "article",
        text: str | list[str] = "text",
        title: str | list[str] | None = "title",
        published: str | None = "published",
        story: str | None = "story",
        id: str | None = None,
        created_at: str | None = "created_at",
        split: str | None = "split",
    ) -> None:
        self.url, self.article, self.text, self.title = url, article, text, title
        self.published, self.story, self.id = published, story, id
        self.created_at, self.split = created_at, split


class PairColumns:
    """Columns of files of articles and of the files of posts that go with them."""

    def __init__(self, articles: ArticleColumns | None = None, posts: PostColumns | None = None) -> None:
        self.articles = articles or ArticleColumns()
        self.posts = posts or PostColumns()


def missing_column(name: str, ours: str, present: Iterable[str]) -> str:
    """Says that a column is missing, which one comes near, and how to name it."""
    present = list(present)
    near = get_close_matches(name, present, n=1, cutoff=0.5) or [other for other in present if name in other]
    hint = f', the nearest is "{near[0]}"' if near else ""
    listed = ", ".join(present[:15]) + (", …" if len(present) > 15 else "")
    example = near[0] if near else "…"
    mapping = f'{{"{ours}": "{example}"}}'
    return f'no column "{name}"{hint} (there are: {listed}); name it in `columns`, like {mapping}'
