"""Filters for posts: by time, by language, and for a corpus by an SQL condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np

from linker.common.errors import DataError
from linker.data.types import Post


@dataclass(frozen=True)
class Filter:
    """Conditions that a post must all meet; posts that lack the field in question are excluded.

    Attributes:
        since: earliest time, inclusive; UTC if it has no time zone.
        until: latest time, exclusive; UTC if it has no time zone.
        languages: accepted languages, as the posts spell them (`en`); empty: all.
        where: an SQL condition over id, text, created_at, lang and extra, such as `json_get_int(extra, 'likes') > 5`;
            for a corpus only.
    """

    since: datetime | None = None
    until: datetime | None = None
    languages: tuple[str, ...] = ()
    where: str | None = None

    def __bool__(self) -> bool:
        return self != Filter()

    @property
    def by_time(self) -> bool:
        """Whether there is a condition on the time."""
        return self.since is not None or self.until is not None

    def passing(self, posts: Sequence[Post]) -> np.ndarray | None:
        """Return the indices of the posts that pass, int64, ascending; None if there is no condition.

        Raises:
            DataError: if `where` is set, which needs a corpus, or if no post has a field in question.
        """
        if not self:
            return None
        self.left_out(posts)
        return np.array([i for i, post in enumerate(posts) if self._passes(post)], dtype=np.int64)

    def left_out(self, posts: Sequence[Post]) -> list[str]:
        """Describe how many posts are excluded because they lack a field, one sentence per field.

        Raises:
            DataError: see `passing`.
        """
        if self.where is not None:
            raise DataError(
                f"--where {self.where}: SQL conditions need a corpus; build one with `linker corpus build` and use "
                "`linker corpus search` (--lang, --since and --until work with `linker rank`, too)"
            )
        without_time = sum(post.created_at is None for post in posts) if self.by_time else 0
        without_language = sum(post.language is None for post in posts) if self.languages else 0
        return self.sentences(len(posts), without_time, without_language)

    def sentences(self, posts: int, without_time: int, without_language: int) -> list[str]:
        """Describe the exclusions as `left_out` does, from counts.

        Args:
            posts: number of posts.
            without_time: number of posts without a time.
            without_language: number of posts without a language.

        Raises:
            DataError: if all posts lack a field in question.
        """
        if self.languages and posts and without_language == posts:
            raise DataError(
                f"--lang {' '.join(self.languages)}: no post has a language; linker reads the fields `lang` and "
                "`language`. Name another one with --column lang=NAME, or add a column with a language detector such "
                "as lingua"
            )
        if self.by_time and posts and without_time == posts:
            raise DataError(
                "--since, --until: no post has a time; linker reads the field `created_at`. Name another one with "
                "--column created_at=NAME"
            )
        lacking = {"time (--since, --until)": without_time, "language (--lang)": without_language}
        return [
            f"left out {count:,} of {posts:,} posts: without a {field}"
            for field, count in lacking.items()
            if count
        ]

    def _passes(self, post: Post) -> bool:
        if self.languages and post.language not in self.languages:
            return False
        if not self.by_time:
            return True
        if post.created_at is None:
            return False
        at = in_utc(post.created_at)
        return (self.since is None or at >= in_utc(self.since)) and (
            self.until is None or at < in_utc(self.until)
        )


def in_utc(at: datetime) -> datetime:
    """Convert a time to UTC; without a time zone it is UTC already.

    A time outside the years 1 to 9999 in UTC becomes the first or the last one that exists.
    """
    if at.tzinfo is None:
        return at.replace(tzinfo=timezone.utc)
    try:
        return at.astimezone(timezone.utc)
    except OverflowError:
        return (datetime.min if at.year == 1 else datetime.max).replace(tzinfo=timezone.utc)
