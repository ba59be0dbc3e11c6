"""Real sets of the quality benchmark: training, measurement, and texts for the teacher."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from linker.data import read_articles, read_posts
from linker.data.io.dates import parse_date
from linker.data.types import LinkedPosts

Row = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """One real set and how it is used."""

    name: str
    title: str
    text_columns: tuple[str, ...]
    train_splits: tuple[str, ...]
    dev_splits: tuple[str, ...] = ("dev",)
    every_article_is_a_candidate: bool = False


SOURCES = (
    Source("plazz_commentary", "plazz: commentary on headlines and captions", ("text",), ("train",)),
    Source("politifact_tweets", "politifact: full articles", ("text", "image_text"), ("train",)),
    Source(
        "snopes_claims",
        "snopes: 14,231 candidate articles, 401 posts",
        ("text",),
        ("train", "extra"),
        ("dev", "dev-test"),
        every_article_is_a_candidate=True,
    ),
)


def rows(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_rows(path: Path, records: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # mtime=0: the same file from the same rows.
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


def prepare(data: Path, work: Path) -> None:
    """Write missing files.

    WORK/train has all train posts, and dev of plazz and politifact; WORK/without/SOURCE the same without one source;
    WORK/dev/SOURCE what is measured on; WORK/texts what a teacher reads: texts of the training parts, every snopes
    article, and the news items of tagmynews.
    """
    parts: dict[str, tuple[list[Row], list[Row]]] = {}
    for source in SOURCES:
        articles, posts = (rows(data / source.name / f"{kind}.jsonl.gz") for kind in ("articles", "posts"))
        _read_as_used(source, articles, posts)
        dev = [post for post in posts if post["split"] in source.dev_splits]
        candidates = [a for a in articles if source.every_article_is_a_candidate or a["split"] == "dev"]
        parts[source.name] = _joined(source, articles, posts)
        _write(work / "dev" / source.name, candidates, dev)
        _texts(work / "texts", source, articles, posts)
    _write(work / "train", *_sum(parts.values()))
    for source in SOURCES:
        others = [part for name, part in parts.items() if name != source.name]
        _write(work / "without" / source.name, *_sum(others))
    items = rows(data / "tagmynews" / "items.jsonl.gz")
    news = ({"title": item["title"], "text": item.get("description") or item.get("text")} for item in items)
    if not (work / "texts" / "tagmynews.jsonl.gz").exists():
        write_rows(work / "texts" / "tagmynews.jsonl.gz", news)


def _read_as_used(source: Source, articles: list[Row], posts: list[Row]) -> None:
    for article in articles:
        try:
            parse_date(article.get("published") or "")
        except ValueError:
            article["published"] = None  # two on snopes are prose, others empty
    for post in posts:
        post["plain"] = post["text"]
        post["text"] = " ".join(post[c] for c in source.text_columns if post.get(c))


def _joined(source: Source, articles: list[Row], posts: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return the source's part of the training set."""
    train = [post | {"split": "train"} for post in posts if post["split"] in source.train_splits]
    if not source.every_article_is_a_candidate:
        return articles, train + [post for post in posts if post["split"] == "dev"]
    linked = {i for post in train for i in post.get("article_ids") or [post["article_id"]]}
    # Without the dates of these, which the bundled models were trained without.
    undated = {"split": "train", "published": None}
    return [article | undated for article in articles if article["id"] in linked], train


def _texts(folder: Path, source: Source, articles: list[Row], posts: list[Row]) -> None:
    """Titles come before their texts; those of full articles are also texts by themselves."""
    if (folder / f"{source.name}-posts.jsonl.gz").exists():
        return
    known = [a for a in articles if source.every_article_is_a_candidate or a["split"] == "train"]
    headed = source.name != "politifact_tweets"
    read = [
        {
            "title": "" if source.every_article_is_a_candidate else article["title"],
            "text": f"{article['title']}\n{article['text']}"
            if headed and article["text"]
            else article["text"],
            "claim": "" if headed else article["claim"],
        }
        for article in known
    ]
    write_rows(folder / f"{source.name}-articles.jsonl.gz", read)
    own = ({"text": post["plain"]} for post in posts if post["split"] in source.train_splits)
    write_rows(folder / f"{source.name}-posts.jsonl.gz", own)


def _sum(parts: Iterable[tuple[list[Row], list[Row]]]) -> tuple[list[Row], list[Row]]:
    every = list(parts)
    return [a for articles, _ in every for a in articles], [p for _, posts in every for p in posts]


def _write(folder: Path, articles: list[Row], posts: list[Row]) -> None:
    if not (folder / "posts.jsonl.gz").exists():
        write_rows(folder / "articles.jsonl.gz", articles)
        write_rows(folder / "posts.jsonl.gz", posts)


@cache
def dev_set(work: Path, source: Source) -> LinkedPosts:
    """Return the articles and posts that all models are measured on."""
    dev = work / "dev" / source.name
    return LinkedPosts(read_articles(str(dev / "articles.jsonl.gz")), read_posts(str(dev / "posts.jsonl.gz")))
