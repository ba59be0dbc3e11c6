"""Compare approximate with exact searches of corpora; write results/approximate.md.

    OMP_NUM_THREADS=1 python -m benchmarks.corpus.approximate --data DATA --work DIR [--corpora CORPUS ...]

DATA has the real sets: every text of 20 to 400 characters in their files of posts becomes a post of 2013, at a random
time, and `best` encodes them (a quarter of an hour on two cores). The articles are plazz's and politifact's, with
random dates within the time of the posts. Other corpora, as `benchmarks.corpus.asking` leaves them in its WORK, can be
measured, too. A corpus without an index gets one. WORK keeps the corpus of real posts.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np

from benchmarks.measurement import machine, say
from linker.common.files import atomic_write
from linker.corpus.builder import build_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.info import summarize
from linker.corpus.storage.store import FACTS
from linker.data.io.columns import PostColumns
from linker.data.types import Article

PAGE = Path(__file__).parent / "results" / "approximate.md"
ARTICLE_SETS, OTHER_FILES = ("plazz_commentary", "politifact_tweets"), ("word_vectors", "articles")
TOP, QUERIES, CHARACTERS = 100, 20, range(20, 401)
FIELDS = ("text", "text1", "text2", "quoted_text", "title", "sent", "tweet")
YEAR = datetime(2013, 1, 1, tzinfo=timezone.utc)


def real_texts(data: Path) -> list[str]:
    """Return the distinct texts of the posts of all sets, shuffled."""
    found = {text for path in sorted(data.rglob("*.gz")) for text in _texts_of(path)}
    texts = sorted(text for text in found if len(text) in CHARACTERS)
    random.Random(0).shuffle(texts)
    return texts


def _texts_of(path: Path) -> Iterator[str]:
    if any(name in str(path) for name in OTHER_FILES):
        return
    with gzip.open(path, "rt", encoding="utf-8") as file:
        if ".jsonl" in path.name:
            for line in file:
                row = json.loads(line)
                yield from (row[name].strip() for name in FIELDS if isinstance(row.get(name), str))
        elif ".tsv" in path.name:
            head = next(file).rstrip("\n").split("\t")
            columns = [n for n, name in enumerate(head) if name.startswith(FIELDS) and "id" not in name]
            for line in file:
                cells = line.rstrip("\n").split("\t")
                yield from (cells[n].strip() for n in columns if n < len(cells))


def write_real(data: Path, path: Path) -> None:
    """Write the real texts as posts of a year."""
    chance = random.Random(1)
    with atomic_write(path, "wb") as raw, gzip.open(raw, "wt", encoding="utf-8") as file:
        for number, text in enumerate(real_texts(data)):
            created = YEAR + timedelta(seconds=chance.randrange(365 * 86_400))
            row = {"id": str(number), "text": text, "created_at": created.isoformat()}
            file.write(json.dumps(row) + "\n")


def articles_of(data: Path, first: datetime, last: datetime) -> list[Article]:
    """Return some articles of each set, with random dates."""
    chance, found = random.Random(2), []
    for name in ARTICLE_SETS:
        with gzip.open(data / name / "articles.jsonl.gz", "rt", encoding="utf-8") as file:
            rows = [row for row in map(json.loads, file) if row.get("text")]
        for row in rows[:: len(rows) // QUERIES][:QUERIES]:
            published = first + (last - first) * chance.random()
            found.append(Article(row["id"], row["text"], row.get("title") or "", published=published))
    return found


def compared(corpus: Corpus, articles: Sequence[Article], dated: bool) -> list[str]:
    """Return the cells of a table: mean and least recall, milliseconds of both searches, their ratio."""
    recalls, exact, approximate = [], [], []
    for article in articles:

        def scores(approximately: bool, top: int = TOP, article: Article = article) -> list[float]:
            ranking = corpus.rank(
                article, top, copies=True, ignore_dates=not dated, approximate=approximately
            )
            return [hit.score for hit in ranking]

        scores(False, 1)  # encodes the article
        begun = time.process_time()
        expected = scores(False)
        between = time.process_time()
        found = scores(True)
        exact.append(between - begun)
        approximate.append(time.process_time() - between)
        recalls.append(np.mean([score >= min(expected) for score in found]) * len(found) / len(expected))
    a, b = statistics.median(exact), statistics.median(approximate)
    return [
        f"{np.mean(recalls):.3f}",
        f"{min(recalls):.2f}",
        f"{1e3 * a:.0f}",
        f"{1e3 * b:.0f}",
        f"{b / a:.2f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    posts, real = options.work / "real.jsonl.gz", options.work / "real"
    if not posts.is_file():
        say("collecting real posts")
        write_real(options.data, posts)
    if not (real / FACTS).is_file():
        say("building a corpus of real posts")
        build_corpus(real, [str(posts)], "best", PostColumns())
    rows = []
    for folder in (real, *options.corpora):
        corpus = Corpus.open(folder)
        if not corpus.has_index:
            say(f"indexing {folder}")
            begun = time.process_time()
            corpus.build_index()
            say(f"indexed in {time.process_time() - begun:.0f} s of CPU time")
        found = summarize(corpus.store)
        assert found.first is not None
        assert found.last is not None
        articles = articles_of(options.data, found.first, found.last)
        kind = "real posts" if folder == real else f"`{folder.name}`"
        for dated in (True, False):
            say(f"asking {folder}")
            cells = compared(corpus, articles, dated)
            dates = "with dates" if dated else "without"
            rows.append(f"| {len(corpus):,}, {kind} | `{corpus.name}` | {dates} | {' | '.join(cells)} |")
            say(rows[-1])
    names = " ".join(f"DIR/{folder.name}" for folder in options.corpora)
    lines = [
        "# Approximate search",
        "",
        "```bash",
        f"OMP_NUM_THREADS=1 python -m benchmarks.corpus.approximate --data DATA --work DIR --corpora {names}".rstrip(),
        "```",
        "",
        f"{machine()}. {2 * QUERIES} articles; medians of CPU time of encoded articles, the best {TOP} posts, read "
        "from the corpus. Recall: share of the posts found whose score reaches that of the last one of the exact "
        "search. Real posts: see the docstring. The transformer's embeddings in the corpora of [asking](asking.md), "
        "`corpus-…`, are random: no post is near another, which is the hardest case for partitions.",
        "",
        "| posts | model | | recall@100 | least | exact, ms | approximate, ms | ratio |",
        "|---|---|---|---|---|---|---|---|",
        *rows,
    ]
    with atomic_write(options.out) as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
