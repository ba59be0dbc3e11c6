"""Articles of a development set, which no training set may contain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from linker.articles.links.link_key import link_key
from linker.data.io.columns import MissingColumnsError
from linker.data.io.records import read_articles
from linker.data.near_duplicates import LIKE, band_keys, normal_form, signatures
from linker.data.types import Article
from linker.mining.known_articles import missing_columns
from linker.mining.store import LinkStore

#: Fate of posts about articles of a development set.
HELD_OUT = "of articles in --not-in"
_AT_ONCE = 5_000


class HeldOut:
    """The articles of a development set, by link key and title.

    Args:
        articles: the development set.
    """

    def __init__(self, articles: Iterable[Article]) -> None:
        keys: set[str | None] = set()
        titles: set[str] = set()
        for article in articles:
            keys.add(link_key(article.url or article.id))
            if normal_form(article.title):
                titles.add(article.title)
        self._keys = keys - {None}
        self._signed = signatures(sorted(titles))  # (titles, 48)
        # By band, titles by their key in it.
        self._titles: list[dict[int, list[int]]] = []
        for band in band_keys(self._signed).T:
            self._titles.append({})
            for title, key_ in enumerate(band.tolist()):
                self._titles[-1].setdefault(key_, []).append(title)

    @classmethod
    def read(cls, files: Sequence[str]) -> HeldOut:
        """Read the articles of some files (tables with the columns `id`, `url` and `title`).

        Raises:
            DataError: if a file cannot be read, has bad lines, or contains no article.
        """
        articles: list[Article] = []
        for file in files:
            try:
                articles += read_articles(file)
            except MissingColumnsError as error:
                raise missing_columns("--not-in", file) from error
        return cls(articles)

    def holds(self, articles: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return which articles are in the development set, bool: by their key, or by a near-duplicate title.

        Args:
            articles: link key and title; an empty title is no duplicate of another.
        """
        held = np.array([key in self._keys for key, _ in articles], dtype=bool)
        others = [i for i, (_, title) in enumerate(articles) if not held[i] and normal_form(title)]
        if others and len(self._signed):
            signed = signatures([articles[i][1] for i in others])
            held[others] = [self._is_like(*title) for title in zip(signed, band_keys(signed).tolist())]
        return held

    def _is_like(self, signature: np.ndarray, bands: list[int]) -> bool:
        """Whether a title is similar to one of the set, of those that share a band with it."""
        near = (titles[band] for titles, band in zip(self._titles, bands) if band in titles)
        return any(((self._signed[some] == signature).mean(axis=1) >= LIKE).any() for some in near)


def drop_held_out(store: LinkStore, held_out: HeldOut) -> None:
    """Drop posts about articles of a development set."""
    rows = store.run("SELECT id, key, title FROM article")
    store.run("CREATE TABLE held (article INTEGER PRIMARY KEY)")
    while some := rows.fetchmany(_AT_ONCE):
        held = held_out.holds([row[1:] for row in some])
        store.database.executemany(
            "INSERT INTO held VALUES (?)", [row[:1] for row, is_held in zip(some, held) if is_held]
        )
    store.drop(HELD_OUT, "SELECT number FROM post JOIN held USING (article)")
