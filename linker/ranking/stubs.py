"""Pages that hold no whole article: paywalls, consent walls, pages of scripts, error pages."""

from __future__ import annotations

import re
from typing import Any

from linker.ranking.walls import CONSENT, ERROR, METERED, PAYWALL, ROBOT_CHECK, SCRIPTS

NEARLY_EMPTY = 20
"""Words. Fewer are a button, a name or a caption."""
TEASER = 150
"""Words. A shorter text on a page that asks for a subscription is most likely only the beginning."""
CONSENT_TEXT = 300
"""Words. Consent walls list purposes and partners at length."""
NOTICE = 100
"""Words. Error pages and checks for robots say less."""

_LOCKED = re.compile(
    r'"isAccessibleForFree"\s*:\s*"?false|article:content_tier"\s+content="(?:locked|metered)', re.IGNORECASE
)
# Chinese, Japanese and Thai put no spaces between words; two characters make about one word.
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_NOT_SHOWN = ("script", "style", "template", "nav", "footer", "head", "select", "svg")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def word_count(text: str) -> int:
    """How many words a text has; where a script has no spaces, half its characters."""
    unspaced = len(_UNSPACED.findall(text))
    return len(_UNSPACED.sub(" ", text).split()) + (unspaced + 1) // 2


def fault_of(html: str, title: str, text: str) -> str | None:
    """Why the text that was extracted from a page cannot be the whole article; None if nothing speaks against it.

    Only what a reader sees counts, besides two declarations for search engines (schema.org `isAccessibleForFree`,
    `article:content_tier`); menus and footers do not, for most of them offer subscriptions. What is said is a clause
    that continues "page.html: ".

    Args:
        html: the page.
        title: as extracted.
        text: as extracted; may be empty.
    """
    words = word_count(text)
    if words >= CONSENT_TEXT:
        return None
    found = f"only {words} {'word was' if words == 1 else 'words were'} found"
    if len(set(_matches(CONSENT, text))) > 1:
        return "the page asks for consent to cookies and shows no article"
    if words >= TEASER:
        return None
    seen = _plain(_visible(html))
    if words < NOTICE:
        head = _plain(f"{title}\n{text[:400]}") if text else seen[:400]
        if ROBOT_CHECK.search(head):
            return "the site asks whether a person is reading and shows no article"
        if ERROR.match(_plain(title)) or ERROR.match(_plain(text)) or (not text and ERROR.match(head)):
            return f"is an error page ({' '.join((title or text).split())[:60]!r}), not an article"
        if words < 60 and SCRIPTS.search(_plain(text) if words >= NEARLY_EMPTY else seen):
            return "the page needs JavaScript to show its article"
    if not text:
        return "the page asks for a subscription or a login" if PAYWALL.search(seen) else None
    if PAYWALL.search(seen):
        return f"{found}, and the page asks for a subscription or a login: the rest is missing"
    if _LOCKED.search(html):
        return f"{found}, and the page declares that the article is not free: the rest is missing"
    if re.search(r"(?:…|\.\.\.|\[…\])\s*$", text) and METERED.search(seen):
        return f"{found}, they break off, and the page offers a subscription: the rest is missing"
    if words < NEARLY_EMPTY:
        return f"{found} ({' '.join(text.split())[:60]!r}); that is no article"
    return None


def _matches(pattern: re.Pattern[str], text: str) -> list[str]:
    """Names of the alternatives that match, each once."""
    return [match.lastgroup or match[0].casefold() for match in pattern.finditer(_plain(text))]


def _plain(text: str) -> str:
    """One space between words, typewriter apostrophes."""
    return " ".join(text.replace("’", "'").replace("\u00ad", "").split())


def _visible(html: str) -> str:
    """The text of a page that is neither hidden nor part of a menu, a header or a footer."""
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True)
    try:
        root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return ""
    if root is None:
        return ""
    pieces: list[str] = []
    left_out: set[object] = set()
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            if element.getparent() in left_out or _is_left_out(element):
                left_out.add(element)
            elif element.text:
                pieces.append(element.text)
        else:
            parent = element.getparent()
            if element.tail and parent is not None and parent not in left_out:
                pieces.append(element.tail)
    return " ".join(pieces)


def _is_left_out(element: Any) -> bool:
    if not isinstance(element.tag, str) or element.tag in _NOT_SHOWN or element.get("hidden") is not None:
        return True
    if element.tag == "header":  # that of the site, not that of the article
        return not any(above.tag in ("article", "main") for above in element.iterancestors())
    return bool(_HIDDEN.search(element.get("style") or ""))
