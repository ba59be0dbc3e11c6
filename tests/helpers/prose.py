"""Check prose by the rules of STYLE.md: discouraged phrases, British spelling.

The functions take a text and return one line per finding, so they serve pages, help texts and docstrings alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

#: Discouraged phrases (regular expressions, matched as whole words in any case), with what to write instead.
DISCOURAGED = {
    r"told": "reported, shown, logged",
    r"tells? (?!apart)": "report, show, log, distinguish",
    r"said": "reported, predicted, specified",
    r"anew": "again, from scratch",
    r"(?:come|comes|came|bring|brings|brought) along": "bundled, pretrained; has, includes",
    r"dear": "expensive",
    r"there (?:is|are) no such": "not found, unknown",
    r"no such (?:file|folder|config|model)(?! or directory)": "not found",
    r"(?:is|are) no (?:article|label|number|folder|file|model|session|config|name|text|column|format)s?": "is not a",
    r"so many": "N, a number of",
    r"the very": "the exact, the same",
    r"at hand": "available",
    r"stands? (?:for|in|before|behind|beside|at|above|below|there)": "be, represent, appear",
    r"lies? (?:before|behind|beside|near|there|ready)": "be, be assigned to",
    r"(?:go|goes|going|went) on": "continue, resume",
    r"hand(?:s|ed|ing)? (?:out|over)": "assign, pass",
    r"of (?:one's|your|their|its) own kind": "your kind of",
    r"who (?:installs|wants|gives|asks|needs|has) \w+ (?:has|gets|gives|needs)": "users, if you",
    r"piles?": "set, collection",
    r"likeness": "similarity",
    r"kindred": "related",
    r"give or take": "within",
    r"for want of": "without",
    r"not two": "at most one",
    r"word counting": "lexical baseline",
    r"(?:curve of|of the|these) finds|(?:a|last|more) find": "relevant post found; recall curve",
    r"drawn by chance": "sampled at random",
    r"misspelt": "misspelled",
}
_CODE = re.compile(
    r"^(?P<fence>```+|~~~+).*?^(?P=fence)|<!--.*?-->|`+[^`]+`+|(?<=\])\([^)\s]*\)|https?://\S+|<[^>\n]+>",
    re.DOTALL | re.MULTILINE,
)
# Not the parts of identifiers, such as `favourites_count` of an API.
_WORD = re.compile(r"\b[A-Za-z]+\b")


def prose_of(markdown: str) -> str:
    """Return a page with code, comments and the targets of links blanked out; lines keep their numbers."""
    return _CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), markdown)


def discouraged(text: str) -> Iterator[str]:
    """Yield each discouraged phrase of a text, with its line and what to write instead."""
    for phrase, better in DISCOURAGED.items():
        for match in re.finditer(
            rf"(?<![\w-])(?:{phrase})(?![\w-])".replace(" ", r"\s+"), text, re.IGNORECASE
        ):
            yield f"line {_line(text, match)}: {' '.join(match[0].split())!r}; write: {better}"


def british(text: str) -> Iterator[str]:
    """Yield each word in British spelling, with its line and the American spelling."""
    for match in _WORD.finditer(text):
        if american := _american().get(match[0].lower()):
            yield f"line {_line(text, match)}: {match[0]!r}; write: {american}"


def faults(text: str) -> list[str]:
    """Return all findings of a text."""
    return [*discouraged(text), *british(text)]


def _line(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1


@cache
def _american() -> dict[str, str]:
    """British spelling → American spelling, from codespell's dictionary."""
    data = (files("codespell_lib") / "data/dictionary_en-GB_to_en-US.txt").read_text(encoding="utf-8")
    return dict(line.split("->", 1) for line in data.splitlines() if "->" in line)
