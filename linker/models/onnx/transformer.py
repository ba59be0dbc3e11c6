"""Transformers in int8 for scoring, run by ONNX Runtime; imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from typing_extensions import override

from linker.data.tokenizers.normalization import Normalization, normalized
from linker.data.vocabulary import EncodedText
from linker.models.embedding_model import Similarity
from linker.models.model import Model
from linker.models.onnx.session import OnnxModel, damaged

FOLDER, TOKENIZER = "transformer", "tokenizer.json"


@Model.register("onnx_transformer")
class OnnxTransformerModel(OnnxModel):
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
        embedding_precision: see `transformer`.
    """

    tokens_together = 512
    padded = False

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
        super().__init__()
        self.rounds_posts = embedding_precision == "int8"
        self._set_limits(max_article_tokens, max_post_tokens, similarity, title_weight, article_prefixes)
        self.normalization: Normalization = normalization
        self._tokenizers: dict[int, Any] = {}

    @override
    def load_state(self, folder: Path) -> None:
        """Read the graph and the tokenizer.

        Raises:
            ModelError: if a file is missing or damaged.
        """
        import tokenizers

        folder = folder / FOLDER
        self._open(folder, (TOKENIZER,))
        try:
            for limit in {self.max_article_tokens, self.max_post_tokens, *self.article_prefixes}:
                tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
                tokenizer.no_padding()
                tokenizer.enable_truncation(limit)
                self._tokenizers[limit] = tokenizer
        except Exception as error:  # the package raises a class of its own, derived from Exception only
            raise damaged(folder, error) from error

    @override
    def _tokens(self, text: str, limit: int) -> EncodedText:
        ids = self._tokenizers[limit].encode(normalized(text, self.normalization)).ids
        return EncodedText(np.array(ids or [0], dtype=np.int32), ())

    @override
    def _inputs(self, texts: Sequence[EncodedText]) -> dict[str, np.ndarray]:
        ids = np.array([text.ids for text in texts], dtype=np.int64)  # (texts, tokens)
        # The mask and the lengths are for graphs that were exported before decision 201.
        lengths = np.full(len(ids), ids.shape[1], dtype=np.int32)
        return {"input_ids": ids, "attention_mask": np.ones(ids.shape, np.float32), "lengths": lengths}
