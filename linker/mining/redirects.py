"""Shortened links and the articles that they lead to, from folders of `linker mine fetch`."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from linker.articles.links.link_key import link_key
from linker.articles.links.link_kind import link_kind
from linker.common.errors import DataError
from linker.mining.linked_post import SHORTENED
from linker.mining.options import MiningOptions
from linker.mining.store import LinkStore

_STATES = "states.csv"
_COLUMNS = {"url", "final_url", "canonical_url"}


def follow_redirects(store: LinkStore, sources: Sequence[str], options: MiningOptions) -> None:
    """Give posts with nothing but a shortened link the article that it leads to; drop those where this is unknown.

    Of the sources, only `states.csv` in folders of `linker mine fetch` counts.

    Raises:
        DataError: if such a file cannot be read.
    """
    for short, article in _redirects(sources, options):
        store.redirect(short, article)
    store.drop(SHORTENED, "SELECT number FROM post JOIN article ON article.id = article WHERE shortened")


def _redirects(sources: Sequence[str], options: MiningOptions) -> Iterator[tuple[str, str]]:
    """Yield key of a shortened link and address of the article at the end of its redirects."""
    for path in (Path(source) / _STATES for source in sources):
        if not path.is_file():
            continue
        try:
            with path.open(encoding="utf-8", newline="") as file:
                rows = csv.DictReader(file)
                if not _COLUMNS.issubset(rows.fieldnames or ()):
                    continue  # of another program
                for row in rows:
                    short = link_key(row["url"] or "")
                    if short is None or _kind(short, options) != "shortener":
                        continue
                    for url in (row["canonical_url"], row["final_url"]):
                        key = link_key(url or "")
                        if url and key is not None and _kind(key, options) == "article":
                            yield short, url
                            break
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise DataError(
                f"{path}: cannot be read ({error}); run `linker mine fetch` again to write it"
            ) from error


def _kind(key: str, options: MiningOptions) -> str:
    return link_kind(key, options.skipped_sites, options.kept_sites)
