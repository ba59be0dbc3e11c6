"""Encoders that the GPU kit compares, on token vectors of 300 numbers."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.speed.baselines import OriginalStarTransformer, SelfAttentionEncoder
from benchmarks.speed.workloads import DIM, HEAD_DIM, HEADS
from linker.modules.encoders.cnn import CnnEncoder
from linker.modules.encoders.encoder import Encoder
from linker.modules.encoders.gru import BiGruEncoder, GruEncoder
from linker.modules.encoders.star_transformer import StarTransformerEncoder
from linker.modules.padding import pad_tokens

_MADE: dict[str, Callable[[], Encoder]] = {
    "star transformer": lambda: StarTransformerEncoder(HEADS, HEAD_DIM, input_dim=DIM),
    "CNN": lambda: CnnEncoder(hidden_dim=DIM, input_dim=DIM),
    "GRU": lambda: GruEncoder(DIM, input_dim=DIM),
    "BiGRU": lambda: BiGruEncoder(DIM, input_dim=DIM),
}
ENCODERS = tuple(_MADE)


class Padded(nn.Module):
    """The algorithm as first published, on texts that are padded to a rectangle.

    Args:
        inner: the algorithm.
    """

    def __init__(self, inner: OriginalStarTransformer) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """See `Encoder.forward`."""
        vectors: Tensor = self.inner(*pad_tokens(tokens, lengths))
        return vectors


def encoder_of(name: str) -> Encoder:
    """Return an encoder with the same weights each time."""
    torch.manual_seed(0)
    return _MADE[name]()


def contenders() -> dict[str, Encoder | Padded]:
    """Return name → module."""
    star = encoder_of("star transformer")
    assert isinstance(star, StarTransformerEncoder)
    torch.manual_seed(0)
    return {
        "linker": star,
        "original algorithm": Padded(OriginalStarTransformer(star)),
        "full attention": SelfAttentionEncoder(DIM, HEADS),
    }
