"""Filters for posts: by time, by language, and for a corpus by an SQL condition."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np

from linker.common.errors import DataError
from linker.data.languages import known_languages, language_of_post
from linker.data.types import Post

#: Languages that are named among those left out.
_SHOWN = 5


@dataclass(frozen=True)
class Filter:
    """Conditions that a post must all meet; posts that lack the field in question are excluded.

    Attributes:
        since: earliest time, inclusive; UTC if it has no time zone.
        until: latest time, exclusive; UTC if it has no time zone.
        languages: accepted languages, by their codes or names (`en`, `en-US`, `eng`, `English`), kept as ISO 639-1
            codes; empty: all.
        where: an SQL condition over id, text, created_at, lang and extra, such as `json_get_int(extra, 'likes') > 5`;
            for a corpus only.
    """

    since: datetime | None = None
    until: datetime | None = None
    languages: tuple[str, ...] = ()
    where: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "languages", known_languages(self.languages))

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
        return np.array([i for i, post in enumerate(posts) if self.passes(post)], dtype=np.int64)

    def left_out(self, posts: Sequence[Post]) -> list[str]:
        """Describe how many posts are excluded because of their language, or because they lack a time.

        Raises:
            DataError: see `passing`.
        """
        if self.where is not None:
            raise DataError(
                f"--where {self.where}: SQL conditions need a corpus; build one with `linker corpus build` and use "
                "`linker corpus search` (--lang, --since and --until work with `linker rank`, too)"
            )
        without_time = sum(post.created_at is None for post in posts) if self.by_time else 0
        languages: Counter[str | None] = Counter(map(language_of_post, posts) if self.languages else ())
        return self.sentences(len(posts), without_time, languages)

    def sentences(self, posts: int, without_time: int, languages: Counter[str | None]) -> list[str]:
        """Describe the exclusions as `left_out` does, from counts.

        Args:
            posts: number of posts.
            without_time: number of posts without a time.
            languages: number of posts by language; None: unknown.

        Raises:
            DataError: if all posts lack a field in question.
        """
        if self.languages and posts and languages[None] == posts:
            raise DataError(
                f"--lang {' '.join(self.languages)}: no post has a language that is stated or can be identified; "
                "linker reads the fields `lang` and `language`. Name another one with --column lang=NAME"
            )
        if self.by_time and posts and without_time == posts:
            raise DataError(
                "--since, --until: no post has a time; linker reads the field `created_at`. Name another one with "
                "--column created_at=NAME"
            )
        by_time = f"left out {without_time:,} of {posts:,} posts: without a time (--since, --until)"
        return [*([by_time] if without_time else []), *self._by_language(languages)]

    def _by_language(self, languages: Counter[str | None]) -> list[str]:
        others = [
            (code, count) for code, count in languages.most_common() if code not in (None, *self.languages)
        ]
        parts = []
        if total := sum(count for _, count in others):
            shown = [f"{code} {count:,}" for code, count in others[:_SHOWN]]
            rest = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
            parts.append(f"{total:,} post{'s' * (total > 1)} in other languages ({', '.join(shown)}{rest})")
        if unknown := languages[None]:
            parts.append(
                f"{unknown:,} {'' if parts else 'post ' if unknown == 1 else 'posts '}of unknown language"
            )
        return [f"left out by --lang {' '.join(self.languages)}: {', '.join(parts)}"] if parts else []

    def kept(self, posts: Sequence[Post]) -> tuple[Sequence[Post], list[str]]:
        """Return the posts that pass, and lines on the others; a `DataError` if none passes, or as for `passing`."""
        if not self:
            return posts, []
        lines, passing = self.left_out(posts), [post for post in posts if self.passes(post)]
        if not passing:
            raise DataError(f"none of {len(posts):,} posts is within --since, --until and --lang")
        kept = f"{len(passing):,} of {len(posts):,} posts are within --since, --until and --lang"
        return passing, [*lines, kept]

    def passes(self, post: Post) -> bool:
        """Return whether a post meets the conditions, `where` apart."""
        if self.languages and language_of_post(post) not in self.languages:
            return False
        if not self.by_time or post.created_at is None:
            return not self.by_time
        at = in_utc(post.created_at)
        is_early = self.since is not None and at < in_utc(self.since)
        return not is_early and (self.until is None or at < in_utc(self.until))


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
