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
# Pairs of titles that are compared at once.
_PAIRS = 100_000


class HeldOut:
    """The articles of a development set, by link key and title.

    Args:
        articles: the development set.
    """

    def __init__(self, articles: Iterable[Article]) -> None:
        keys, titles = set(), set()
        for article in articles:
            if (key := link_key(article.url or article.id)) is not None:
                keys.add(key)
            if normal_form(article.title):
                titles.add(article.title)
        self._keys = frozenset(keys)
        self._signed = signatures(sorted(titles))  # (titles, 48)
        bands = band_keys(self._signed)  # (titles, bands)
        self._order = np.argsort(bands, axis=0, kind="stable")
        self._bands = np.take_along_axis(bands, self._order, axis=0)

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
        """Return which articles are in the development set: by their key, or by a near-duplicate title.

        Args:
            articles: link key and title; an empty title is no duplicate of another.

        Returns:
            bool, one per article.
        """
        found = np.array([key in self._keys for key, _ in articles], dtype=bool)
        asked = [i for i, (_, title) in enumerate(articles) if not found[i] and normal_form(title)]
        if asked and len(self._signed):
            found[asked] = self._alike(signatures([articles[i][1] for i in asked]))
        return found

    def _alike(self, signed: np.ndarray) -> np.ndarray:
        """Which signatures are similar to one of the set, of those that share a band with it."""
        alike = np.zeros(len(signed), dtype=bool)
        for number, band in enumerate(band_keys(signed).T):
            known = self._bands[:, number]
            first, last = np.searchsorted(known, band, "left"), np.searchsorted(known, band, "right")
            for i in np.flatnonzero((last > first) & ~alike):
                for start in range(first[i], last[i], _PAIRS):
                    others = self._order[start : min(start + _PAIRS, last[i]), number]
                    alike[i] |= bool(((self._signed[others] == signed[i]).mean(axis=1) >= LIKE).any())
        return alike


def drop_held_out(store: LinkStore, held_out: HeldOut) -> None:
    """Drop posts about articles of a development set."""
    rows = store.run("SELECT id, key, title FROM article")
    held: list[tuple[int]] = []
    while some := rows.fetchmany(_AT_ONCE):
        flags = held_out.holds([(key, title) for _, key, title in some])
        held += [(some[i][0],) for i in flags.nonzero()[0].tolist()]
    store.run("CREATE TABLE held (article INTEGER PRIMARY KEY)")
    store.database.executemany("INSERT INTO held VALUES (?)", held)
    store.drop(HELD_OUT, "SELECT place FROM post JOIN held USING (article)")
