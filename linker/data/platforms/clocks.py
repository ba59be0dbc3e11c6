"""Clocks of platforms: when one received a post, and the times in the ids that it gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from typing import Any, NamedTuple

from linker.data.platforms.paths import getter

Numbered = Callable[[Mapping[str, Any]], "int | None"]

_DIGITS_OF_TID = "234567abcdefghijklmnopqrstuvwxyz"
_CHARACTERS_OF_TID = 13
_CLOCK_ID_BITS = 10


_TWEET = re.compile(
    r"https?://(?:www\.|mobile\.)?(?:x|twitter)\.com/[^/]+/status(?:es)?/(\d+)(?:[/?#].*)?", re.ASCII
)
_POST = re.compile(r"(?:at://[^/]+/app\.bsky\.feed\.post|https://bsky\.app/profile/[^/]+/post)/[^/?#]+")


class Clock(NamedTuple):
    """What a platform says of the time of a post.

    Attributes:
        since: when the platform, or that from which people bring posts to it, began.
        received: when it received the post, so that the post is not later; None: it does not say.
        of_id: times in milliseconds since 1970 that the post's ids hold, the best first.
    """

    since: datetime
    received: Any
    of_id: Iterable[int]


def began(year: int, month: int = 1, day: int = 1) -> datetime:
    """Return the day on which a platform began."""
    return datetime(year, month, day, tzinfo=timezone.utc)


def snowflake(path: str, shift: int, epoch: int = 0, units: int = 1, least: int = 10**13) -> Numbered:
    """Return a function that returns the time in milliseconds since 1970 that a numeric id begins with.

    Args:
        path: where the id is.
        shift: number of bits after the time.
        epoch: what is added, in milliseconds.
        units: milliseconds in a unit of the time.
        least: smallest id that holds a time.
    """
    value_of = getter(path)

    def time_of(record: Mapping[str, Any]) -> int | None:
        number = str(value_of(record)).partition("_")[0]  # Instagram adds the author's
        if not (number.isascii() and number.isdigit() and len(number) < 20 and int(number) >= least):
            return None
        return (int(number) >> shift) * units + epoch

    return time_of


def of_x(path: str) -> Numbered:
    """Return a function that returns the time in the id of a post on X, which those of before November 2010 lack."""
    return snowflake(path, 22, 1288834974657)


def of_mastodon(path: str) -> Numbered:
    """Return a function that returns the time in the id of a post on Mastodon."""
    return snowflake(path, 16, least=96 * 10**15)


def of_tid(path: str) -> Numbered:
    """Return a function that returns the time in the key of a record of the AT Protocol, or in an address with it."""
    value_of = getter(path)

    def time_of(record: Mapping[str, Any]) -> int | None:
        key = str(value_of(record)).rpartition("/")[2]
        if len(key) != _CHARACTERS_OF_TID or not set(key) <= set(_DIGITS_OF_TID):
            return None
        number = 0
        for digit in key:
            number = number * len(_DIGITS_OF_TID) + _DIGITS_OF_TID.index(digit)
        return (number >> _CLOCK_ID_BITS) // 1000

    return time_of


def time_in_address(address: str) -> int | None:
    """Return the time, in milliseconds since 1970, in the address of a post on X or Bluesky; None if it has none."""
    if match := _TWEET.fullmatch(address):
        return of_x("id")({"id": match[1]})
    return of_tid("uri")({"uri": address}) if _POST.fullmatch(address) else None
