"""Pretrained word vectors with each word's idf beside them, for encoders that rank words by it."""

from __future__ import annotations

import torch
from torch import Tensor

from linker.common.errors import ConfigError
from linker.contrib.deboom2016.word_weights import NO_VECTOR
from linker.data.batch import TokenBatch
from linker.modules.embedders.embedder import Embedder
from linker.modules.embedders.word_vectors import WordVectorsEmbedder


@Embedder.register("word_vectors_idf")
class WordVectorsIdfEmbedder(WordVectorsEmbedder):
    """Frozen vectors, and behind each the word's idf as one more number.

    Words without a vector get zeros and an idf of −∞, which says that they do not count.
    """

    idf: Tensor

    def __init__(
        self,
        dim: int | None = None,
        *,
        vocabulary_size: int,
        pretrained: Tensor | None = None,
        idf: Tensor | None = None,
    ) -> None:
        """Make the table.

        Args:
            dim: length of the vectors in the file; null: whatever it is.
            vocabulary_size: words in the vocabulary.
            pretrained: float, vocabulary_size × dim.
            idf: float, vocabulary_size. A model that is about to load its state gives none.

        Raises:
            ConfigError: there are no vectors, or they have another length than `dim`.
        """
        if pretrained is None:
            raise ConfigError("the word_vectors_idf embedder trains no vectors: name a file as `vectors`")
        super().__init__(dim, unknown="zero", vocabulary_size=vocabulary_size, pretrained=pretrained)
        self.output_dim = pretrained.shape[1] + 1
        values = torch.zeros(vocabulary_size) if idf is None else idf.detach().to(self.words.weight.dtype)
        self.register_buffer("idf", values.masked_fill((pretrained == 0).all(1), NO_VECTOR))

    def forward(self, batch: TokenBatch) -> Tensor:
        """float, distinct words × (dim + 1), the idf last."""
        known = batch.words < len(self.idf)
        words = batch.words.clamp_max(len(self.idf) - 1)
        vectors = self.words(words).masked_fill(~known[:, None], 0)
        return torch.cat([vectors, self.idf[words].masked_fill(~known, NO_VECTOR)[:, None]], 1)
