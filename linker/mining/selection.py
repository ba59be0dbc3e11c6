"""The posts of each article that become pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

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


def set_windows(store: LinkStore, days: tuple[int, int]) -> None:
    """Set the beginning of each article's window, and its date if it is unknown.

    The window of an article with a date begins `days[0]` days before it. That of another article are the days in which
    most of its posts were written, so that one wrong clock does not move it; its date is the first of these posts.
    """
    store.run("CREATE TABLE span (article INTEGER PRIMARY KEY, begins REAL, published REAL)")
    times = store.run(
        f"SELECT article, published, time FROM {POSTS} JOIN article ON article.id = article "
        "WHERE fate IS NULL AND time IS NOT NULL ORDER BY article, time"
    )

    def windows() -> Iterator[tuple[int, float, float]]:
        for (article, published), rows in groupby(times, itemgetter(0, 1)):
            if published is None:
                begins = published = densest([time for _, _, time in rows], sum(days) * _DAY)
            else:
                begins = published - days[0] * _DAY
            yield article, begins, published

    store.database.executemany("INSERT INTO span VALUES (?, ?, ?)", windows())
    store.run(
        "UPDATE article SET (begins, published) = (SELECT begins, published FROM span WHERE article = id) "
        "WHERE id IN (SELECT article FROM span)"
    )


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
    """Clean the posts of each article and store those that become pairs; count the fates of the others."""
    length, add = sum(options.days) * _DAY, "INSERT INTO pair VALUES (?, ?, ?, ?)"
    too_many = TOO_MANY.format(options.max_per_article)
    too_many_of_author = TOO_MANY_OF_AUTHOR.format(options.max_per_author)
    # In the order of the filters.
    counts.update(
        dict.fromkeys((NO_TEXT, OUTSIDE, FEW_WORDS, COPIES, too_many, SAME_TEXT, too_many_of_author), 0)
    )
    posts = store.run(
        f"SELECT article, article.title, article.text, begins, number, time, post.text FROM {POSTS} "
        "JOIN article ON article.id = article WHERE fate IS NULL ORDER BY article, draw, number"
    )
    total = store.count("post") - store.count("dropped")
    batch: list[_ArticlePosts] = []
    waiting = 0
    for (article, title, text), rows in groupby(track(posts, "cleaning posts", total), itemgetter(0, 1, 2)):
        texts = _cleaned((row[3:] for row in rows), title, text, length, options, counts)
        batch.append((article, texts))
        waiting += len(texts)
        if waiting >= _AT_ONCE:
            store.database.executemany(add, _distinct(batch, options.max_per_article, counts))
            batch, waiting = [], 0
    store.database.executemany(add, _distinct(batch, options.max_per_article, counts))
    for fate, column, most in (
        (SAME_TEXT, "hash", 1),
        (too_many_of_author, "author", options.max_per_author),
    ):
        counts[fate] += store.run(
            f"DELETE FROM pair WHERE post IN (SELECT post FROM (SELECT post, row_number() OVER (PARTITION BY {column} "
            f"ORDER BY draw, post) AS n FROM pair JOIN post ON number = post WHERE {column} IS NOT NULL) WHERE n > ?)",
            [most],
        ).rowcount


def _cleaned(
    posts: Iterable[tuple[float | None, int, float | None, str]],
    title: str,
    text: str,
    length: float,
    options: MiningOptions,
    counts: Counter[str],
) -> list[tuple[int, str]]:
    """Places and cleaned texts of the posts of one article that are in its window and have words of their own."""
    texts: list[tuple[int, str]] = []
    grams, has_text = copied_grams(title, text), has_words(f"{title}\n{text}", ARTICLE_WORDS)
    for begins, number, time, post in posts:
        if not has_text:
            counts[NO_TEXT] += 1
        elif time is not None and begins is not None and not begins <= time <= begins + length:
            counts[OUTSIDE] += 1
        elif len(texts) == _SPARE * options.max_per_article:
            counts[TOO_MANY.format(options.max_per_article)] += 1
        elif not has_words(clean := cleaned(post, grams), POST_WORDS):
            counts[FEW_WORDS] += 1
        else:
            texts.append((number, clean))
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
