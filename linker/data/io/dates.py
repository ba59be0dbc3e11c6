"""Parse dates in files of articles and posts."""

import re
import unicodedata
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any

from linker.data.io.date_words import FILLERS, ZONES, months, weekdays


class AmbiguousDateError(ValueError):
    """A date with two meanings, such as 5/6/2015."""


# The most common form, which Python's parser reads many times as fast.
_USUAL = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.(?:\d{3}|\d{6}))?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?", re.ASCII
)
# 21:38:00.5, 9:38 p.m., 21h38, 21.38 Uhr, with a zone: GMT+0100 (CET), +0000 UTC, EST, [Europe/Berlin]
_CLOCK = re.compile(
    r"(?<![\d:.])(?P<hour>\d{1,2})"
    r"(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?|\s?h\s?(?P<minute_fr>\d\d)?(?![a-z])"
    r"|\.(?P<minute_de>\d\d)(?=\s?uhr))(?!\d|[:.]\d)(?:\s?uhr)?"
    r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?)?"
    r"(?:\s*(?:utc|gmt)?(?P<offset>[+-]\d{1,2}(?::?\d\d)?)(?![\d:]))?"
    rf"(?:\s*(?P<zone>{'|'.join(ZONES)})\b)?(?P<region>\s*\[?[a-z]+(?:/[a-z_]+)+\]?)?"
    r"(?:\[utc\])?(?P<comment>\s*\([^()]*\))?"
    r"(?:\s+m=[+-][\d.]+)?",
    re.IGNORECASE | re.ASCII,
)
_YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})(?P<mark>[-/.:])\s?(?P<month>\d{1,2})(?P=mark)\s?(?P<day>\d{1,2})\.?", re.ASCII
)
# With dots the day is always first.
_DOTTED = re.compile(r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4}|\d\d)", re.ASCII)
# 5/1/2024, 26/05/15, 1-5-2024: the day may be first or second.
_EITHER = re.compile(
    r"(?P<first>\d{1,2})(?P<mark>[/-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)", re.ASCII
)
# 20230315, 202303152138, 20230315T213800Z, 2023-03-15_21-38-00. Numbers of 12 digits would otherwise be milliseconds of
# 1976.
_COMPACT = re.compile(
    r"(?P<year>(?:19[7-9]|20\d)\d)(?P<between>-?)(?P<month>\d\d)(?P=between)(?P<day>\d\d)"
    r"(?:(?:[T _]?|-(?=\d{6}$))(?P<hour>\d\d)(?P<dash>[-.]?)(?P<minute>\d\d)"
    r"(?:(?P=dash)(?P<second>\d\d(?:[.,]\d{1,6}|\d{3})?))?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_JSON_OF_NET = re.compile(r"/Date\((-?\d+)(?:[+-]\d{4})?\)/", re.ASCII)
_NUMBER = re.compile(r"\d{5,19}([.,]\d+)?", re.ASCII)
# Times since 1970 for the years 1973 to 2286: minimum, maximum, units per second.
_UNITS = ((1e8, 1e10, 1), (1e11, 1e13, 10**3), (1e14, 1e16, 10**6), (1e17, 1e19, 10**9))
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# Days as Excel counts them, for the years 2000 to 2049.
_FIRST_SERIAL, _LAST_SERIAL = 36526, 54789
_EXCEL = datetime(1899, 12, 30, tzinfo=timezone.utc)
# 2023年3月15日(水) 午後9時38分, 2023년 3월 15일 오후 9:38: in Latin letters.
_EAST_ASIA = tuple(
    (re.compile(pattern), latin)
    for pattern, latin in (
        (
            r"\(?(?:星期[一二三四五六日天]|[週周][一二三四五六日]|[月火水木金土日]曜日?|[월화수목금토일]요일)\)?",
            " ",
        ),
        (r"\([月火水木金土日월화수목금토일]\)", " "),
        (r"(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일號号]?", r"\1-\2-\3 "),
        (r"(?<=\d)\s?[时時點点시]\s?(?=\d)", ":"),
        (r"(?<=\d)\s?[分분]\s?(?=\d)", ":"),
        (r"(?<=\d)\s?[分분秒초]", ""),
        (r"(?:上午|午前|오전)\s?([\d:]+)", r"\1 am"),
        (r"(?:下午|午後|오후)\s?([\d:]+)", r"\1 pm"),
    )
)
_TOKEN = re.compile(r"\s*(?:(?P<number>\d+)|(?P<word>[^\W\d_]+)\.?|(?P<mark>[,.·•|/'’()–—-]))")
_END_WORDS = re.compile(r"^([^\W\d_]+)[.,]?\s*|\s+([^\W\d_]+)$")
_ENDS = " \t,·•|-–—"
# 15/Mar/2023:21:38:00, 15MAR2023:21:38:00
_DAY_AND_COLON = re.compile(r"(?:(?<=[^\W\d_]/\d{4})|(?<=[^\W\d_]\d{4})):(?=\d\d:\d\d)")
_T = re.compile(r"(?<=\d)T$")


def parse_date(value: Any, day_first: bool | None = None) -> datetime:
    """Parse a point in time, in UTC; a missing zone means UTC, a missing time midnight.

    Reads ISO 8601, RFC 2822, the forms of platforms, programs and pages, dates with names of months in 25 languages,
    seconds, milliseconds, microseconds or nanoseconds since 1970 (numbers or digits), dates and times of Parquet and
    Excel. Times relative to another, such as `2h`, and days without a year are no dates.

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
    match = _EITHER.fullmatch(_bare(_without_clock(_plain(value))[0])) if isinstance(value, str) else None
    if match is None:
        return None
    first, second = int(match["first"]), int(match["second"])
    if 12 < first < 32 and 0 < second < 13:
        return True
    return False if 12 < second < 32 and 0 < first < 13 else None


def _moment(value: Any, day_first: bool | None) -> datetime | None:
    if isinstance(value, datetime):
        return _in_utc(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=timezone.utc)
    if isinstance(value, str):
        if _USUAL.fullmatch(text := value.strip()):
            return _in_utc(datetime.fromisoformat(text.replace("Z", "+00:00")))
        text = _plain(text)
        if match := _JSON_OF_NET.fullmatch(text):
            return _EPOCH + timedelta(milliseconds=int(match[1]))
        if match := _COMPACT.fullmatch(text):
            return _compact(match)
        if not _NUMBER.fullmatch(text):
            return _written(text, day_first)
        value = float(text.replace(",", ".")) if "." in text or "," in text else int(text)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    # Days as Excel counts them, the digits of a date, or time since 1970.
    if is_serial(value):
        return _EXCEL + timedelta(milliseconds=round(value * 86_400_000))
    if value == value // 1 and (match := _COMPACT.fullmatch(str(int(value)))):
        return _compact(match)
    per_second = next((units for least, most, units in _UNITS if least <= value < most), None)
    return None if per_second is None else _EPOCH + timedelta(microseconds=round(value * 10**6 / per_second))


def _plain(text: str) -> str:
    """Return a text with usual spaces, digits and letters, without marks of direction."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("\u2212", "-")
        text = re.sub("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]", "", text)
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    return text.strip(" \t\n='\"")


def is_serial(value: Any) -> bool:
    """Return whether a number, as text or not, counts days as Excel does, for the years 2000 to 2049."""
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value.strip()):
            return False
        value = float(value.strip().replace(",", "."))
    return isinstance(value, (int, float)) and _FIRST_SERIAL <= value < _LAST_SERIAL


