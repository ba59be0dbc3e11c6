"""The family of encoders: from the token vectors of texts to one vector per text."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from linker.config import Registrable


class Encoder(nn.Module, Registrable):
    """Turns token vectors into text vectors.

    Texts of a batch lie one behind the other on a single token axis; nothing is padded. A vector never depends
    on the other texts of the batch.

    `forward` is all that an encoder must have. Where part of the work depends on each word alone, it can be done once
    per distinct word: `per_word` does that part, `encode` the rest.
    """

    default_component = "star_transformer"

    input_dim: int
    output_dim: int

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Encode a batch.

        Args:
            tokens: float, (sum of lengths) × input_dim, the token vectors of all texts.
            lengths: int64, one entry ≥ 1 per text.

        Returns:
            float, texts × output_dim.
        """
        raise NotImplementedError

    def per_word(self, words: Tensor) -> tuple[Tensor, ...]:
        """What depends on each word alone.

        Args:
            words: float, distinct words × input_dim.

        Returns:
            Tensors whose rows belong to the words.
        """
        return (words,)

    def encode(self, words: tuple[Tensor, ...], rows: Tensor, lengths: Tensor) -> Tensor:
        """The rest of `forward`.

        Args:
            words: what `per_word` gave.
            rows: int64, sum of lengths: each token's row in it.
            lengths: as for `forward`.
        """
        return self(words[0][rows], lengths)

    def token_weights(self, tokens: Tensor, lengths: Tensor) -> Tensor | None:
        """How much each token counts in its text's vector: float ≥ 0, one per token; None where that is not known."""
        return None

    def any_lengths(self) -> bool:
        """Do texts of very different lengths cost no more together than apart?"""
        return False


def offsets_of(lengths: Tensor) -> Tensor:
    """Where each text starts on the token axis, and where the last one ends: int64, texts + 1."""
    return torch.nn.functional.pad(lengths.cumsum(0), (1, 0))


def pad_tokens(tokens: Tensor, lengths: Tensor, minimum: int = 1) -> tuple[Tensor, Tensor]:
    """Spread flat token vectors over a padded array.

    Returns:
        values, texts × longest × dim, zero where no token is; mask, texts × longest, true at tokens.
        The longest is at least `minimum`.
    """
    longest = max(int(lengths.max()), minimum)
    mask = torch.arange(longest, device=lengths.device) < lengths[:, None]
    padded = tokens.new_zeros(len(lengths), longest, tokens.shape[-1])
    padded[mask] = tokens
    return padded, mask
