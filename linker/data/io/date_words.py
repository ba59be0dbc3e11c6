"""Words of written dates in 25 languages: months, days of the week, time zones, and what stands between them."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from linker.common.files import read_sections
from linker.data.files.known_columns import words

_LISTS = read_sections(Path(__file__).with_name("date_words.ini"))
#: Offsets from UTC in hours by zone.
ZONES = {zone: float(hours) for hours, *zones in map(str.split, _LISTS["zones"]) for zone in zones}
FILLERS = frozenset(" ".join(_LISTS["fillers"]).split())
# Croatian is left out: "listopad" is October there, November in Czech and Polish.
_LOCALES = words("en de de_AT fr es it pt nl ca da nb sv fi pl cs sk sl ro hu tr id ru uk el bg")
#: Abbreviations that the tables of the Unicode Consortium lack.
_MORE_MONTHS = {"sept": 9, "mrz": 3, "maerz": 3, "okt": 10}
_MORE_MONTHS |= {"jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7}
_MORE_DAYS = words("mon tue tues wed thu thur thurs fri sat sun mo di mi do fr sa so")


@cache
def months() -> dict[str, int]:
    """Return the number of a month by its names and abbreviations, without case and final dots."""
    named = set(_named("months"))
    times = Counter(name for _, name in named)
    return {name: number for number, name in named if times[name] == 1} | _MORE_MONTHS


@cache
def weekdays() -> frozenset[str]:
    """Return the names and abbreviations of the days of the week, without case and final dots."""
    return frozenset([*_MORE_DAYS, *(name for _, name in _named("days"))])


def _named(kind: str) -> Iterator[tuple[int, str]]:
    from babel import Locale  # takes 0.2 s to read its tables, and most dates are numbers

    for code in _LOCALES:
        for of_context in getattr(Locale.parse(code), kind).values():
            for width, names in of_context.items():
                if width != "narrow":
                    yield from ((number, name.casefold().rstrip(".")) for number, name in names.items())