def _compact(match: re.Match[str]) -> datetime | None:
    second = re.sub(r"[.,]", "", match["second"] or "0").ljust(8, "0")
    year, month, day, hour, minute = (
        int(match[name] or 0) for name in ("year", "month", "day", "hour", "minute")
    )
    at = datetime(year, month, day, hour, minute, int(second[:2]), int(second[2:8]), tzinfo=timezone.utc)
    zone = match["zone"]
    return at - _offset(zone) if zone not in (None, "Z") else at


def _written(text: str, day_first: bool | None) -> datetime | None:
    """A date with a time or without one, in any order."""
    if not text.isascii():
        for pattern, latin in _EAST_ASIA:
            text = pattern.sub(latin, text)
    rest, match_of_clock = _without_clock(_DAY_AND_COLON.sub(" ", text))
    day = _day(rest, day_first)
    if day is None:
        return None
    return _at(day, match_of_clock) if match_of_clock else datetime(*day, tzinfo=timezone.utc)


def _without_clock(text: str) -> tuple[str, re.Match[str] | None]:
    match = _CLOCK.search(text)
    if match is None:
        return text.strip(_ENDS), None
    return f"{_T.sub('', text[: match.start()])} {text[match.end() :]}".strip(_ENDS), match


def _at(day: tuple[int, int, int], clock: re.Match[str]) -> datetime | None:
    hour = int(clock["hour"])
    if clock["half"]:
        if hour > 12:
            raise ValueError(f"{hour} is not an hour of a 12-hour clock")
        hour = hour % 12 + (12 if clock["half"] in "pP" else 0)
    moment = datetime(
        *day,
        hour,
        int(clock["minute"] or clock["minute_fr"] or clock["minute_de"] or 0),
        int(clock["second"] or 0),
        int((clock["fraction"] or "")[:6].ljust(6, "0")),
        tzinfo=timezone.utc,
    )
    if clock["offset"]:
        return moment - _offset(clock["offset"])
    if clock["zone"]:
        return moment - timedelta(hours=ZONES[clock["zone"].lower()])
    if clock["region"]:
        return None
    if clock["comment"]:
        zone = clock["comment"].strip(" ()").lower()
        return moment - timedelta(hours=ZONES[zone]) if zone in ZONES else None
    return moment


