"""Pretrained sentence-transformers models, without further training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linker.common.errors import ModelError
from linker.data.characters import plain
from linker.data.types import Article, Post
from linker.models.files.hub import hub_errors, is_hub_name, split_hub_name
from linker.models.files.weight_files import check_weight_files
from linker.models.model import EncoderModel, Model

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

#: What is downloaded of a model: no pickles, no code, no weights for other programs.
_FILES = ["*.json", "*.txt", "*.jinja", "*.model", "*.safetensors"]


@Model.register("sentence_transformer")
class SentenceTransformerModel(EncoderModel):
    """Cosine of the embeddings of a pretrained sentence-transformers model.

    Needs the extra `transformers`. The model truncates texts at its limit (all-MiniLM-L6-v2: 256 word pieces).

    Paper: Reimers and Gurevych 2019, https://arxiv.org/abs/1908.10084

    Args:
        path: folder of a downloaded model, or its name on the Hugging Face hub (`organization/name` or
            `organization/name@revision`); with HF_HUB_OFFLINE=1 only in the local cache.
        prompt: put before every text; `query: ` for E5, which was trained with it.
    """

    keys_without_weights = frozenset({"path"})

    def __init__(self, path: str, prompt: str = "") -> None:
        self.path, self.prompt = path, prompt
        self._encoder: SentenceTransformer | None = None

    def article_vectors(self, articles: Sequence[Article]) -> np.ndarray:
        """Return embeddings of unit length: float32, articles × dim."""
        return self._encode([article.full_text for article in articles])

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray:
        """Return embeddings of unit length: float32, posts × dim."""
        return self._encode([post.text for post in posts])

    def _encode(self, texts: list[str]) -> np.ndarray:
        if self._encoder is None:
            self._encoder = _load(self.path)
        if not texts:
            return np.empty((0, self._encoder.get_sentence_embedding_dimension() or 0), dtype=np.float32)
        vectors = self._encoder.encode(
            [self.prompt + plain(text) for text in texts],
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)


def _load(path: str) -> SentenceTransformer:
    on_hub = is_hub_name(path)
    if not on_hub and not (Path(path) / "modules.json").is_file():
        raise ModelError(
            f"{path}: not the folder of a sentence-transformers model (modules.json is missing); "
            "download a model and give its folder, or give its name on the Hugging Face hub"
        )
    try:
        from huggingface_hub import snapshot_download
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar
    except ModuleNotFoundError as error:
        raise ModelError(
            "sentence-transformers is not installed, which the model sentence_transformer needs: "
            "pip install 'article-linker[transformers]'"
        ) from error
    disable_progress_bar()  # it writes to pipes too
    folder = path
    if on_hub:
        name, revision = split_hub_name(path)
        with hub_errors(path):
            folder = snapshot_download(name, revision=revision, allow_patterns=_FILES)
    check_weight_files(Path(folder))
    try:
        return SentenceTransformer(
            folder, trust_remote_code=False, local_files_only=True, model_kwargs={"use_safetensors": True}
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = str(error).strip().split("\n")[0]
        raise ModelError(f"{path}: sentence-transformers cannot load the model ({reason})") from error
