"""Links in plain text."""

from __future__ import annotations

import re

# Letters of alphabets may be part of an address, but Chinese, Japanese and Korean text directly after it is not.
_LINK = re.compile(r"(?:https?://|(?<![\w@./])www\.)[!-;=?-~\u00c0-\u1fff]+…?", re.IGNORECASE)
_END = re.compile(r"[\s.,:;!?'\"*_\]}|]+$")
_BRACKETS = {")": "(", "]": "[", "}": "{"}


def links_in(text: str) -> list[str]:
    """Return the web addresses in a text, in order, each once.

    Punctuation after an address and a bracket that was opened before it do not belong to it. Shortened addresses, which
    end in `…`, are left out.
    """
    if "://" not in text and "www." not in text.lower():
        return []
    found = (_trimmed(match[0]) for match in _LINK.finditer(text) if not match[0].endswith(("…", "...")))
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
