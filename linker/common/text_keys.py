"""Keys of texts: hashes that identify words, ids and texts."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


def keys_of(texts: Sequence[str]) -> np.ndarray:
    """Return 128-bit BLAKE2b hashes: uint64, texts × 2. In practice, different texts have different keys."""
    digests = b"".join(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts
    )
    return np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)
