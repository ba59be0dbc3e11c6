"""Measure how long an annotator waits for the next post while the queue is re-ranked.

    OMP_NUM_THREADS=1 python -m benchmarks.annotation.waiting_time --out PAGE

The posts are mixed from those of the sample (`data/`), which gives any number of posts with few near-duplicates. A post
counts as relevant if half of it comes from a post on the seed article's story. Each figure is from one process with one
annotator who labels without a pause, the worst case for background re-ranking. The page in the repository is
benchmarks/annotation/results/waiting-time.md.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
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


def measure(count: int, labels: int) -> dict[str, float]:
    """Measure the seconds of each action."""
    articles = [json.loads(line) for line in (DATA / "articles.jsonl").read_text().splitlines()]
    seed = next(one for one in articles if one["id"].startswith(STORY))
    article = Article(seed["id"], seed["text"], seed["title"])
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        session = Session.create(Path(folder) / "job", [article], mixed_posts(count), "bm25")
        created = time.perf_counter() - began
        session.close()
        began = time.perf_counter()
        session = Session.open(Path(folder) / "job")
        opened = time.perf_counter() - began

        ordering: list[float] = []
        compute = session._ranker.compute
        session._ranker.compute = lambda *what: timed(ordering, compute, *what)  # type: ignore[method-assign]
        waits: dict[str, list[float]] = {"next": [], "label": [], "status": []}
        during = 0
        for _ in range(labels):
            newest = session._ranker.revision
            suggestion = timed(waits["next"], session.next, "kim")[0]
            value = "relevant" if suggestion.post.id.endswith("r") else "not"
            timed(waits["label"], session.label, "kim", suggestion.post.id, value)
            timed(waits["status"], session.status)
            during += session._ranker.revision == newest
        session.settle()
        alone: list[float] = []
        for annotator in range(30):
            timed(alone, session.next, f"annotator {annotator}")
        session.close()
        result = {
            "create": created,
            "open": opened,
            "ordering": statistics.median(ordering),
            "during": during / labels,
        }
        for name, values in {**waits, "next, idle": alone}.items():
            result[f"{name} median"] = statistics.median(values)
            result[f"{name} 95"] = sorted(values)[int(0.95 * len(values))]
            result[f"{name} max"] = max(values)
        return result


def timed(into: list[float], what, *arguments):  # type: ignore[no-untyped-def]
    """Call a function and record its time."""
    began = time.perf_counter()
    result = what(*arguments)
    into.append(time.perf_counter() - began)
    return result


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    results = {count: measure(count, given.labels) for count in given.posts}
    page = report(results, given.labels)
    print(page)
    if given.out:
        given.out.write_text(page)


def report(results: dict[int, dict[str, float]], labels: int) -> str:
    """The page."""
    lines = [
        "# How long an annotator waits",
        "",
        "```",
        "OMP_NUM_THREADS=1 python -m benchmarks.annotation.waiting_time "
        "--out benchmarks/annotation/results/waiting-time.md",
        "```",
        "",
        f"One process, strategy `learning`, rule `recall`, {labels} labels without a pause, so that an order is being",
        "computed most of the time. Posts mixed from those of the sample. Milliseconds. The last column is the median",
        "time of computing an order, for which all would wait without the background, in units of the median wait.",
        "",
        "| posts | step | median | 95th percentile | longest | an order / this |",
        "|--:|---|--:|--:|--:|--:|",
    ]
    steps = {
        "next": "`next`, order being computed",
        "next, idle": "`next`, nothing else running",
        "label": "`label`, order being computed",
        "status": "`status`, order being computed",
    }
    for count, one in results.items():
        for name, shown in steps.items():
            waits = [1000 * one[f"{name} {part}"] for part in ("median", "95", "max")]
            ratio = 1000 * one["ordering"] / waits[0]
            lines.append(
                f"| {count:,} | {shown} | " + " | ".join(f"{w:.1f}" for w in waits) + f" | {ratio:,.0f} |"
            )
    lines += [
        "",
        "| posts | `create` | `open` | an order | steps at which one was being computed |",
        "|--:|--:|--:|--:|--:|",
    ]
    for count, one in results.items():
        seconds = f"{one['create']:.1f} s | {one['open']:.2f} s | {one['ordering']:.2f} s"
        lines.append(f"| {count:,} | {seconds} | {one['during']:.0%} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
