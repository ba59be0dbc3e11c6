"""The order of posts by score, with ties broken the same way everywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def rank_posts(scores: np.ndarray, post_ids: Sequence[str]) -> np.ndarray:
    """Column indices, articles × posts, best first; ties in descending order of post ids."""
    descending = np.array(
        sorted(range(len(post_ids)), key=post_ids.__getitem__, reverse=True), dtype=np.int64
    )
    columns = np.asarray(scores, dtype=np.float32)[:, descending]
    return descending[np.argsort(-columns, axis=1, kind="stable")]
