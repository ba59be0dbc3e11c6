"""Regular expressions for texts of social media and news: emojis, emoticons, links, words, hashtags."""

import re

from linker.data.characters import MARKS, character_class

# The pictographs of Unicode's emoji-data.txt, as ranges that include the gaps.
_PICTOGRAPH = (
    "[©®\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa\u24c2"
    "\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d"
    "\u3297\u3299\U0001f000-\U0001f0ff\U0001f12f-\U0001f1e5\U0001f201-\U0001f3fa\U0001f400-\U0001faff]"
)
_ELEMENT = f"{_PICTOGRAPH}\ufe0f?[\U0001f3fb-\U0001f3ff]?[\U000e0020-\U000e007f]*"
KEYCAP = "[0-9#*]\ufe0f?\u20e3"
# A flag, or one pictograph (with skin tone or tags), or several joined by a zero-width joiner.
_FLAG_LETTER = "[\U0001f1e6-\U0001f1ff]"
EMOJI = f"{_FLAG_LETTER}{{2}}|{_ELEMENT}(?:\u200d{_ELEMENT})*|{_FLAG_LETTER}|[\U0001f3fb-\U0001f3ff]"

EMOTICON = (
    r"[:;=][-'^]?(?:[)(\]\[/\\|*]+|[dDpPoO3])(?!\w)"  # :-) ;( =/ :D
    r"|[)(][-'^]?[:;=](?![)(])"  # (:
    r"|</?3+(?!\d)"  # <3 </3
    r"|\^[_.-]?\^|[-._]_+[-._]"  # ^_^ -_-
    r"|¯\\_\(ツ\)_/¯"
)

# ASCII only: Chinese or Arabic text directly after a link is not part of it.
URL = (
    r"[hH][tT][tT][pP][sS]?(?:://[!-~]*[A-Za-z0-9_/=&#~-]|:?/{0,2}…)"
    r"|[wW]{3}\.[!-~]*[A-Za-z0-9_/=&#~-]"
    r"|(?:pic\.twitter\.com|t\.co|bit\.ly|youtu\.be)/[!-~]*[A-Za-z0-9_/=&#~-]"
)
LINK = re.compile(URL)

# One or more letters, digits, `_` with their marks.
WORD = rf"\w+(?:[{MARKS}]+\w*)*"

_UPPER = character_class({code for code in range(0xFFFF) if chr(code).isupper()})
_LETTER = r"[^\W\d_]"
# Word boundaries in a hashtag: BostonMarathon, NYTimes, election2014, 2014election; but not iPhone, G20.
_HASHTAG_JOINT = re.compile(
    rf"(?<=\w[^\W\d_{_UPPER}])(?=[{_UPPER}])|(?<=[{_UPPER}])(?=[{_UPPER}][^\W\d_{_UPPER}])"
    rf"|(?<={_LETTER}{{3}})(?=\d)|(?<=\d)(?={_LETTER}{{3}})|_"
)


def without_links(text: str) -> str:
    """Return a text with each link replaced by a space."""
    # Every link contains one of these; a search takes longer.
    return LINK.sub(" ", text) if "/" in text or "…" in text or "www." in text.lower() else text


def hashtag_words(tag: str) -> list[str]:
    """Split a hashtag (without its #) into words at capitals, digits and `_`."""
    return [word for word in _HASHTAG_JOINT.split(tag) if word]
