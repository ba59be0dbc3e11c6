"""Title and date of the article of a page, from what the page declares and shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from linker.articles.html.blocks import around, class_and_id, in_other, key_of, text_of
from linker.data.html_text import text_of_html

_NO_JSON = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?://\s*)?(?:-->|\]\]>)\s*$|;\s*$")
_TRAILING_COMMA = re.compile(r",(?=\s*[\]}])")
_LISTS = {"CollectionPage", "SearchResultsPage", "ItemList", "Blog"}
_SITES = {"WebSite", "NewsMediaOrganization", "Organization"}
# `Title - Site`, `Site | Title`, `Title_Site` (in China).
_PARTS = re.compile(r"\s+(?:[-–—|·•»«/~]+|::?)\s+|:\s+|\s*[|｜»_]\s*|(?<=[\u3040-\u9fff])\s*[-–—]\s*")
_GENERIC = frozenset(
    "home news start homepage startseite nachrichten accueil inicio index untitled liveblog".split()  # noqa: SIM905
)
_LOGO = re.compile(
    r"(?<![a-z])(?:logo|site-?(?:title|name)|brand|masthead|blog-?(?:title|name))(?![a-z])", re.I
)
_UPDATE = re.compile(
    r"(?<![a-z])(?:updates?|entry-list|live-?(?:blog-?)?(?:entry|post|update)|ticker-?\w*|card)(?![a-z])",
    re.I,
)
_SECOND_PAGE = re.compile(
    r"[?&](?:page|p|seite|pag|pageno)=2\b|/(?:page/|seite[-/]?|p)?2/?$|[_-]2(?:\.html?)?$", re.IGNORECASE
)


class Described(NamedTuple):
    """What a page declares about its article in JSON-LD.

    Attributes:
        headline: its title; empty if missing.
        published: when it was published, as written; empty if missing.
        body: its text; empty if missing.
        is_article: whether an article is declared.
        is_list: whether the page is declared to be a list.
        sites: names of the site.
    """

    headline: str = ""
    published: str = ""
    body: str = ""
    is_article: bool = False
    is_list: bool = False
    sites: tuple[str, ...] = ()


def described(tree: Any, address: str | None) -> Described:
    """Return what the JSON-LD of a page says about its main article, not about videos and other stories."""
    nodes = list(_nodes(tree))
    names = [_part(node, "publisher").get("name") for node in nodes]
    names += [node.get("name") for node in nodes if _types(node) & _SITES]
    sites = tuple(filter(None, map(_string, names)))
    is_list = any(_types(node) & _LISTS for node in nodes)
    titles = (_meta(tree, "og:title"), _title_tag(tree), *map(text_of, tree.iter("h1")))
    visible = set(map(key_of, titles)) - {""}
    here = {_path(link) for link in (address, *addresses_of(tree)) if link}
    articles = [node for node in nodes if any(map(_is_article, _types(node)))]

    def fits(node: dict[str, Any]) -> int:
        key = key_of(_headline(node))
        links = [
            *map(node.get, ("url", "@id", "mainEntityOfPage")),
            _part(node, "mainEntityOfPage").get("@id"),
        ]
        is_here = any(isinstance(link, str) and _path(link) in here for link in links if link)
        return 2 * any(key and (key in other or other in key) for other in visible) + is_here

    best = max(articles, key=fits, default=None)
    if best is None or (len(articles) > 1 and not fits(best)):
        page = next((node for node in nodes if "WebPage" in _types(node) and not articles), {})
        return Described(published=_date(page), is_list=is_list, sites=sites)
    body = _plain(best.get("articleBody"))
    return Described(_headline(best), _date(best), body, True, is_list and len(articles) > 1, sites)


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    for script in tree.iter("script"):
        if "ld+json" not in (script.get("type") or "").lower() or not script.text:
            continue
        text = _NO_JSON.sub("", script.text)
        for written in (text, _TRAILING_COMMA.sub("", text)):
            try:
                yield from _flat(json.loads(written, strict=False))
                break
            except (ValueError, RecursionError):
                continue


def _flat(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if depth > 4:
        return
    if isinstance(value, list):
        for item in value:
            yield from _flat(item, depth + 1)
    elif isinstance(value, dict):
        yield value
        for key in ("@graph", "mainEntity", "mainEntityOfPage"):
            yield from _flat(value.get(key), depth + 1)


def _types(node: dict[str, Any]) -> set[str]:
    kinds = node.get("@type")
    return {str(kind).rpartition("/")[2] for kind in (kinds if isinstance(kinds, list) else [kinds])}


def _is_article(kind: str) -> bool:
    return kind.endswith(("Article", "Posting", "Report")) and kind != "JobPosting"


def _part(node: dict[str, Any], name: str) -> dict[str, Any]:
    value = node.get(name)
    value = value[0] if isinstance(value, list) and value else value
    return value if isinstance(value, dict) else {}


def _string(value: Any) -> str:
    value = value[0] if isinstance(value, list) and value else value
    return " ".join(unescape(unescape(value)).split()) if isinstance(value, str) else ""


def _headline(node: dict[str, Any]) -> str:
    return _string(node.get("headline") or node.get("name"))


def _date(node: dict[str, Any]) -> str:
    """When what a node describes was published, as written; empty: unknown."""
    value = node.get("datePublished") or node.get("dateCreated")
    return str(value) if isinstance(value, (int, float)) else _string(value)


def _plain(value: Any) -> str:
    """The text of an `articleBody`, which may be HTML."""
    if isinstance(value, list):
        value = "\n".join(part for part in value if isinstance(part, str))
    if not isinstance(value, str):
        return ""
    return "\n".join(filter(None, map(str.strip, text_of_html(unescape(value)).splitlines())))


def _meta(tree: Any, *names: str) -> str:
    return next((content for name, content in metas_of(tree) if name in names), "")


def metas_of(tree: Any) -> Iterator[tuple[str, str]]:
    """Yield names in lower case and contents of the meta tags that have both."""
    for meta in tree.iter("meta"):
        name = meta.get("property") or meta.get("name") or meta.get("itemprop") or ""
        if content := _string(meta.get("content")):
            yield name.strip().lower(), content


def declares_article(tree: Any) -> bool:
    """Return whether the page declares in Open Graph that it is an article."""
    return _meta(tree, "og:type").lower() in ("article", "news")


def addresses_of(tree: Any) -> list[str]:
    """Return the addresses that a page declares as its own; may be empty texts."""
    canonical = [link for link in tree.iter("link") if (link.get("rel") or "").lower() == "canonical"]
    return [*(link.get("href") or "" for link in canonical), _meta(tree, "og:url")]


def host_of_page(tree: Any, address: str | None) -> str:
    """Return the host of a page by its address, or the one that it declares; empty: unknown."""
    links = (address, *addresses_of(tree))
    return next(filter(None, (host_of_link(link) for link in links if link)), "")


def host_of_link(link: str) -> str:
    """Return the host of a link without its `www.`; empty if it has none."""
    try:
        return (urlsplit(link).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _path(link: str) -> str:
    try:
        parts = urlsplit(link)
    except ValueError:
        return link
    return f"{parts.path.rstrip('/')}?{parts.query}" if parts.path.strip("/") or parts.query else link


def _title_tag(tree: Any) -> str:
    return next((text_of(title) for title in tree.iter("title") if title.getparent().tag == "head"), "")


def title_of(tree: Any, about: Described, extracted: str, address: str | None) -> str:
    """Return the title of the article, not that of the site, of an update or of another story.

    `about` is what JSON-LD says, `extracted` what the extraction took for the title; may be empty.
    """
    title_tag = _title_tag(tree)
    headings = [(tag, text_of(h), h) for tag in ("h1", "h2") for h in tree.iter(tag)]
    sites = _sites(tree, about, title_tag, headings, address)
    heads = [text for tag, text, h in headings if tag == "h1" and _may_be_title(text, h, sites)]
    visible = [text for _, text, h in headings if _may_be_title(text, h, sites)]
    for declared in (about.headline, _meta(tree, "og:title"), _meta(tree, "twitter:title")):
        title = _without_site(declared, sites, visible)
        if title and key_of(title) not in sites and title.lower() not in _GENERIC:
            return next((head for head in heads if _continues(head, title)), title)
    title = _without_site(title_tag, sites, visible)
    for head in [*heads, *visible]:
        if key_of(head) and (key_of(head) in key_of(title_tag) or (title and key_of(title) in key_of(head))):
            return head
    if heads and (len(heads) == 1 or not title):
        return heads[0]
    if title and key_of(title) not in sites and title.lower() not in _GENERIC:
        return title
    return (
        heads[0] if heads else extracted if key_of(extracted) not in sites else visible[0] if visible else ""
    )


def _may_be_title(text: str, heading: Any, sites: set[str]) -> bool:
    return bool(
        key_of(text)
        and key_of(text) not in sites
        and text.lower() not in _GENERIC
        and not in_other(heading, None)
        and not any(is_update(up) for up in heading.iterancestors())
        and not any(not is_here(link.get("href")) for link in heading.iter("a"))
    )


def is_update(element: Any) -> bool:
    """Return whether an element holds an update of a live blog, or a teaser."""
    return bool(_UPDATE.search(element.get("class") or ""))


def is_here(href: str | None) -> bool:
    """Return whether a link leads to the same page."""
    return not href or href.startswith("#")


def _sites(
    tree: Any, about: Described, title_tag: str, headings: list[tuple[str, str, Any]], address: str | None
) -> set[str]:
    """Keys of the names of the site."""
    host = host_of_page(tree, address)
    apps = _meta(tree, "application-name", "al:android:app_name")
    names = [*about.sites, _meta(tree, "og:site_name"), apps, host, *host.split(".")[:-1]]
    parts = [key_of(part) for part in _PARTS.split(title_tag)]
    at_home = {key_of(text) for text in _names_at_home(tree, host)}
    signed = key_of(" ".join(text_of(footer) for footer in tree.iter("footer")))
    named = [part for part in (parts[0], parts[-1]) if part in at_home or (len(part) > 3 and part in signed)]
    names += named if len(set(named)) == 1 and len(parts) > 1 else []
    others = {key_of(text) for _, text, _ in headings}
    for tag, text, heading in headings:
        if any(_LOGO.search(class_and_id(up)) for up in around(heading)[:3]):
            names.append(text)
        elif tag == "h1" and key_of(text) in parts and len(parts) > 1:
            in_text = any(e.tag in ("article", "main") for e in heading.iterancestors())
            at_end = parts[-1] == key_of(text)
            if at_end or (not in_text and any(part in others for part in parts if part != key_of(text))):
                names.append(text)
    return {key_of(name) for name in names} - {""}


def _names_at_home(tree: Any, host: str) -> Iterator[str]:
    """Yield the texts of links to the home page, and of pictures in them."""
    for link in tree.iter("a"):
        href = (link.get("href") or "").strip()
        if href == "/" or (host and host_of_link(href) == host and urlsplit(href).path in ("", "/")):
            yield text_of(link)
            yield from (picture.get("alt") or "" for picture in link.iter("img"))


def _without_site(title: str, sites: set[str], visible: list[str]) -> str:
    """Return a title without the name of the site before or behind it."""
    while title:
        matches = list(_PARTS.finditer(title))
        if not matches:
            return title
        first, last = title[: matches[0].start()], title[matches[-1].end() :]
        if key_of(last) in sites or last.lower() in _GENERIC:
            title = title[: matches[-1].start()]
        elif key_of(first) in sites:
            title = title[matches[0].end() :]
        else:
            break
    parts = {key_of(part) for part in _PARTS.split(title)} - {"", key_of(title)}
    return next((text for text in visible if key_of(text) in parts), title.strip())


def _continues(head: str, title: str) -> bool:
    """Whether a heading is the title that was cut for search engines."""
    cut = title.rstrip(" .…")
    return len(cut) > 30 and len(head) > len(title) and key_of(head).startswith(key_of(cut))


def further_page(tree: Any) -> str:
    """Return the address of the second page of an article; empty if there is none."""
    for link in (link for tag in ("link", "a") for link in tree.iter(tag)):
        href = link.get("href") or ""
        if "next" in (link.get("rel") or "").lower().split() and _SECOND_PAGE.search(href):
            return href
    return ""
