"""The whole body of an article: what the extraction left out of it, by the structure of the page."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from linker.articles.html.blocks import (
    Block,
    around,
    blocks_of,
    common_ancestor,
    container_of,
    in_other,
    key_of,
    signature,
    text_of,
)
from linker.articles.page import word_count

# A paragraph of prose, as opposed to a name, a button or a caption.
_PROSE_WORDS = 8
_SENTENCE = re.compile(r"[.!?…。！？।؟][\"'”’»)\]]*$")
_MOST_LINKED = 0.4
# Containers without a class are alike by chance: more words are needed.
_BARE_WORDS = 25
# A text that is longer by less than this is the same with captions or without.
_LONGER = 1.2
_MUCH = 40
_HEADINGS = ("h1", "h2", "h3")
_IN_LISTS = ("li", "td", "th", "dd", "dt", "h2", "h3", "h4", "blockquote", "pre")


class Body(NamedTuple):
    """The text of an article, and what looks like a further part of it but was not taken; empty if there is none."""

    text: str
    left_out: str


def whole_body(tree: Any, text: str, declared: str, heading: Any) -> Body:
    """Return the text with the parts of the article that the extraction left out.

    A part is added if it is in the same container as the text or in one with the same tags and classes around it.
    `declared` is the text that the page has for search engines, `heading` the element of the title; None: unknown.
    """
    if word_count(declared) > max(_LONGER * word_count(text), word_count(text) + 10):
        return Body(declared, "")
    whole = key_of(text)
    blocks = blocks_of(tree)
    extracted = {block.element for block in blocks if len(block.key) >= 15 and block.key in whole}
    prose = [
        block.element
        for block in blocks
        if block.element in extracted and block.words >= _PROSE_WORDS and block.element.tag not in _HEADINGS
    ]
    if not prose:
        return Body(text, "")
    root = _area(prose, heading)
    inside = set(root.iter())
    containers = {container_of(element) for element in prose}
    alike = {signature(container, root) for container in containers}
    taken: list[tuple[str, Block]] = []  # with the key of the block after which it stands
    last, left_out = "", []
    for block in blocks:
        if block.element not in inside:
            continue
        if block.element in extracted:
            last = block.key
        elif block.key not in whole and _may_be_text(block, root):
            container = container_of(block.element)
            is_alike = signature(container, root) in alike
            if container in containers:
                taken.append((last, block))
            elif (is_alike or _is_prose(block)) and not _is_another_story(container, root, containers):
                if is_alike:
                    taken.append((last, block))
                else:
                    left_out.append(block.text)
    rest = " ".join(left_out)
    much = word_count(rest) >= max(_MUCH, 0.3 * word_count(text))
    return Body(_once(_joined(text, _without_strays(taken, containers))), rest if much else "")


def _area(prose: list[Any], heading: Any) -> Any:
    """The element around the text and the title."""
    area = common_ancestor(prose if heading is None else [*prose, heading])
    for up in around(area) if heading is None else ():
        if up.tag in ("main", "body") or up.get("role") == "main":
            return up
    return container_of(area)


def _is_prose(block: Block) -> bool:
    return block.words >= _PROSE_WORDS and block.link < _MOST_LINKED and bool(_SENTENCE.search(block.text))


def _may_be_text(block: Block, root: Any) -> bool:
    if block.link >= _MOST_LINKED or in_other(block.element, root):
        return False
    return _is_prose(block) or block.element.tag in _IN_LISTS or block.words >= 2 * _PROSE_WORDS


def _is_another_story(container: Any, root: Any, containers: set[Any]) -> bool:
    """Whether a container, or one around it without the text, has the title of another story."""
    holders = {up for holder in containers for up in around(holder)}
    for up in around(container):
        if up is root or up in holders:
            return False
        headings = [heading for tag in ("h2", "h3", "h4", "h5") for heading in up.iter(tag)]
        if next(up.iter("h1"), None) is not None or any(map(_leads_elsewhere, headings)):
            return True
    return False


def _leads_elsewhere(heading: Any) -> bool:
    links = [*heading.iter("a"), *(up for up in heading.iterancestors() if up.tag == "a")]
    return any(not (link.get("href") or "#").startswith("#") for link in links)


def _without_strays(taken: list[tuple[str, Block]], containers: set[Any]) -> list[tuple[str, Block]]:
    """Leave out headings without text, and short texts in containers without a class."""
    words: dict[Any, int] = {}
    for _, block in taken:
        container = container_of(block.element)
        words[container] = words.get(container, 0) + block.words * _is_prose(block)

    def is_stray(block: Block) -> bool:
        container = container_of(block.element)
        if container in containers:
            return block.element.tag in ("h2", "h3", "h4")
        return words[container] < (_PROSE_WORDS if container.get("class") else _BARE_WORDS)

    return [(after, block) for after, block in taken if not is_stray(block)]


def _joined(text: str, taken: list[tuple[str, Block]]) -> str:
    """Insert blocks behind the lines after which they stand on the page."""
    lines = text.split("\n")
    keys = [key_of(line) for line in lines]
    inserted: list[list[str]] = [[] for _ in range(len(lines) + 1)]
    at = -1
    for key, block in taken:
        if key:
            at = next((n for n in range(max(at, 0), len(keys)) if _ends(keys[n], key)), at)
        inserted[at + 1].append(("- " if block.element.tag == "li" else "") + block.text)
    joined = inserted[0]
    for line, behind in zip(lines, inserted[1:]):
        joined += [line, *behind]
    return "\n".join(joined)


def _once(text: str) -> str:
    """Return a text without paragraphs that are there again, as on pages with one version for each kind of screen."""
    seen: set[str] = set()
    lines = []
    for line in text.split("\n"):
        key = key_of(line)
        if key not in seen or len(line.split()) < _PROSE_WORDS:
            lines.append(line)
        seen.add(key)
    return "\n".join(lines)


def _ends(line: str, block: str) -> bool:
    """Whether a block ends with this line, or is in it, by their keys."""
    return bool(line) and (block in line or (len(line) >= 15 and block.endswith(line)))


def heading_with(tree: Any, title: str) -> Any:
    """Return the heading of a page that has this title; None if there is none."""
    key = key_of(title)
    for heading in (heading for tag in _HEADINGS for heading in tree.iter(tag)):
        other = key_of(text_of(heading))
        if other and key and (other in key or key in other) and len(other) > 0.5 * len(key):
            return heading
    return None
