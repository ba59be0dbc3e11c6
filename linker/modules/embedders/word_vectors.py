"""Token vectors from a table of words, and from character n-grams for out-of-vocabulary words."""

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

# Length of vectors that are trained from scratch.
DEFAULT_DIM = 300
# Scale of the random part of a fitted n-gram table: no unknown word is zero, and the fit dominates.
RANDOM_SHARE = 0.1


@Embedder.register("word_vectors")
class WordVectorsEmbedder(Embedder):
    """One vector per word: pretrained and frozen, fine-tuned, or trained from scratch.

    Out-of-vocabulary words get the sum of the vectors of their character n-grams, hashed into `buckets` rows
    (Bojanowski et al. 2017, section 3.2), one learned vector, or zeros.
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
        """Initialize the tables.

        Args:
            dim: length of the vectors; null: that of the pretrained vectors, or 300 without any.
            trainable: train the table of words; required without pretrained vectors.
            unknown: vectors of out-of-vocabulary words: `subwords` (sum of n-gram vectors), `learned` (one vector for
                all) or `zero`.
            buckets: number of rows of the n-gram table, for `unknown = "subwords"`.
            dropout: probability that a component is zeroed in training, the same for all tokens of a word in a batch.
            vocabulary_size: number of words in the vocabulary.
            pretrained: float, vocabulary_size × dim; zeros for a model whose state is loaded next.
            words: the vocabulary's words; with pretrained vectors, the n-gram table is fitted to them.

        Raises:
            ConfigError: if the table would stay random, or the vectors' length differs from `dim`.
        """
        super().__init__()
        if dim is None:
            dim = DEFAULT_DIM if pretrained is None else pretrained.shape[1]
        at_least(1, dim=dim, buckets=buckets)
        if pretrained is None and not trainable:
            raise ConfigError(
                "embedder word_vectors: the table is neither pretrained nor trained; "
                "name a file as `vectors` or set `trainable: true`"
            )
        if pretrained is not None and pretrained.shape != (vocabulary_size, dim):
            raise ConfigError(
                f"embedder word_vectors: `dim` is {dim}, but the word vectors have length {pretrained.shape[1]}; "
                f"set `dim` to {pretrained.shape[1]}, or leave it out"
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
        """Embed the distinct words of a batch: float, distinct words × dim.

        Dropout zeroes the same components of a word at all its positions in the batch.
        """
        size = self.words.num_embeddings
        in_table = int(torch.searchsorted(batch.words, size))
        vectors = self.words(batch.words[:in_table])  # (known words, dim)
        if in_table < len(batch.words):
            vectors = torch.cat([vectors, self._outside(batch, batch.words[in_table:] - size)])
        return self.dropout(vectors, self._identities(batch, in_table) if self.training else None)

    def _identities(self, batch: TokenBatch, in_table: int) -> Tensor:
        """int64, distinct words: a number for each word that is the same in every batch."""
        if in_table == len(batch.words):
            return batch.words
        # The last hash of a word is that of the whole word.
        last = (
            torch.cat([batch.subword_offsets[1:], batch.subword_offsets.new_tensor([len(batch.subwords)])])
            - 1
        )
        numbers = batch.words[in_table:] - self.words.num_embeddings
        return torch.cat([batch.words[:in_table], batch.subwords[last[numbers]]])

    def _outside(self, batch: TokenBatch, numbers: Tensor) -> Tensor:
        """Vectors of out-of-in_table words, by their numbers in the batch: float, words × dim."""
        if self._unknown == "zero":
            return self.words.weight.new_zeros(len(numbers), self.output_dim)
        if self._unknown == "learned":
            return self.unknown.expand(len(numbers), -1)
        rows = batch.subwords % len(self.subwords)
        sums = F.embedding_bag(rows, self.subwords, batch.subword_offsets, mode="sum")  # (unknown words, dim)
        ends = torch.cat([batch.subword_offsets[1:], batch.subword_offsets.new_tensor([len(rows)])])
        # A sum of n independent rows has √n times the norm of one: scaled, short and long words have the same norm.
        return (sums / (ends - batch.subword_offsets).sqrt().unsqueeze(1))[numbers]


def _mean_norm(weight: Tensor) -> float:
    """Mean norm of the nonzero rows; 1 if all are zero."""
    norms = weight.detach().norm(dim=1)
    return float(norms[norms > 0].mean()) if bool((norms > 0).any()) else 1.0
