"""The posts of each article that become pairs."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from linker.common.console import track
from linker.data.near_duplicates import LIKE, normal_form, signatures
from linker.mining.cleaning import ARTICLE_WORDS, POST_WORDS, cleaned, copied_grams, has_words
from linker.mining.links import LinkedArticle, LinkedPost, Links
from linker.mining.options import MiningOptions

_DAY = 86_400
# Of an article with many posts, ten times the maximum are cleaned in search of distinct ones.
_SPARE = 10
NO_TEXT = "of articles without title and text"
OUTSIDE = "outside the days around the article"
FEW_WORDS = "with fewer than 4 words of their own"
COPIES = "copies of another post of the article"
TOO_MANY = "more than {} of an article"
SAME_TEXT = "same text as a post of another article"
TOO_MANY_OF_AUTHOR = "more than {} of an author"


class Pair(NamedTuple):
    """An article, a post and its cleaned text."""

    article: LinkedArticle
    post: LinkedPost
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


def select_pairs(links: Links, options: MiningOptions) -> list[Pair]:
    """Clean the posts of each article and return those that become pairs; count the fates of the others.

    Articles without a date get that of the first post in the window with most of their posts.
    """
    counts, too_many = links.fates, TOO_MANY.format(options.max_per_article)
    too_many_of_author = TOO_MANY_OF_AUTHOR.format(options.max_per_author)
    # In the order of the filters.
    counts.update(
        dict.fromkeys((NO_TEXT, OUTSIDE, FEW_WORDS, COPIES, too_many, SAME_TEXT, too_many_of_author), 0)
    )
    posts_of: dict[LinkedArticle, list[LinkedPost]] = defaultdict(list)
    for post in sorted(links.posts, key=_draw):
        assert post.article is not None
        posts_of[post.article].append(post)
    articles = track(posts_of.items(), "cleaning posts", len(posts_of))
    texts = [_cleaned(article, posts, options, counts) for article, posts in articles]
    # The first draw of a text, and of an author.
    pairs = sorted(_distinct(texts, options.max_per_article, counts), key=lambda pair: _draw(pair.post))
    pairs = _first(pairs, 1, lambda pair: normal_form(pair.text) or pair.text, SAME_TEXT, counts)
    return _first(pairs, options.max_per_author, lambda pair: pair.post.author, too_many_of_author, counts)


def _draw(post: LinkedPost) -> int:
    """A number by which posts are chosen, which depends on the id alone."""
    digest = hashlib.blake2b(post.id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _first(
    pairs: Sequence[Pair], most: int, value: Callable[[Pair], str | None], fate: str, counts: Counter[str]
) -> list[Pair]:
    """Return the first pairs of each value, None: no value; count the others."""
    seen: Counter[str | None] = Counter()
    first = []
    for pair in pairs:
        seen[value(pair)] += 1
        if value(pair) is None or seen[value(pair)] <= most:
            first.append(pair)
    counts[fate] += len(pairs) - len(first)
    return first


def _cleaned(
    article: LinkedArticle, posts: Sequence[LinkedPost], options: MiningOptions, counts: Counter[str]
) -> list[Pair]:
    """The posts of one article that are in its window and have words of their own; dates the article."""
    length = sum(options.days) * _DAY
    times = sorted(post.time for post in posts if post.time is not None)
    begins = article.published and article.published - options.days[0] * _DAY
    if article.published is None and times:
        # The window with most posts, so that one wrong clock does not move it.
        begins = article.published = densest(times, length)
    if not has_words(f"{article.title}\n{article.text}", ARTICLE_WORDS):
        counts[NO_TEXT] += len(posts)
        return []
    pairs: list[Pair] = []
    grams = copied_grams(article.title, article.text)
    for post in posts:
        if post.time is not None and begins is not None and not begins <= post.time <= begins + length:
            counts[OUTSIDE] += 1
        elif len(pairs) == _SPARE * options.max_per_article:
            counts[TOO_MANY.format(options.max_per_article)] += 1
        elif not has_words(clean := cleaned(post.text, grams), POST_WORDS):
            counts[FEW_WORDS] += 1
        else:
            pairs.append(Pair(article, post, clean))
    return pairs


def _distinct(articles: list[list[Pair]], most: int, counts: Counter[str]) -> Iterator[Pair]:
    """Yield pairs of distinct posts, at most `most` an article."""
    signed = signatures([pair.text for pairs in articles for pair in pairs])
    start = 0
    for pairs in articles:
        rows = signed[start : start + len(pairs)]
        start += len(pairs)
        chosen: list[int] = []
        for i, pair in enumerate(pairs):
            if chosen and (rows[chosen] == rows[i]).mean(axis=1).max() >= LIKE:
                counts[COPIES] += 1
            elif len(chosen) == most:
                counts[TOO_MANY.format(most)] += 1
            else:
                chosen.append(i)
                yield pair
