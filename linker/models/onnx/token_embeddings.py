"""Token embeddings in 4 bits, which are looked up outside the graph: an eighth of their size in float32.

Each block of 32 numbers of a row has one scale (absmax quantization by blocks, Dettmers et al. 2023, QLoRA, section 2).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

#: File name in the folder of a transformer.
FILE = "token_embeddings.safetensors"
#: What stands for 0 of the 16 numbers, and the largest of them.
ZERO, LARGEST = 8, 15


class TokenEmbeddings:
    """A matrix of token embeddings in 4 bits.

    Args:
        packed: uint8, tokens × dim / 2: numbers 2 i and 2 i + 1 of a row in the lower and the upper half of byte i.
        scales: float16, tokens × blocks.
    """

    def __init__(self, packed: np.ndarray, scales: np.ndarray) -> None:
        self._packed, self._scales = packed, scales

    def vectors(self, ids: np.ndarray) -> np.ndarray:
        """Return the embeddings of tokens: float32, the shape of `ids` × dim."""
        packed = self._packed[ids]
        scales = self._scales[ids].astype(np.float32)[..., None]  # (ids, blocks, 1)
        numbers = np.stack([packed & LARGEST, packed >> 4], axis=-1).reshape(*scales.shape[:-1], -1)
        return ((numbers.astype(np.float32) - ZERO) * scales).reshape(*ids.shape, -1)

    @classmethod
    def load(cls, folder: Path) -> TokenEmbeddings:
        """Read the file in a folder.

        Raises:
            SafetensorError: if the file is damaged.
        """
        return cls(**load_file(folder / FILE))
