"""Measure how long an annotator waits for the next post, its label and the status.

    python -m benchmarks.annotation.waiting_time --out benchmarks/annotation/results/waiting-time.md

The posts are mixed from those of the sample (`data/`), which gives any number of posts with few near-duplicates. A post
counts as relevant if half of it comes from a post on the seed article's story.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from datetime import date
from pathlib import Path

from linker.annotation.session.session import Session
from linker.data.types import Article, Post

DATA = Path(__file__).resolve().parents[2] / "data"
STORY = "s16"


def mixed_posts(count: int, seed: int = 13) -> list[Post]:
    """Make posts of the first half of one post of the sample, the second half of another, and a number."""
    chance = random.Random(seed)
    records = [json.loads(line) for line in (DATA / "posts.jsonl").read_text().splitlines()]
    posts = []
    for number in range(count):
        one, other = chance.choice(records), chance.choice(records)
        words = one["text"].split(), other["text"].split()
        cut = [
            word
            for part, text in enumerate(words)
            for word in (text[len(text) // 2 :] if part else text[: len(text) // 2])
        ]
        chance.shuffle(cut)
        about = any(str(record["id"]).startswith(STORY) for record in (one, other))
        posts.append(Post(f"{number}{'r' if about else ''}", " ".join(cut) + f" {number}"))
    return posts


def measure(count: int, labels: int) -> tuple[float, float, dict[str, list[float]]]:
    """Measure the seconds of creating and opening a session, and of each action."""
    articles = [json.loads(line) for line in (DATA / "articles.jsonl").read_text().splitlines()]
    seed = next(one for one in articles if one["id"].startswith(STORY))
    article = Article(seed["id"], seed["text"], seed["title"])
    waits: dict[str, list[float]] = {"next": [], "label": [], "status": []}
    with tempfile.TemporaryDirectory() as folder:
        created: list[float] = []
        path = Path(folder) / "job"
        timed(created, Session.create, path, [article], mixed_posts(count), "bm25").close()
        with timed(created, Session.open, path) as session:
            for _ in range(labels):
                suggestion = timed(waits["next"], session.next, "kim")[0]
                value = "relevant" if suggestion.post.id.endswith("r") else "not"
                timed(waits["label"], session.label, "kim", suggestion.post.id, value)
                timed(waits["status"], session.status)
    return created[0], created[1], waits


def timed(into: list[float], call, *arguments):  # type: ignore[no-untyped-def]
    """Call a function and record its time."""
    began = time.perf_counter()
    result = call(*arguments)
    into.append(time.perf_counter() - began)
    return result


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    lines = [
        "# How long an annotator waits",
        "",
        f"`python -m benchmarks.annotation.waiting_time`, {date.today()}, {os.cpu_count()} cores.",
        "",
        f"One process, strategy `active_learning`, rule `recall`, {arguments.labels} labels without a pause, BM25.",
        "Posts mixed from those of the sample. `next` computes the queue after each label at first, after one label",
        "in twenty later; the longest is the first with a classifier, which imports scikit-learn. Milliseconds.",
        "",
        "| posts | step | median | 95th percentile | longest |",
        "|--:|---|--:|--:|--:|",
    ]
    for count in arguments.posts:
        created, opened, waits = measure(count, arguments.labels)
        lines += [
            f"| {count:,} | `create`, s | {created:.1f} | | |",
            f"| {count:,} | `open`, s | {opened:.2f} | | |",
        ]
        for name, seconds in waits.items():
            figures = (statistics.median(seconds), sorted(seconds)[int(0.95 * len(seconds))], max(seconds))
            lines.append(f"| {count:,} | `{name}` | " + " | ".join(f"{1000 * s:.1f}" for s in figures) + " |")
    page = "\n".join([*lines, ""])
    print(page)
    if arguments.out:
        arguments.out.write_text(page)


if __name__ == "__main__":
    main()
