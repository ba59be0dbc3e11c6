"""Token embeddings in 4 bits, which are looked up outside the graph: an eighth of their size in float32.

Each block of 32 numbers of a row has one scale (absmax quantization by blocks, Dettmers et al. 2023, QLoRA, section 2).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save

from linker.common.files import atomic_write

#: File name in the folder of a transformer.
FILE = "token_embeddings.safetensors"
_BLOCK = 32
_ZERO, _LARGEST = 8, 15


class TokenEmbeddings:
    """A matrix of token embeddings in 4 bits.

    Args:
        packed: uint8, tokens × dim / 2: numbers 2 i and 2 i + 1 of a row in the lower and the upper half of byte i.
        scales: float16, tokens × blocks.
    """

    def __init__(self, packed: np.ndarray, scales: np.ndarray) -> None:
        self._packed, self._scales = packed, scales

    @classmethod
    def of(cls, matrix: np.ndarray) -> TokenEmbeddings:
        """Round a matrix: float32, tokens × dim; dim is a multiple of 32, or less than that and even."""
        blocks = matrix.reshape(len(matrix), max(1, matrix.shape[1] // _BLOCK), -1)
        largest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=2)[..., None], axis=2)[..., 0]
        scales = (largest / -_ZERO).astype(np.float16)
        divisors = np.where(scales == 0, 1, scales).astype(np.float32)[..., None]
        numbers = np.clip(np.rint(blocks / divisors) + _ZERO, 0, _LARGEST).astype(np.uint8)
        numbers = numbers.reshape(matrix.shape)
        return cls(numbers[:, ::2] | numbers[:, 1::2] << 4, scales)

    def vectors(self, ids: np.ndarray) -> np.ndarray:
        """Return the embeddings of tokens: float32, the shape of `ids` × dim."""
        packed = self._packed[ids]
        scales = self._scales[ids].astype(np.float32)[..., None]  # (ids, blocks, 1)
        numbers = np.stack([packed & _LARGEST, packed >> 4], axis=-1).reshape(*scales.shape[:-1], -1)
        return ((numbers.astype(np.float32) - _ZERO) * scales).reshape(*ids.shape, -1)

    def save(self, folder: Path) -> None:
        """Write the file in a folder."""
        with atomic_write(folder / FILE, "wb") as file:
            file.write(save({"packed": self._packed, "scales": self._scales}))

    @classmethod
    def load(cls, folder: Path) -> TokenEmbeddings:
        """Read the file in a folder.

        Raises:
            SafetensorError: if the file is damaged.
        """
        return cls(**load_file(folder / FILE))
