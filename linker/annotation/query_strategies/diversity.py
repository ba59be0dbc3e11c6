"""Diversity sampling: posts that represent many unlabeled posts and resemble no labeled one."""

import numpy as np

from linker.annotation.pool import Labels, Pool

#: Number of unlabeled posts that are compared with each other, sampled if there are more.
_COMPARED = 1000


def diverse_posts(
    pool: Pool, labels: Labels, free: np.ndarray, count: int, generator: np.random.Generator
) -> np.ndarray:
    """Choose posts greedily by facility location: each adds most to the similarity of unlabeled to chosen or labeled.

    The similarity is the cosine of the model's embeddings, centered over the pool, or of TF-IDF if it has none.

    Args:
        pool: the posts.
        labels: the labels so far.
        free: int64, indices of the unlabeled posts.
        count: number of posts to choose.
        generator: source of random numbers.

    Returns:
        Indices, int64, at most `count`, the first choice first.
    """
    compared = free
    if len(free) > _COMPARED:
        compared = np.sort(generator.choice(free, size=_COMPARED, replace=False))
    similar = _similarities(pool, compared, compared)  # (unlabeled, candidates)
    covered = np.zeros(len(compared), dtype=similar.dtype)
    if len(labels):
        covered = np.maximum(covered, _similarities(pool, compared, labels.posts).max(axis=1))
    chosen: list[int] = []
    for _ in range(min(count, len(compared))):
        gains = np.maximum(similar - covered[:, None], 0).sum(axis=0)
        gains[chosen] = -1
        best = int(gains.argmax())
        chosen.append(best)
        covered = np.maximum(covered, similar[:, best])
    return compared[chosen]


def _similarities(pool: Pool, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the cosines between posts: float32, rows × columns."""
    if pool.vectors is None:
        return np.asarray((pool.words[rows] @ pool.words[columns].T).toarray())
    center = pool.vectors.mean(axis=0)
    sides = []
    for places in (rows, columns):
        vectors = pool.vectors[places] - center
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        sides.append(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))
    return np.asarray(sides[0] @ sides[1].T)
