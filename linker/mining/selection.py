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
from linker.mining.store import Candidate, LinkStore, hash_of

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
Pair = tuple[int, int, str, int]


def set_windows(store: LinkStore, days: tuple[int, int]) -> None:
    """Set the beginning of each article's window, and its date if it is unknown.

    The window of an article with a date begins `days[0]` days before it. That of another article are the days in which
    most of its posts were written, so that one wrong clock does not move it; its date is the first of these posts.

    Args:
        store: where posts and articles are.
        days: days before and after the date.
    """
    found = []
    for article, rows in groupby(store.times(), itemgetter(0)):
        times = [(published, time) for _, published, time in rows]
        published = times[0][0]
        if published is None:
            begins = published = densest([time for _, time in times], sum(days) * _DAY)
        else:
            begins = published - days[0] * _DAY
        found.append((begins, published, article))
        if len(found) == _AT_ONCE:
            store.set_windows(found)
            found = []
    store.set_windows(found)


def densest(times: Sequence[float], length: float) -> float:
    """Return the time that begins a window of this length with the most times, the earliest of several.

    Args:
        times: ascending, not empty.
        length: of the window; its end belongs to it.
    """
    most, best, end = 0, times[0], 0
    for start, time in enumerate(times):
        while end < len(times) and times[end] <= time + length:
            end += 1
        if end - start > most:
            most, best = end - start, time
    return best


def select_pairs(store: LinkStore, options: MiningOptions, counts: Counter[str]) -> None:
    """Clean the posts of each article and store those that become pairs; count the fates of the others."""
    length = sum(options.days) * _DAY
    batch: list[tuple[int, list[tuple[int, str]]]] = []
    waiting = 0
    posts = track(store.candidates(), "cleaning posts", store.count("post") - store.count("dropped"))
    for article, rows in groupby(posts, itemgetter(0)):
        kept = _of_article(((*row[1:4], row[4]) for row in rows), length, options, counts)
        if kept:
            batch.append((article, kept))
            waiting += len(kept)
        if waiting >= _AT_ONCE:
            store.add_pairs(_distinct(batch, options.max_per_article, counts))
            batch, waiting = [], 0
    store.add_pairs(_distinct(batch, options.max_per_article, counts))
    counts[SAME_TEXT] += store.drop_pairs(
        "SELECT post FROM (SELECT post, row_number() OVER (PARTITION BY hash ORDER BY draw, post) AS n FROM pair "
        "JOIN post ON place = post) WHERE n > 1"
    )
    counts[TOO_MANY_OF_AUTHOR.format(options.max_per_author)] += store.drop_pairs(
        "SELECT post FROM (SELECT post, row_number() OVER (PARTITION BY author ORDER BY draw, post) AS n FROM pair "
        "JOIN post ON place = post WHERE author IS NOT NULL) WHERE n > ?",
        options.max_per_author,
    )


def _of_article(
    rows: Iterable[tuple[str, str, float | None, Candidate]],
    length: float,
    options: MiningOptions,
    counts: Counter[str],
) -> list[tuple[int, str]]:
    """Places and cleaned texts of the posts of one article that are in its window and have words of their own."""
    kept: list[tuple[int, str]] = []
    grams = None
    too_many = TOO_MANY.format(options.max_per_article)
    for title, text, begins, post in rows:
        if grams is None:
            grams, known = copied_grams(title, text), has_words(f"{title}\n{text}", ARTICLE_WORDS)
        if not known:
            counts[NO_TEXT] += 1
        elif post.time is not None and begins is not None and not begins <= post.time <= begins + length:
            counts[OUTSIDE] += 1
        elif len(kept) == _SPARE * options.max_per_article:
            counts[too_many] += 1
        elif not has_words(clean := cleaned(post.text, grams), POST_WORDS):
            counts[FEW_WORDS] += 1
        else:
            kept.append((post.place, clean))
    return kept


def _distinct(
    batch: Sequence[tuple[int, list[tuple[int, str]]]], most: int, counts: Counter[str]
) -> Iterator[Pair]:
    """Pairs of distinct posts, at most `most` an article."""
    signed = signatures([text for _, posts in batch for _, text in posts])
    start = 0
    for article, posts in batch:
        rows = signed[start : start + len(posts)]
        start += len(posts)
        chosen: list[int] = []
        for i, (place, text) in enumerate(posts):
            if chosen and (rows[chosen] == rows[i]).mean(axis=1).max() >= LIKE:
                counts[COPIES] += 1
            elif len(chosen) == most:
                counts[TOO_MANY.format(most)] += 1
            else:
                chosen.append(i)
                yield place, article, text, hash_of(normal_form(text) or text)
