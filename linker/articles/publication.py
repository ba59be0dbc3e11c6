"""The publication date that a user states for articles."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import TypeAlias

from linker.common.console import info
from linker.common.errors import DataError
from linker.data.io.dates import parse_date
from linker.data.types import Article

Published: TypeAlias = "str | date | datetime"


def publication_date(value: Published, name: str) -> datetime:
    """Return a publication date in UTC, as `parse_date` reads it; midnight means that only the day is known.

    Raises:
        DataError: if it is not a date; begins with `name`.
    """
    try:
        return parse_date(value)
    except ValueError as error:
        raise DataError(f"{name}: {error}") from error


def dated(articles: Sequence[Article], published: datetime, name: str) -> list[Article]:
    """Return the articles with a publication date, and print a line about other dates that they had.

    A single article gets the date in any case; of several, those without one. `name` says where the date is from.
    """
    others = sum(article.published not in (None, published) for article in articles)
    if others and len(articles) == 1:
        info(f"{articles[0].id}: {name} replaces the date {articles[0].published:%Y-%m-%d %H:%M}")
        return [replace(articles[0], published=published)]
    if others:
        info(f"{name}: {others:,} of {len(articles):,} articles keep the date that they have")
    return [replace(article, published=article.published or published) for article in articles]
