"""Column mappings: linker's names of columns to those of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal

from typing_extensions import Self, override

from linker.common.errors import DataError
from linker.data.files.known_columns import words
from linker.data.io.date_styles import DateStyle


class MissingColumnsError(DataError):
    """Required columns are missing in a file.

    Attributes:
        remedy: our name → the column of the file that may be meant; None if none is similar.
    """

    def __init__(self, message: str, remedy: dict[str, str | None]) -> None:
        super().__init__(message)
        self.remedy = remedy


# Attributes of the instances that name no column.
_NO_COLUMNS = frozenset(words("date_styles format authors plain copied encoding sheet day_first"))


class Columns:
    """A mapping from our column names to those of a file; each subclass's signature lists ours.

    The values of a list of columns are joined, with a blank line between the non-empty ones. None: the file has no such
    column. A dotted name, such as `record.text` or `data.0.text`, is a path into nested objects and lists, unless a
    column has exactly this name. Instances are immutable.

    Attributes:
        required: our columns that a file must have.
        any_of: our columns of which a file must have one.
        dates: our columns with dates.
        kept: our columns that also stay in the extra fields of a record.
        date_styles: how the dates of a file are read, by our column; empty: only unambiguous dates.
        encoding: name of the encoding of text; None: recognize it.
        sheet: name of the sheet of workbooks; None: find it.
        day_first: whether the day is first in dates like 5/6/2015; None: the column decides.
    """

    required: tuple[str, ...] = ("id",)
    any_of: tuple[str, ...] = ("text",)
    dates: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    date_styles: Mapping[str, DateStyle] = {}
    encoding: str | None = None
    sheet: str | None = None
    day_first: bool | None = None

    def ours(self) -> list[str]:
        """Return our names, in order."""
        return [name for name in vars(self) if name not in _NO_COLUMNS]

    def names(self, ours: str) -> list[str]:
        """Return the columns of the file that one of ours is read from."""
        theirs = getattr(self, ours)
        return theirs if isinstance(theirs, list) else [] if theirs is None else [theirs]

    def all_names(self) -> set[str]:
        """Return all columns of the file that are read."""
        return _all_names(self)

    def check(self, present: Sequence[str], shown: str, likely: dict[str, str] | None = None) -> None:
        """Check that the file has all required and all renamed columns.

        Args:
            present: the columns of the file.
            shown: name of the file in messages.
            likely: our name → the column of the file that is probably meant.

        Raises:
            MissingColumnsError: if columns are missing; it names all of them, with similar columns of the file.
        """
        wanted = [(name, ours) for ours in self.ours() for name in self.names(ours)]
        missing = [
            (name, ours)
            for name, ours in wanted
            if name not in present and (ours in self.required or name != ours)
        ]
        texts = [name for ours in self.any_of for name in self.names(ours)]
        if not set(texts) & set(present) and not {ours for _, ours in missing} & set(self.any_of):
            missing.append((texts[-1], self.any_of[-1]))
        if missing:
            raise _all_missing(missing, present, likely or {}, shown)

    def of_file(self, names: Mapping[str, list[str] | None], date_styles: Mapping[str, DateStyle]) -> Self:
        """Return a copy for one file, with `names` of the file in place of ours, and its `date_styles`."""
        mapping = copy(self)
        for ours, theirs in names.items():
            setattr(mapping, ours, theirs)
        mapping.date_styles = date_styles
        return mapping

    def plain_text(self, shown: str) -> Columns:
        """Return the columns of a plain-text file.

        Raises:
            DataError: if a plain-text file cannot have these columns.
        """
        raise DataError(
            f"{shown}: plain text is supported for posts only, one per line; use JSON lines, CSV or TSV"
        )


# Cached because it is called for every line.
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
        encoding: str | None = None,
        sheet: str | None = None,
    ) -> None:
        self.encoding, self.sheet = encoding, sheet
        self.id, self.title, self.text, self.url = id, title, text, url
        self.published, self.story, self.split = published, story, split


class PostColumns(Columns):
    """Columns of a file of posts; with `id: null` ids are made from the content of posts.

    Columns that were not renamed and that the file does not have are detected, see `linker.data.io.column_detection`.
    If none was renamed, records of known platforms are recognized, see `linker.data.platforms`.

    Args:
        format: name of a platform's format, such as `mastodon`; `columns`: read by columns only; null: recognize it.
        authors: what is kept of a platform's authors: `hashed`, a pseudonym; `plain`, as they are.
        encoding: name of the encoding of text, such as `windows-1252`; null: recognize it.
        sheet: name of the sheet of workbooks; null: find it.
        day_first: whether the day is first in dates like 5/6/2015; null: the column decides.

    Attributes:
        plain: whether the texts are known to have no HTML.
        copied: columns that somebody added to a platform's records, such as links to articles.
    """

    required = ()
    dates = ("created_at",)
    kept = ("lang",)
    plain = False
    copied: tuple[str, ...] = ("article_id", "article_ids", "split")

    def __init__(
        self,
        id: str | None = "id",
        text: str | list[str] = "text",
        article_id: str | None = "article_id",
        article_ids: str | None = "article_ids",
        created_at: str | None = "created_at",
        split: str | None = "split",
        lang: str | None = "lang",
        format: str | None = None,
        authors: Literal["hashed", "plain"] = "hashed",
        encoding: str | None = None,
        sheet: str | None = None,
        day_first: bool | None = None,
    ) -> None:
        self.encoding, self.sheet, self.day_first = encoding, sheet, day_first
        self.id, self.text, self.article_id = id, text, article_id
        self.article_ids, self.created_at, self.split = article_ids, created_at, split
        self.lang = lang
        self.format, self.authors = format, authors

    @property
    def are_default(self) -> bool:
        """Whether no column was renamed."""
        return all(getattr(self, name) == name for name in self.ours())

    @override
    def plain_text(self, shown: str) -> Columns:
        return PostColumns(id=None, article_id=None, article_ids=None, created_at=None, split=None, lang=None)


class SingleFileColumns(Columns):
    """Columns of a file with an article and a post on every line; without `id` ids are made from the posts' content."""

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
    """Columns of the files of articles and of the files of posts."""

    def __init__(self, articles: ArticleColumns | None = None, posts: PostColumns | None = None) -> None:
        self.articles = articles or ArticleColumns()
        self.posts = posts or PostColumns()


def missing_column(name: str, ours: str, present: Iterable[str]) -> str:
    """Describe that a column is missing, which one is similar, and how to name it."""
    return str(_all_missing([(name, ours)], list(present), {}))


def _all_missing(
    missing: list[tuple[str, str]], present: Sequence[str], likely: dict[str, str], shown: str = ""
) -> MissingColumnsError:
    complaints, remedy = [], {}
    for name, ours in missing:
        near = get_close_matches(name, present, n=1, cutoff=0.5)
        similar = next(iter(near), None) or next((other for other in present if name in other), None)
        # A name that the user typed is probably misspelled.
        meant = similar or likely.get(ours) if name != ours else likely.get(ours) or similar
        remedy[ours] = meant
        hint = "" if meant is None else f'; did you mean "{meant}"?'
        complaints.append(f'column "{name}" is missing{hint}')
    listed = ", ".join(present[:15]) + (", …" if len(present) > 15 else "")
    mapping = ", ".join(f'"{ours}": "{meant or "…"}"' for ours, meant in remedy.items())
    it = "it" if len(missing) == 1 else "them"
    message = f"{'; '.join(complaints)} (columns: {listed}); name {it} in `columns`, like {{{mapping}}}"
    return MissingColumnsError(f"{shown}: {message}" if shown else message, remedy)
