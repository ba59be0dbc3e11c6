"""Topics whose seed is a whole article.

They are of FNC-1, The Plazz, PolitiFact and the sample of linker's repository. A topic is an article, or several on one
story, with the posts linked to it; none of these links trained the model.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.annotation.tasks import Source, subsampled
from linker.annotation.build_pool import build_pool, by_id, tfidf_vectors
from linker.annotation.simulation.task import Task
from linker.data.io.dates import parse_date
from linker.data.types import Article, Post
from linker.models.features.memory_table import EmbeddingCache
from linker.models.model import Model, embedding_submodel

SAMPLE = Path(__file__).resolve().parents[2] / "data"
#: Beginning and, of unchanged topics, end of the names of sets.
ARTICLES, AS_THEY_ARE = "Articles: ", "as they are"
PREVALENCES = (0.005, 0.02, 0.1, 0.4)
#: Topics per source at most, relevant posts and words of the seed at least.
TOPICS, LEAST, WORDS = 20, 5, 25
#: Articles of The Plazz this similar (cosine of TF-IDF) are on the same story; posts of less similar ones, down to the
#: second bound, are left out of the pool, since nobody knows whether they are relevant.
SAME, UNCLEAR = 0.3, 0.12


def lines(path: Path) -> list[dict[str, Any]]:
    with path.open("rb") as raw, gzip.open(raw, "rb") if path.suffix == ".gz" else raw as file:
        return [json.loads(line) for line in file]


def day_of(row: dict[str, Any], name: str) -> datetime | None:
    return parse_date(row[name]) if row.get(name) else None


def linked(folder: Path) -> tuple[dict[str, Article], dict[str, Post], dict[str, set[str]], dict[str, str]]:
    """Return articles and posts by id, the ids of each article's posts, and the split of each article."""
    end = "" if folder == SAMPLE else ".gz"
    rows = lines(folder / f"articles.jsonl{end}")
    articles = {
        row["id"]: Article(
            row["id"], row["text"] or "", row["title"] or "", published=day_of(row, "published")
        )
        for row in rows
    }
    posts, of_article, split = {}, defaultdict(set), {}
    for row in lines(folder / f"posts.jsonl{end}"):
        posts[row["id"]] = Post(row["id"], row["text"], created_at=day_of(row, "created_at"))
        for one in row.get("article_ids") or ([row["article_id"]] if row.get("article_id") else []):
            of_article[one].add(row["id"])
            split[one] = row.get("split", "")
    return articles, posts, dict(of_article), split


def sample() -> Iterator[Source]:
    """Yield the sixteen invented stories, each with another of its articles as seed."""
    articles, posts, of_article, _ = linked(SAMPLE)
    stories: dict[str, list[str]] = defaultdict(list)
    for row in lines(SAMPLE / "articles.jsonl"):
        stories[row["story"]].append(row["id"])
    for number, names in enumerate(stories.values()):
        seed = names[(number + 2) % len(names)]
        relevant = set().union(*(of_article.get(one, set()) for one in names))
        yield seed, [articles[seed]], list(posts.values()), relevant


