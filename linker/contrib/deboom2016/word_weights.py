"""Learned weights for words ranked by idf (De Boom et al. 2016, sections 3.1 and 3.3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from linker.common.checks import at_least
from linker.modules.encoders.encoder import Encoder

# The idf of words without a vector: they take no part in their text.
NO_VECTOR = -torch.inf


def idf_places(idf: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Sort every text's tokens by idf, highest first; among equals the earlier token comes first.

    Args:
        idf: float, sum of lengths; `NO_VECTOR` for tokens that do not count.
        lengths: int64, one entry ≥ 1 per text.

    Returns:
        places, int64, sum of lengths, from 0; those that do not count come last.
        counts, int64, sum of lengths: how many tokens of the token's text do count.
    """
    texts = torch.arange(len(lengths), device=idf.device).repeat_interleave(lengths)
    order = idf.sort(descending=True, stable=True).indices
    order = order[texts[order].sort(stable=True).indices]
    starts = lengths.cumsum(0) - lengths
    places = torch.empty_like(order)
    places[order] = torch.arange(len(idf), device=idf.device) - starts.repeat_interleave(lengths)
    counts = torch.zeros_like(lengths).index_add_(0, texts, (idf > NO_VECTOR).long())
    return places, counts[texts]


@Encoder.register("word_weights")
class WordWeightsEncoder(Encoder):
    """The mean of the word vectors, each multiplied by a learned weight for its place by idf.

    Token vectors carry the idf as their last number (embedder `word_vectors_idf`). A text of another length than
    `places` reads its weights off the learned ones by linear interpolation, from the first to the last.

    Args:
        places: how many weights are learned, the paper's n_max.
        initial: what every weight begins with.
    """

    def __init__(self, places: int = 30, initial: float = 0.5, *, input_dim: int) -> None:
        at_least(2, places=places, input_dim=input_dim)
        super().__init__()
        self.input_dim, self.output_dim = input_dim, input_dim - 1
        self.weights = nn.Parameter(torch.full((places,), initial))

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """float, texts × (input_dim − 1), 0 for a text without any word that counts; see `Encoder.forward`."""
        factors = self._factors(tokens[:, -1], lengths)
        return torch.segment_reduce(tokens[:, :-1] * factors[:, None], "sum", lengths=lengths, unsafe=True)

    def token_weights(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Each token's weight as a share of its text's; 0 where it is negative."""
        weights = self._factors(tokens[:, -1], lengths).clamp_min(0)
        total = torch.segment_reduce(weights, "sum", lengths=lengths, unsafe=True).clamp_min(1e-12)
        return weights / total.repeat_interleave(lengths, 0)

    def any_lengths(self) -> bool:
        """Nothing is padded."""
        return True

    def _factors(self, idf: Tensor, lengths: Tensor) -> Tensor:
        """What each token's vector is multiplied by: its weight, over the number of words of its text."""
        places, counts = idf_places(idf, lengths)
        weights = interpolated(self.weights, places, counts)
        return (weights / counts.clamp_min(1)).masked_fill(idf == NO_VECTOR, 0)


def interpolated(weights: Tensor, places: Tensor, counts: Tensor) -> Tensor:
    """The weight of place j of m, read off at j (n − 1) / (m − 1) among n weights (equations 12 and 13, from 0).

    Equation 13 is printed with the upper neighbour where the lower one must stand. A single word has the first weight.

    Args:
        weights: float, n.
        places: int64, j from 0; from m on the result has no meaning.
        counts: int64, m for each place.
    """
    last = len(weights) - 1
    at = (places.double() * last / (counts - 1).clamp_min(1)).clamp(0, last)
    low = at.long()
    share = (at - low).to(weights.dtype)
    return weights[low] + share * (weights[(low + 1).clamp_max(last)] - weights[low])
