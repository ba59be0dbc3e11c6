"""Blocks of text of a page, and the areas in which they are."""

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from linker.data.characters import word_count

_HIDDEN_TAGS = frozenset("script style template noscript svg iframe select head".split())  # noqa: SIM905
_OTHER_TAGS = frozenset("aside nav footer form figure figcaption dialog menu button address".split())  # noqa: SIM905
_BLOCKS = frozenset(
    "p li blockquote h1 h2 h3 h4 h5 h6 td th pre dd dt div section article main figcaption center".split()  # noqa: SIM905
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


@dataclass(frozen=True, slots=True)
class Block:
    """A block of text.

    Attributes:
        element: the element, of lxml.
        text: its text, on one line.
        key: letters and digits of the text.
        words: number of words.
        link: share of the text that is in links, from 0 to 1.
    """

    element: Any
    text: str
    key: str
    words: int
    link: float


def key_of(text: str) -> str:
    """Return the letters and digits of a text, in lower case, by which texts are compared."""
    return _LETTERS.sub("", text).lower()


def text_of(element: Any) -> str:
    """Return the text of an element on one line, without scripts."""
    return " ".join("".join(_strings(element)).split())


def _strings(element: Any) -> list[str]:
    strings = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and child.tag not in _HIDDEN_TAGS:
            strings += [" "] if child.tag == "br" else []
            strings += _strings(child)
        strings.append(child.tail or "")
    return strings


def around(element: Any) -> list[Any]:
    """Return an element and those around it, the innermost first."""
    return [element, *element.iterancestors()]


def class_and_id(element: Any) -> str:
    """Return the classes and the id of an element, which say what it holds."""
    return f"{element.get('class') or ''} {element.get('id') or ''}"


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
    return bool(_OTHER.search(class_and_id(element)))


def in_other(element: Any, root: Any) -> bool:
    """Return whether an element, or one around it below a root, is not of the article."""
    return any(is_other(up) for up in takewhile(lambda up: up is not root, around(element)))


def blocks_of(root: Any) -> list[Block]:
    """Return the blocks of text in a tree, in order, those of menus and comments too."""
    children = [child for child in root if isinstance(child.tag, str) and child.tag not in _HIDDEN_TAGS]
    blocks = [block for child in children for block in blocks_of(child)]
    if blocks or root.tag not in _BLOCKS or not (text := text_of(root)):
        return blocks
    key = key_of(text)
    in_link = any(up.tag == "a" for up in root.iterancestors())
    linked = len(key) if in_link else sum(len(key_of(text_of(link))) for link in root.iter("a"))
    return [Block(root, text, key, word_count(text), min(1.0, linked / max(len(key), 1)))]
