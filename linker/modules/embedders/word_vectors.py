"""Token vectors from a table of words, with a vector also for words outside the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from linker.common.checks import at_least
from linker.common.errors import ConfigError
from linker.data.batch import TokenBatch
from linker.modules.dropout import Dropout
from linker.modules.embedders.embedder import Embedder
from linker.modules.embedders.subwords import fit_subwords

# The length of vectors that are trained from nothing.
DEFAULT_DIM = 300
# Of a fitted n-gram table: enough that no unknown word is zero, too little to drown what was fitted.
RANDOM_SHARE = 0.1


@Embedder.register("word_vectors")
class WordVectorsEmbedder(Embedder):
    """One vector per word: pretrained and frozen, pretrained and trained further, or trained from nothing.

    Words outside the vocabulary get the sum of the vectors of their character n-grams, hashed into `buckets`
    rows (Bojanowski et al. 2017, section 3.2), one learned vector, or zeros.
    """

    def __init__(
        self,
        dim: int | None = None,
        trainable: bool = False,
        unknown: Literal["subwords", "learned", "zero"] = "subwords",
        buckets: int = 20_000,
        dropout: float = 0.0,
        *,
        vocabulary_size: int,
        pretrained: Tensor | None = None,
        words: Sequence[str] | None = None,
    ) -> None:
        """Make the tables.

        Args:
            dim: length of the vectors; null: that of the pretrained ones, or 300 where there are none.
            trainable: train the table of words (needed where nothing is pretrained).
            unknown: what words outside the vocabulary become.
            buckets: rows of the n-gram table, for `unknown = "subwords"`.
            dropout: share of the vectors' components zeroed in training, the same for all tokens of a word in a batch.
            vocabulary_size: words in the vocabulary.
            pretrained: float, vocabulary_size × dim. A model that is about to load its state gives zeros.
            words: the vocabulary's words; given with pretrained vectors, the n-gram table is fitted to them.

        Raises:
            ConfigError: the table would stay random, or the vectors have another length than `dim`.
        """
        super().__init__()
        if dim is None:
            dim = DEFAULT_DIM if pretrained is None else pretrained.shape[1]
        at_least(1, dim=dim, buckets=buckets)
        if pretrained is None and not trainable:
            raise ConfigError(
                "the word_vectors embedder has no vectors and is not trained: "
                "name a file as `vectors` or set `trainable: true`"
            )
        if pretrained is not None and pretrained.shape != (vocabulary_size, dim):
            raise ConfigError(
                f"the word vectors have {pretrained.shape[1]} numbers each, the embedder's `dim` is {dim}: "
                f"set it to {pretrained.shape[1]}, or leave it out"
            )
        self.output_dim = dim
        table = torch.randn(vocabulary_size, dim) * dim**-0.5 if pretrained is None else pretrained
        self.words = nn.Embedding.from_pretrained(
            table.detach().clone().to(torch.get_default_dtype()), freeze=not trainable
        )
        scale = _mean_norm(table) * dim**-0.5
        if unknown == "subwords":
            subwords = torch.randn(buckets, dim) * scale
            if words is not None and pretrained is not None:
                subwords = fit_subwords(
                    subwords * RANDOM_SHARE, words, pretrained.detach().to(torch.get_default_dtype()).cpu()
                )
            self.subwords = nn.Parameter(subwords)
        elif unknown == "learned":
            self.unknown = nn.Parameter(torch.randn(1, dim) * scale)
        self._unknown = unknown
        self.dropout = Dropout(dropout)

    def forward(self, batch: TokenBatch) -> Tensor:
        """float, distinct words × dim; dropout leaves out the same of a word wherever it stands in the batch."""
        size = self.words.num_embeddings
        known = int(torch.searchsorted(batch.words, size))
        vectors = self.words(batch.words[:known])
        if known < len(batch.words):
            vectors = torch.cat([vectors, self._outside(batch, batch.words[known:] - size)])
        return self.dropout(vectors, self._identities(batch, known) if self.training else None)

    def _identities(self, batch: TokenBatch, known: int) -> Tensor:
        """int64: a number for each of the batch's words that is the same in every batch."""
        if known == len(batch.words):
            return batch.words
        # A word's last hash is that of the whole word.
        last = (
            torch.cat([batch.subword_offsets[1:], batch.subword_offsets.new_tensor([len(batch.subwords)])])
            - 1
        )
        numbers = batch.words[known:] - self.words.num_embeddings
        return torch.cat([batch.words[:known], batch.subwords[last[numbers]]])

    def _outside(self, batch: TokenBatch, numbers: Tensor) -> Tensor:
        """Vectors of unknown words, given by their number in the batch."""
        if self._unknown == "zero":
            return self.words.weight.new_zeros(len(numbers), self.output_dim)
        if self._unknown == "learned":
            return self.unknown.expand(len(numbers), -1)
        rows = batch.subwords % len(self.subwords)
        sums = F.embedding_bag(rows, self.subwords, batch.subword_offsets, mode="sum")
        ends = torch.cat([batch.subword_offsets[1:], batch.subword_offsets.new_tensor([len(rows)])])
        # n independent rows add up to √n times the norm of one: short and long words get the same norm.
        return (sums / (ends - batch.subword_offsets).sqrt().unsqueeze(1))[numbers]


def _mean_norm(weight: Tensor) -> float:
    """Mean norm of the rows that are not zero; 1 where all are."""
    norms = weight.detach().norm(dim=1)
    return float(norms[norms > 0].mean()) if bool((norms > 0).any()) else 1.0
