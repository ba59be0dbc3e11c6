"""The files of a training set: articles with story and part, posts with the id of their article."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from linker.common.files import write_lines
from linker.mining.linked_post import SHORTENED
from linker.mining.store import POSTS, LinkStore
from linker.mining.stories import Headed, dev_part, stories

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LEAD = 2_000
_SITES = 20
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


def summary(store: LinkStore) -> dict[str, Any]:
    """Return the figures of the result: articles, posts per article, cards, parts, and the 20 sites with most pairs."""
    each = sorted(count for (count,) in store.run("SELECT count(*) FROM pair GROUP BY article"))
    pairs, (cards,) = sum(each), store.run("SELECT sum(card) FROM pair JOIN post ON number = post").fetchone()
    stories_, from_cards = store.run(
        "SELECT count(DISTINCT story), sum(source = 'card') FROM article WHERE split IS NOT NULL"
    ).fetchone()
    parts = {
        split: {"articles": articles, "pairs": of_part, "from": start, "to": end}
        for split, articles, of_part, start, end in store.run(
            "SELECT split, count(DISTINCT article.id), count(*), date(min(published), 'unixepoch'), "
            "date(max(published), 'unixepoch') FROM pair "
            "JOIN article ON article.id = article GROUP BY split ORDER BY split DESC"
        )
    }
    sites = {
        host: {"pairs": of_site, "articles": articles}
        for host, of_site, articles in store.run(
            "SELECT host, count(*) AS n, count(DISTINCT article.id) FROM pair JOIN article ON article.id = article "
            f"GROUP BY host ORDER BY n DESC, host LIMIT {_SITES}"
        )
    }
    return {
        "articles": len(each),
        "stories": stories_,
        "articles with the text of a link card": from_cards,
        "median of posts per article": statistics.median(each),
        "share of pairs with a link card": cards / pairs,
        "parts": parts,
        "sites": sites,
    }
