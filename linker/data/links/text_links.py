"""Links in plain text."""

import re

from linker.data.links.wrappers import repaired, unwrapped

# Letters of alphabets may be part of an address; text directly after it in scripts without spaces (Chinese, Japanese,
# Korean, Thai, Lao, Burmese, Khmer) and the punctuation of Arabic and Hindi are not.
_FOREIGN = (
    "\u00c0-\u060b\u060d-\u061a\u061c-\u061e\u0620-\u06d3\u06d5-\u0963\u0966-\u0dff\u0f00-\u0fff\u10a0-\u177f"
    "\u1800-\u1fff"
)
_LINK = re.compile(rf"(?:https?://|(?<![\w@./])www\.)[!#-;=?-_a-~{_FOREIGN}]+…?", re.IGNORECASE)
# The lookbehind keeps the search linear where many marks are not at the end.
_MARKS = r"\s.,:;!?'*_\]}|~\\"
_END = re.compile(rf"(?<![{_MARKS}])[{_MARKS}]+$")
#: Characters of an address at most; what is longer is none.
_LONGEST = 4_000
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_BRACKET = re.compile(r"[][(){}]")
# What HTML, Markdown and JSON write after an address.
_AFTER = re.compile(
    r"&(?:quot|apos|lt|gt|nbsp|#0*(?:34|39|60|62|160)|#x0*(?:22|27|3c|3e|a0));|\]\(|\\[nrtu]", re.I
)
_NEXT = re.compile(r"https?://", re.IGNORECASE)
# An address inside another one follows one of these, or a slash of an archive.
_BEFORE_INNER = "=:?&_!+%"


def links_in(text: str) -> list[str]:
    """Return the web addresses in a text, in order, each once.

    Punctuation after an address and a bracket that was opened before it do not belong to it; `\\_` and `&amp;` become
    `_` and `&`; a second address that follows without a space is another one. Shortened addresses, which end in `…`,
    and those of more than 4,000 characters are left out.
    """
    text = text.replace("\\/", "/")  # of JSON
    if "://" not in text and "www." not in text.lower():
        return []
    links = (link for match in _LINK.finditer(text) for link in _apart(match[0]))
    return [link for link in dict.fromkeys(links) if "." in link]


def _apart(text: str) -> list[str]:
    """The addresses in a text without spaces that begins with one."""
    text = repaired(text)
    following = [match.start() for match in _NEXT.finditer(text) if match.start()]
    wraps = bool(following) and unwrapped(text) != text
    # Addresses after another one without a space, unless the first one wraps them.
    glued = [
        at for at in following if text[at - 1] not in _BEFORE_INNER and not (wraps and text[at - 1] == "/")
    ]
    starts, links = [0, *glued], []
    for start, end in zip(starts, [*starts[1:], len(text)]):
        link = _AFTER.split(text[start:end], maxsplit=1)[0]
        if len(link) <= _LONGEST and not link.endswith(("…", "...")):
            links.append(_trimmed(_without_open_bracket(link)))
    return links


def _without_open_bracket(link: str) -> str:
    """Cut an address at a bracket that closes one before it."""
    opened = dict.fromkeys(_BRACKETS.values(), 0)
    for match in _BRACKET.finditer(link):
        if match[0] in opened:
            opened[match[0]] += 1
        elif opened[_BRACKETS[match[0]]]:
            opened[_BRACKETS[match[0]]] -= 1
        else:
            return link[: match.start()]
    return link


def _trimmed(link: str) -> str:
    while True:
        last = link[-1:]
        if last in "([{" and last:
            link = link[:-1]
        elif (shorter := _END.sub("", link)) != link and (
            last not in _BRACKETS or link.count(last) > link.count(_BRACKETS[last])
        ):
            link = shorter
        else:
            return link
