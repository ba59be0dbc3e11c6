"""Links in plain text."""

from __future__ import annotations

import re

# Letters of alphabets may be part of an address, but Chinese, Japanese and Korean text directly after it is not.
_LINK = re.compile(r"(?:https?://|(?<![\w@./])www\.)[!-;=?-~\u00c0-\u1fff]+…?", re.IGNORECASE)
# The lookbehind keeps the search linear where many marks are not at the end.
_END = re.compile(r"(?<![\s.,:;!?'\"*_\]}|])[\s.,:;!?'\"*_\]}|]+$")
#: Characters of an address at most; what is longer is none.
_LONGEST = 4_000
_BRACKETS = {")": "(", "]": "[", "}": "{"}


def links_in(text: str) -> list[str]:
    """Return the web addresses in a text, in order, each once.

    Punctuation after an address and a bracket that was opened before it do not belong to it. Shortened addresses, which
    end in `…`, and those of more than 4,000 characters are left out.
    """
    if "://" not in text and "www." not in text.lower():
        return []
    matches = (match[0] for match in _LINK.finditer(text))
    found = (_trimmed(link) for link in matches if len(link) <= _LONGEST and not link.endswith(("…", "...")))
    return [link for link in dict.fromkeys(found) if "." in link]


def _trimmed(link: str) -> str:
    while True:
        last = link[-1:]
        if last in _BRACKETS and link.count(last) > link.count(_BRACKETS[last]):
            link = link[:-1]
        elif (shorter := _END.sub("", link)) != link and last not in _BRACKETS:
            link = shorter
        else:
            return link
