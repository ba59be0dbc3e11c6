"""Bundled models as parts of others: their word vectors, and their network for many languages."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from linker.common.errors import ModelError
from linker.common.files import atomic_write
from linker.data.types import Article
from linker.models.embedding_model import EmbeddingModel
from linker.models.features.feature import Feature
from linker.models.files.archive import load_model
from linker.models.model import Model, embedding_submodel
from linker.models.pretrained import DISTILLED, FOLDERS, MULTILINGUAL
from linker.models.score_scale import ScoreScale


class BundledPart(Model):
    """Cosine of embeddings by a model that comes with linker.

    It is not trained. A model folder keeps a copy of it, so that it does not change with linker.

    Attributes:
        origin: the folder in this version of linker; a copy has its name.
        vectors: the model that embeds and compares the texts.
    """

    origin: ClassVar[Path]

    def __init__(self) -> None:
        self._read(self.origin)

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
            with atomic_write(folder / self.origin.name / file.relative_to(self._folder), "wb") as copy:
                copy.write(file.read_bytes())

    @override
    def load_state(self, folder: Path) -> None:
        self._read(folder / self.origin.name)

    def _read(self, folder: Path) -> None:
        model = embedding_submodel(load_model(folder, for_scoring=True))
        if model is None:
            raise ModelError(f"{folder}: the model has no embeddings; copy the model folder again")
        if isinstance(model, EmbeddingModel):
            model.rounds_posts = True
        self._folder, self.vectors, self.languages = folder, model, model.languages


@Model.register("bundled_word_vectors")
class BundledWordVectorsModel(BundledPart):
    """Cosine of averaged word vectors, those of the bundled model `distilled`.

    Adds whole words, above all names, to the word pieces of a transformer at the cost of a table lookup (decision 132).
    """

    origin = FOLDERS[DISTILLED]


@Model.register("bundled_multilingual")
class BundledMultilingualModel(BundledPart):
    """Cosine of embeddings by multilingual-e5-small, for texts in some ninety languages (decision 170).

    Paper: Wang et al. 2024, https://arxiv.org/abs/2402.05672
    """

    origin = MULTILINGUAL
