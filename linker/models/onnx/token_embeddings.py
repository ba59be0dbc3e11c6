"""Token embeddings of a large vocabulary, which are looked up outside the graph.

Those of frequent tokens are in 4 bits: each block of 32 numbers of a row has one scale (absmax quantization by blocks,
Dettmers et al. 2023, QLoRA, section 2). Those of the others are in 4/3 bits: each group of 6 numbers of a row is the
number of one of 256 centroids (product quantization, Jégou et al. 2011, section II.B).
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
    """A matrix of token embeddings.

    Args:
        packed: uint8, frequent tokens × dim / 2: numbers 2 i and 2 i + 1 of a row in the lower and the upper half of
            byte i.
        scales: float16, frequent tokens × blocks.
        codes: uint8, other tokens × groups: centroids.
        centroids: float16, groups × 256 × dim / groups.
        frequent: uint8: a bit for each token, of either kind.
    """

    def __init__(
        self,
        packed: np.ndarray,
        scales: np.ndarray,
        codes: np.ndarray,
        centroids: np.ndarray,
        frequent: np.ndarray,
    ) -> None:
        self._packed, self._scales, self._codes, self._centroids = packed, scales, codes, centroids
        self._frequent = np.unpackbits(frequent, count=len(packed) + len(codes)).astype(bool)
        self._rows = np.where(self._frequent, np.cumsum(self._frequent), np.cumsum(~self._frequent)) - 1

    def vectors(self, ids: np.ndarray) -> np.ndarray:
        """Return the embeddings of tokens: float32, the shape of `ids` × dim."""
        frequent, rows, dim = self._frequent[ids], self._rows[ids], 2 * self._packed.shape[1]
        found = np.empty((*ids.shape, dim), dtype=np.float32)
        packed, blocks = self._packed[rows[frequent]], self._scales.shape[1]
        scales = self._scales[rows[frequent]].astype(np.float32)[..., None]  # (ids, blocks, 1)
        numbers = np.stack([packed & LARGEST, packed >> 4], axis=-1).reshape(-1, blocks, dim // blocks)
        found[frequent] = ((numbers.astype(np.float32) - ZERO) * scales).reshape(-1, dim)
        codes = self._codes[rows[~frequent]]  # (ids, groups)
        found[~frequent] = self._centroids[np.arange(codes.shape[1]), codes].reshape(-1, dim)
        return found

    @classmethod
    def load(cls, folder: Path) -> TokenEmbeddings:
        """Read the file in a folder.

        Raises:
            SafetensorError: if the file is damaged.
        """
        return cls(**load_file(folder / FILE))
