"""Measure questions to corpora of growing size beside a matrix product in NumPy; write results/asking.md.

    OMP_NUM_THREADS=1 python -m benchmarks.corpus.asking --data DATA [DATA ...] --work DIR --posts 10000 100000 1000000

The posts are those of `benchmarks.corpus.posts`, the model is `best`. Encoding a million posts takes an hour, so the
embeddings of the transformer are random unit vectors; word vectors, words, signatures and dates are those of the posts.
Figures are CPU time, which hardly depends on the load of the machine; all take turns. WORK keeps posts and corpora.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

from benchmarks.corpus.posts import read_texts, write_posts
from benchmarks.measurement import machine, say
from linker.common.files import atomic_write
from linker.corpus.builder import build_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.storage.store import FACTS
from linker.data.io.columns import PostColumns
from linker.data.types import Article, Post
from linker.models.embedding_model import eight_bits, unit_length
from linker.models.files.resolve import resolve_model
from linker.models.model import Model, embedding_submodel

TOP, MODEL, DIM = 100, "best", 384
# Rows of NumPy's matrix; of more posts, it is multiplied several times, so that it fits in memory beside the corpus.
LARGEST = 2_500_000
PAGE = Path(__file__).parent / "results" / "asking.md"
NUMPY, WHOLE, SEARCH, READ, FIRST = (
    "NumPy",
    "a later question",
    "the search",
    "reading 100 posts",
    "first question",
)
# Posts of `benchmarks.corpus.posts` begin then.
ASKED = datetime(2014, 1, 2, tzinfo=timezone.utc)


def random_corpus(posts: Path, folder: Path) -> None:
    """Build a corpus with random embeddings of the transformer."""
    rng = np.random.default_rng(0)

    def post_vectors(model: Model, some: Sequence[Post]) -> np.ndarray:
        values, scales = eight_bits(unit_length(rng.standard_normal((len(some), DIM), dtype=np.float32)))
        return np.asarray(values * scales[:, None])

    with mock.patch.object(
        type(embedding_submodel(resolve_model(MODEL).load())), "post_vectors", post_vectors
    ):
        build_corpus(folder, [str(posts)], MODEL, PostColumns())


def cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def measured(folder: Path, articles: Sequence[Article], rounds: int) -> dict[str, float]:
    """Return the median CPU seconds of each task."""
    corpus = Corpus.open(folder)
    first = cpu(lambda: corpus.rank(articles[0], TOP))
    encoding = [cpu(partial(corpus.rank, article, 1)) for article in articles[1:]]
    times = -(-len(corpus) // LARGEST)
    matrix = np.random.default_rng(0).standard_normal((len(corpus) // times, DIM), dtype=np.float32)
    vector = matrix[0].copy()

    def multiplied() -> object:
        scores = np.concatenate([matrix @ vector for _ in range(times)])
        return np.argpartition(scores, -TOP)[-TOP:]

    seconds: dict[str, list[float]] = {NUMPY: [], SEARCH: [], WHOLE: []}
    for number in range(rounds):
        # Articles were encoded before, as in other figures of this folder.
        article = articles[1 + number % (len(articles) - 1)]
        seconds[NUMPY].append(cpu(multiplied))
        seconds[WHOLE].append(cpu(partial(corpus.rank, article, TOP)))
        seconds[SEARCH].append(cpu(partial(corpus.rank, article, 1, offset=TOP - 1)))
    found = {name: statistics.median(of_rounds) for name, of_rounds in seconds.items()}
    ratio = statistics.median(b / a for a, b in zip(seconds[NUMPY], seconds[WHOLE]))
    return {
        **found,
        READ: found[WHOLE] - found[SEARCH],
        "ratio": ratio,
        "first": first,
        "with encoding": statistics.median(encoding),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--posts", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    texts = read_texts(options.data, "articles")
    longest = sorted(texts, key=len)[-200:]  # whole articles, not captions of pictures
    articles = [
        Article(str(i), text, published=ASKED) for i, text in enumerate(longest[:: len(longest) // 20])
    ]
    rows = []
    for count in options.posts:
        posts, folder = options.work / f"posts-{count}.jsonl.gz", options.work / f"corpus-{count}"
        if not posts.is_file():
            say(f"making {count:,} posts")
            write_posts(options.data, count, posts)
        if not (folder / FACTS).is_file():
            say(f"building a corpus of {count:,} posts")
            random_corpus(posts, folder)
        say(f"asking {count:,} posts")
        found = measured(folder, articles, options.rounds)
        cells = [f"{1e3 * found[name]:.1f} ms" for name in (NUMPY, WHOLE, SEARCH, READ, "with encoding")]
        rows.append(f"| {count:,} | {' | '.join(cells)} | {found['ratio']:.2f} | {found['first']:.2f} s |")
        say(rows[-1])
    names = " ".join(folder.name for folder in options.data)
    counts = " ".join(map(str, options.posts))
    lines = [
        "# Questions to corpora",
        "",
        "```bash",
        f"OMP_NUM_THREADS=1 python -m benchmarks.corpus.asking --data {names} --work DIR --posts {counts}",
        "```",
        "",
        f"{machine()}. CPU time, median of {options.rounds} rounds in turns. *NumPy*: one product of a float32 matrix "
        f"of {DIM} numbers per post with a vector, and `argpartition`; of ten million posts, four products of a "
        f"quarter, so that the matrix fits in memory. *A later question*: `Corpus.rank` of `{MODEL}` "
        f"with its three parts and dates, the best {TOP} posts without near-duplicates, read from disk (from memory of "
        "up to 250,000), for an article "
        "that is encoded. *The search*: the same without reading the posts; *reading* is the difference of the two "
        "medians. *With encoding*: one post for a new "
        "article. The embeddings of the transformer are random; all else is of the posts.",
        "",
        f"| posts | {NUMPY} | {WHOLE} | {SEARCH} | {READ} | with encoding | {WHOLE} / {NUMPY} | {FIRST} |",
        "|---|---|---|---|---|---|---|---|",
        *rows,
    ]
    with atomic_write(options.out) as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
