"""Averaged word vectors without torch: inference for trained `siamese` models of that kind."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file
from typing_extensions import override

from linker.common.checks import at_least
from linker.common.errors import ModelError
from linker.data.token_axis import TokenAxis, token_axis
from linker.data.tokenizers.tokenizer import Tokenizer
from linker.data.vocabulary import EncodedText, Vocabulary
from linker.models.embedding_model import EmbeddingModel, Similarity, unit_length
from linker.models.model import Model

WEIGHTS, VOCABULARY = "model.safetensors", "vocabulary.txt"
Weights = TypeVar("Weights")

_WORDS, _SUBWORDS = "embedder.words.weight", "embedder.subwords"


@Model.register("averaged_word_vectors")
class AveragedWordVectorsModel(EmbeddingModel):
    """A `siamese` with the encoder `mean` and the embedder `word_vectors` with subwords, for scoring without torch.

    Configs do not need to name it: `load_model(folder, for_scoring=True)` uses it in place of such a `siamese`. It
    reads the same files and gives the same scores to within the rounding of float32.

    Args:
        tokenizer: splits texts into tokens.
        dim: length of the vectors.
        buckets: rows of the n-gram table, of which vectors of unknown words are made.
        max_article_tokens: articles are truncated to this many tokens.
        max_post_tokens: posts are truncated to this many tokens.
        similarity: `cosine` of the embeddings, or `euclidean`, their negative distance.
        title_weight: weight of the title in an article's embedding when posts are scored; the rest is that of the whole
            article.
    """

    #: Bounds the memory for token vectors: 20 MB at 96 dimensions.
    tokens_per_chunk = 10_000  # of rare words, each has some forty vectors to add up

    def __init__(
        self,
        tokenizer: Tokenizer,
        dim: int,
        buckets: int = 20_000,
        max_article_tokens: int = 1000,
        max_post_tokens: int = 200,
        similarity: Similarity = "cosine",
        title_weight: float = 0.0,
    ) -> None:
        at_least(1, dim=dim, buckets=buckets)
        self._set_limits(max_article_tokens, max_post_tokens, similarity, title_weight)
        self.tokenizer, self.dim, self.buckets = tokenizer, dim, buckets
        self.vocabulary = Vocabulary([])
        self._weights: dict[str, np.ndarray] = {}

    @override
    def _tokens(self, text: str, limit: int) -> EncodedText:
        return self.vocabulary.encode(self.tokenizer.tokenize(text)[:limit])

    @property
    @override
    def output_dim(self) -> int:
        return self.dim

    @override
    def _collate(self, texts: Sequence[EncodedText]) -> TokenAxis:
        return token_axis(texts, len(self.vocabulary))

    @override
    def _embedded(self, collated: TokenAxis) -> np.ndarray:
        vectors = self._word_vectors(collated)[collated.rows]  # (tokens, dim)
        starts = np.cumsum(collated.lengths) - collated.lengths
        means = np.add.reduceat(vectors, starts, axis=0) / collated.lengths.astype(np.float32)[:, None]
        return unit_length(means) if self.similarity == "cosine" else means

    def _word_vectors(self, axis: TokenAxis) -> np.ndarray:
        """float32, distinct words × output_dim; unknown words as in `WordVectorsEmbedder`."""
        size = len(self.vocabulary)
        known = int(np.searchsorted(axis.words, size))
        vectors = np.zeros((len(axis.words), self.dim), dtype=np.float32)
        vectors[:known] = self._weights[_WORDS][axis.words[:known]]
        if known < len(axis.words):
            rows = self._weights[_SUBWORDS][axis.subwords % self.buckets].astype(np.float32)
            sums = np.add.reduceat(rows, axis.subword_offsets, axis=0)
            counts = np.diff(axis.subword_offsets, append=len(rows)).astype(np.float32)
            vectors[known:] = (sums / np.sqrt(counts)[:, None])[axis.words[known:] - size]
        return vectors

    @override
    def load_state(self, folder: Path) -> None:
        # The files are those of a `siamese` model.
        vocabulary = Vocabulary.load(folder / VOCABULARY)
        path = folder / WEIGHTS
        weights = read_weights(path, load_file)
        shapes = {_WORDS: (len(vocabulary), self.dim), _SUBWORDS: (self.buckets, self.dim)}
        found = {name: array.shape for name, array in weights.items()}
        if found != shapes:
            raise ModelError(
                f"{path}: weights do not match the config: shapes {found}, expected {shapes}; "
                "copy the model folder again"
            )
        self.vocabulary, self._weights = vocabulary, weights


def read_weights(path: Path, load: Callable[[Path], dict[str, Weights]]) -> dict[str, Weights]:
    """Read a safetensors file.

    Args:
        path: the file.
        load: `load_file` of safetensors, for NumPy arrays or for tensors.

    Raises:
        ModelError: if the file is missing or damaged, or a weight is not finite.
    """
    try:
        weights = load(path)
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"{path}: model weights cannot be read ({error}); copy the model folder again"
        ) from error
    check_finite(path, weights)
    return weights


def check_finite(path: str | Path, weights: Mapping[str, Any]) -> None:
    """Check that all weights, NumPy arrays or tensors, are numbers below ∞; −∞ marks words that do not count.

    Raises:
        ModelError: if one is not; names the file and the array.
    """
    for name, array in weights.items():
        if not (array < float("inf")).all():  # nor NaN
            raise ModelError(f"{path}: {name} has values that are not finite numbers; train the model again")
