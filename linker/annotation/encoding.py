"""Embeddings that are computed once and used for several pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from linker.data.types import Post
from linker.models.model import Model, part_with_vectors, places


def by_id(posts: Sequence[Post]) -> list[Post]:
    """The posts sorted by id, shorter ids before longer ones, so that numbers are in numeric order."""
    return sorted(posts, key=lambda post: (len(post.id), post.id))


@contextmanager
def encoded_once(model: Model, posts: Sequence[Post]) -> Iterator[None]:
    """Encode these posts; within this context, the model looks their embeddings up instead of encoding them again.

    They are encoded in the order of their ids: rounding errors depend on which texts are encoded together.

    Args:
        model: the model whose part with embeddings encodes them; nothing is encoded if it has no such part.
        posts: the posts, in any order, repeated or not.
    """
    part, rows = part_with_vectors(model), places(by_id(posts))
    vectors = None if part is None or not rows else part.post_vectors(list(rows))
    if part is None or vectors is None:
        yield
        return
    encode, attributes = part.post_vectors, dict(vars(part))

    def look_up(asked: Sequence[Post]) -> np.ndarray | None:
        found = [rows.get(post, -1) for post in asked]
        return encode(asked) if -1 in found else vectors[found]

    vars(part)["post_vectors"] = look_up  # an attribute of the instance hides the method of its class
    try:
        yield
    finally:
        del vars(part)["post_vectors"]
        vars(part).update(attributes)
