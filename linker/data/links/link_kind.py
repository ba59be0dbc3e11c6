"""What a link leads to, by its address alone: an article, or something else."""

import re
from functools import lru_cache
from typing import Literal

from linker.data.links.link_key import LISTS, host_of

LinkKind = Literal["article", "shortener", "front page", "platform", "other site", "file"]

_FILE, _PAGE_ENDING = (
    re.compile(rf"\.({'|'.join(LISTS[name])})$", re.IGNORECASE)
    for name in ("endings of files", "endings of pages")
)
_LISTS, _ARTICLES = LISTS["folders of lists"], LISTS["folders of articles"]
_PLACES_OF_LISTS = 3
_SLUG_HYPHENS = 2
_LONG = 20
_DIGITS = re.compile(r"\d")
# An id: letters and digits mixed (c5y1abc0d2o), or digits.
_ID = re.compile(r"(?=[^\W_]*\d)[^\W_]{6,}|\d{4,}")
_FEDIVERSE = re.compile(r"/(@[\w.@-]+|users/\w+/statuses)(/\d+)?")
# A parameter that names an article: an id by its name, or four digits.
_IDENTIFIES = re.compile(
    r"(?:\w*id|p|a|n|s|article|artikel|story|item|news|post|doc|key|nr)=[^=]*\d|[^=]+=(?:[^=]*\d){4}",
    re.IGNORECASE,
)


@lru_cache(maxsize=1 << 16)
def link_kind(
    key: str, skipped: frozenset[str] = frozenset(), allowed: frozenset[str] = frozenset()
) -> LinkKind:
    """Return what the link with this key leads to, as far as the address shows it.

    A page counts as an article if its path or query has what names an article: three words joined by hyphens, an id, a
    date, or the ending of a page. Otherwise, and below folders such as `/tag/` or `/author/`, it is a front page: of
    the site, of a section, of a topic.

    Args:
        key: from `link_key`.
        skipped: further hosts that are treated like videos and shops; a host includes its subdomains.
        allowed: hosts that are articles' sites although they are in one of the lists.
    """
    path, _, query = key[len(host_of(key)) :].partition("?")
    if _is_listed(key, skipped):
        return "other site"
    if not _is_listed(key, allowed):
        if _is_listed(key, LISTS["shorteners"]):
            return "shortener"
        if _is_listed(key, LISTS["platforms"]) or _FEDIVERSE.match(path):
            return "platform"
        if _is_listed(key, LISTS["other sites"]):
            return "other site"
    if _FILE.search(path):
        return "file"
    return "article" if _names_an_article(path, query) else "front page"


def _is_listed(key: str, hosts: frozenset[str]) -> bool:
    """Whether the host of a key, a domain above it, or host and first folder are in a list."""
    host, _, path = key.partition("?")[0].partition("/")
    labels = host.partition(":")[0].split(".")
    domains = (".".join(labels[i:]) for i in range(len(labels)))
    return f"{host}/{path.partition('/')[0]}" in hosts or any(domain in hosts for domain in domains)


def _names_an_article(path: str, query: str) -> bool:
    folders = [folder for folder in path.split("/") if folder]
    if {folder.lower() for folder in folders[:_PLACES_OF_LISTS][: max(1, len(folders) - 1)]} & _LISTS:
        return False
    if any(map(_is_name, folders)) or {folder.lower() for folder in folders[:-1]} & _ARTICLES:
        return True
    return any(map(_IDENTIFIES.match, query.split("&")))


def _is_name(folder: str) -> bool:
    words = max(folder.count("-"), folder.count("_"), folder.count("+"))
    return (
        words >= _SLUG_HYPHENS
        or bool(_PAGE_ENDING.search(folder))
        or len(_DIGITS.findall(folder)) >= 4
        or (len(folder) >= _LONG and not folder.isalpha())
        or bool(_ID.fullmatch(folder))
        or "%" in folder
    )
