"""Times of a platform's posts: as their records state them, else by the platform's own clock."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from linker.data.io.dates import DateStyle, check_time_of_post, parse_date
from linker.data.io.fields import is_missing
from linker.data.platforms.clocks import Clock

_ISO = re.compile(r"\s*\d{4}-\d\d-\d\dT", re.ASCII)


class PostTimes:
    """Reads the times of posts, and counts those that are the platform's, and those that were not read.

    A time that a record states does not count where the platform knows when it received the post, and the post would
    be later or is not dated in the form of ISO 8601, as such platforms require.
    """

    def __init__(self) -> None:
        self._unread = DateStyle(of_posts=True)
        self._replaced = 0
        self._example: Any = None

    def of(self, written: Any, clock: Clock | None) -> datetime | None:
        """Return the time of a post; None if neither its record nor the platform's clock shows it.

        Args:
            written: the time that the record states; None: none.
            clock: what the platform says; None: nothing.
        """
        if clock is None:
            return None if is_missing(written) else self._unread.read(written)
        received = _possible(clock.received, clock)
        at = None
        if received is None or (isinstance(written, str) and _ISO.match(written)):
            at = _possible(written, clock)
        if at is not None and (received is None or at <= received):
            return at
        if (found := next(_times(received, clock), None)) is not None:
            self._example = written if self._example is None else self._example
            self._replaced += 1
            return found
        return None if is_missing(written) else self._unread.read(written, clock.since)

    def notes(self) -> list[str]:
        """Describe which times are the platform's, and which were not read; empty if there is nothing."""
        notes = self._unread.notes("created_at")
        if self._replaced:
            times = "1 time" if self._replaced == 1 else f"{self._replaced:,} times"
            says = f"says {str(self._example)[:40]!r}" if self._example is not None else "has none"
            notes.insert(0, f"{times} from the platform's clock (the record {says})")
        return notes


def _times(received: datetime | None, clock: Clock) -> Iterator[datetime]:
    if received is not None:
        yield received
    for milliseconds in clock.of_id:
        if (at := _possible(milliseconds, clock)) is not None:
            yield at


def _possible(value: Any, clock: Clock) -> datetime | None:
    if value is None:
        return None
    with contextlib.suppress(ValueError):
        check_time_of_post(at := parse_date(value), clock.since)
        return at
    return None
