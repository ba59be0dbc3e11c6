"""Transformers in int8 for scoring, run by ONNX Runtime; imports no torch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence, Sized
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from linker.common.concurrency import ahead, cores
from linker.common.console import progress_bar
from linker.common.errors import ModelError
from linker.data.token_axis import length_buckets, token_batches
from linker.data.tokenizers.normalization import Normalization, normalized
from linker.data.vocabulary import EncodedText
from linker.models.embedding_model import EmbeddingModel, Similarity, unit_length
from linker.models.model import Model

FOLDER, GRAPH, TOKENIZER = "transformer", "model.onnx", "tokenizer.json"

# Tokens between two updates of the progress bar, and tokens encoded together: activations then fit the caches.
_TOKENS_PER_CHUNK = 65_536
_TOKENS_TOGETHER = 512


@Model.register("onnx_transformer")
class OnnxTransformerModel(EmbeddingModel):
    """A `transformer` for scoring only: int8 matrix products in ONNX Runtime instead of torch.

    Loads the folder of a `transformer` that `linker export` wrote. Activations are quantized with fixed ranges, so an
    embedding does not depend on the texts that are encoded with it. Configs never name it: commands that score use it
    for a `transformer` with `precision: 'int8'`.

    Args:
        max_article_tokens: see `transformer`.
        max_post_tokens: see `transformer`.
        normalization: see `transformer`.
        similarity: see `transformer`.
        title_weight: see `transformer`.
        article_prefixes: see `transformer`.
    """

    def __init__(
        self,
        max_article_tokens: int = 128,
        max_post_tokens: int = 128,
        normalization: Normalization = "none",
        similarity: Similarity = "cosine",
        title_weight: float = 0.0,
        article_prefixes: list[int] | None = None,
    ) -> None:
        self._set_limits(max_article_tokens, max_post_tokens, similarity, title_weight, article_prefixes)
        self.normalization: Normalization = normalization
        self._session: Any = None
        self._tokenizers: dict[int, Any] = {}

    @override
    def load_state(self, folder: Path) -> None:
        """Read the graph and the tokenizer.

        Raises:
            ModelError: if a file is missing or damaged.
        """
        import onnxruntime
        import tokenizers

        folder = folder / FOLDER
        for name in (GRAPH, TOKENIZER):
            if not (folder / name).is_file():
                raise ModelError(f"{folder / name}: file not found; copy the model folder again")
        try:
            for limit in {self.max_article_tokens, self.max_post_tokens, *self.article_prefixes}:
                tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
                tokenizer.no_padding()
                tokenizer.enable_truncation(limit)
                self._tokenizers[limit] = tokenizer
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            options.intra_op_num_threads = _threads()
            self._session = onnxruntime.InferenceSession(
                str(folder / GRAPH), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # both packages raise classes of their own, derived from Exception only
            reason = str(error).strip().split("\n")[0]
            raise ModelError(f"{folder}: cannot be loaded ({reason}); copy the model folder again") from error

    @override
    def _tokens(self, text: str, limit: int) -> EncodedText:
        ids = self._tokenizers[limit].encode(normalized(text, self.normalization)).ids
        return EncodedText(np.array(ids or [0], dtype=np.int32), ())

    @override
    def encode(
        self, texts: Iterable[EncodedText], description: str = "encoding", count: int | None = None
    ) -> np.ndarray:
        width = self._session.get_outputs()[0].shape[1]
        vectors = [np.zeros((0, width), dtype=np.float32)]
        with progress_bar() as progress:
            bar = progress.add_task(description, total=len(texts) if isinstance(texts, Sized) else count)
            for batch in ahead(token_batches(texts, _TOKENS_PER_CHUNK)):
                vectors.append(self._vectors(batch))
                progress.advance(bar, len(batch))
        return np.concatenate(vectors)

    def _vectors(self, texts: Sequence[EncodedText]) -> np.ndarray:
        """float32, texts × dim; of unit length if `similarity` is `cosine`."""
        vectors = np.empty((len(texts), self._session.get_outputs()[0].shape[1]), dtype=np.float32)
        for bucket in length_buckets([len(text.ids) for text in texts], _TOKENS_TOGETHER):
            lengths = np.array([len(texts[i].ids) for i in bucket], dtype=np.int32)
            real = np.arange(lengths.max()) < lengths[:, None]  # (texts, longest)
            ids = np.zeros(real.shape, dtype=np.int64)
            ids[real] = np.concatenate([texts[i].ids for i in bucket])
            inputs = {"input_ids": ids, "attention_mask": real.astype(np.float32), "lengths": lengths}
            vectors[bucket] = self._session.run(None, inputs)[0]
        return unit_length(vectors) if self.similarity == "cosine" else vectors


def _threads() -> int:
    """Return the number of threads: the cores that this process may use, or fewer by OMP_NUM_THREADS."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores(), int(wanted)) if wanted.isdigit() and int(wanted) else cores()
