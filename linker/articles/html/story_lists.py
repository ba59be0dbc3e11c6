"""Pages that list stories: home pages, sections, topics, results of a search, feeds."""

import re
from collections import Counter
from typing import Any

from linker.articles.html.blocks import around, blocks_of, in_other, key_of, text_of
from linker.articles.html.incomplete_pages import NEARLY_EMPTY
from linker.articles.html.metadata import host_of_link
from linker.data.characters import word_count

_FEED = re.compile(
    r"(?:\ufeff|<\?xml[^>]*>|<\?[^>]*\?>|<!--(?:(?!-->).)*-->|\s)*<(?P<root>rss|feed|rdf:RDF|urlset)\b",
    re.S | re.I,
)
_ENTRY = re.compile(r"<(?:item|entry|url)\b", re.IGNORECASE)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_OTHER = ("nav", "footer", "aside")
_BLOCK = ("p", "li", "div", "td", "th", "dd", "dt", "section", "article", *_HEADINGS, "span")
_FEWEST = 5
# Share of the words that are in stories; of linked characters from which on a block is not a text of an article.
_IN_STORIES, _LINKED = 0.6, 0.4
_SHORT, _CONTINUED = 45, 4


def stories_of_feed(text: str) -> int | None:
    """Return the number of stories in a feed (RSS, Atom, a sitemap); None if a text is not a feed."""
    return len(_ENTRY.findall(text)) if _FEED.match(text[:4096]) else None


def stories_of(tree: Any, text: str, host: str, is_article: bool) -> int:
    """Return the number of stories on a page that is a list of them; 0 if it is an article.

    A page is a list if most of its text (as extracted; may be empty) is in parts with a link to another page as their
    title. `is_article` is what it declares to be; an empty host is unknown.
    """
    body = next(iter(tree.iter("body")), tree)
    links = _titles(body, host if is_article else "")
    stories = len(set(links.values()))
    if stories < _FEWEST:
        return 0
    cards, whole, outside = _cards(links), key_of(text), 0
    words: Counter[Any] = Counter()
    first: dict[Any, Any] = {}
    for block in blocks_of(body):
        if len(block.key) < 8 or (block.key not in whole if whole else in_other(block.element, body)):
            continue
        card = next((up for up in around(block.element) if up in cards), None)
        if card is not None:
            words[card] += block.words
            first.setdefault(card, block.element)
        elif block.link < _LINKED:
            outside += block.words
    total = words.total() + outside
    if words.total() < max(_IN_STORIES * total, 1) or (is_article and outside >= NEARLY_EMPTY):
        return 0
    [(card, most)] = words.most_common(1)
    titles = {up for link in links for up in [*around(link), *link.iter()]}
    if most > total / 2 and first[card] not in titles:
        return 0  # an article with the title of another story in its text
    return stories


def _titles(body: Any, host: str) -> dict[Any, str]:
    """Links that are the titles of other stories → their addresses; if the host is given, on it only."""
    titles = {}
    page = key_of("".join(text_of(title) for title in body.getroottree().iter("title")))
    for link in body.iter("a"):
        href, text = (link.get("href") or "").strip(), text_of(link)
        is_heading = any(up.tag in _HEADINGS for up in [*link.iterancestors(), *link.iter()])
        is_of_page = len(key_of(text)) > 8 and key_of(text) in page
        if not href or href.startswith(("#", "javascript:", "mailto:", "tel:")) or is_of_page:
            continue
        if word_count(text) < 2 or not (is_heading or _leads(link, text)):
            continue
        is_elsewhere = host and host_of_link(href) not in ("", host)
        if not is_elsewhere and not any(up.tag in _OTHER for up in link.iterancestors()):
            titles[link] = href.partition("#")[0]
    return titles


def _leads(link: Any, title: str) -> bool:
    """Whether a link is the title of its block."""
    around_it = next(link.iterancestors(*_BLOCK), link)
    block = text_of(around_it)
    if not 3 <= word_count(title) <= word_count(block) <= _SHORT:
        return False
    # Such as a date before it; but not a sentence that begins with a link.
    is_alone = word_count(block) - word_count(title) <= _CONTINUED
    return is_alone or (around_it.tag != "p" and key_of(block).startswith(key_of(title)))


def _cards(links: dict[Any, str]) -> set[Any]:
    """The largest element around each title that has no other title."""
    hrefs: dict[Any, set[str]] = {}
    for link, href in links.items():
        for up in around(link):
            hrefs.setdefault(up, set()).add(href)
    return {[up for up in around(link) if len(hrefs[up]) == 1][-1] for link in links}
