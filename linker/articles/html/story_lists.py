"""Pages that list stories: home pages, sections, topics, results of a search, feeds."""

from __future__ import annotations

import re
from typing import Any

from linker.articles.html.blocks import Block, around, blocks_of, in_other, key_of, text_of
from linker.articles.html.incomplete_pages import NEARLY_EMPTY
from linker.articles.html.metadata import host_of_link
from linker.articles.page import word_count

_FEED = re.compile(
    r"(?:\ufeff|<\?xml[^>]*>|<\?[^>]*\?>|<!--(?:(?!-->).)*-->|\s)*<(?P<root>rss|feed|rdf:RDF|urlset)\b",
    re.S | re.I,
)
_ENTRY = re.compile(r"<(?:item|entry|url)\b", re.IGNORECASE)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_OTHER = ("nav", "footer", "aside")
_BLOCK = frozenset("p li div td th dd dt section article h1 h2 h3 h4 h5 h6 span".split())  # noqa: SIM905
_LIST_CLASS = re.compile(
    r"(?<![\w-])(?:home|archive|category|tag|search|search-results|blog)(?![\w-])", re.IGNORECASE
)
_SINGLE_CLASS = re.compile(r"(?<![\w-])(?:single|postid-\d+|page-template-default)(?![\w-])", re.IGNORECASE)
# Stories on a page that is to be a list, and on one that declares to be one.
_FEWEST, _FEWEST_DECLARED = 5, 3
_IN_STORIES, _IN_ONE = 0.6, 0.5
# Share of linked characters from which on a block is not a text of an article.
_LINKED = 0.4
_SHORT, _CONTINUED = 45, 4


def stories_of_feed(text: str) -> int | None:
    """Return the number of stories in a feed (RSS, Atom, a sitemap); None if a text is not a feed."""
    return len(_ENTRY.findall(text)) if _FEED.match(text[:4096]) else None


def stories_of(tree: Any, text: str, host: str, is_article: bool, is_list: bool) -> int:
    """Return the number of stories on a page that is a list of them; 0 if it is an article.

    A page is a list if most of its text (as extracted; may be empty) is in parts with a link to another page as their
    title. `is_article` and `is_list` say what it declares to be; an empty host is unknown.
    """
    body = next(iter(tree.iter("body")), tree)
    classes = body.get("class") or ""
    is_list = is_list or bool(_LIST_CLASS.search(classes) and not _SINGLE_CLASS.search(classes))
    links = _titles(body, host, is_article)
    if len(set(links.values())) < (_FEWEST_DECLARED if is_list and not is_article else _FEWEST):
        return 0
    cards = _cards(links)
    whole, words, outside = key_of(text), dict.fromkeys(cards, 0), 0
    first: dict[Any, Block] = {}
    for block in blocks_of(body):
        if (
            len(block.key) < 8
            or (whole and block.key not in whole)
            or (not whole and in_other(block.element, body))
        ):
            continue
        card = next((up for up in around(block.element) if up in words), None)
        if card is None:
            outside += word_count(block.text) if block.link < _LINKED else 0
        else:
            words[card] += word_count(block.text)
            first.setdefault(card, block)
    total = sum(words.values()) + outside
    if not total or sum(words.values()) < _IN_STORIES * total or (is_article and outside >= NEARLY_EMPTY):
        return 0
    most = max(words, key=lambda card: words[card])
    if words[most] > _IN_ONE * total and not any(_is_in(link, first[most].element) for link in links):
        return 0  # an article with the title of another story in its text
    return len(set(links.values()))


def _is_in(link: Any, block: Any) -> bool:
    return block in around(link) or link in around(block)


def _titles(body: Any, host: str, same_site: bool) -> dict[Any, str]:
    """Links that are the titles of other stories → their addresses."""
    titles = {}
    whole = key_of("".join(text_of(title) for title in body.getroottree().iter("title")))
    for link in body.iter("a"):
        href = (link.get("href") or "").strip()
        if not href or href.startswith(("#", "javascript:", "mailto:", "tel:")):
            continue
        heading = next((up for up in [*link.iterancestors(), *link.iter()] if up.tag in _HEADINGS), None)
        words = word_count(text_of(link))
        if (heading is None and not 3 <= words <= _SHORT) or words < 2:
            continue
        block = next((up for up in link.iterancestors() if up.tag in _BLOCK), None)
        if heading is None and block is not None and not _leads(block, link):
            continue
        is_title = len(key_of(text_of(link))) > 8 and key_of(text_of(link)) in whole
        if (
            is_title
            or any(up.tag in _OTHER for up in link.iterancestors())
            or (same_site and host and host_of_link(href) not in ("", host))
        ):
            continue
        titles[link] = href.partition("#")[0]
    return titles


def _leads(block: Any, link: Any) -> bool:
    """Whether a link is the title of its block."""
    text, title = text_of(block), text_of(link)
    if block.tag == "p" and word_count(text) - word_count(title) > _CONTINUED:
        return False  # a sentence that begins with a link
    nearly_all = word_count(text) - word_count(title) <= _CONTINUED  # such as a date before it
    return word_count(text) <= _SHORT and (nearly_all or key_of(text).startswith(key_of(title)))


def _cards(links: dict[Any, str]) -> list[Any]:
    """The largest element around each title that has no other title."""
    around: dict[Any, set[str]] = {}
    for link, href in links.items():
        for up in link.iterancestors():
            around.setdefault(up, set()).add(href)
    cards = []
    for link in links:
        card = link
        for up in link.iterancestors():
            if len(around[up]) > 1:
                break
            card = up
        cards.append(card)
    return list(dict.fromkeys(cards))
