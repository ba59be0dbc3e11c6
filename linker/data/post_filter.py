"""Conditions on posts: when they were posted, in which language, and whatever else a corpus can be asked in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np

from linker.common.errors import DataError
from linker.data.types import Post


@dataclass(frozen=True)
class Filter:
    """Conditions that all must hold; a post without the field in question is left out.

    Attributes:
        since: posted then or later; without a time zone: UTC.
        until: posted before then; without a time zone: UTC.
        languages: one of these, as the posts spell them (`en`).
        where: an SQL condition over id, text, created_at, lang and extra, such as
            `json_get_int(extra, 'likes') > 5`; only a corpus understands it.
    """

    since: datetime | None = None
    until: datetime | None = None
    languages: tuple[str, ...] = ()
    where: str | None = None

    def __bool__(self) -> bool:
        return self != Filter()

    @property
    def by_time(self) -> bool:
        """Is there a condition on the time?"""
        return self.since is not None or self.until is not None

    def passing(self, posts: Sequence[Post]) -> np.ndarray | None:
        """int64, ascending: the places of the posts that pass; None: there is no condition.

        Raises:
            DataError: `where`, which needs a corpus, or a condition on a field that no post has.
        """
        if not self:
            return None
        self.left_out(posts)
        return np.array([i for i, post in enumerate(posts) if self._passes(post)], dtype=np.int64)

    def left_out(self, posts: Sequence[Post]) -> list[str]:
        """How many posts are left out because they lack a field: one sentence for each field that some lack.

        Raises:
            DataError: as `passing`.
        """
        if self.where is not None:
            raise DataError(
                f"--where {self.where}: SQL conditions need a corpus; build one with `linker corpus build` and use "
                "`linker corpus search` (--lang, --since and --until work with `linker rank`, too)"
            )
        timeless = sum(post.created_at is None for post in posts) if self.by_time else 0
        mute = sum(post.language is None for post in posts) if self.languages else 0
        return self.sentences(len(posts), timeless, mute)

    def sentences(self, posts: int, timeless: int, mute: int) -> list[str]:
        """`left_out` from counts: of all posts, of those without a time, of those without a language.

        Raises:
            DataError: a condition on a field that no post has.
        """
        if self.languages and posts and mute == posts:
            raise DataError(
                f"--lang {' '.join(self.languages)}: no post has a language; linker reads it from a field `lang` or "
                "`language`. If yours has another name, add --column lang=NAME; if there is none, a language "
                "detector such as lingua can fill one"
            )
        if self.by_time and posts and timeless == posts:
            raise DataError(
                "--since, --until: no post has a time; linker reads it from a field `created_at`. If yours has another "
                "name, add --column created_at=NAME"
            )
        lacking = {"time (--since, --until)": timeless, "language (--lang)": mute}
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
    """A time with its zone; one without is taken as UTC."""
    return at.replace(tzinfo=timezone.utc) if at.tzinfo is None else at.astimezone(timezone.utc)
