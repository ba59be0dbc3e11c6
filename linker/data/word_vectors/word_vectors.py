"""The family of sources of pretrained word vectors."""

from __future__ import annotations

import numpy as np

from linker.config import Registrable


class WordVectors(Registrable):
    """Knows words and their vectors."""

    default_component = "file"

    def read(self, wanted: set[str] | None = None) -> tuple[list[str], np.ndarray]:
        """The words that a model's vocabulary takes, and their vectors.

        Args:
            wanted: the words of the training texts, which should be among them where they have vectors.

        Returns:
            The words, distinct, and float32, words × dimensions.
        """
        raise NotImplementedError
