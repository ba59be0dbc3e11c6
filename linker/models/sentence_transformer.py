"""A ready sentence-transformers model, used as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linker.common.checks import at_least
from linker.common.errors import ModelError
from linker.data.types import Article, Post
from linker.models.model import Model

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


@Model.register("sentence_transformer")
class SentenceTransformerModel(Model):
    """Cosine of the embeddings of a sentence-transformers model, without any training by linker.

    Needs the extra `transformers`. Texts longer than the model's own limit are cut by it (all-MiniLM-L6-v2:
    256 word pieces).

    Args:
        path: the folder of the downloaded model. Nothing is fetched: a folder gives the same scores tomorrow.
        batch_size: texts encoded at once.
    """

    keys_without_weights = frozenset({"path"})

    def __init__(self, path: str, batch_size: int = 32) -> None:
        at_least(1, batch_size=batch_size)
        self.path = path
        self.batch_size = batch_size
        self._encoder: SentenceTransformer | None = None

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Cosines, float32, articles × posts.

        Raises:
            ModelError: sentence-transformers is not installed, or `path` holds no model of its kind.
        """
        return self.similarities(self.article_vectors(articles), self.post_vectors(posts))

    def article_vectors(self, articles: Sequence[Article]) -> np.ndarray:
        """Of unit length: float32, articles × dim."""
        return self._encode([article.full_text for article in articles])

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray:
        """Of unit length: float32, posts × dim."""
        return self._encode([post.text for post in posts])

    def _encode(self, texts: list[str]) -> np.ndarray:
        if self._encoder is None:
            self._encoder = _load(self.path)
        if not texts:
            return np.empty((0, self._encoder.get_sentence_embedding_dimension() or 0), dtype=np.float32)
        vectors = self._encoder.encode(
            texts, batch_size=self.batch_size, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


def _load(path: str) -> SentenceTransformer:
    if not (Path(path) / "modules.json").is_file():
        raise ModelError(
            f"{path}: not the folder of a sentence-transformers model (no modules.json); "
            "download one first, and give its folder"
        )
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar
    except ModuleNotFoundError as error:
        raise ModelError(
            "the model sentence_transformer needs the package sentence-transformers: "
            "pip install 'article-linker[transformers]'"
        ) from error
    disable_progress_bar()  # its bars write to pipes too
    try:
        return SentenceTransformer(path, local_files_only=True)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(f"{path}: cannot be loaded by sentence-transformers ({error})") from error
