"""The posts of each article that become pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from linker.common.console import track
from linker.data.near_duplicates import LIKE, normal_form, signatures
from linker.mining.cleaning import ARTICLE_WORDS, POST_WORDS, cleaned, copied_grams, has_words
from linker.mining.options import MiningOptions
from linker.mining.store import POSTS, LinkStore, hash_of

_DAY = 86_400
# Posts whose signatures are computed at once: fewer would cost more time each.
_AT_ONCE = 5_000
# Of an article with many posts, ten times the maximum are cleaned in search of distinct ones.
_SPARE = 10
NO_TEXT = "of articles without title and text"
OUTSIDE = "outside the days around the article"
FEW_WORDS = "with fewer than 4 words of their own"
COPIES = "copies of another post of the article"
TOO_MANY = "more than {} of an article"
SAME_TEXT = "same text as a post of another article"
TOO_MANY_OF_AUTHOR = "more than {} of an author"
_ArticlePosts = tuple[int, list[tuple[int, str]]]
"""An article, and numbers and texts of its posts."""


class _Row(NamedTuple):
    article: int
    title: str
    lead: str
    published: float | None
    number: int
    time: float | None
    text: str


def densest(times: Sequence[float], length: float) -> float:
    """Return which of some ascending times begins a closed window of this length with the most; the earliest one."""
    most, best, end = 0, times[0], 0
    for start, time in enumerate(times):
        while end < len(times) and times[end] <= time + length:
            end += 1
        if end - start > most:
            most, best = end - start, time
    return best


def select_pairs(store: LinkStore, options: MiningOptions, counts: Counter[str]) -> None:
    """Clean the posts of each article and store those that become pairs; count the fates of the others.

    Articles without a date get that of the first post in the window with most of their posts.
    """
    too_many = TOO_MANY.format(options.max_per_article)
    too_many_of_author = TOO_MANY_OF_AUTHOR.format(options.max_per_author)
    # In the order of the filters.
    counts.update(
        dict.fromkeys((NO_TEXT, OUTSIDE, FEW_WORDS, COPIES, too_many, SAME_TEXT, too_many_of_author), 0)
    )
    posts = map(
        _Row._make,
        store.run(
            f"SELECT article, article.title, article.text, published, number, time, post.text FROM {POSTS} "
            "JOIN article ON article.id = article WHERE fate IS NULL ORDER BY article, draw, number"
        ),
    )
    total = store.count("post") - store.count("dropped")
    dates: list[tuple[float, int]] = []
    batch: list[_ArticlePosts] = []

    def add_batch() -> None:
        pairs = _distinct(batch, options.max_per_article, counts)
        store.database.executemany("INSERT INTO pair VALUES (?, ?, ?, ?)", pairs)
        batch.clear()

    for article, rows in groupby(track(posts, "cleaning posts", total), itemgetter(0)):
        of_article = list(rows)
        published = of_article[0].published
        begins = _window(of_article, options.days)
        if published is None and begins is not None:
            dates.append((begins, article))
        batch.append((article, _cleaned(of_article, begins, options, counts)))
        if sum(len(texts) for _, texts in batch) >= _AT_ONCE:
            add_batch()
    add_batch()
    store.database.executemany("UPDATE article SET published = ? WHERE id = ?", dates)
    for fate, column, most in (
        (SAME_TEXT, "hash", 1),
        (too_many_of_author, "author", options.max_per_author),
    ):
        counts[fate] += store.run(
            f"DELETE FROM pair WHERE post IN (SELECT post FROM (SELECT post, row_number() OVER (PARTITION BY {column} "
            f"ORDER BY draw, post) AS n FROM pair JOIN post ON number = post WHERE {column} IS NOT NULL) WHERE n > ?)",
            [most],
        ).rowcount


def _window(rows: Sequence[_Row], days: tuple[int, int]) -> float | None:
    """The beginning of the window in which posts of an article are kept; None: neither it nor a post has a date.

    Without a date of the article it is the one with most posts, so that one wrong clock does not move it.
    """
    if rows[0].published is not None:
        return rows[0].published - days[0] * _DAY
    times = sorted(row.time for row in rows if row.time is not None)
    return densest(times, sum(days) * _DAY) if times else None


def _cleaned(
    rows: Sequence[_Row], begins: float | None, options: MiningOptions, counts: Counter[str]
) -> list[tuple[int, str]]:
    """Numbers and cleaned texts of the posts of one article that are in its window and have words of their own."""
    texts: list[tuple[int, str]] = []
    title, lead, length = rows[0].title, rows[0].lead, sum(options.days) * _DAY
    if not has_words(f"{title}\n{lead}", ARTICLE_WORDS):
        counts[NO_TEXT] += len(rows)
        return texts
    grams = copied_grams(title, lead)
    for row in rows:
        if row.time is not None and begins is not None and not begins <= row.time <= begins + length:
            counts[OUTSIDE] += 1
        elif len(texts) == _SPARE * options.max_per_article:
            counts[TOO_MANY.format(options.max_per_article)] += 1
        elif not has_words(clean := cleaned(row.text, grams), POST_WORDS):
            counts[FEW_WORDS] += 1
        else:
            texts.append((row.number, clean))
    return texts


def _distinct(
    batch: list[_ArticlePosts], most: int, counts: Counter[str]
) -> Iterator[tuple[int, int, str, int]]:
    """Pairs of distinct posts, at most `most` an article: number, article, text, hash of its normal form."""
    signed = signatures([text for _, posts in batch for _, text in posts])
    start = 0
    for article, posts in batch:
        rows = signed[start : start + len(posts)]
        start += len(posts)
        chosen: list[int] = []
        for i, (number, text) in enumerate(posts):
            if chosen and (rows[chosen] == rows[i]).mean(axis=1).max() >= LIKE:
                counts[COPIES] += 1
            elif len(chosen) == most:
                counts[TOO_MANY.format(most)] += 1
            else:
                chosen.append(i)
                yield number, article, text, hash_of(normal_form(text) or text)
