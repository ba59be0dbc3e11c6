"""Word vectors with idf, and text embeddings with weights by idf rank (De Boom et al. 2016, sections 3.1, 3.3, 5.1)."""

from typing import Literal

import torch
from torch import Tensor, nn

from linker.common.checks import above, at_least, between
from linker.common.errors import ConfigError
from linker.data.batch import TokenBatch
from linker.modules.embedders.embedder import Embedder
from linker.modules.embedders.word_vectors import WordVectorsEmbedder
from linker.modules.encoders.encoder import Encoder

#: The idf of words without a vector, which do not count in their text.
NO_VECTOR = -torch.inf


@Embedder.register("word_vectors_idf")
class WordVectorsIdfEmbedder(WordVectorsEmbedder):
    """Frozen word vectors, each with its word's idf appended as the last number.

    Words without a vector get zeros and an idf of −∞: they do not count.

    Paper: De Boom et al. 2016, https://arxiv.org/abs/1607.00570
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
        """Build the table.

        Args:
            dim: length of the vectors in the file; null: any.
            vocabulary_size: words in the vocabulary.
            pretrained: float, vocabulary_size × dim.
            idf: float, vocabulary_size. None for a model that is about to load its state.

        Raises:
            ConfigError: if there are no vectors, or their length is not `dim`.
        """
        if pretrained is None:
            raise ConfigError("the word_vectors_idf embedder trains no vectors: name a file as `vectors`")
        super().__init__(dim, unknown="zero", vocabulary_size=vocabulary_size, pretrained=pretrained)
        self.output_dim = pretrained.shape[1] + 1
        values = torch.zeros(vocabulary_size) if idf is None else idf.detach().to(self.words.weight.dtype)
        self.register_buffer("idf", values.masked_fill((pretrained == 0).all(1), NO_VECTOR))

    def forward(self, batch: TokenBatch) -> Tensor:
        """Return the vectors of the batch: float, distinct words × (dim + 1), the idf last."""
        in_vocabulary = batch.words < len(self.idf)
        words = batch.words.clamp_max(len(self.idf) - 1)
        vectors = self.words(words).masked_fill(~in_vocabulary[:, None], 0)
        return torch.cat([vectors, self.idf[words].masked_fill(~in_vocabulary, NO_VECTOR)[:, None]], 1)


def idf_ranks(idf: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Rank each text's tokens by idf, highest first; among equals the earlier token comes first.

    Args:
        idf: float, sum of lengths; `NO_VECTOR` for tokens that do not count.
        lengths: int64, texts, each ≥ 1.

    Returns:
        Ranks, int64, sum of lengths, from 0; tokens that do not count come last.
        Counts, int64, sum of lengths: the number of tokens that count in the token's text.
    """
    texts = torch.arange(len(lengths), device=idf.device).repeat_interleave(lengths)
    order = idf.sort(descending=True, stable=True).indices
    order = order[texts[order].sort(stable=True).indices]
    starts = lengths.cumsum(0) - lengths
    ranks = torch.empty_like(order)
    ranks[order] = torch.arange(len(idf), device=idf.device) - starts.repeat_interleave(lengths)
    return ranks, torch.zeros_like(lengths).index_add_(0, texts, (idf > NO_VECTOR).long())[texts]


def interpolated(weights: Tensor, ranks: Tensor, counts: Tensor) -> Tensor:
    """Return the weight of rank j of m, read off at j (n − 1) / (m − 1) among n weights (equations 12, 13, from 0).

    Equation 13 is printed with the upper neighbor in place of the lower one. A single word has the first weight.

    Args:
        weights: float, n.
        ranks: int64, j from 0; from m on the result has no meaning.
        counts: int64, m for each rank.
    """
    last = len(weights) - 1
    at = (ranks.double() * last / (counts - 1).clamp_min(1)).clamp(0, last)
    low = at.long()
    share = (at - low).to(weights.dtype)
    return weights[low] + share * (weights[(low + 1).clamp_max(last)] - weights[low])


@Encoder.register("word_weights")
class WordWeightsEncoder(Encoder):
    """Mean of the word vectors, each multiplied by a learned weight for its rank by idf.

    Token vectors carry the idf as their last number (embedder `word_vectors_idf`). A text with a number of words other
    than `max_words` reads its weights off the learned ones by linear interpolation.

    Paper: De Boom et al. 2016, https://arxiv.org/abs/1607.00570

    Args:
        max_words: number of learned weights, the paper's n_max.
        initial: initial value of each weight.
    """

    def __init__(self, max_words: int = 30, initial: float = 0.5, *, input_dim: int) -> None:
        at_least(2, max_words=max_words, input_dim=input_dim)
        super().__init__()
        self.input_dim, self.output_dim = input_dim, input_dim - 1
        self.weights = nn.Parameter(torch.full((max_words,), initial))

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return float, texts × (input_dim − 1), 0 for a text without a word that counts; see `Encoder.forward`."""
        factors = self._factors(tokens[:, -1], lengths)
        return torch.segment_reduce(tokens[:, :-1] * factors[:, None], "sum", lengths=lengths, unsafe=True)

    def any_lengths(self) -> bool:
        """Return True: nothing is padded."""
        return True

    def _factors(self, idf: Tensor, lengths: Tensor) -> Tensor:
        """Return the factor of each token's vector: its weight, divided by the number of words in its text."""
        ranks, counts = idf_ranks(idf, lengths)
        weights = interpolated(self.weights, ranks, counts)
        return (weights / counts.clamp_min(1)).masked_fill(idf == NO_VECTOR, 0)


@Encoder.register("word_pooling")
class WordPoolingEncoder(Encoder):
    """Mean, max or min of the word vectors, of all words or of those with the highest idf; the paper's baselines.

    Token vectors carry the idf as their last number (embedder `word_vectors_idf`). Nothing is learned.

    Paper: De Boom et al. 2016, https://arxiv.org/abs/1607.00570

    Args:
        pool: `min_max` concatenates minimum and maximum.
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
        """Return float, texts × output_dim, 0 for a text without a word that counts; see `Encoder.forward`."""
        vectors, idf = tokens[:, :-1], tokens[:, -1]
        ranks, counts = idf_ranks(idf, lengths)
        # 0.3 × 10 is 3.0000000000000004, which must not become 4.
        counted = (idf > NO_VECTOR) & (ranks < (counts * self.top - 1e-6).ceil())
        texts = torch.arange(len(lengths), device=lengths.device).repeat_interleave(lengths)
        left = torch.zeros_like(lengths).index_add_(0, texts, counted.long())  # (texts,)
        vectors = vectors[counted]
        if self.idf_weighted:
            vectors = vectors * idf[counted][:, None]
        parts = []
        for pool in self.pool.split("_"):
            pooled = torch.segment_reduce(vectors, pool, lengths=left, unsafe=True)
            parts.append(pooled.masked_fill((left == 0)[:, None], 0))
        return torch.cat(parts, 1)

    def any_lengths(self) -> bool:
        """Return True: nothing is padded."""
        return True
