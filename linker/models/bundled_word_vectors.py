"""The bundled word vectors as a submodel of other models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from typing_extensions import override

from linker.common.errors import ModelError
from linker.common.files import atomic_write
from linker.data.types import Article
from linker.models.embedding_model import EmbeddingModel
from linker.models.features.feature import Feature
from linker.models.files.archive import load_model
from linker.models.model import Model, embedding_submodel
from linker.models.pretrained import DISTILLED, FOLDERS
from linker.models.score_scale import ScoreScale


@Model.register("bundled_word_vectors")
class BundledWordVectorsModel(Model):
    """Cosine of averaged word vectors, those of the bundled model `distilled`.

    Adds whole words, above all names, to the word pieces of a transformer at the cost of a table lookup (decision 132).
    It is not trained. A model folder keeps a copy of the vectors, so that it does not change with linker.

    Attributes:
        vectors: the model that embeds and compares the texts.
    """

    def __init__(self) -> None:
        self._read(FOLDERS[DISTILLED])

    @override
    def features(self) -> Sequence[Feature]:
        return self.vectors.features()

    @override
    def separable(self, articles: Sequence[Article]) -> bool:
        return True

    @override
    def score_scale(self) -> ScoreScale:
        return self.vectors.score_scale()

    def save_state(self, folder: Path) -> None:
        """Copy the model folder `distilled` into `folder`.

        Raises:
            ModelError: if the folder was removed since it was read, for example by an update of linker.
        """
        files = [file for file in self._folder.rglob("*") if file.is_file()]
        if not files:
            raise ModelError(
                f"{self._folder}: was removed since it was read; restore it or install linker again"
            )
        for file in files:
            with atomic_write(folder / DISTILLED / file.relative_to(self._folder), "wb") as copy:
                copy.write(file.read_bytes())

    @override
    def load_state(self, folder: Path) -> None:
        self._read(folder / DISTILLED)

    def _read(self, folder: Path) -> None:
        model = embedding_submodel(load_model(folder, for_scoring=True))
        if model is None:
            raise ModelError(f"{folder}: the model has no embeddings; copy the model folder again")
        if isinstance(model, EmbeddingModel):
            model.rounds_posts = True
        self._folder, self.vectors = folder, model
