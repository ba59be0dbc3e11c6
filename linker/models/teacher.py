"""A model with vectors that others learn from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from linker.config import build
from linker.data.types import Post
from linker.errors import ModelError
from linker.models.folder import CONFIG, load_model
from linker.models.model import Model


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
            self._model = build(Model, {"type": "sentence_transformer", "path": path})
        elif (folder / CONFIG).is_file():
            self._model = load_model(folder)
        else:
            raise ModelError(
                f"{path}: neither the folder of a sentence-transformers model nor a model folder; download one, "
                "and give its folder"
            )
        if self._model.post_vectors([Post("probe", "a post")]) is None:
            raise ModelError(f"{path}: this model gives no vectors to learn from; give one that does")
        self.name = str(folder.resolve())

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """float32, texts × dim."""
        vectors = self._model.post_vectors([Post(str(i), text) for i, text in enumerate(texts)])
        assert vectors is not None
        return vectors
