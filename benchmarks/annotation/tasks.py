"""Labeled topics: events of CrisisLexT6 and topics of TREC Microblog, and their versions with fewer posts."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from linker.annotation.simulation.task import Task
from linker.common.files import atomic_write
from linker.data.types import Article, Post
from linker.models.features.memory_table import EmbeddingCache
from linker.models.features.text_encoder import TextEncoder

# No headline of these events is among the seeds: a query with the event's name is used instead.
QUERIES = {"2012_Sandy_Hurricane": "Hurricane Sandy", "2013_Queensland_Floods": "Queensland floods"}
Source = tuple[str, list[Article], list[Post], set[str]]
"""Name, seed articles, posts, and the ids of the relevant ones."""


class VectorFiles(EmbeddingCache):
    """Embeddings of posts in files, so that an interrupted run does not encode them again."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def post_vectors(self, encoder: TextEncoder, posts: Sequence[Post]) -> np.ndarray:
        key = sha256("\0".join(post.text for post in posts).encode("utf-8", "surrogatepass")).hexdigest()[:24]
        path = self._folder / f"{key}.npy"
        if not path.is_file():
            with atomic_write(path, "wb") as file:
                np.save(file, encoder.post_vectors(posts).astype(np.float16))
        vectors: np.ndarray = np.load(path).astype(np.float32)  # in 16 bits the first time, too
        return vectors


def table(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def crises(folder: Path) -> Iterator[Source]:
    headlines = [row for row in table(folder / "seed_headlines.tsv.gz") if row["release"] == "t6"]
    events: dict[str, dict[str, dict[str, str]]] = {}
    for row in table(folder / "t6.tsv.gz"):
        events.setdefault(row["event"], {}).setdefault(row["tweet_id"], row)
    for name, rows in sorted(events.items()):
        seeds = [
            Article(row["plazz_article_id"], row["caption"] or "", row["title"])
            for row in headlines
            if row["event"] == name
        ] or [Article(name, "", QUERIES[name])]
        posts = [Post(key, row["text"]) for key, row in rows.items()]
        yield name, seeds, posts, {key for key, row in rows.items() if row["on_topic"] == "1"}


def topics(folder: Path) -> Iterator[Source]:
    queries = {row["topic_id"]: row["query"] for row in table(folder / "topics.tsv.gz")}
    judged: dict[str, dict[str, dict[str, Any]]] = {}
    for year in (2011, 2012):
        with gzip.open(folder / f"judged_{year}.jsonl.gz", "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                judged.setdefault(row["topic_id"], {}).setdefault(row["tweet_id"], row)
    for name, rows in judged.items():
        posts = [Post(key, row["text"]) for key, row in rows.items()]
        relevant = {key for key, row in rows.items() if row["relevant"]}
        if relevant:
            yield f"trec-{name}", [Article(name, "", queries[name])], posts, relevant


def subsampled(task: Task, prevalence: float, most: float = 0.95) -> Task | None:
    """Return the task with fewer relevant or fewer other posts, drawn at random, so that this share is relevant.

    None if fewer than three posts would be relevant, fewer than 60 would be left, or more than the share `most`, since
    almost nothing would change.
    """
    generator = np.random.default_rng(list(f"{task.name} {prevalence:g}".encode()))
    relevant, others = np.flatnonzero(task.relevant), np.flatnonzero(~task.relevant)
    wanted = round(prevalence * len(others) / (1 - prevalence))
    if wanted <= len(relevant):
        kept, rest = generator.choice(relevant, wanted, replace=False), others
    else:
        fewer = round(len(relevant) * (1 - prevalence) / prevalence)
        kept, rest = relevant, generator.choice(others, fewer, replace=False)
    places = np.sort(np.concatenate([kept, rest]))
    if len(kept) < 3 or len(places) < 60 or len(places) > most * len(task.pool):
        return None
    pool = task.pool
    posts, copies = [pool.posts[i] for i in places], [pool.copies[i] for i in places]
    part = replace(
        pool,
        posts=posts,
        copies=copies,
        scores=pool.scores[places],
        lexical_scores=pool.lexical_scores[places],
        words=pool.words[places],
        vectors=None if pool.vectors is None else pool.vectors[places],
    )
    gains = task.gains[places]
    return Task(
        f"{task.name}@{prevalence:g}",
        part,
        task.relevant[places],
        gains,
        int(gains.sum()),  # copies with another label than their representative are left out
        len(part) + sum(map(len, copies)),
        0,
    )