# Posts of one day share their dates.
@lru_cache(maxsize=4096)
def _day(text: str, day_first: bool | None) -> tuple[int, int, int] | None:
    """Return year, month and day."""
    text = _bare(text)
    if match := _YEAR_FIRST.fullmatch(text):
        return int(match["year"]), int(match["month"]), int(match["day"])
    if len(text) == 8 and (match := _COMPACT.fullmatch(text)):
        return int(match["year"]), int(match["month"]), int(match["day"])
    if match := _DOTTED.fullmatch(text):
        return _century(match["year"]), int(match["month"]), int(match["day"])
    if match := _EITHER.fullmatch(text):
        first, second = int(match["first"]), int(match["second"])
        if day_first is None:
            if first < 13 and second < 13 and first != second:
                raise AmbiguousDateError(
                    f"{text!r} is ambiguous (day or month first?); write it like 2015-05-26"
                )
            day_first = first > 12
        return _century(match["year"]), second if day_first else first, first if day_first else second
    return _named_day(text)


def _bare(text: str) -> str:
    """Return a date without the day of the week before it, and the preposition of the time after it."""
    while (match := _END_WORDS.search(text)) and (word := (match[1] or match[2]).casefold()):
        if word in months() or not (word in FILLERS or word in weekdays()):
            break
        text = (text[: match.start()] + text[match.end() :]).strip(_ENDS)
    return text


def _named_day(text: str) -> tuple[int, int, int] | None:
    """Return the day of a date with the name of its month; None if a word of it is unknown."""
    numbers, named, at = [], [], 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        at = token.end()
        if token["number"]:
            numbers.append(token["number"])
        elif token["word"] and (word := token["word"].casefold()) not in FILLERS:
            if word not in months() and word not in weekdays():
                return None
            named.append(word)
    month_words = [word for word in named if word in months() and word not in weekdays()] or [
        word for word in named if word in months()
    ]
    if len({months()[word] for word in month_words}) != 1 or len(numbers) != 2:
        return None
    years = [number for number in numbers if len(number) == 4]
    if not years and re.search(r"[^\W\d_]-\d\d$", text):  # 15-Mar-23, as Excel shows it
        years = numbers[1:]
    if len(years) != 1:
        return None
    (day,) = [number for number in numbers if number is not years[0]]
    return _century(years[0]), months()[month_words[0]], int(day)


def _century(year: str) -> int:
    return int(year) + (0 if len(year) == 4 else 2000 if int(year) < 70 else 1900)


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment.astimezone(timezone.utc)


def _offset(written: str) -> timedelta:
    """Convert +01:00, +0100, +01 or +1."""
    hours, _, minutes = written[1:].partition(":")
    if len(hours) > 2:
        hours, minutes = hours[:-2], hours[-2:]
    offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return -offset if written[0] == "-" else offset
