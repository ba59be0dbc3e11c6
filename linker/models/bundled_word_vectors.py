"""The word vectors that linker brings along, as a part of other models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from linker.common.errors import ModelError
from linker.common.files import atomic_write
from linker.data.types import Article, Post
from linker.models.archive import load_model
from linker.models.model import Model, embedding_submodel
from linker.models.pretrained import DISTILLED, FOLDERS


@Model.register("shipped_vectors")
class BundledWordVectorsModel(Model):
    """The cosine of mean word vectors: those of `distilled`, the model that linker brings along.

    Whole words beside the word pieces of a transformer, names above all, at the cost of a lookup (decision 135).
    Nothing of it is trained, and a model folder takes a copy, so that it does not change with linker.

    Attributes:
        vectors: what makes and compares the vectors.
    """

    def __init__(self) -> None:
        self._read(FOLDERS[DISTILLED])

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """float32, articles × posts, −1 to 1."""
        return self.vectors.score(articles, posts)

    def save_state(self, folder: Path) -> None:
        """A copy of the model folder `distilled`.

        Raises:
            ModelError: it is no longer there, linker having been installed anew, say.
        """
        files = [file for file in self._folder.rglob("*") if file.is_file()]
        if not files:
            raise ModelError(f"{self._folder}: gone since it was read; install linker again, or put it back")
        for file in files:
            with atomic_write(folder / DISTILLED / file.relative_to(self._folder), "wb") as copy:
                copy.write(file.read_bytes())

    def load_state(self, folder: Path) -> None:
        """Read what `save_state` wrote."""
        self._read(folder / DISTILLED)

    def _read(self, folder: Path) -> None:
        part = embedding_submodel(load_model(folder, for_scoring=True))
        if part is None:
            raise ModelError(f"{folder}: gives no vectors; copy the model folder anew")
        self._folder, self.vectors = folder, part
