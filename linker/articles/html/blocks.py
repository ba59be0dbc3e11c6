"""Blocks of text of a page, and the areas in which they are."""

import re
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from linker.common.files import read_word_lists
from linker.data.characters import word_count

_AREAS = read_word_lists(Path(__file__).with_name("areas.ini"))
_HIDDEN_TAGS, _OTHER_TAGS, _BLOCKS = _AREAS["hidden tags"], _AREAS["other tags"], _AREAS["blocks"]
_LETTERS = re.compile(r"[\W_]+")


def named(area: str) -> re.Pattern[str]:
    """Return the pattern of the classes and ids that an area may have, by its section in `areas.ini`."""
    return re.compile(rf"(?<![a-z])(?:{'|'.join(_AREAS[area])})(?![a-z])", re.IGNORECASE)


_OTHER = named("other")


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
