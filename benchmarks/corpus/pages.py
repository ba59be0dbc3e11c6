"""Measure everything about corpora and write all pages of this folder.

    python -m benchmarks.corpus.pages --data ../data --work DIR

DATA holds the real sets, as for `benchmarks.quality`. The measurements run one after the other, each by its own
command, which is printed: building and asking beside MiniLM, NumPy, pgvector and Lance; builds by workers; questions to
corpora of growing size; a service with 50 clients. With ten million posts they take hours, 60 GB
on disk, and 10 GB of memory. WORK keeps posts and corpora, so that a second run makes none again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.corpus.posts import PostMaker, write_some
from benchmarks.measurement import say
from linker.common.files import atomic_write

ROOT = Path(__file__).resolve().parents[2]
POSTS_FROM = ("plazz_commentary", "politifact_tweets")
ARTICLES_FROM = ("politifact_tweets", "news_articles_extra")
_FILES_OF_WORKERS, _SERVED = 16, 100_000


def articles_of(data: Path) -> Iterator[str]:
    """Yield articles of full length as JSON Lines."""
    for name in ARTICLES_FROM:
        with gzip.open(data / name / "articles.jsonl.gz", "rt", encoding="utf-8") as file:
            for article in map(json.loads, file):
                if article.get("text"):
                    yield json.dumps({"title": article.get("title") or "", "text": article["text"]}) + "\n"


def files_of_workers(data: Sequence[Path], folder: Path, posts: int) -> list[str]:
    """Return 16 files of posts, which are made if the last one is missing."""
    files = [folder / f"posts-{number:02}.jsonl.gz" for number in range(_FILES_OF_WORKERS)]
    if not files[-1].is_file():
        folder.mkdir(parents=True, exist_ok=True)
        maker = PostMaker.read(data)
        for path in files:
            write_some(islice(maker, posts // _FILES_OF_WORKERS), path)
    return list(map(str, files))


def commands(data: Path, work: Path, posts: Sequence[int], minutes: float) -> Iterator[list[str]]:
    """Yield the modules to run, with their arguments; files that one needs are made before it is yielded."""
    sets = [str(data / name) for name in POSTS_FROM]
    asked, built, served = work / "asking", work / "built", work / "asking" / f"corpus-{_SERVED}"
    yield ["benchmarks.corpus", "--data", *sets, "--work", str(built), "--threads", "1"]
    say("making posts for workers")
    files = files_of_workers([data / name for name in POSTS_FROM], work / "workers", 400_000)
    yield ["benchmarks.corpus.workers", *files, "--work", str(work / "workers")]
    sizes = [str(size) for size in sorted({*posts, _SERVED})]
    yield ["benchmarks.corpus.asking", "--data", *sets, "--work", str(asked), "--posts", *sizes]
    with atomic_write(work / "articles.jsonl") as file:
        file.writelines(articles_of(data))
    articles = ["--articles", str(work / "articles.jsonl"), "--minutes", str(minutes)]
    yield ["benchmarks.corpus.service", str(served), *articles]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--posts", type=int, nargs="+", default=[10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long the service is asked")
    options = parser.parse_args()
    for module, *arguments in commands(
        options.data.resolve(), options.work.resolve(), options.posts, options.minutes
    ):
        # A service uses all cores; everything else is measured with one thread.
        variables = {} if module.endswith("service") else {"OMP_NUM_THREADS": "1"}
        say(
            " ".join(
                [*(f"{name}={value}" for name, value in variables.items()), "python -m", module, *arguments]
            )
        )
        subprocess.run(
            [sys.executable, "-m", module, *arguments], cwd=ROOT, env=os.environ | variables, check=True
        )


if __name__ == "__main__":
    main()
