"""Dates as they are found in files of articles and posts."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from typing import Any

_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
_ZONE = r"(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)"
_MONTH_NAMES = [
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
]
_MONTH = rf"(?P<month>{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _MONTH_NAMES)}|sept)\.?"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?"
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
_FORMS = [
    re.compile(form, re.IGNORECASE | re.ASCII)
    for form in (
        # 2014-01-02, 2014-01-02T16:52:48.5+01:00, 2014-01-02 16:52 Z
        rf"{_YEAR}-(?P<month>\d{{2}})-(?P<day>\d{{2}})(?:(?:T|\s+){_TIME}\s*{_ZONE}?)?",
        # Thu Jan 02 16:52:48 +0000 2014 (Twitter)
        rf"{_WEEKDAY}{_MONTH}\s+{_DAY}\s+{_TIME}(?:\s+{_ZONE})?\s+{_YEAR}",
        # 26 May 2015; Thu, 02 Jan 2014 16:52:48 +0000 (RSS)
        rf"{_WEEKDAY}{_DAY}\s*{_MONTH},?\s*{_YEAR}(?:,?\s+{_TIME}\s*{_ZONE}?)?",
        # May 26, 2015
        rf"{_WEEKDAY}{_MONTH}\s+{_DAY},?\s+{_YEAR}(?:,?\s+{_TIME}\s*{_ZONE}?)?",
    )
]
# What most files have, and Python's own reader takes too, many times as fast.
_USUAL = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.(?:\d{3}|\d{6}))?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?", re.ASCII
)
# Seconds since 1970 of years 1973 to 2286, and the same in milliseconds.
_SECONDS, _MILLISECONDS = (1e8, 1e10), (1e11, 1e13)


def parse_date(value: Any) -> datetime:
    """A point in time in UTC. Without a zone UTC is meant, without a time midnight.

    Reads ISO 8601, plain dates, Twitter's and RSS's form, "26 May 2015", "May 26, 2015", seconds or
    milliseconds since 1970 (numbers or digits), dates and times of Parquet. Not 5/6/2015, which means two
    days.

    Raises:
        ValueError: the value is none of these.
    """
    try:
        moment = _moment(value)
    except (ValueError, OverflowError):  # the 30th of February, or within a day of the year 1
        moment = None
    if moment is None:
        raise ValueError(
            f"{str(value)[:60]!r} is not read as a date; write it like 2015-05-26 or 2015-05-26T16:52:48Z"
        )
    return moment


def _moment(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return _in_utc(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=timezone.utc)
    if isinstance(value, str):
        text = value.strip()
        if _USUAL.fullmatch(text):
            return _in_utc(datetime.fromisoformat(text.replace("Z", "+00:00")))
        for form in _FORMS:
            if match := form.fullmatch(text):
                return _from_parts(match.groupdict())
        value = float(text) if re.fullmatch(r"\d{9,13}(\.\d+)?", text, re.ASCII) else value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if _SECONDS[0] <= value < _SECONDS[1]:
            return datetime.fromtimestamp(value, timezone.utc)
        if _MILLISECONDS[0] <= value < _MILLISECONDS[1]:
            return datetime.fromtimestamp(value / 1000, timezone.utc)
    return None


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment.astimezone(timezone.utc)


def _from_parts(parts: dict[str, str | None]) -> datetime:
    month = parts["month"] or ""
    number = (
        int(month) if month.isdecimal() else [name[:3] for name in _MONTH_NAMES].index(month[:3].lower()) + 1
    )
    moment = datetime(
        int(parts["year"] or 0),
        number,
        int(parts["day"] or 0),
        int(parts["hour"] or 0),
        int(parts["minute"] or 0),
        int(parts["second"] or 0),
        int((parts["fraction"] or "")[:6].ljust(6, "0")),
        tzinfo=timezone.utc,
    )
    return moment - _offset(parts["zone"])


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone.upper() in ("Z", "UTC", "GMT"):
        return timedelta()
    digits = zone[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -offset if zone[0] == "-" else offset
