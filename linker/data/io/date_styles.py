"""How the dates of a column, and the times of a platform's posts, are read; and which were not."""

import contextlib
import re
from datetime import datetime, timedelta, timezone
from typing import Any

from linker.data.io.dates import AmbiguousDateError, day_first, is_serial, parse_date

#: No post is older: 1970 is what programs write for a time that they do not know.
_OLDEST = datetime(1971, 1, 1, tzinfo=timezone.utc)
#: Clocks may be wrong, and local times are read as UTC.
_TOLERANCE = timedelta(days=1)
#: Tables may have times that were shifted, so that nobody is recognized by them.
_SHIFTED = timedelta(days=3653)
_ISO = re.compile(r"\s*\d{4}-\d\d-\d\dT", re.ASCII)


class ImpossibleTimeError(ValueError):
    """A time at which no post was written, such as one in the year 1."""


def _check_time_of_post(at: datetime, tolerance: timedelta) -> None:
    if not _OLDEST <= at <= datetime.now(timezone.utc) + tolerance:
        raise ImpossibleTimeError(f"{at.isoformat()} is no possible time of a post")


class DateStyle:
    """How the dates of one column are read, and which values were not.

    Args:
        day_first: whether the day is first in dates like 5/6/2015; None: unknown, so that these are not read.
        of_posts: whether the dates are those of posts, so that times before 1971, or ten years from now, are not read.
    """

    def __init__(self, day_first: bool | None = None, of_posts: bool = False) -> None:
        self.day_first, self._of_posts = day_first, of_posts
        self._unread = self._serials = 0
        self._example, self._problem = "", ""

    def read(self, value: Any, tolerance: timedelta = _SHIFTED) -> datetime | None:
        """Return a date; None if it cannot be read, or is of a post and impossible, which is counted."""
        try:
            moment = parse_date(value, self.day_first)
            if self._of_posts:
                _check_time_of_post(moment, tolerance)
        except ValueError as error:
            if not self._unread:
                self._example, self._problem = f"{str(value)[:40]!r}", self._problem_of(value, error)
            self._unread += 1
            return None
        self._serials += is_serial(value)
        return moment

    def _problem_of(self, value: Any, error: ValueError) -> str:
        if isinstance(error, AmbiguousDateError):
            return "is ambiguous (day or month first?); write dates like 2015-05-26"
        if isinstance(error, ImpossibleTimeError):
            return "is no possible time of a post"
        if self.day_first is not None and day_first(value) is not None:
            return f"does not have the {'day' if self.day_first else 'month'} first, as others do"
        return "is not a date"

    def notes(self, name: str) -> list[str]:
        """Describe what was not read, or converted, in the column `name`, and what to do; empty if there is nothing."""
        parts = (
            (self._unread, f'in "{name}" left out: {self._example} {self._problem}'),
            (self._serials, f'in "{name}" read as days since 1900, as Excel counts them'),
        )
        return [f"{count:,} date{'' if count == 1 else 's'} {rest}" for count, rest in parts if count]


class PostTimes:
    """Reads the times of a platform's posts, and counts those of its own clock, and those that were not read.

    A time that a record states does not count where the platform knows when it received the post, and the post would
    be later or is not dated in the form of ISO 8601, as such platforms require.
    """

    def __init__(self) -> None:
        self._unread = DateStyle(of_posts=True)
        self._replaced = 0
        self._example: Any = None

    def of(self, written: Any, received: Any) -> datetime | None:
        """Return the time of a post; None if neither its record nor the platform's clock shows it.

        Args:
            written: the time that the record states; None: none.
            received: when the platform received the post; None: it does not say.
        """
        limit = _possible(received)
        if limit is None:
            is_written = not (written is None or written != written or str(written).strip() == "")
            return self._unread.read(written, _TOLERANCE) if is_written else None
        at = _possible(written) if isinstance(written, str) and _ISO.match(written) else None
        if at is not None and at <= limit:
            return at
        self._example = written if self._example is None else self._example
        self._replaced += 1
        return limit

    def notes(self) -> list[str]:
        """Describe which times are the platform's, and which were not read; empty if there is nothing."""
        notes = self._unread.notes("created_at")
        if self._replaced:
            stated = f"says {str(self._example)[:40]!r}" if self._example is not None else "has none"
            times = f"{self._replaced:,} time{'' if self._replaced == 1 else 's'}"
            notes.insert(0, f"{times} from the platform's clock (the record {stated})")
        return notes


def _possible(value: Any) -> datetime | None:
    if value is not None:
        with contextlib.suppress(ValueError):
            _check_time_of_post(at := parse_date(value), _TOLERANCE)
            return at
    return None
