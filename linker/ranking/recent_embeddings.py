"""Embeddings of the posts that a ranker ranked last: ranking them for another article does not encode them again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import numpy as np

from linker.data.types import Post
from linker.models.bundled_word_vectors import BundledWordVectorsModel
from linker.models.embedding_model import EmbeddingModel
from linker.models.model import Model, all_submodels, post_vectors_by

_MOST_BYTES = 256 << 20


class RecentEmbeddings:
    """Keeps the embeddings of one list of posts, up to 256 MiB.

    Those of models that can still be trained, torch modules, are not kept: their weights may change.

    Args:
        model: the model whose parts embed posts.
    """

    def __init__(self, model: Model) -> None:
        found = (
            part.vectors if isinstance(part, BundledWordVectorsModel) else part
            for part in all_submodels(model)
        )
        self._parts = [
            part for part in found if isinstance(part, EmbeddingModel) and not hasattr(part, "parameters")
        ]
        self._kept: dict[int, tuple[list[str], np.ndarray]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def used(self) -> Iterator[None]:
        """Let the model look embeddings up in this block; a second thread encodes posts as usual."""
        if not self._lock.acquire(blocking=False):
            yield
            return
        try:
            with ExitStack() as stack:
                for part in self._parts:
                    stack.enter_context(post_vectors_by(part, self._looked_up(part)))
                yield
        finally:
            self._lock.release()

    def _looked_up(self, part: EmbeddingModel) -> Callable[[Sequence[Post]], np.ndarray]:
        """Return a function that returns the embeddings of posts by a part."""
        encode = part.post_vectors

        def look_up(posts: Sequence[Post]) -> np.ndarray:
            texts = [post.text for post in posts]
            former, vectors = self._kept.get(id(part), (None, None))
            if vectors is None or former != texts:
                self._kept.pop(id(part), None)  # before others take memory
                vectors = encode(posts)
                if vectors.nbytes <= _MOST_BYTES:
                    self._kept[id(part)] = texts, vectors
            return vectors

        return look_up
