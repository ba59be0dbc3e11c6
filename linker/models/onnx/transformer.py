"""Transformers in int8 for scoring, run by ONNX Runtime; imports no torch."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from typing_extensions import override

from linker.common.concurrency import in_threads, threads
from linker.common.errors import ModelError
from linker.data.token_axis import length_buckets
from linker.data.tokenizers.normalization import Normalization, normalized
from linker.data.vocabulary import EncodedText
from linker.models.embedding_model import EmbeddingModel, Similarity, unit_length
from linker.models.model import Model

FOLDER, TOKENIZER, GRAPH = "transformer", "tokenizer.json", "model.onnx"
# Texts of one length that are encoded together: activations then fit the caches.
_TOKENS_TOGETHER = 512


@Model.register("onnx_transformer")
class OnnxTransformerModel(EmbeddingModel):
    """A `transformer` for scoring only: int8 matrix products in ONNX Runtime instead of torch.

    Loads the folder of a `transformer` that `linker model export` wrote. Activations are quantized with fixed ranges,
    so an embedding does not depend on the texts encoded with it. Configs never name it: commands that score use it for
    a `transformer` with `precision: 'int8'`.

    Args:
        max_article_tokens: see `transformer`.
        max_post_tokens: see `transformer`.
        normalization: see `transformer`.
        similarity: see `transformer`.
        title_weight: see `transformer`.
        article_prefixes: see `transformer`.
        embedding_precision: see `transformer`.
    """

    tokens_per_chunk = 65_536

    def __init__(
        self,
        max_article_tokens: int = 128,
        max_post_tokens: int = 128,
        normalization: Normalization = "none",
        similarity: Similarity = "cosine",
        title_weight: float = 0.0,
        article_prefixes: list[int] | None = None,
        embedding_precision: Literal["float32", "int8"] = "float32",
    ) -> None:
        self.rounds_posts = embedding_precision == "int8"
        self._set_limits(max_article_tokens, max_post_tokens, similarity, title_weight, article_prefixes)
        self.normalization: Normalization = normalization
        self._tokenizers: dict[int, Any] = {}
        self._folder = Path()
        self._session: Any = None
        self._threads = 1

    @override
    def load_state(self, folder: Path) -> None:
        """Read the graph and the tokenizer.

        Raises:
            ModelError: if a file is missing or damaged.
        """
        import tokenizers

        folder = folder / FOLDER
        for name in (GRAPH, TOKENIZER):
            if not (folder / name).is_file():
                raise ModelError(f"{folder / name}: file not found; copy the model folder again")
        self._open(folder)
        try:
            for limit in {self.max_article_tokens, self.max_post_tokens, *self.article_prefixes}:
                tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
                tokenizer.no_padding()
                tokenizer.enable_truncation(limit)
                self._tokenizers[limit] = tokenizer
        except Exception as error:  # the package raises a class of its own, derived from Exception only
            raise _damaged(folder, error) from error

    @override
    def _tokens(self, text: str, limit: int) -> EncodedText:
        ids = self._tokenizers[limit].encode(normalized(text, self.normalization)).ids
        return EncodedText(np.array(ids or [0], dtype=np.int32), ())

    def _open(self, folder: Path) -> None:
        """Open the graph of a folder."""
        import onnxruntime

        self._folder = folder
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        # Batches run side by side: their operations are too small to be divided.
        options.intra_op_num_threads = 1
        self._threads = threads()
        try:
            self._session = onnxruntime.InferenceSession(
                str(folder / GRAPH), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the package raises classes of its own, derived from Exception only
            raise _damaged(folder, error) from error

    def __getstate__(self) -> dict[str, Any]:
        """Return the model with the files of its graph in place of the session, for workers on other machines."""
        names = [GRAPH, *(path.name for path in self._folder.glob("*.safetensors"))]
        files = {name: (self._folder / name).read_bytes() for name in names} if self._session else {}
        return self.__dict__ | {"_session": None, "_files": files}

    def __setstate__(self, state: dict[str, Any]) -> None:
        files: dict[str, bytes] = state.pop("_files")
        self.__dict__.update(state)
        if files:
            with tempfile.TemporaryDirectory(prefix="linker-") as folder:
                for name, content in files.items():
                    (Path(folder) / name).write_bytes(content)
                self._open(Path(folder))
            self._folder = state["_folder"]  # the files of the temporary folder are gone

    @property
    @override
    def output_dim(self) -> int:
        return int(self._session.get_outputs()[0].shape[1])

    @override
    def _embedded(self, collated: Sequence[EncodedText]) -> np.ndarray:
        vectors = np.empty((len(collated), self.output_dim), dtype=np.float32)
        lengths = [len(text.ids) for text in collated]

        def run(bucket: Sequence[int]) -> None:
            ids = np.array([collated[i].ids for i in bucket], dtype=np.int64)  # (texts, tokens)
            vectors[bucket] = self._session.run(None, {"input_ids": ids})[0]

        buckets = list(length_buckets(lengths, _TOKENS_TOGETHER, equal=True))
        in_threads(run, buckets[::-1], self._threads)  # the longest first
        return unit_length(vectors) if self.similarity == "cosine" else vectors


def _damaged(folder: Path, error: Exception) -> ModelError:
    """Return the error for a folder that cannot be loaded, in one line."""
    reason = str(error).strip().split("\n")[0]
    return ModelError(f"{folder}: cannot be loaded ({reason}); copy the model folder again")
