"""Words of written dates in 25 languages: months, days of the week, time zones, and what stands between them."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

from linker.data.files.known_columns import words

#: Offsets from UTC in hours. Names of several zones, such as IST (India, Ireland, Israel), are not read; those of RFC
#: 2822 are North American.
ZONES: dict[str, float] = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2, "mez": 1, "mesz": 2,
    "eet": 2, "eest": 3, "msk": 3, "sast": 2, "wat": 1, "cat": 2, "eat": 3, "pkt": 5, "wib": 7, "hkt": 8, "sgt": 8,
    "awst": 8, "jst": 9, "kst": 9, "acst": 9.5, "acdt": 10.5, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
    "hst": -10, "akst": -9, "akdt": -8, "pst": -8, "pdt": -7, "mst": -7, "mdt": -6, "cst": -6, "cdt": -5, "est": -5,
    "edt": -4, "nst": -3.5, "ndt": -2.5, "brt": -3,
}  # fmt: skip
#: Words between the parts of a date that mean nothing by themselves, and endings of numbers (15th, 1er, 15º).
FILLERS = frozenset(
    words(
        "at on of the um uhr am der den à a le du de del la las los el h hs hrs em às as alle ore il om op uur kl klo "
        "o godz godzinie dnia r г года в о utc gmt st nd rd th er º ª"
    )
)
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
