"""The mean of the token vectors, and what another encoder has to add to it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from linker.config import Lazy
from linker.errors import ConfigError
from linker.modules.encoder import Encoder
from linker.modules.encoders.mean import MeanEncoder


@Encoder.register("residual")
class ResidualEncoder(Encoder):
    """unit(mean of the token vectors) + share · unit(what the encoder gives), the share being learned.

    Where word vectors are made to be summed (`linker vectors distil`), an encoder that begins with random weights would
    first forget what the sum knows; here it begins with it.

    Args:
        encoder: gives as many numbers as a token vector has.
        share: where the learned share begins.
    """

    def __init__(self, encoder: Lazy[Encoder], share: float = 0.1, *, input_dim: int) -> None:
        super().__init__()
        self.encoder: Encoder = encoder.construct(input_dim=input_dim)
        if self.encoder.output_dim != input_dim:
            raise ConfigError(
                f"encoder: gives {self.encoder.output_dim} numbers, the token vectors have {input_dim}; "
                "they are added, so make them the same"
            )
        self.input_dim = self.output_dim = input_dim
        self.mean = MeanEncoder(input_dim=input_dim)
        self.share = nn.Parameter(torch.tensor(float(share)))

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """float, texts × input_dim; see `Encoder.forward`."""
        return self._sum(tokens, self.encoder(tokens, lengths), lengths)

    def per_word(self, words: Tensor) -> tuple[Tensor, ...]:
        """The word vectors, and what the encoder makes of each."""
        return (words, *self.encoder.per_word(words))

    def encode(self, words: tuple[Tensor, ...], rows: Tensor, lengths: Tensor) -> Tensor:
        """See `Encoder.encode`."""
        return self._sum(words[0][rows], self.encoder.encode(words[1:], rows, lengths), lengths)

    def token_weights(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Each token's share of the mean's length, as far as it is the mean that decides."""
        return self.mean.token_weights(tokens, lengths)

    def any_lengths(self) -> bool:
        """As the encoder."""
        return self.encoder.any_lengths()

    def _sum(self, tokens: Tensor, added: Tensor, lengths: Tensor) -> Tensor:
        return F.normalize(self.mean(tokens, lengths), dim=-1) + self.share * F.normalize(added, dim=-1)
