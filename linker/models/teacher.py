"""A model with vectors that others learn from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from linker.config import build
from linker.data.types import Post
from linker.errors import ModelError
from linker.models.folder import CONFIG, load_model
from linker.models.model import Model, part_with_vectors


class Teacher:
    """Vectors of texts from a model that is only read.

    Args:
        path: a folder of sentence-transformers, or a model folder of `linker train`.

    Raises:
        ModelError: it is neither, is damaged, or gives no vectors.
    """

    def __init__(self, path: str) -> None:
        folder = Path(path)
        if (folder / "modules.json").is_file():
            model = build(Model, {"type": "sentence_transformer", "path": path})
        elif (folder / CONFIG).is_file():
            model = load_model(folder)
        else:
            raise ModelError(
                f"{path}: neither the folder of a sentence-transformers model nor a model folder; download one, "
                "and give its folder"
            )
        part = part_with_vectors(model)
        if part is None:
            raise ModelError(f"{path}: this model gives no vectors to learn from; give one that does")
        self._part = part
        self.name = str(folder.resolve())

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """float32, texts × dim."""
        vectors = self._part.post_vectors([Post(str(i), text) for i, text in enumerate(texts)])
        assert vectors is not None
        return vectors
