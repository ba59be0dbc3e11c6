"""Exact scores; each row's score is bitwise independent of batch, thread count and machine."""

from collections.abc import Callable, Sequence

import numpy as np

from linker.common.concurrency import in_threads
from linker.corpus.indexes.vectors import ShardVectors

#: Number of rows that a thread processes at a time.
BLOCK = 65_536
# Of rows that are multiplied together, as float32: few enough to stay in the cache.
_BLOCK_BYTES = 786_432


def exact_scores(vectors: Sequence[ShardVectors], vector: np.ndarray, similarity: str) -> np.ndarray:
    """Return the similarity of each post that is not deleted to an article: float32, one per post.

    Every score is a separate dot product, so it depends on the row and the article only, in every bit. In a matrix
    product the order of summation depends on the numbers of rows and threads; it would not be faster, because most of
    the time is spent reading the vectors.

    Args:
        vectors: the embeddings of the shards.
        vector: the embedding of the article: float32, dim.
        similarity: `cosine` (of unit vectors) or `dot`; or `euclidean`, the negative distance.
    """
    vector = np.asarray(vector, dtype=np.float32)

    def fill(shard: ShardVectors, begin: int, scores: np.ndarray) -> None:
        values = np.asarray(shard.values)  # memory-mapped arrays take longer to slice
        scales = None if shard.scales is None else shard.scales[begin : begin + BLOCK].astype(np.float32)
        size = max(1, _BLOCK_BYTES // (4 * values.shape[1]))
        narrow = values.dtype != np.float32
        wide = np.empty((min(size, len(shard)), values.shape[1]), dtype=np.float32) if narrow else None
        for first in range(begin, min(begin + BLOCK, len(shard)), size):
            last = min(first + size, begin + BLOCK, len(shard))
            rows = values[first:last]
            if wide is not None:
                rows = wide[: last - first]
                np.copyto(rows, values[first:last], casting="unsafe")
            products = np.vecdot(rows, vector)
            factors = None if scales is None else scales[first - begin : last - begin]
            if factors is not None:
                products = products * factors
            if similarity == "euclidean":
                squares = (
                    np.vecdot(rows, rows) if factors is None else np.vecdot(rows, rows) * factors * factors
                )
                products = -np.sqrt(np.maximum(squares + np.vecdot(vector, vector) - 2 * products, 0))
            scores[first:last] = products

    return by_blocks(vectors, fill)


def by_blocks(
    vectors: Sequence[ShardVectors], fill: Callable[[ShardVectors, int, np.ndarray], None]
) -> np.ndarray:
    """Compute scores in several threads: float32, one per post that is not deleted.

    Args:
        vectors: the embeddings of the shards.
        fill: takes a shard, the first row of a block of `BLOCK` rows, and the scores of the shard's rows, in which it
            writes those of the block.
    """
    scores = [np.empty(len(shard), dtype=np.float32) for shard in vectors]
    pairs = list(zip(vectors, scores))
    tasks = [(*pair, begin) for pair in pairs for begin in range(0, len(pair[0]), BLOCK)]
    in_threads(lambda task: fill(task[0], task[2], task[1]), tasks)
    live = [of_rows if shard.live is None else of_rows[shard.live] for shard, of_rows in pairs]
    return np.concatenate([np.zeros(0, dtype=np.float32), *live])
