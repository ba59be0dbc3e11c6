"""Regular expressions and character classes for the texts of social media and news."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# Emoji_Presentation and Extended_Pictographic of Unicode's emoji-data.txt, as ranges that also span their gaps.
_PICTOGRAPH = (
    "[©®\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa\u24c2"
    "\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d"
    "\u3297\u3299\U0001f000-\U0001f0ff\U0001f12f-\U0001f1e5\U0001f201-\U0001f3fa\U0001f400-\U0001faff]"
)
_ELEMENT = f"{_PICTOGRAPH}\ufe0f?[\U0001f3fb-\U0001f3ff]?[\U000e0020-\U000e007f]*"
KEYCAP = "[0-9#*]\ufe0f?\u20e3"
# A flag, or one pictograph (with skin tone or tags), or several joined by a zero-width joiner.
EMOJI = f"[\U0001f1e6-\U0001f1ff]{{2}}|{_ELEMENT}(?:\u200d{_ELEMENT})*|[\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]"

EMOTICON = (
    r"[:;=][-'^]?(?:[)(\]\[/\\|*]+|[dDpPoO3](?!\w))"  # :-) ;( =/ :D
    r"|[)(][-'^]?[:;=](?![)(])"  # (:
    r"|</?3+(?!\d)"  # <3 </3
    r"|\^[_.-]?\^|[-._]_+[-._]"  # ^_^ -_-
    r"|¯\\_\(ツ\)_/¯"
)

# Only ASCII: what follows a link without a space in Chinese or Arabic is not part of it.
URL = (
    r"[hH][tT][tT][pP][sS]?(?:://[!-~]*[\w/=&#~-]|:?/{0,2}…)"
    r"|[wW]{3}\.[!-~]*[\w/=&#~-]"
    r"|(?:pic\.twitter\.com|t\.co|bit\.ly|youtu\.be)/[!-~]*[\w/=&#~-]"
)


@lru_cache(maxsize=1)
def word_characters() -> str:
    """The inside of a character class: what words are made of.

    Letters, digits, `_`, and what Python's `\\w` leaves out: vowel signs and accents that stand on letters (without
    them Hindi, Tamil or Thai fall into pieces) and the joiners of Persian and Indic scripts.
    """
    marks = [
        code
        for code in range(0x300, 0x20000)
        if unicodedata.category(chr(code)) in ("Mn", "Mc") and not 0xFE00 <= code <= 0xFE0F
    ]
    ranges: list[list[int]] = []
    for code in marks:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return r"\w" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges) + "\u200c\u200d"
