"""Text vectors pooled from word vectors without learning: the baselines of De Boom et al. 2016, section 5.1."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from linker.common.checks import above, between
from linker.contrib.deboom2016.word_weights import NO_VECTOR, idf_places
from linker.modules.encoders.encoder import Encoder


@Encoder.register("word_pooling")
class WordPoolingEncoder(Encoder):
    """Mean, max or min of the word vectors, of all words or of those with the highest idf; learns nothing.

    Token vectors carry the idf as their last number (embedder `word_vectors_idf`).

    Args:
        pool: `min_max` puts minimum and maximum one behind the other.
        top: share of a text's words that count, those with the highest idf; rounded up.
        idf_weighted: multiply each vector by its word's idf first.
    """

    def __init__(
        self,
        pool: Literal["mean", "max", "min", "min_max"] = "mean",
        top: float = 1.0,
        idf_weighted: bool = False,
        *,
        input_dim: int,
    ) -> None:
        above(0, top=top)
        between(0, 1, top=top)
        super().__init__()
        self.pool, self.top, self.idf_weighted = pool, top, idf_weighted
        self.input_dim = input_dim
        self.output_dim = (input_dim - 1) * (2 if pool == "min_max" else 1)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """float, texts × output_dim, 0 for a text without any word that counts; see `Encoder.forward`."""
        vectors, idf = tokens[:, :-1], tokens[:, -1]
        places, counts = idf_places(idf, lengths)
        # Not 0.3 × 10 = 3.0000000000000004, of which 4 would be made.
        kept = (idf > NO_VECTOR) & (places < (counts * self.top - 1e-6).ceil())
        texts = torch.arange(len(lengths), device=lengths.device).repeat_interleave(lengths)
        left = torch.zeros_like(lengths).index_add_(0, texts, kept.long())
        vectors = vectors[kept]
        if self.idf_weighted:
            vectors = vectors * idf[kept][:, None]
        parts = []
        for pool in self.pool.split("_"):
            pooled = torch.segment_reduce(vectors, pool, lengths=left, unsafe=True)
            parts.append(pooled.masked_fill((left == 0)[:, None], 0))
        return torch.cat(parts, 1)

    def any_lengths(self) -> bool:
        """Nothing is padded."""
        return True
