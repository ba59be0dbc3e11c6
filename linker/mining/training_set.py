"""The files of a training set: articles with story and part, posts with the id of their article."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from linker.common.errors import DataError
from linker.common.files import write_lines
from linker.data.near_duplicates import linked_groups, signatures
from linker.mining.links import Links
from linker.mining.selection import Pair
from linker.models.features.content_words import is_content_word
from linker.models.features.words import lexical_words

#: Articles of one story are at most this number of days apart from its first one, if only their titles are alike.
DAYS = 3
#: Minimum number of content words that two titles of one story share, and their minimum share of the shorter title.
WORDS, SHARE = 3, 0.5
# Only the rarest words of a title are looked up, and of each only the latest stories.
_RAREST, _LATEST = 6, 200
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LEAD = 2_000


def write_training_set(pairs: Sequence[Pair], folder: Path, dev: float) -> None:
    """Write `articles.jsonl` and `posts.jsonl`, in order of time; dev, a share of the articles, are the latest stories.

    Raises:
        DataError: if all articles are of one story.
    """
    articles = sorted(
        {pair.article for pair in pairs}, key=lambda article: (*_since_1970(article.published), article.key)
    )
    headed = [Headed(a.key, a.published, a.title, a.text[:_LEAD]) for a in articles]
    story = stories(headed)
    for article, first, later in zip(articles, story.tolist(), dev_part(story, dev).tolist()):
        article.story, article.split = headed[first].key, "dev" if later else "train"
    write_lines(
        folder / "articles.jsonl",
        (
            _line(
                *(("id", a.key), ("title", a.title), ("text", a.text), ("url", a.url)),
                *(("published", _date(a.published)), ("story", a.story), ("split", a.split)),
            )
            for a in articles
        ),
    )
    write_lines(
        folder / "posts.jsonl",
        (
            _line(
                *(("id", post.id), ("text", text), ("article_id", article.key)),
                *(("created_at", _date(post.time)), ("lang", post.lang), ("url", post.url)),
            )
            # Those of one time stay in the order of their draws.
            for article, post, text in sorted(pairs, key=lambda pair: _since_1970(pair.post.time))
        ),
    )


def write_missing(links: Links, path: Path) -> None:
    """Write the links to articles without a text of the user's, and shortened links to unknown pages: `url`, `posts`.

    Those of most posts come first. Posts that are kept so far count.
    """
    missing = Counter(p.article for p in links.posts if p.article and p.article.source != "given")
    counts = sorted((missing + links.unresolved).items(), key=lambda item: (-item[1], item[0].key))
    write_lines(path, (_line(("url", article.url), ("posts", count)) for article, count in counts))


def _line(*fields: tuple[str, Any]) -> str:
    """A line of JSON; what is unknown is left out."""
    return json.dumps({name: v for name, v in fields if v is not None}, ensure_ascii=False) + "\n"


def _since_1970(time: float | None) -> tuple[bool, float]:
    """What a time is sorted by; unknown ones come first."""
    return time is not None, time or 0.0


def _date(seconds: float | None) -> str | None:
    return None if seconds is None else (_EPOCH + timedelta(seconds=seconds)).isoformat()


class Headed(NamedTuple):
    """An article as far as stories depend on it; the time is in seconds since 1970, None: unknown."""

    key: str
    time: float | None
    title: str
    lead: str


def stories(articles: Sequence[Headed]) -> np.ndarray:
    """Group articles into stories.

    Near-duplicates by `linked_groups` belong to one story, whenever they appeared. Beside these, an article belongs to
    the story of an earlier one, at most three days before, if their titles share at least three content words and half
    of those of the shorter title; it is compared with the first article of a story only, so that long stories do not
    grow together.

    Args:
        articles: in order of time.

    Returns:
        int64, one per article: index of the first article of its story.
    """
    alike = linked_groups(signatures([f"{article.title}\n{article.lead}" for article in articles]))
    ends = np.concatenate([alike, _by_titles(articles)])
    starts = np.tile(np.arange(len(articles)), 2)
    links = coo_array((np.ones(len(ends), dtype=bool), (starts, ends)), shape=(len(articles),) * 2)
    _, story = connected_components(links, directed=False)
    _, first = np.unique(story, return_index=True)
    return first[story].astype(np.int64)


def _by_titles(articles: Sequence[Headed]) -> np.ndarray:
    """For each article the index of the first article of the story that its title belongs to."""
    # Tuples of numbers: a set for each title would need several times the memory.
    number: dict[str, int] = {}
    contents = (filter(is_content_word, lexical_words(article.title)) for article in articles)
    words = [tuple(sorted({number.setdefault(word, len(number)) for word in title})) for title in contents]
    frequency = Counter(chain.from_iterable(words))
    leaders = np.arange(len(articles), dtype=np.int64)
    stories_with: dict[int, list[int]] = defaultdict(list)
    for i, title in enumerate(words):
        rarest = sorted(title, key=lambda word: (frequency[word], word))[:_RAREST]
        best, most = -1, 0.0
        candidates = {j for word in rarest for j in stories_with[word][-_LATEST:]}
        for j in sorted(candidates):
            shared = len(set(title).intersection(words[j]))
            share = shared / min(len(title), len(words[j]))
            if shared >= WORDS and share >= SHARE and share > most and _near(articles[i], articles[j]):
                best, most = j, share
        if best >= 0:
            leaders[i] = best
            continue
        for word in title:
            stories_with[word].append(i)
    return leaders


def _near(article: Headed, other: Headed) -> bool:
    if article.time is None or other.time is None:
        return article.time is other.time
    return abs(article.time - other.time) <= DAYS * 86_400


def dev_part(story: np.ndarray, share: float) -> np.ndarray:
    """Return which articles are in the dev part: the latest stories, as many as reach the share of the articles.

    A story begins with its first article. Stories stay whole; train keeps at least one.

    Args:
        story: from `stories`, of articles in order of time.
        share: share of the articles in dev.

    Returns:
        bool, one per article.

    Raises:
        DataError: if there are fewer than two stories.
    """
    beginnings, sizes = np.unique(story, return_counts=True)
    if len(beginnings) < 2:
        raise DataError(
            f"all articles that are left ({len(story):,}) are of one story, but train and dev need one each; give more "
            "posts, or more of the articles with --articles"
        )
    last = len(beginnings) - 1
    wanted = share * len(story)
    while last > 1 and sizes[last:].sum() < wanted:
        last -= 1
    return story >= beginnings[last]
