"""Trainable bi-encoders: one encoder for articles and posts, relevance by similarity (Danovitch 2020, section 3.6)."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor, nn
from typing_extensions import override

from linker.common.files import atomic_write
from linker.data.vocabulary import EncodedText
from linker.models.embedding_model import EmbeddingModel, Similarity

# Few enough to fit the CPU's caches, enough for fast matrix products.
TOKENS_TOGETHER = 8_192
# Enough for most words of a chunk to occur repeatedly: each is embedded once per chunk.
TOKENS_PER_CHUNK = 200_000


class SiameseModel(EmbeddingModel, nn.Module):
    """Base of the bi-encoders that `linker train` trains; the attributes of `EmbeddingModel`, and:

    Attributes:
        similarity: `cosine`: the loss sees embeddings of unit length; `euclidean`: embeddings are not normalized.
    """

    trainable = True
    tokens_per_chunk = TOKENS_PER_CHUNK

    def __init__(
        self,
        max_article_tokens: int,
        max_post_tokens: int,
        similarity: Similarity,
        title_weight: float = 0.0,
        article_prefixes: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self._set_limits(max_article_tokens, max_post_tokens, similarity, title_weight, article_prefixes)

    @property
    def words(self) -> Sequence[str]:
        """The tokens by id; a run resumes only if they are the same."""
        raise NotImplementedError

    @property
    def description(self) -> str:
        """A short description of the tokenization for people, for example the number of words."""
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device

    def forward(self, texts: Sequence[EncodedText]) -> Tensor:
        """Return embeddings: float, texts × output_dim."""
        raise NotImplementedError

    def _vectors(self, collated: Any, budget: int | None) -> Tensor:
        """Embed a batch, in the order of its texts.

        Args:
            collated: a batch from `_collate`.
            budget: maximum number of tokens encoded together; None: all at once if possible.
        """
        raise NotImplementedError

    @override
    @torch.no_grad()
    def encode(
        self, texts: Iterable[EncodedText], description: str = "encoding", count: int | None = None
    ) -> np.ndarray:
        training = self.training
        self.eval()
        vectors = super().encode(texts, description, count)
        self.train(training)
        return vectors

    @override
    def _embedded(self, collated: Any) -> np.ndarray:
        return self._vectors(collated, TOKENS_TOGETHER).float().cpu().numpy()

    def _normalize(self, vectors: Tensor) -> Tensor:
        """Scale rows to unit length if `similarity` is `cosine`."""
        return nn.functional.normalize(vectors, dim=-1) if self.similarity == "cosine" else vectors


def save_weights(module: nn.Module, path: Path) -> None:
    """Write all weights of a module as safetensors, atomically."""
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    with atomic_write(path, "wb") as file:
        file.write(save(state))
