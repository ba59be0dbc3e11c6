"""Compare Lance's approximate indexes with the scan of all embeddings in 8 bits; see decision 197.

    OMP_NUM_THREADS=1 python -m benchmarks.corpus.ann --posts 1000000 --work DIR
    OMP_NUM_THREADS=1 python -m benchmarks.corpus.ann --corpus DIR --articles articles.jsonl --work DIR

The first generates unit vectors of 384 numbers in 2,000 clusters with Zipf sizes (decision 166). The second takes the
embeddings of a corpus of a model with several parts, joined into one vector per post whose products are the sum of the
parts' products, and counts the 100 posts that the whole model ranks first.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measurement import machine, say
from linker.corpus.corpus import Corpus
from linker.corpus.indexes.estimates import estimated_scores
from linker.corpus.indexes.exact import Query
from linker.corpus.indexes.vectors import CorpusVectors, ShardVectors, live_rows, packed
from linker.corpus.search.parts import PartsQuery, is_embedded
from linker.corpus.search.pruning import PrunedQuery
from linker.corpus.storage.array_files import Arrays
from linker.data.types import Article
from linker.models.embedding_model import eight_bits, unit_length
from linker.models.ensemble import EnsembleModel
from linker.models.model import all_submodels

TOP, DIM, CLUSTERS, QUERIES = 100, 384, 2_000, 30
INDEXES: dict[str, dict[str, Any]] = {"IVF_FLAT": {}, "IVF_SQ": {}}
SHARES = (0.05, 0.1, 0.25, 0.5)


class Task(NamedTuple):
    """Vectors, queries, the posts to find for each query, and the exact search to compare with."""

    vectors: np.ndarray
    queries: Sequence[np.ndarray]
    best: Sequence[np.ndarray]
    exact: Callable[[int], object]


def cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def generated(posts: int) -> Task:
    """Make vectors, and queries from the same distribution."""
    rng = np.random.default_rng(0)
    spectrum = (1 / np.sqrt(np.arange(1, DIM + 1))).astype(np.float32)
    centers = rng.standard_normal((CLUSTERS, DIM), dtype=np.float32) * spectrum
    shares = 1 / np.arange(1, CLUSTERS + 1)
    which = rng.choice(CLUSTERS, posts + QUERIES, p=shares / shares.sum())
    vectors = np.empty((posts + QUERIES, DIM), dtype=np.float32)
    for start in range(0, len(vectors), 65_536):
        some = which[start : start + 65_536]
        noise = rng.standard_normal((len(some), DIM), dtype=np.float32) * spectrum
        values, scales = eight_bits(unit_length(centers[some] + noise))
        vectors[start : start + 65_536] = values * scales[:, None]
    vectors, queries = vectors[:posts], list(unit_length(vectors[posts:]))
    shards = CorpusVectors(
        ShardVectors.of(Arrays(packed(vectors[start : start + 65_536]))) for start in range(0, posts, 65_536)
    )
    best = [np.argpartition(vectors @ query, posts - TOP)[-TOP:] for query in queries]

    def exact(number: int) -> object:
        scores = estimated_scores(shards, Query(queries[number][None], "cosine")).scores
        return np.argpartition(scores, posts - TOP)[-TOP:]

    return Task(vectors, queries, best, exact)


def of_corpus(folder: Path, articles: Path) -> Task:
    """Take the embeddings of a corpus, and the posts that its model ranks first."""
    corpus = Corpus.open(folder)
    parts = corpus._posts.parts
    ensemble = next(part for part in all_submodels(parts.model) if isinstance(part, EnsembleModel))
    leaves = [
        (getattr(part, "vectors", part), weight)
        for part, weight in zip(ensemble.submodels(), ensemble.weights)
    ]
    factors = {part: np.float32(np.sqrt(weight)) for part, weight in leaves if is_embedded(part)}
    vectors = np.concatenate(
        [
            factor * np.concatenate(list(live_rows(parts.vectors(part), 65_536)))
            for part, factor in factors.items()
        ],
        axis=1,
    )
    rows = [json.loads(line) for line in articles.read_text(encoding="utf-8").splitlines()[:QUERIES]]
    asked = [PartsQuery(parts, [Article("a", row["text"], row["title"])], corpus._engine) for row in rows]
    queries = [
        np.concatenate([factor * query.query_of(part, 0).vectors[0] for part, factor in factors.items()])
        for query in asked
    ]
    best = [np.argsort(-query.scores(0), kind="stable")[:TOP] for query in asked]

    def exact(number: int) -> object:
        query = PartsQuery(parts, asked[number].articles, corpus._engine)
        return PrunedQuery(parts, query).scored(None, TOP)

    return Task(vectors, queries, best, exact)


def compare(task: Task, folder: Path) -> None:
    """Build each index and print recall and CPU time per query as Markdown."""
    import lance
    import pyarrow as pa

    posts, dim = task.vectors.shape
    for number in range(len(task.queries)):
        task.exact(number)
    exact = statistics.median(cpu(partial(task.exact, n)) for n in range(len(task.queries)))
    print(
        f"{machine()}; {posts:,} posts, {dim} numbers\n\n| | build, CPU | recall@100 | CPU per query | / exact |"
    )
    print(f"|---|---|---|---|---|\n| exact | | 1 | {1e3 * exact:.1f} ms | 1 |", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    column = pa.FixedSizeListArray.from_arrays(pa.array(task.vectors.ravel()), dim)
    dataset = lance.write_dataset(pa.table({"vector": column}), str(folder))
    for kind, options in INDEXES.items():
        partitions = int(np.sqrt(posts))
        built = cpu(
            partial(
                dataset.create_index,
                "vector",
                kind,
                metric="dot",
                num_partitions=partitions,
                replace=True,
                **options,
            )
        )
        say(f"{kind} built")
        for share in SHARES:
            seconds, recalls = [], []
            for query, best in zip(task.queries, task.best):
                nearest = {"column": "vector", "q": query, "k": 10 * TOP, "nprobes": int(share * partitions)}
                scanner = dataset.scanner(
                    columns=["_distance"],
                    with_row_id=True,
                    nearest=nearest,
                    disable_scoring_autoprojection=True,
                )
                begun = time.process_time()
                found = scanner.to_table().column("_rowid").to_numpy()
                seconds.append(time.process_time() - begun)
                recalls.append(np.isin(best, found).mean())
            median = statistics.median(seconds)
            print(
                f"| `{kind}`, {share:.0%} of {partitions:,} partitions | {built:.0f} s | {np.mean(recalls):.3f} "
                f"| {1e3 * median:.1f} ms | {median / exact:.2f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--posts", type=int, default=1_000_000)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--articles", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    task = of_corpus(options.corpus, options.articles) if options.corpus else generated(options.posts)
    compare(task, options.work / "ann.lance")


if __name__ == "__main__":
    main()
