"""Bi-encoder over word vectors, the model of Danovitch 2020, sections 3.2 to 3.6."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor
from typing_extensions import override

from linker.common.checks import at_least
from linker.common.errors import ConfigError, ModelError
from linker.config import Lazy
from linker.data.batch import collate
from linker.data.characters import plain
from linker.data.token_axis import length_buckets
from linker.data.tokenizers.tokenizer import Tokenizer
from linker.data.types import LinkedPosts
from linker.data.vocabulary import EncodedText, Vocabulary, idf_of
from linker.data.word_vectors.file import align, coverage
from linker.data.word_vectors.word_vectors import WordVectors
from linker.models.averaged_word_vectors import VOCABULARY, WEIGHTS, read_weights
from linker.models.embedding_model import Similarity
from linker.models.model import Model
from linker.models.siamese.siamese import TOKENS_TOGETHER, SiameseModel, save_weights
from linker.modules.dropout import drawing, masks_in_force
from linker.modules.embedders.embedder import Embedder
from linker.modules.encoders.encoder import Encoder

# Stages with dropout; each samples its masks independently of the other.
EMBEDDING, ENCODING = 1, 2


@Model.register("siamese")
class WordSiamese(SiameseModel):
    """Tokenizer, embedder and encoder, the same for articles and posts.

    Paper: Danovitch 2020, https://arxiv.org/abs/2001.03303

    Args:
        encoder: turns token vectors into a text embedding.
        embedder: turns tokens into token vectors.
        tokenizer: splits texts into tokens.
        vectors: pretrained word vectors; null: the embedder's table is learned from the training texts.
        min_count: minimum number of occurrences for a training word to enter the vocabulary, without `vectors`.
        max_article_tokens: articles are truncated to this many tokens; 1,000 in the paper.
        max_post_tokens: posts are truncated to this many tokens.
        similarity: `cosine` of the embeddings (the loss sees unit length), or `euclidean`, their negative distance.
        title_weight: weight of the title in an article's embedding when posts are scored; the rest is that of the whole
            article.
    """

    keys_without_weights = frozenset({"vectors", "title_weight"})

    vocabulary: Vocabulary
    embedder: Embedder
    encoder: Encoder

    def __init__(
        self,
        encoder: Lazy[Encoder],
        embedder: Lazy[Embedder],
        tokenizer: Tokenizer,
        vectors: WordVectors | None = None,
        min_count: int = 2,
        max_article_tokens: int = 1000,
        max_post_tokens: int = 200,
        similarity: Similarity = "cosine",
        title_weight: float = 0.0,
    ) -> None:
        at_least(1, min_count=min_count)
        super().__init__(max_article_tokens, max_post_tokens, similarity, title_weight)
        self._lazy_encoder, self._lazy_embedder = encoder, embedder
        self.tokenizer, self.vectors, self.min_count = tokenizer, vectors, min_count
        self.coverage = ""

    def prepare(self, data: LinkedPosts) -> None:
        """Choose the vocabulary and build the modules, with pretrained vectors if the config names some."""
        texts = [self.tokenizer.tokenize(plain(article.full_text)) for article in data.articles]
        texts += [self.tokenizer.tokenize(plain(post.text)) for post in data.posts]
        counts = Counter(token for text in texts for token in text)
        if self.vectors is None:
            by_frequency = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            words = [word for word, count in by_frequency if count >= self.min_count]
            vocabulary, pretrained, trained_words = Vocabulary(words), None, None
        else:
            words, matrix = self.vectors.read(set(counts))
            vocabulary = Vocabulary(words)
            pretrained = torch.from_numpy(align(vocabulary, words, matrix))
            trained_words = vocabulary.words
        self._build(vocabulary, pretrained, trained_words, idf_of(vocabulary.words, texts))
        self.coverage = coverage(self.vocabulary, texts)

    def _build(
        self,
        vocabulary: Vocabulary,
        pretrained: Tensor | None,
        words: list[str] | None = None,
        idf: np.ndarray | None = None,
    ) -> None:
        """Build embedder and encoder.

        Args:
            vocabulary: the words by id.
            pretrained: their vectors, float32, words × dim.
            words: the words, to fit the table of unknown words; not needed for a saved model.
            idf: float32, one per word; a saved model has it among its weights.
        """
        self.vocabulary = vocabulary
        self.embedder = self._lazy_embedder.construct(
            vocabulary_size=len(vocabulary),
            pretrained=pretrained,
            words=words,
            idf=None if idf is None else torch.from_numpy(idf),
        )
        self.encoder = self._lazy_encoder.construct(input_dim=self.embedder.output_dim)

    @property
    @override
    def output_dim(self) -> int:
        return self.encoder.output_dim

    @property
    @override
    def words(self) -> Sequence[str]:
        return self.vocabulary.words

    @property
    @override
    def description(self) -> str:
        size = f"{len(self.vocabulary):,} words"
        return f"{size}; {self.coverage}" if self.coverage else size

    @override
    def _tokens(self, text: str, limit: int) -> EncodedText:
        return self.vocabulary.encode(self.tokenizer.tokenize(text)[:limit])

    @override
    def forward(self, texts: Sequence[EncodedText]) -> Tensor:
        return self._vectors(self._collate(texts), None if self.encoder.any_lengths() else TOKENS_TOGETHER)

    def _collate(self, texts: Sequence[EncodedText]) -> _Ordered:
        return _Ordered(texts, len(self.vocabulary))

    def _vectors(self, collated: _Ordered, budget: int | None) -> Tensor:
        """Embed a batch; each distinct word is embedded once."""
        batch = collated.batch.to(self.device)
        masks = masks_in_force()
        with drawing(masks, EMBEDDING):
            words = self.encoder.per_word(self.embedder(batch))  # (distinct words, dim)
        counts = [len(collated.order)]  # texts per bucket
        if budget is not None:
            counts = [len(bucket) for bucket in length_buckets(collated.batch.lengths.tolist(), budget)]
        sizes = [int(lengths.sum()) for lengths in collated.batch.lengths.split(counts)]  # tokens per bucket
        bucket_masks = [None] * len(counts) if masks is None else masks.of(collated.order).split(counts)
        buckets = []
        for rows, lengths, mask in zip(batch.rows.split(sizes), batch.lengths.split(counts), bucket_masks):
            with drawing(mask, ENCODING):
                buckets.append(self.encoder.encode(words, rows, lengths))
        vectors = torch.cat(buckets)  # (texts, output_dim), shortest text first
        return self._normalize(vectors)[collated.back.to(self.device)]

    @override
    def save_state(self, folder: Path) -> None:
        self.vocabulary.save(folder / VOCABULARY)
        save_weights(self, folder / WEIGHTS)

    @override
    def load_state(self, folder: Path) -> None:
        # Vector files and training data are not needed.
        vocabulary = Vocabulary.load(folder / VOCABULARY)
        path = folder / WEIGHTS
        state = read_weights(path, load_file)
        table = state.get("embedder.words.weight")
        width = 0 if table is None else table.shape[1]
        try:
            self._build(vocabulary, torch.zeros(len(vocabulary), width) if width else None)
            self.load_state_dict(state)
        except (ConfigError, RuntimeError) as error:
            raise ModelError(f"{path}: weights do not match the config: {error}") from error
        self.eval()


class _Ordered:
    """A batch with its texts sorted by length, so that each length bucket is one slice of the token axis."""

    def __init__(self, texts: Sequence[EncodedText], vocabulary_size: int) -> None:
        self.order = sorted(range(len(texts)), key=lambda i: len(texts[i].ids))
        self.batch = collate([texts[i] for i in self.order], vocabulary_size)
        # Each text's index after sorting.
        self.back = torch.empty(len(texts), dtype=torch.int64)
        self.back[torch.tensor(self.order)] = torch.arange(len(texts))
