"""Base class of pretrained word vectors."""

import numpy as np

from linker.config import Registrable


class WordVectors(Registrable):
    """A source of words and their vectors."""

    default_component = "file"

    def read(self, wanted: set[str] | None = None) -> tuple[list[str], np.ndarray]:
        """Read the words of a model's vocabulary and their vectors.

        Args:
            wanted: the words of the training texts, to be included if they have vectors.

        Returns:
            The distinct words, and float32, words × dim.
        """
        raise NotImplementedError
