"""The whole body of an article: what the extraction left out of it, by the structure of the page."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from linker.articles.html.blocks import (
    Block,
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


class Body(NamedTuple):
    """The text of an article.

    Attributes:
        text: the text.
        left_out: what looks like a further part of it but was not taken; empty if there is none.
    """

    text: str
    left_out: str


def whole_body(tree: Any, text: str, declared: str, heading: Any) -> Body:
    """Return the text with the parts of the article that the extraction left out.

    A part is added if it is in the same container as the text or in one with the same tags and classes around it.

    Args:
        tree: the page.
        text: as extracted.
        declared: the text that the page declares for search engines; may be empty.
        heading: the element of the title; None: unknown.
    """
    if word_count(declared) > max(_LONGER * word_count(text), word_count(text) + 10):
        return Body(declared, "")
    whole = key_of(text)
    blocks = blocks_of(tree)
    matched = [len(block.key) >= 15 and block.key in whole for block in blocks]
    prose = [
        block
        for block, known in zip(blocks, matched)
        if known and block.words >= _PROSE_WORDS and block.element.tag not in ("h1", "h2", "h3")
    ]
    if not prose:
        return Body(text, "")
    root = _area(prose, heading)
    inside = set(root.iter())
    containers = {container_of(block.element) for block in prose}
    alike = {signature(container, root) for container in containers}
    taken: list[tuple[str, Block]] = []  # with the block after which it stands
    last, left_out = "", []
    for block, known in zip(blocks, matched):
        if known and block.element in inside:
            last = block.key
        elif block.element in inside and not known and block.key not in whole:
            container = container_of(block.element)
            if not _may_be_text(block, root):
                continue
            if container in containers or (
                signature(container, root) in alike and not _is_another_story(container, root, containers)
            ):
                taken.append((last, block))
            elif _is_prose(block) and not _is_another_story(container, root, containers):
                left_out.append(block)
    taken = _without_strays(taken, containers)
    rest = " ".join(block.text for block in left_out)
    much = word_count(rest) >= max(_MUCH, 0.3 * word_count(text))
    return Body(_once(_joined(text, taken)), rest if much else "")


def _area(prose: list[Block], heading: Any) -> Any:
    """The element around the text and the title."""
    area = common_ancestor([block.element for block in prose] + ([heading] if heading is not None else []))
    for up in [area, *area.iterancestors()]:
        if heading is None and (up.tag in ("main", "body") or up.get("role") == "main"):
            return up
    return container_of(area)


def _is_prose(block: Block) -> bool:
    return block.words >= _PROSE_WORDS and block.link < _MOST_LINKED and bool(_SENTENCE.search(block.text))


def _may_be_text(block: Block, root: Any) -> bool:
    if block.link >= _MOST_LINKED or in_other(block.element, root):
        return False
    in_list = block.element.tag in ("li", "td", "th", "dd", "dt", "h2", "h3", "h4", "blockquote", "pre")
    return _is_prose(block) or (in_list and block.element.tag != "h1") or block.words >= 2 * _PROSE_WORDS


def _is_another_story(container: Any, root: Any, containers: set[Any]) -> bool:
    """Whether a container, or one around it without the text, has the title of another story."""
    holders = {up for known in containers for up in [known, *known.iterancestors()]}
    while container is not None and container is not root and container not in holders:
        if any(True for _ in container.iter("h1")):
            return True
        for tag in ("h2", "h3", "h4", "h5"):
            if any(_leads_elsewhere(heading) for heading in container.iter(tag)):
                return True
        container = container.getparent()
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
    kept = []
    for after, block in taken:
        container = container_of(block.element)
        least = 0 if container in containers else _PROSE_WORDS if container.get("class") else _BARE_WORDS
        is_heading = block.element.tag in ("h2", "h3", "h4")
        if words[container] >= least and not (is_heading and container in containers):
            kept.append((after, block))
    return kept


def _joined(text: str, taken: list[tuple[str, Block]]) -> str:
    """Insert blocks behind the lines after which they stand on the page."""
    if not taken:
        return text
    lines = text.split("\n")
    keys = [key_of(line) for line in lines]
    after: dict[int, list[str]] = {}
    place = -1
    for key, block in taken:
        if key:
            place = next((n for n in range(max(place, 0), len(keys)) if _ends(keys[n], key)), place)
        after.setdefault(place, []).append(("- " if block.element.tag == "li" else "") + block.text)
    out = list(after.get(-1, []))
    for n, line in enumerate(lines):
        out += [line, *after.get(n, [])]
    return "\n".join(out)


def _once(text: str) -> str:
    """Return a text without paragraphs that are there again, as on pages with one version for each kind of screen."""
    seen: set[str] = set()
    kept = []
    for line in text.split("\n"):
        key = key_of(line)
        if key not in seen or len(line.split()) < _PROSE_WORDS:
            kept.append(line)
        seen.add(key)
    return "\n".join(kept)


def _ends(line: str, block: str) -> bool:
    """Whether a block ends with this line, or is in it, by their keys."""
    return bool(line) and (block in line or (len(line) >= 15 and block.endswith(line)))


def heading_with(tree: Any, title: str) -> Any:
    """Return the heading of a page that has this title; None if there is none."""
    key = key_of(title)
    for tag in ("h1", "h2", "h3"):
        for heading in tree.iter(tag):
            found = key_of(text_of(heading))
            if found and key and (found in key or key in found) and len(found) > 0.5 * len(key):
                return heading
    return None
