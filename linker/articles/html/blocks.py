"""Blocks of text of a page, and the areas in which they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from linker.articles.page import word_count

_HIDDEN_TAGS = frozenset("script style template noscript svg iframe select head".split())  # noqa: SIM905
_OTHER_TAGS = frozenset("aside nav footer form figure figcaption dialog menu button address".split())  # noqa: SIM905
_BLOCKS = frozenset(
    "p li blockquote h1 h2 h3 h4 h5 h6 td th pre dd dt div section article main figcaption center".split()  # noqa: SIM905
)
#: Elements within the container of a text.
_INNER = frozenset(
    "p li ul ol dl dd dt blockquote h1 h2 h3 h4 h5 h6 table thead tbody tr td th pre a b i em".split()  # noqa: SIM905
)
_OTHER = re.compile(
    r"(?<![a-z])(?:related|recommend\w*|teasers?|promos?|promotion|comments?|disqus|cookies?|consent|gdpr|newsletter|"
    r"subscri\w*|share|sharing|social|sidebar|breadcrumbs?|advert\w*|ads?|sponsor\w*|outbrain|taboola|captions?|credits?|"
    r"biography|bio|tags|read-?more|more-(?:stories|news|on)|most-(?:read|popular)|popular|trending|footer|footnotes?|"
    r"menu|nav|navigation|modal|popup|paywall|copyright|disclaimer|verwandte|mehr-zum|kommentare?|werbung|anzeige|"
    r"siehe-auch|lesen-sie|commentaires?|comentarios|up-next|see-also|toolbar|byline|visually-hidden|sr-only|hidden)(?![a-z])",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of text.

    Attributes:
        element: the element, of lxml.
        text: its text, on one line.
        key: letters and digits of the text.
        link: how many words of the text are in links, from 0 to 1.
    """

    element: Any
    text: str
    key: str
    link: float

    @property
    def words(self) -> int:
        """Number of words."""
        return word_count(self.text)


def key_of(text: str) -> str:
    """Return the letters and digits of a text, in lower case, by which texts are compared."""
    return _LETTERS.sub("", text).lower()


def text_of(element: Any) -> str:
    """Return the text of an element on one line, without scripts."""
    return " ".join("".join(_strings(element)).split())


def _strings(element: Any) -> list[str]:
    found = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and child.tag not in _HIDDEN_TAGS:
            found += [" "] if child.tag == "br" else []
            found += _strings(child)
        found.append(child.tail or "")
    return found


def is_other(element: Any) -> bool:
    """Return whether an element holds something else than the article: a menu, teasers, comments, captions."""
    if not isinstance(element.tag, str) or element.tag in _OTHER_TAGS or element.tag in _HIDDEN_TAGS:
        return True
    if element.tag in ("html", "body", "main"):
        return False
    if element.get("hidden") is not None or element.get("role") in ("complementary", "navigation", "dialog"):
        return True
    if element.tag == "header" and not any(up.tag in ("article", "main") for up in element.iterancestors()):
        return True
    return bool(_OTHER.search(f"{element.get('class') or ''} {element.get('id') or ''}"))


def in_other(element: Any, root: Any) -> bool:
    """Return whether an element, or one around it below a root, is not of the article."""
    while element is not None and element is not root:
        if is_other(element):
            return True
        element = element.getparent()
    return False


def blocks_of(root: Any) -> list[Block]:
    """Return the blocks of text in a tree, in order, those of menus and comments too."""
    found: list[Block] = []
    _collect(root, found)
    return found


def _collect(element: Any, found: list[Block]) -> bool:
    """Collect the blocks in an element; whether there are any."""
    before = len(found)
    for child in element:
        if isinstance(child.tag, str) and child.tag not in _HIDDEN_TAGS:
            _collect(child, found)
    if len(found) == before and element.tag in _BLOCKS and (text := text_of(element)):
        linked = sum(len(key_of(text_of(link))) for link in element.iter("a"))
        linked = len(key_of(text)) if any(up.tag == "a" for up in element.iterancestors()) else linked
        found.append(Block(element, text, key := key_of(text), min(1.0, linked / max(len(key), 1))))
    return len(found) > before


def container_of(element: Any) -> Any:
    """Return the innermost element around a block that is no paragraph, list or table."""
    while element.tag in _INNER and element.getparent() is not None:
        element = element.getparent()
    return element


def signature(element: Any, root: Any) -> tuple[str, ...]:
    """Return tags and classes from a root to an element, without digits: equal for repeated parts."""
    found = []
    while element is not None and element is not root:
        classes = sorted(set(_DIGITS.sub("", element.get("class") or "").split()))
        found.append(" ".join([element.tag, *classes]))
        element = element.getparent()
    return tuple(found)


def common_ancestor(elements: list[Any]) -> Any:
    """Return the innermost element that holds all of some elements."""
    above = [elements[0], *elements[0].iterancestors()]
    for element in elements[1:]:
        path = {element, *element.iterancestors()}
        above = [up for up in above if up in path]
    return above[0]
