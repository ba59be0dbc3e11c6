"""Bi-encoders over word vectors for scoring, run by ONNX Runtime; imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from typing_extensions import override

from linker.data.token_axis import token_axis
from linker.data.tokenizers.tokenizer import Tokenizer
from linker.data.vocabulary import EncodedText, Vocabulary
from linker.models.averaged_word_vectors import VOCABULARY, WEIGHTS
from linker.models.embedding_model import Similarity
from linker.models.model import Model
from linker.models.onnx.session import OnnxModel

IDS, LENGTHS, HASHES, EMBEDDINGS = "input_ids", "lengths", "ngram_hashes", "embeddings"


@Model.register("onnx_siamese")
class OnnxSiameseModel(OnnxModel):
    """A `siamese` for scoring only: its embedder and encoder in ONNX Runtime instead of torch.

    Loads the folder of a `siamese` that `linker export` wrote; the config in this folder names it.

    Args:
        tokenizer: see `siamese`.
        max_article_tokens: see `siamese`.
        max_post_tokens: see `siamese`.
        similarity: see `siamese`.
        title_weight: see `siamese`.
    """

    # The fastest of 512, 2,048 and 8,192 for gru, bigru and star_transformer.
    tokens_together = 8_192

    def __init__(
        self,
        tokenizer: Tokenizer,
        max_article_tokens: int = 1000,
        max_post_tokens: int = 200,
        similarity: Similarity = "cosine",
        title_weight: float = 0.0,
    ) -> None:
        super().__init__()
        self._set_limits(max_article_tokens, max_post_tokens, similarity, title_weight)
        self.tokenizer = tokenizer
        self.vocabulary = Vocabulary([])

    @override
    def load_state(self, folder: Path) -> None:
        """Read the graph and the vocabulary.

        Raises:
            ModelError: if a file is missing or damaged.
        """
        self.vocabulary = Vocabulary.load(folder / VOCABULARY)
        self._open(folder, (WEIGHTS,))

    @override
    def _tokens(self, text: str, limit: int) -> EncodedText:
        return self.vocabulary.encode(self.tokenizer.tokenize(text)[:limit])

    @override
    def _inputs(self, texts: Sequence[EncodedText]) -> dict[str, np.ndarray]:
        return padded_inputs(texts, len(self.vocabulary))


def padded_inputs(texts: Sequence[EncodedText], vocabulary_size: int) -> dict[str, np.ndarray]:
    """Return the inputs of a graph for a batch of texts.

    Args:
        texts: encoded by a vocabulary of `vocabulary_size` words.
        vocabulary_size: the first id of words outside it.

    Returns:
        `input_ids` (int64, texts × longest, 0 at padding), `lengths` (int64, texts) and `ngram_hashes` (int64, words
        outside × n-grams, −1 at padding).
    """
    axis = token_axis(texts, vocabulary_size)
    real = np.arange(axis.lengths.max()) < axis.lengths[:, None]  # (texts, longest)
    ids = np.zeros(real.shape, dtype=np.int64)
    ids[real] = axis.words[axis.rows]
    counts = np.diff(axis.subword_offsets, append=len(axis.subwords))
    present = np.arange(max(counts, default=0)) < counts[:, None]  # (words, n-grams)
    hashes = np.full(present.shape, -1, dtype=np.int64)
    hashes[present] = axis.subwords
    return {IDS: ids, LENGTHS: axis.lengths, HASHES: hashes}
