"""Detect pages without a complete article: paywalls, consent walls, script-only pages, error pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from linker.common.files import read_sections
from linker.data.characters import word_count

NEARLY_EMPTY = 20
"""Number of words; shorter texts are a button, a name or a caption."""
TEASER = 150
"""Number of words; a shorter text on a page that asks for a subscription is most likely a teaser."""
CONSENT_TEXT = 300
"""Number of words; consent walls list purposes and partners at length."""
NOTICE = 100
"""Number of words; error pages and robot checks are shorter."""

FaultKind = Literal[
    "consent page", "robot check", "soft 404", "needs JavaScript", "paywall", "short text", "list of stories"
]


class Fault(str):
    """Why a page is not a whole article, as a clause after "page.html: ".

    Attributes:
        kind: what the page is.
    """

    kind: FaultKind

    def __new__(cls, kind: FaultKind, clause: str) -> Fault:
        """Return the fault of this kind with this clause."""
        fault = super().__new__(cls, clause)
        fault.kind = kind
        return fault


# One pattern by section; see the file.
_PHRASES = {
    name: re.compile("|".join(phrases), re.IGNORECASE)
    for name, phrases in read_sections(Path(__file__).with_name("phrases.ini")).items()
}
_CONSENT = [pattern for name, pattern in _PHRASES.items() if name.startswith("consent")]
_LOCKED = re.compile(
    r'"isAccessibleForFree"\s*:\s*"?false|article:content_tier"\s+content="(?:locked|metered)', re.IGNORECASE
)
_BREAKS_OFF = re.compile(r"(?:…|\.\.\.|\[…\])\s*$")
_NOT_SHOWN = ("script", "style", "template", "nav", "footer", "head", "select", "svg")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def list_fault(stories: int, what: str = "a list") -> Fault:
    """Return the fault of a page that lists stories."""
    return Fault("list of stories", f"the page is {what} of {stories:,} stories, not an article")


def _is_error(title: str) -> bool:
    return _PHRASES["error"].match(_plain(title)) is not None


def fault_of(html: str, title: str, text: str) -> Fault | None:
    """Return why the text that was extracted (may be empty) cannot be the whole article; None if it can.

    Only visible text counts, besides two declarations for search engines (schema.org `isAccessibleForFree`,
    `article:content_tier`); menus and footers do not, since most of them offer subscriptions.
    """
    words, plain = word_count(text), _plain(text)
    if words >= CONSENT_TEXT:
        return None
    # Two phrases with the same meaning count once.
    if sum(pattern.search(plain) is not None for pattern in _CONSENT) > 1:
        return Fault("consent page", "the page asks for consent to cookies and shows no article")
    if words >= TEASER:
        return None
    from trafilatura import load_html

    seen = "" if (root := load_html(html)) is None else _plain(_visible(root))
    if words < NOTICE:
        head = _plain(f"{title}\n{text[:400]}") if text else seen[:400]
        if _PHRASES["robot check"].search(head):
            return Fault("robot check", "the site checks for robots and shows no article")
        if _is_error(title) or _is_error(text) or (not text and _is_error(head)):
            name = " ".join((title or text).split())[:60]
            return Fault("soft 404", f"an error page ({name!r}), not an article")
        if words < 60 and _PHRASES["scripts"].search(plain if words >= NEARLY_EMPTY else seen):
            return Fault("needs JavaScript", "the page needs JavaScript to show its article")
    asks = _PHRASES["paywall"].search(seen)
    if not text:
        return Fault("paywall", "the page asks for a subscription or a login") if asks else None
    only = f"only {words} {'word was' if words == 1 else 'words were'} found"
    for is_teaser, sign in (
        (asks, ", and the page asks for a subscription or a login"),
        (_LOCKED.search(html), ", and the page declares that the article is not free"),
        (
            _BREAKS_OFF.search(text) and _PHRASES["metered"].search(seen),
            ", they break off, and the page offers a subscription",
        ),
    ):
        if is_teaser:
            return Fault("paywall", f"{only}{sign}: the rest is missing")
    if words < NEARLY_EMPTY:
        return Fault("short text", f"{only} ({' '.join(text.split())[:60]!r}), too few for an article")
    return None


def _plain(text: str) -> str:
    """Normalize spaces and apostrophes."""
    return " ".join(text.replace("’", "'").replace("\u00ad", "").split())


def _visible(element: Any) -> str:
    """Return the visible text of an element without menus, headers and footers."""
    if not isinstance(element.tag, str) or element.tag in _NOT_SHOWN or element.get("hidden") is not None:
        return ""
    # A header of the site, not of the article.
    if element.tag == "header" and not any(up.tag in ("article", "main") for up in element.iterancestors()):
        return ""
    if _HIDDEN.search(element.get("style") or ""):
        return ""
    return " ".join([element.text or "", *(f"{_visible(child)} {child.tail or ''}" for child in element)])
