"""robots.txt: which pages a site lets crawlers fetch, and how fast (RFC 9309)."""

from __future__ import annotations

import math
import re
from functools import cached_property
from urllib.parse import quote, unquote, urlsplit
from urllib.robotparser import RobotFileParser

AGENT = "linker"
"""Name that groups of robots.txt address this crawler by."""
#: Larger files are read up to here (RFC 9309, section 2.5).
MAX_BYTES = 500 << 10
_LINE = re.compile(r"^\s*([A-Za-z-]+)\s*:\s*([^#]*?)\s*(?:#.*)?$")
_RULES = ("allow", "disallow")


class Rules:
    """The rules of one robots.txt.

    `urllib.robotparser` chooses the group for this crawler. It takes the first rule of a group that fits, knows no
    wildcards, and ends a group at a blank line; here the longest rule counts, `*` and `$` work, and blank lines mean
    nothing.

    Args:
        text: content of the file; empty: everything is allowed.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def allows(self, url: str) -> bool:
        """Return whether the page at `url` may be fetched."""
        parts = urlsplit(url)
        path = _normal(parts.path or "/") + (f"?{_normal(parts.query)}" if parts.query else "")
        return self._parsed(path).can_fetch(AGENT, "http://host/")

    @cached_property
    def delay(self) -> float:
        """Seconds between two requests that the site asks for (`Crawl-delay`); 0: no wish."""
        asked = self._parsed("/").crawl_delay(AGENT)
        return 0.0 if asked is None else float(asked)

    @cached_property
    def _lines(self) -> list[tuple[str, str]]:
        """Field and value of each line."""
        found = (_LINE.match(line) for line in self.text.lstrip("\ufeff").splitlines())
        return [(line[1].lower(), line[2]) for line in found if line]

    def _parsed(self, path: str) -> RobotFileParser:
        """The file with the rules of each group replaced by what they say of this path."""
        lines: list[str] = []
        best: tuple[int, bool] | None = None
        for field, value in [*self._lines, ("user-agent", "")]:
            if field in _RULES:
                if value and _fits(value, path):
                    # The longest rule counts; of two of the same length, the one that allows.
                    best = max(best or (-1, False), (len(value), field == "allow"))
                elif best is None:
                    best = (-1, True)
            elif field == "user-agent":
                if best is not None:
                    lines.append("Allow: /" if best[1] else "Disallow: /")
                    best = None
                if value:
                    lines.append(f"User-agent: {value}")
            elif field == "crawl-delay" and re.fullmatch(r"\d{1,6}(\.\d+)?", value):
                lines.append(f"Crawl-delay: {math.ceil(float(value))}")
        parser = RobotFileParser()
        parser.parse(lines)
        return parser


def _normal(path: str) -> str:
    return quote(unquote(path, errors="surrogateescape"), safe="/*$=&;,:@!'()+~?", errors="surrogateescape")


def _fits(rule: str, path: str) -> bool:
    """Whether a rule matches the beginning of a path, or with `$` all of it; in linear time."""
    ends = rule.endswith("$")
    first, *pieces = [_normal(piece) for piece in rule.removesuffix("$").split("*")]
    if not path.startswith(first):
        return False
    if not pieces:
        return not ends or path == first
    last = pieces.pop() if ends else ""
    place = len(first)
    for piece in pieces:
        place = path.find(piece, place)
        if place < 0:
            return False
        place += len(piece)
    return len(path) - len(last) >= place and path.endswith(last)
