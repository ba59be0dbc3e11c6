"""How the columns of someone's files are called: our names as parameters, theirs as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from difflib import get_close_matches
from functools import lru_cache

from linker.common.errors import DataError
from linker.data.io.dates import DateStyle


class MissingColumnsError(DataError):
    """Columns that a file must have and has not.

    Attributes:
        remedy: our name → a column of the file that may be meant, None where none comes near.
    """

    def __init__(self, message: str, remedy: dict[str, str | None]) -> None:
        super().__init__(message)
        self.remedy = remedy


class Columns:
    """A mapping from our column names to those of a file; each subclass's signature lists ours.

    A list of columns is joined, with a blank line between the non-empty ones. None: the file has no such column. A
    dotted name, such as `record.text` or `data.0.text`, is a path into nested objects and lists where no column is
    called exactly so. Instances are not changed after they were made.

    Attributes:
        required: our columns that must be there.
        any_of: our columns of which one must be there.
        dates: our columns that hold dates.
        kept: our columns that stay among the other fields of a record.
        date_styles: how the dates of a file are read, by our column; empty: as they are written.
    """

    required: tuple[str, ...] = ("id",)
    any_of: tuple[str, ...] = ("text",)
    dates: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    date_styles: Mapping[str, DateStyle] = {}

    def names(self, ours: str) -> list[str]:
        """The columns of the file that one of ours is read from."""
        return _names(self, ours)

    def all_names(self) -> set[str]:
        """All columns of the file that are read."""
        return _all_names(self)

    def check(self, present: Sequence[str], shown: str, likely: dict[str, str] | None = None) -> None:
        """Check that the columns are there that must be: those required and those that were renamed.

        Args:
            present: the columns of the file.
            shown: what messages call the file.
            likely: our name → the column of the file that is probably meant.

        Raises:
            MissingColumnsError: all that are missing, each with a column of a similar name.
        """
        missing = [
            (name, ours)
            for ours in self.ours()
            for name in self.names(ours)
            if name not in present and (ours in self.required or name != ours)
        ]
        texts = [name for ours in self.any_of for name in self.names(ours)]
        if not set(texts) & set(present) and not {ours for _, ours in missing} & set(self.any_of):
            missing.append((texts[-1], self.any_of[-1]))
        if missing:
            message, remedy = _all_missing(missing, present, likely or {})
            raise MissingColumnsError(f"{shown}: {message}", remedy)

    def ours(self) -> list[str]:
        """Our names, in order."""
        return [name for name in vars(self) if name != "date_styles"]

    def of_file(self, names: Mapping[str, list[str] | None], date_styles: Mapping[str, DateStyle]) -> Columns:
        """These columns as one file has them: `names` in place of our own, and how its dates are read."""
        found = copy(self)
        for ours, theirs in names.items():
            setattr(found, ours, theirs)
        found.date_styles = date_styles
        return found

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
    return {name for ours in columns.ours() if ours not in columns.kept for name in columns.names(ours)}


class ArticleColumns(Columns):
    """Columns of a file of articles."""

    any_of = ("title", "text")
    dates = ("published",)

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
    """Columns of a file of posts; with `id: null` the line numbers are the ids.

    Columns that keep our names and that the file does not have are guessed; see `linker.data.io.column_detection`.
    """

    required = ()
    dates = ("created_at",)
    kept = ("lang",)

    def __init__(
        self,
        id: str | None = "id",
        text: str | list[str] = "text",
        article_id: str | None = "article_id",
        article_ids: str | None = "article_ids",
        created_at: str | None = "created_at",
        split: str | None = "split",
        lang: str | None = "lang",
    ) -> None:
        self.id, self.text, self.article_id = id, text, article_id
        self.article_ids, self.created_at, self.split = article_ids, created_at, split
        self.lang = lang

    def plain_text(self, shown: str) -> Columns:
        """The text is all there is."""
        return PostColumns(id=None, article_id=None, article_ids=None, created_at=None, split=None, lang=None)


class SingleFileColumns(Columns):
    """Columns of a file with an article and a post on every line; without `id` line numbers are the ids."""

    required = ("url", "article")
    dates = ("created_at", "published")

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
    """Say that a column is missing, which one comes near, and how to name it."""
    return _all_missing([(name, ours)], list(present), {})[0]


def _all_missing(
    missing: list[tuple[str, str]], present: Sequence[str], likely: dict[str, str]
) -> tuple[str, dict[str, str | None]]:
    """The message on missing columns, and our names with the columns that may be meant."""
    complaints, remedy = [], {}
    for name, ours in missing:
        near = get_close_matches(name, present, n=1, cutoff=0.5) or [one for one in present if name in one]
        resembling = near[0] if near else None
        # A name that somebody typed is misspelled rather than made up.
        meant = resembling or likely.get(ours) if name != ours else likely.get(ours) or resembling
        remedy[ours] = meant
        hint = (
            "" if meant is None else f', the {"nearest" if meant == resembling else "likeliest"} is "{meant}"'
        )
        complaints.append(f'no column "{name}"{hint}')
    listed = ", ".join(present[:15]) + (", …" if len(present) > 15 else "")
    mapping = ", ".join(f'"{ours}": "{meant or "…"}"' for ours, meant in remedy.items())
    it = "it" if len(missing) == 1 else "them"
    return (
        f"{'; '.join(complaints)} (there are: {listed}); name {it} in `columns`, like {{{mapping}}}",
        remedy,
    )
