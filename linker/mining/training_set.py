"""The files of a training set: articles with story and part, posts with the id of their article."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from linker.common.errors import DataError
from linker.common.files import write_lines
from linker.data.near_duplicates import linked_groups, signatures
from linker.mining.linked_post import SHORTENED
from linker.mining.store import POSTS, LinkStore
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
_TIMES = {"published", "created_at"}
_ARTICLES = (
    "SELECT key AS id, title, text, url, published, story, split FROM article WHERE split IS NOT NULL "
    "ORDER BY published IS NOT NULL, published, key"
)
_POSTS = (
    "SELECT post.id AS id, pair.text AS text, key AS article_id, time AS created_at, lang, post.url AS url FROM pair "
    "JOIN post ON number = pair.post JOIN article ON article.id = pair.article "
    "ORDER BY time IS NOT NULL, time, draw, number"
)


def write_training_set(store: LinkStore, folder: Path, dev: float) -> None:
    """Write `articles.jsonl` and `posts.jsonl`, in order of time; dev, a share of the articles, are the latest stories.

    Raises:
        DataError: if all articles are of one story.
    """
    rows = store.run(
        f"SELECT id, key, published, title, substr(text, 1, {_LEAD}) FROM article "
        "WHERE id IN (SELECT article FROM pair) ORDER BY published IS NOT NULL, published, key"
    ).fetchall()
    headed = [Headed(*row[1:]) for row in rows]
    story = stories(headed)
    in_dev = dev_part(story, dev)
    store.database.executemany(
        "UPDATE article SET story = ?, split = ? WHERE id = ?",
        (
            (headed[first].key, "dev" if later else "train", row[0])
            for row, first, later in zip(rows, story.tolist(), in_dev.tolist())
        ),
    )
    del rows, headed
    write_lines(folder / "articles.jsonl", _lines(store, _ARTICLES))
    write_lines(folder / "posts.jsonl", _lines(store, _POSTS))


def write_missing(store: LinkStore, path: Path) -> None:
    """Write the links to articles without a text of the user's, and shortened links to unknown pages: `url`, `posts`.

    Those of most posts come first. Posts that are kept so far count.
    """
    query = (
        f"SELECT article.url AS url, count(*) AS posts FROM {POSTS} JOIN article ON article.id = article "
        f"WHERE (fate IS NULL OR fate = '{SHORTENED}') AND source IS NOT 'given' "
        "GROUP BY article.id ORDER BY count(*) DESC, key"
    )
    write_lines(path, _lines(store, query))


def _lines(store: LinkStore, query: str) -> Iterator[str]:
    """JSON Lines of the rows of a query, with its names of columns; what is unknown is left out."""
    rows = store.run(query)
    names = [column[0] for column in rows.description]
    for row in rows:
        filled = {name: value for name, value in zip(names, row) if value is not None}
        for name in _TIMES & filled.keys():
            filled[name] = _date(filled[name])
        yield json.dumps(filled, ensure_ascii=False) + "\n"


def _date(seconds: float) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()


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
    words = [
        tuple(sorted({number.setdefault(word, len(number)) for word in _content_words(article.title)}))
        for article in articles
    ]
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


def _content_words(title: str) -> list[str]:
    return [word for word in lexical_words(title) if is_content_word(word)]


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
