"""The bundled network for many languages as a part of other models."""

from collections.abc import Sequence
from pathlib import Path

from typing_extensions import override

from linker.common.errors import ModelError
from linker.common.files import atomic_write
from linker.data.types import Article
from linker.models.features.feature import Feature
from linker.models.files.archive import load_model
from linker.models.model import Model, embedding_submodel
from linker.models.pretrained import MULTILINGUAL
from linker.models.score_scale import ScoreScale


@Model.register("bundled_multilingual")
class BundledMultilingualModel(Model):
    """Similarity of embeddings by multilingual-e5-small, for texts in some ninety languages (decision 170).

    It is not trained. A model folder keeps a copy of it, so that it does not change with linker.

    Paper: Wang et al. 2024, https://arxiv.org/abs/2402.05672

    Attributes:
        encoder: the model that embeds and compares the texts.
    """

    def __init__(self) -> None:
        self._read(MULTILINGUAL)

    @override
    def features(self) -> Sequence[Feature]:
        return self.encoder.features()

    @override
    def separable(self, articles: Sequence[Article]) -> bool:
        return True

    @override
    def score_scale(self) -> ScoreScale:
        return self.encoder.score_scale()

    def save_state(self, folder: Path) -> None:
        """Copy the folder of the bundled model into `folder`.

        Raises:
            ModelError: if the folder was removed since it was read, for example by an update of linker.
        """
        files = [file for file in self._folder.rglob("*") if file.is_file()]
        if not files:
            raise ModelError(
                f"{self._folder}: was removed since it was read; restore it or install linker again"
            )
        for file in files:
            with atomic_write(folder / MULTILINGUAL.name / file.relative_to(self._folder), "wb") as copy:
                copy.write(file.read_bytes())

    @override
    def load_state(self, folder: Path) -> None:
        self._read(folder / MULTILINGUAL.name)

    def _read(self, folder: Path) -> None:
        model = embedding_submodel(load_model(folder, for_scoring=True))
        if model is None:
            raise ModelError(f"{folder}: the model has no embeddings; copy the model folder again")
        self._folder, self.encoder, self.languages = folder, model, model.languages