def fnc1(folder: Path) -> Iterator[Source]:
    """Yield rumors: headlines as posts, one of the articles that share them as seed."""
    articles, posts, of_article, _ = linked(folder / "fnc1_headlines")
    stories: list[tuple[set[str], list[str]]] = []  # headlines, articles
    for name, own in sorted(of_article.items()):
        same = [one for one in stories if one[0] & own]
        stories = [one for one in stories if not one[0] & own]
        stories.append((own.union(*(one[0] for one in same)), [name, *(a for one in same for a in one[1])]))
    large = sorted(
        (story for story in stories if len(story[0]) >= 20), key=lambda story: (-len(story[0]), story[1])
    )
    for relevant, names in large[:TOPICS]:
        long = sorted(one for one in names if words_of(articles[one]) >= 150)
        if long:
            yield long[len(long) // 2], [articles[long[len(long) // 2]]], list(posts.values()), relevant


def politifact(folder: Path) -> Iterator[Source]:
    """Yield fact-checks of the development part; posts of all parts are in the pool."""
    articles, posts, of_article, split = linked(folder / "politifact_tweets")
    for name, relevant in sorted(of_article.items(), key=lambda one: (-len(one[1]), one[0])):
        if split[name] == "dev" and len(relevant) >= LEAST:
            yield name, [articles[name]], list(posts.values()), relevant


def plazz(folder: Path) -> Iterator[Source]:
    """Yield stories of the development part: groups of similar headlines with captions."""
    articles, posts, of_article, split = linked(folder / "plazz_commentary")
    dev = sorted(name for name, part in split.items() if part == "dev")
    as_posts = [Post(name, articles[name].full_text) for name in dev]
    _, words = tfidf_vectors([articles[dev[0]]], as_posts)
    similar = (words @ words.T).toarray()
    taken: set[int] = set()
    count = 0
    for place in np.argsort(-(similar >= SAME).sum(axis=1), kind="stable").tolist():
        same = set(np.flatnonzero(similar[place] >= SAME).tolist())
        if len(same) < 3 or same & taken or words_of(articles[dev[place]]) < WORDS or count == TOPICS:
            continue
        taken |= same
        count += 1
        unclear = set(np.flatnonzero(similar[place] >= UNCLEAR).tolist()) - same
        left_out = set().union(*(of_article[dev[one]] for one in unclear))
        relevant = set().union(*(of_article[dev[one]] for one in same))
        pool = [key for one in dev for key in sorted(of_article[one]) if key not in left_out]
        yield dev[place], [articles[dev[place]]], [posts[key] for key in pool], relevant


def words_of(article: Article) -> int:
    return len(article.full_text.split())


def tasks_of(data: Path, model: Model) -> Iterator[list[tuple[str, Task]]]:
    """Yield each topic's versions, with the names of their sets.

    Args:
        data: holds fnc1_headlines, plazz_commentary and politifact_tweets.
        model: the model that ranks and embeds.
    """
    for kind, sources in (
        ("sample", sample()),
        ("FNC-1", fnc1(data)),
        ("PolitiFact", politifact(data)),
        ("The Plazz", plazz(data)),
    ):
        for versions in _versions(list(sources), model):
            yield [
                (f"{ARTICLES}{kind}, {change}", replace(task, name=f"{kind}-{task.name}"))
                for change, task in versions.items()
            ]


def _versions(sources: Sequence[Source], model: Model) -> Iterator[dict[str, Task]]:
    """Yield each topic's versions.

    Topics take turns in the share to which they are subsampled; one that is too small for its share takes the next. A
    hidden cluster is half as many posts of the next topic, which are relevant as well.
    """
    kept, encoder = EmbeddingCache(), embedding_submodel(model)
    if encoder is not None:
        every = {post.text: post for _, _, posts, _ in sources for post in by_id(posts)}
        kept.post_vectors(encoder, [*every.values()])
    for number, (name, seeds, posts, relevant) in enumerate(sources):
        pool = build_pool(seeds, posts, model, kept)
        whole = Task.of(name, pool, relevant)
        turns = [PREVALENCES[(number + turn) % len(PREVALENCES)] for turn in range(len(PREVALENCES))]
        parts = [part for share in turns if (part := subsampled(whole, share, 1.0)) is not None]
        other = sorted(sources[(number + 1) % len(sources)][3] - relevant)
        hidden = Task.of(f"{name}+hidden", pool, relevant | set(other[: max(1, len(relevant) // 2)]))
        versions = {AS_THEY_ARE: whole, "subsampled": parts[0], "with a hidden cluster": hidden}
        if seeds[0].published is not None:
            seeds = [replace(one, published=None) for one in seeds]
            undated = build_pool(seeds, [replace(one, created_at=None) for one in posts], model, kept)
            versions["without dates"] = Task.of(f"{name}-undated", undated, relevant)
        yield versions
