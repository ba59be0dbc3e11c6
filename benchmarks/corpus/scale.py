"""Measure the CPU time of each step of building a corpus.

    OMP_NUM_THREADS=1 python -m benchmarks.corpus.scale posts.jsonl.gz --model runs/ast --work DIR

`benchmarks.corpus.posts` makes the posts. The guide to corpora at scale cites the figures. CPU time, unlike elapsed
time, hardly depends on the load of the machine.
"""

from __future__ import annotations

import argparse
import pickle
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np

from linker.corpus.builder import CHARACTERS_AT_ONCE, POSTS_AT_ONCE
from linker.corpus.chunks import ChunkReader
from linker.corpus.encoding import check_parts, vector_parts, word_lists, words_file
from linker.corpus.indexes.exact import Query, exact_scores
from linker.corpus.indexes.near_duplicates import SIGNATURES, Groups, signed
from linker.corpus.indexes.vectors import packed
from linker.corpus.indexes.words import words_of
from linker.corpus.known_posts import Added, KnownPosts
from linker.corpus.search.parts import Parts
from linker.corpus.storage.data_files import DataFile
from linker.corpus.storage.reader import schema, table_of
from linker.corpus.storage.shards import Shards
from linker.corpus.storage.store import CorpusMetadata, Store
from linker.data.io.columns import PostColumns
from linker.data.types import Post
from linker.models.model import Model
from linker.ranking.ranker import load

P = ParamSpec("P")
T = TypeVar("T")
steps: dict[str, float] = {}


def cost(step: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function and add its CPU time to a step."""
    begun = time.process_time()
    result = work(*args, **kwargs)
    steps[step] = steps.get(step, 0.0) + time.process_time() - begun
    return result


def _packed(part: Model, posts: list[Post]) -> dict[str, np.ndarray]:
    vectors = part.post_vectors(posts)
    assert vectors is not None  # it has vectors
    return packed(vectors)


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("posts", help="file of posts")
    parser.add_argument("--model", required=True)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    model = load(options.model).model
    folder = options.work / "scale"
    shutil.rmtree(folder, ignore_errors=True)
    empty = check_parts(model).post_vectors([])
    assert empty is not None, "a model of embeddings"
    store = Store.create(folder, CorpusMetadata(options.model, "", "cosine", empty.shape[1]))
    added, known = Added(), KnownPosts()
    reader = ChunkReader(PostColumns(), "strict", set(), POSTS_AT_ONCE, CHARACTERS_AT_ONCE)
    chunks = reader(0, [options.posts])
    dataset = None
    with store.writing():
        while pair := cost("read, and compute keys", lambda: next(chunks, None)):
            chunk, posts = pair
            rows = cost("compare keys", known.answer, chunk.keys, added).rows
            received = cost("send to another worker", lambda sent: pickle.loads(pickle.dumps(sent, 5)), posts)
            if not len(rows):
                continue
            new = [received[row] for row in rows]
            texts = [post.text for post in new]
            files = {name: cost("encode", _packed, part, new) for name, part in vector_parts(model).items()}
            files[SIGNATURES] = cost("sign", signed, texts)
            for stop_words in word_lists(model):
                files[words_file(stop_words)] = cost("index words", words_of, texts, stop_words)
            table = cost("write", table_of, new)
            written = cost("write", DataFile.write, folder, table, files)
            dataset = cost("commit", store.append, [written], dataset, schema())
    assert dataset is not None
    count = dataset.count_rows()
    shards = Shards(folder, dataset)
    cost("group near-duplicates", lambda: Groups(shards).complete())
    parts = Parts(shards, model)
    matrix = parts.vectors(parts.first)
    query = Query(matrix[0].rows(0, 1), "cosine")
    exact_scores(matrix, query)
    cost("score by the first embeddings", lambda: exact_scores(matrix, query))
    print(f"{count:,} posts\n\n| step | CPU µs a post | posts/s and core |\n|---|---|---|")
    for step, seconds in steps.items():
        print(f"| {step} | {1e6 * seconds / count:.2f} | {count / max(seconds, 1e-9):,.0f} |")
    print("\n| on disk | bytes a post |\n|---|---|")
    kinds: Counter[str] = Counter()
    for path in folder.rglob("*"):
        if path.is_file():
            arrays = path.suffix == ".safetensors"
            kinds[re.sub(r"-[0-9a-f]{16}.*", "", path.name) if arrays else "posts"] += path.stat().st_size
    for kind, bytes_ in sorted(kinds.items()):
        print(f"| `{kind}` | {bytes_ / count:,.1f} |")
    print(f"| all | {size(folder) / count:,.1f} |")
    print("\nKeys in memory: 37 to 47 bytes a post")


if __name__ == "__main__":
    main()
