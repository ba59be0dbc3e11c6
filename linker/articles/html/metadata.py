"""What a page declares about its article, and the title of the article."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from linker.articles.html.blocks import in_other, key_of, named, text_of

_NO_JSON = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?://\s*)?(?:-->|\]\]>)\s*$|;\s*$|,(?=\s*[\]}])"
)
_SITES = {"WebSite", "NewsMediaOrganization", "Organization"}
# `Title - Site`, `Site | Title`, `Title_Site` (in China).
_PARTS = re.compile(r"\s+(?:[-–—|·•»«/~]+|::?)\s+|:\s+|\s*[|｜»_]\s*|(?<=[\u3040-\u9fff])\s*[-–—]\s*")
_GENERIC = frozenset(
    "home news start homepage startseite nachrichten accueil inicio index untitled liveblog".split()  # noqa: SIM905
)
_UPDATE = named("updates")
_SECOND_PAGE = re.compile(
    r"[?&](?:page|p|seite|pag|pageno)=2\b|/(?:page/|seite[-/]?|p)?2/?$|[_-]2(?:\.html?)?$", re.IGNORECASE
)


class Metadata:
    """What a page declares in JSON-LD, meta tags and links; of JSON-LD, what is about its main article.

    Attributes:
        tree: the page.
        metas: names in lower case and contents of the meta tags that have both.
        title_tag: the title in its head.
        addresses: the address of the page, and those that it declares as its own.
        host: the host of the first of these; empty: unknown.
        headline: title of the article; empty if missing.
        published: when the article was published, as written; empty if missing.
        is_article: whether an article is declared.
        sites: names of the site.
    """

    def __init__(self, tree: Any, address: str | None) -> None:
        self.tree = tree
        names = (
            (meta.get("property") or meta.get("name") or meta.get("itemprop") or "", meta)
            for meta in tree.iter("meta")
        )
        metas = [(name.strip().lower(), _string(meta.get("content"))) for name, meta in names]
        self.metas = [(name, content) for name, content in metas if content]
        titles = (text_of(title) for title in tree.iter("title") if title.getparent().tag == "head")
        self.title_tag = next(titles, "")
        canonical = [
            link.get("href") for link in tree.iter("link") if (link.get("rel") or "").lower() == "canonical"
        ]
        self.addresses = [link for link in (address, *canonical, self.meta("og:url")) if link]
        self.host = next(filter(None, map(host_of_link, self.addresses)), "")
        nodes = list(_nodes(tree))
        sites = [node.get("name") for node in nodes if _types(node) & _SITES]
        sites += [_part(node, "publisher").get("name") for node in nodes]
        self.sites = [site for site in map(_string, sites) if site]
        articles = [node for node in nodes if any(map(_is_article, _types(node)))]
        best = next(filter(self._fits, articles), articles[0] if len(articles) == 1 else {})
        self.is_article = bool(best)
        if not best:
            best = next((node for node in nodes if "WebPage" in _types(node) and not articles), {})
        self.headline = _headline(best) if self.is_article else ""
        date = best.get("datePublished") or best.get("dateCreated")
        self.published = str(date) if isinstance(date, (int, float)) else _string(date)

    def meta(self, *names: str) -> str:
        """Return the content of the first meta tag with one of these names; empty if there is none."""
        return next((content for name, content in self.metas if name in names), "")

    def _fits(self, node: dict[str, Any]) -> bool:
        """Whether an article of JSON-LD has a title that the page shows."""
        titles = (self.meta("og:title"), self.title_tag, *map(text_of, self.tree.iter("h1")))
        key = key_of(_headline(node))
        return any(key and other and (key in other or other in key) for other in map(key_of, titles))

    def title(self, extracted: str) -> str:
        """Return the title of the article, not that of the site, of an update or of another story.

        `extracted` is what the extraction took for the title; may be empty.
        """
        whole = key_of(self.title_tag)
        usable = [h for tag in ("h1", "h2") for h in self.tree.iter(tag) if _may_be_title(h)]
        # A heading above the article that is a small part of the title in the head is the name of the site.
        names = (key_of(text_of(h)) for h in usable if next(h.iterancestors("article", "main"), None) is None)
        sites = self._site_keys() | {name for name in names if name in whole and 2 * len(name) < len(whole)}
        headings = [text_of(h) for h in usable if _is_own(text_of(h), sites)]
        for declared in (self.headline, self.meta("og:title"), self.meta("twitter:title")):
            title = _without_site(declared, sites)
            if _is_own(title, sites):
                return title
        title = _without_site(self.title_tag, sites)
        for heading in headings:
            if key_of(heading) in whole or (title and key_of(title) in key_of(heading)):
                return heading
        heads = [text_of(h) for h in usable if h.tag == "h1" and _is_own(text_of(h), sites)]
        if _is_own(title, sites) and len(heads) != 1:
            return title
        return next(iter(heads), extracted if key_of(extracted) not in sites else "")

    def _site_keys(self) -> set[str]:
        """Keys of the names of the site: those that it declares, its host, and what links to its home page say."""
        apps = self.meta("application-name", "al:android:app_name")
        names = [*self.sites, self.meta("og:site_name"), apps, self.host, *self.host.split(".")[:-1]]
        for link in self.tree.iter("a"):
            href = (link.get("href") or "").strip()
            at_host = self.host and host_of_link(href) == self.host
            if href == "/" or (at_host and urlsplit(href).path in ("", "/")):
                names += [text_of(link), *(picture.get("alt") or "" for picture in link.iter("img"))]
        return {key_of(name) for name in names} - {""}

    def further_page(self) -> str:
        """Return the address of the second page of an article; empty if there is none."""
        for link in (link for tag in ("link", "a") for link in self.tree.iter(tag)):
            href = link.get("href") or ""
            if "next" in (link.get("rel") or "").lower().split() and _SECOND_PAGE.search(href):
                return href
        return ""


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects of the JSON-LD of a page."""
    for script in tree.iter("script"):
        if "ld+json" not in (script.get("type") or "").lower() or not script.text:
            continue
        with suppress(ValueError, RecursionError):
            yield from _flat(json.loads(_NO_JSON.sub("", script.text), strict=False))


def _flat(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if depth <= 4 and isinstance(value, list):
        for item in value:
            yield from _flat(item, depth + 1)
    elif depth <= 4 and isinstance(value, dict):
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


def host_of_link(link: str) -> str:
    """Return the host of a link without its `www.`; empty if it has none."""
    try:
        return (urlsplit(link).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _is_own(title: str, sites: set[str]) -> bool:
    """Whether a title is not the name of the site, nor one that any page may have."""
    return key_of(title) not in sites | {""} and title.lower() not in _GENERIC


def _may_be_title(heading: Any) -> bool:
    return (
        not in_other(heading, None)
        and not any(is_update(up) for up in heading.iterancestors())
        and all(is_here(link.get("href")) for link in heading.iter("a"))
    )


def is_update(element: Any) -> bool:
    """Return whether an element holds an update of a live blog, or a teaser."""
    return bool(_UPDATE.search(element.get("class") or ""))


def is_here(href: str | None) -> bool:
    """Return whether a link leads to the same page."""
    return not href or href.startswith("#")


def _without_site(title: str, sites: set[str]) -> str:
    """Return a title without the name of the site before or behind it."""
    while matches := list(_PARTS.finditer(title)):
        first, last = title[: matches[0].start()], title[matches[-1].end() :]
        if not _is_own(last, sites):
            title = title[: matches[-1].start()]
        elif not _is_own(first, sites):
            title = title[matches[0].end() :]
        else:
            break
    return title.strip()
