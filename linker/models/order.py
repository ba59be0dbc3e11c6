"""The order of posts by score, with ties broken the same way everywhere."""

from collections.abc import Sequence

import numpy as np


def rank_posts(scores: np.ndarray, post_ids: Sequence[str]) -> np.ndarray:
    """Rank the posts of each article.

    Args:
        scores: articles × posts.
        post_ids: one per column.

    Returns:
        int64, articles × posts: column indices, best first; ties in descending order of post ids.
    """
    descending = np.array(
        sorted(range(len(post_ids)), key=post_ids.__getitem__, reverse=True), dtype=np.int64
    )
    columns = np.asarray(scores, dtype=np.float32)[:, descending]
    return descending[np.argsort(-columns, axis=1, kind="stable")]
