"""Means of word vectors with NumPy alone: what a trained `siamese` of them is when it only scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from linker.common.checks import at_least
from linker.common.console import progress_bar
from linker.common.errors import ModelError
from linker.common.files import atomic_write
from linker.data.token_axis import TokenAxis, token_axis
from linker.data.tokenizers.tokenizer import Tokenizer
from linker.data.types import Article, Post
from linker.data.vocabulary import EncodedText, Vocabulary
from linker.models.embedding_model import EmbeddingModel, unit_length
from linker.models.model import Model

WEIGHTS, VOCABULARY = "model.safetensors", "vocabulary.txt"
Weights = TypeVar("Weights")

_WORDS, _SUBWORDS, _LEARNED = "embedder.words.weight", "embedder.subwords", "embedder.unknown"
_TOKENS_TOGETHER = 50_000
"""Bounds the memory for token vectors: 20 MB at 96 dimensions."""


@Model.register("word_means")
class AveragedWordVectorsModel(EmbeddingModel):
    """A `siamese` model with the embedder `word_vectors` and the encoder `mean`, for scoring without torch.

    Nothing that configs need to name: `load_model(folder, for_scoring=True)` puts it in the place of such a
    `siamese`, whose files it reads and whose scores it gives, to within the rounding of float32.

    Args:
        tokenizer: from text to tokens.
        dim: numbers in a vector.
        unknown: what words outside the vocabulary become.
        buckets: rows of the n-gram table, for `unknown = "subwords"`.
        max_article_tokens: articles are cut here.
        max_post_tokens: posts are cut here.
        similarity: `cosine` of the vectors; or `euclidean`, the negative distance of the vectors as they are.
        title_share: of the title in an article's vector when posts are scored; the rest is the whole's.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        dim: int,
        unknown: Literal["subwords", "learned", "zero"] = "subwords",
        buckets: int = 20_000,
        max_article_tokens: int = 1000,
        max_post_tokens: int = 200,
        similarity: Literal["cosine", "euclidean"] = "cosine",
        title_share: float = 0.0,
    ) -> None:
        at_least(1, dim=dim, buckets=buckets)
        self._set_reading(max_article_tokens, max_post_tokens, similarity, title_share)
        self.tokenizer, self.output_dim = tokenizer, dim
        self.unknown: Literal["subwords", "learned", "zero"] = unknown
        self.buckets = buckets
        self.vocabulary = Vocabulary([])
        self._weights: dict[str, np.ndarray] = {}

    def article_tokens(self, article: Article) -> EncodedText:
        """Ids of title and text, cut at `max_article_tokens`."""
        return self.vocabulary.encode(self.tokenizer.tokenize(article.full_text)[: self.max_article_tokens])

    def post_tokens(self, post: Post) -> EncodedText:
        """Ids of the post, cut at `max_post_tokens`."""
        return self.vocabulary.encode(self.tokenizer.tokenize(post.text)[: self.max_post_tokens])

    def encode(
        self, texts: Iterable[EncodedText], description: str = "encoding", count: int | None = None
    ) -> np.ndarray:
        """Vectors, of unit length for cosines: float32, texts × output_dim; see `EmbeddingModel.encode`."""
        vectors = [np.zeros((0, self.output_dim), dtype=np.float32)]
        with progress_bar() as progress:
            bar = progress.add_task(description, total=len(texts) if isinstance(texts, Sized) else count)
            for together in _together(texts):
                axis = token_axis(together, len(self.vocabulary))
                means = _means(self._word_vectors(axis)[axis.rows], axis.lengths)
                vectors.append(unit_length(means) if self.similarity == "cosine" else means)
                progress.advance(bar, len(together))
        return np.concatenate(vectors)

    def token_weights(self, texts: Sequence[str], max_tokens: int) -> list[list[tuple[str, float]]]:
        """Each text's tokens and their shares of the length of its vector, 0 for those that point away."""
        weighted: list[list[tuple[str, float]]] = []
        for text in texts:
            tokens = self.tokenizer.tokenize(text)[:max_tokens]
            axis = token_axis([self.vocabulary.encode(tokens)], len(self.vocabulary))
            vectors = self._word_vectors(axis)[axis.rows]
            along = np.maximum(vectors @ unit_length(_means(vectors, axis.lengths))[0], 0)
            shares = along / max(along.sum(), 1e-12)
            weighted.append(list(zip(tokens, shares.tolist())))
        return weighted

    def _word_vectors(self, axis: TokenAxis) -> np.ndarray:
        """float32, distinct words × output_dim; of unknown words as `WordVectorsEmbedder` has them."""
        size = len(self.vocabulary)
        known = int(np.searchsorted(axis.words, size))
        vectors = np.zeros((len(axis.words), self.output_dim), dtype=np.float32)
        vectors[:known] = self._weights[_WORDS][axis.words[:known]]
        if self.unknown == "learned":
            vectors[known:] = self._weights[_LEARNED]
        elif self.unknown == "subwords" and known < len(axis.words):
            rows = self._weights[_SUBWORDS][axis.subwords % self.buckets].astype(np.float32)
            sums = np.add.reduceat(rows, axis.subword_offsets, axis=0)
            counts = np.diff(axis.subword_offsets, append=len(rows)).astype(np.float32)
            vectors[known:] = (sums / np.sqrt(counts)[:, None])[axis.words[known:] - size]
        return vectors

    def save_state(self, folder: Path) -> None:
        """Write vocabulary and weights, as the `siamese` model does."""
        self.vocabulary.save(folder / VOCABULARY)
        with atomic_write(folder / WEIGHTS, "wb") as file:
            file.write(save(self._weights))

    def load_state(self, folder: Path) -> None:
        """Read what the `siamese` model wrote.

        Raises:
            ModelError: a file is missing or damaged, or does not fit the config.
        """
        vocabulary = Vocabulary.load(folder / VOCABULARY)
        path = folder / WEIGHTS
        weights = read_weights(path, load_file)
        shapes = {_WORDS: (len(vocabulary), self.output_dim)}
        if self.unknown == "subwords":
            shapes[_SUBWORDS] = (self.buckets, self.output_dim)
        elif self.unknown == "learned":
            shapes[_LEARNED] = (1, self.output_dim)
        found = {name: array.shape for name, array in weights.items()}
        if found != shapes:
            raise ModelError(
                f"{path}: does not fit the config beside it: it holds {found}, the config asks for {shapes}"
            )
        self.vocabulary, self._weights = vocabulary, weights


def read_weights(path: Path, load: Callable[[Path], Weights]) -> Weights:
    """Read a safetensors file, as NumPy arrays or as tensors.

    Raises:
        ModelError: the file is missing or damaged.
    """
    try:
        return load(path)
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"{path}: cannot be read as model weights ({error}); copy the model folder again"
        ) from error


def _means(vectors: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The mean of each text's token vectors: float32, texts × dim."""
    starts = np.cumsum(lengths) - lengths
    means: np.ndarray = np.add.reduceat(vectors, starts, axis=0) / lengths.astype(np.float32)[:, None]
    return means


def _together(texts: Iterable[EncodedText]) -> Iterator[list[EncodedText]]:
    """Texts that are encoded together; never none."""
    together: list[EncodedText] = []
    tokens = 0
    for text in texts:
        together.append(text)
        tokens += len(text.ids)
        if tokens >= _TOKENS_TOGETHER:
            yield together
            together, tokens = [], 0
    if together:
        yield together
