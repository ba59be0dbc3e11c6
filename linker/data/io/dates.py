"""Parse dates in files of articles and posts."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from typing import Any


class DateStyle:
    """How the dates of one column are read, and which values were left out.

    Args:
        day_first: whether the day is first in dates like 5/6/2015; None: unknown.
        undecided: leave out dates like 5/6/2015, because the column does not show which number is the day.
        guessed: leave out values that are not dates, because the column was detected, not named by the user.

    Attributes:
        left_out: number of values left out.
        example: the first of them.
    """

    def __init__(self, day_first: bool | None = None, undecided: bool = False, guessed: bool = False) -> None:
        self.day_first, self._undecided, self._guessed = day_first, undecided, guessed
        self.left_out = 0
        self.example: Any = None

    def leaves_out(self, error: ValueError) -> bool:
        """Return whether a value that raised this error is left out; otherwise its line is bad."""
        return self._guessed or (self._undecided and isinstance(error, AmbiguousDateError))

    def leave_out(self, value: Any) -> None:
        """Count a value that is left out."""
        if not self.left_out:
            self.example = value
        self.left_out += 1

    def add(self, other: DateStyle) -> None:
        """Count what was left out of another part of the column, too."""
        if not self.left_out:
            self.example = other.example
        self.left_out += other.left_out

    def note(self, name: str) -> str:
        """Describe the values left out of the column `name`, and what to do."""
        dates = "1 date" if self.left_out == 1 else f"{self.left_out:,} dates"
        shown = str(self.example)[:40]
        if self._undecided:
            return (
                f'{dates} in "{name}" left out: {shown!r} is ambiguous (day or month first?); write dates like '
                "2015-05-26"
            )
        return f'{dates} in "{name}" left out: {shown!r} is not a date'


_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s?(?P<half>[ap])\.?m\.?)?"
)
# Offsets from UTC in hours: the zones of RFC 2822 and of central Europe.
_ZONES = {"Z": 0, "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6}
_ZONES |= {"PST": -8, "PDT": -7, "CET": 1, "CEST": 2}
_ZONE = rf"(?P<zone>{'|'.join(_ZONES)}|[+-]\d{{2}}(?::?\d{{2}})?)"
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
        # 2024/05/01 12:30
        rf"{_YEAR}/(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})(?:,?\s+{_TIME}\s*{_ZONE}?)?",
        # 01.05.2024, 1.5.2024 12:30: with dots the day is always first
        rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_YEAR}(?:,?\s+{_TIME}\s*{_ZONE}?)?",
    )
]
# 5/1/2024 12:30 PM, 26/05/15, 1-5-2024: the day may be first or second.
_EITHER = re.compile(
    rf"(?P<first>\d{{1,2}})(?P<mark>[/-])(?P<second_number>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}|\d\d)"
    rf"(?:,?\s+{_TIME}\s*{_ZONE}?)?",
    re.IGNORECASE | re.ASCII,
)
# The most common form, which Python's parser reads many times as fast.
_USUAL = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.(?:\d{3}|\d{6}))?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?", re.ASCII
)
_NUMBER = re.compile(r"\d{9,19}(\.\d+)?", re.ASCII)
# Times since 1970 for the years 1973 to 2286: minimum, maximum, units per second.
_UNITS = ((1e8, 1e10, 1), (1e11, 1e13, 10**3), (1e14, 1e16, 10**6), (1e17, 1e19, 10**9))
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class AmbiguousDateError(ValueError):
    """A date with two meanings, such as 5/6/2015."""


def parse_date(value: Any, day_first: bool | None = None) -> datetime:
    """Parse a point in time, in UTC; a missing zone means UTC, a missing time midnight.

    Reads ISO 8601, dates, the formats of Twitter and RSS, "26 May 2015", "May 26, 2015", "26.5.2015", "2015/05/26",
    "5/26/2015 4:52 PM", seconds, milliseconds, microseconds or nanoseconds since 1970 (numbers or digits), and dates
    and times of Parquet and Excel.

    Args:
        value: the value of a cell.
        day_first: whether the day is first in dates like 5/6/2015; None: unknown, so that such a date is read only if
            one of its numbers is above 12 or both are equal.

    Raises:
        AmbiguousDateError: if `day_first` is None and the date has two meanings.
        ValueError: if the value is not a date.
    """
    try:
        moment = _moment(value, day_first)
    except AmbiguousDateError:
        raise
    except (ValueError, OverflowError):  # 30 February, or outside the years 1 to 9999
        moment = None
    if moment is None:
        raise ValueError(
            f"{str(value)[:60]!r} is not a date; write it like 2015-05-26 or 2015-05-26T16:52:48Z"
        )
    return moment


def day_first(value: Any) -> bool | None:
    """Return whether the day is first in a date like 26/5/2015; None if it does not show, or is not such a date."""
    match = _EITHER.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    first, second = int(match["first"]), int(match["second_number"])
    return (
        True
        if 12 < first < 32 and 0 < second < 13
        else False
        if 12 < second < 32 and 0 < first < 13
        else None
    )


def _moment(value: Any, day_first: bool | None) -> datetime | None:
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
        if match := _EITHER.fullmatch(text):
            return _either(match.groupdict(), day_first)
        if not _NUMBER.fullmatch(text):
            return None
        value = float(text) if "." in text else int(text)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        for smallest, largest, per_second in _UNITS:
            if smallest <= value < largest:
                return _EPOCH + timedelta(microseconds=round(value * 10**6 / per_second))
    return None


def _either(parts: dict[str, str | None], day_first: bool | None) -> datetime:
    first, second = parts["first"] or "", parts["second_number"] or ""
    if day_first is None:
        if int(first) < 13 and int(second) < 13 and int(first) != int(second):
            written = f"{first}{parts['mark']}{second}{parts['mark']}{parts['year']}"
            raise AmbiguousDateError(
                f"{written!r} is ambiguous (day or month first?); write it like 2015-05-26"
            )
        day_first = int(first) > 12
    day, month = (first, second) if day_first else (second, first)
    year = parts["year"] or ""
    century = "" if len(year) == 4 else "20" if int(year) < 70 else "19"
    return _from_parts({**parts, "day": day, "month": month, "year": century + year})


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
        _hour(int(parts["hour"] or 0), parts["half"]),
        int(parts["minute"] or 0),
        int(parts["second"] or 0),
        int((parts["fraction"] or "")[:6].ljust(6, "0")),
        tzinfo=timezone.utc,
    )
    return moment - _offset(parts["zone"])


def _hour(hour: int, half: str | None) -> int:
    """Convert to the 24-hour clock; `half` is `a` (am), `p` (pm) or None."""
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(f"{hour} is not an hour of a 12-hour clock")
    return hour % 12 + (12 if half in "pP" else 0)


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone.upper() in _ZONES:
        return timedelta(hours=_ZONES[zone.upper()] if zone else 0)
    digits = zone[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -offset if zone[0] == "-" else offset
