"""Entities and composed letters in texts that strangers wrote: in linear time, without errors."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache

# Python refuses whole numbers of more than 4,300 digits.
_LONG_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{1000,};?")
_REPLACEMENT = "\ufffd"
# Composing takes quadratic time in a run of marks. A letter has some dozens at most, also where people overdo it.
_SHORT, _MOST_MARKS = 2_000, 256


def unescaped(text: str) -> str:
    """Replace the entities of HTML by their characters; numbers of a thousand digits by U+FFFD."""
    return html.unescape(_LONG_REFERENCE.sub(_REPLACEMENT, text))


def composed(text: str) -> str:
    """Compose letters with their marks (Unicode's form NFC); of more than 256 marks in a row, keep 256."""
    if len(text) > _SHORT:
        text = _marks().sub(r"\1", text)
    return unicodedata.normalize("NFC", text)


def compatible(text: str) -> str:
    """Replace characters by their plain equivalents (Unicode's form NFKC), for example bold or wide letters.

    The result may be 18 times as long as the text. In long texts single characters are replaced first and the result is
    composed: the same form in a tenth of the time.
    """
    if len(text) <= _SHORT:
        return unicodedata.normalize("NFKC", text)
    return unicodedata.normalize("NFC", text.translate(_CompatibleForms()))


class _CompatibleForms(dict[int, str]):
    """The form NFKC of single characters, made when `str.translate` first asks for one."""

    def __missing__(self, code: int) -> str:
        form = self[code] = unicodedata.normalize("NFKC", chr(code))
        return form


@cache
def _marks() -> re.Pattern[str]:
    """A run of too many marks; the group is what is kept."""
    found = "".join(chr(code) for code in range(0x300, 0x1F000) if unicodedata.combining(chr(code)))
    return re.compile(f"([{found}]{{{_MOST_MARKS}}})[{found}]+")
