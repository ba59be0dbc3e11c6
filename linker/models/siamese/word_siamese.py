"""The model of the paper: words and their vectors, and an encoder over them (Danovitch 2020, sections 3.2 to 3.6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from linker.common.checks import at_least
from linker.common.errors import ConfigError, ModelError
from linker.config import Lazy
from linker.data.batch import collate
from linker.data.tokenizers.tokenizer import Tokenizer
from linker.data.types import Article, LinkedPosts, Post
from linker.data.vocabulary import EncodedText, Vocabulary, idf_of
from linker.data.word_vectors.file import Coverage, align, coverage
from linker.data.word_vectors.word_vectors import WordVectors
from linker.models.averaged_word_vectors import VOCABULARY, WEIGHTS, read_weights
from linker.models.model import Model
from linker.models.siamese.siamese import TOKENS_TOGETHER, SiameseModel, length_buckets, save_weights
from linker.modules.embedders.embedder import Embedder
from linker.modules.encoders.encoder import Encoder
from linker.modules.kernels.dropout import drawing, masks_in_force

# The parts of the model that draw what they drop out, each by itself.
EMBEDDING, ENCODING = 1, 2


@Model.register("siamese")
class WordSiamese(SiameseModel):
    """Tokenizer, embedder and encoder, the same for articles and posts.

    Args:
        encoder: from token vectors to a text vector.
        embedder: from tokens to token vectors.
        tokenizer: from text to tokens.
        vectors: pretrained word vectors; without them the embedder's table is learned from the training texts.
        min_count: without `vectors`, a training word has a row of its own from this many occurrences on.
        max_article_tokens: articles are cut here; the paper cuts at 1,000.
        max_post_tokens: posts are cut here.
        similarity: `cosine` of the vectors, which the loss sees with unit length; or `euclidean`, the negative distance
            of the vectors as they are.
        title_share: of the title in an article's vector when posts are scored; the rest is the whole's.
    """

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
        similarity: Literal["cosine", "euclidean"] = "cosine",
        title_share: float = 0.0,
    ) -> None:
        at_least(1, min_count=min_count)
        super().__init__(max_article_tokens, max_post_tokens, similarity, title_share)
        self._lazy_encoder, self._lazy_embedder = encoder, embedder
        self.tokenizer, self.vectors, self.min_count = tokenizer, vectors, min_count
        self.coverage: Coverage | None = None

    def prepare(self, data: LinkedPosts) -> None:
        """Choose the vocabulary and build the modules, with pretrained vectors where the config names some."""
        texts = [self.tokenizer.tokenize(article.full_text) for article in data.articles]
        texts += [self.tokenizer.tokenize(post.text) for post in data.posts]
        counts = Counter(token for text in texts for token in text)
        if self.vectors is None:
            words = [
                word for word, count in sorted(counts.items(), key=_by_frequency) if count >= self.min_count
            ]
            vocabulary, pretrained, known = Vocabulary(words), None, None
        else:
            words, matrix = self.vectors.read(set(counts))
            vocabulary = Vocabulary(words)
            pretrained = torch.from_numpy(align(vocabulary, words, matrix))
            known = vocabulary.words
        self._build(vocabulary, pretrained, known, idf_of(vocabulary.words, texts))
        self.coverage = coverage(self.vocabulary, texts)

    def _build(
        self,
        vocabulary: Vocabulary,
        pretrained: Tensor | None,
        words: list[str] | None = None,
        idf: np.ndarray | None = None,
    ) -> None:
        """Make embedder and encoder; `words` fits the table of unknown words, which a saved model needs not.

        Nor does it need `idf`, which is among the weights of an embedder that uses it.
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
    def output_dim(self) -> int:
        """Numbers in a vector."""
        return self.encoder.output_dim

    @property
    def words(self) -> Sequence[str]:
        """The vocabulary, by id."""
        return self.vocabulary.words

    @property
    def description(self) -> str:
        """The size of the vocabulary, and how much of the texts it was made from has a vector, if that is known."""
        known = f"{len(self.vocabulary):,} words"
        return f"{known}; {self.coverage}" if self.coverage else known

    def article_tokens(self, article: Article) -> EncodedText:
        """Ids of title and text, cut at `max_article_tokens`."""
        return self.vocabulary.encode(self.tokenizer.tokenize(article.full_text)[: self.max_article_tokens])

    def post_tokens(self, post: Post) -> EncodedText:
        """Ids of the post, cut at `max_post_tokens`."""
        return self.vocabulary.encode(self.tokenizer.tokenize(post.text)[: self.max_post_tokens])

    def forward(self, texts: Sequence[EncodedText]) -> Tensor:
        """Vectors, of unit length for cosines: float, texts × output_dim."""
        return self._vectors(self._collate(texts), None if self.encoder.any_lengths() else TOKENS_TOGETHER)

    def _collate(self, texts: Sequence[EncodedText]) -> _Ordered:
        return _Ordered(texts, len(self.vocabulary))

    def _vectors(self, laid_out: _Ordered, budget: int | None) -> Tensor:
        """Distinct words are embedded once; `budget` bounds the tokens that are encoded together."""
        batch = laid_out.batch.to(self.device)
        masks = masks_in_force()
        with drawing(masks, EMBEDDING):
            words = self.encoder.per_word(self.embedder(batch))
        parts = [len(laid_out.order)]
        if budget is not None:
            parts = [len(part) for part in length_buckets(laid_out.batch.lengths.tolist(), budget)]
        sizes = [int(part.sum()) for part in laid_out.batch.lengths.split(parts)]
        per_part = [None] * len(parts) if masks is None else masks.of(laid_out.order).split(parts)
        pieces = []
        for rows, lengths, own in zip(batch.rows.split(sizes), batch.lengths.split(parts), per_part):
            with drawing(own, ENCODING):
                pieces.append(self.encoder.encode(words, rows, lengths))
        vectors = torch.cat(pieces)
        return self._normalize(vectors)[laid_out.back.to(self.device)]

    @torch.no_grad()
    def token_weights(self, texts: Sequence[str], max_tokens: int) -> list[list[tuple[str, float]]] | None:
        """Each text's tokens and how much each counts in its vector; None where the encoder cannot tell."""
        self.eval()
        tokens = [self.tokenizer.tokenize(text)[:max_tokens] for text in texts]
        encoded = [self.vocabulary.encode(text) for text in tokens]
        weighted: list[list[tuple[str, float]]] = [[] for _ in texts]
        for part in length_buckets([len(text.ids) for text in encoded]):
            batch = collate([encoded[i] for i in part], len(self.vocabulary)).to(self.device)
            vectors = self.embedder(batch)[batch.rows]
            weights = self.encoder.token_weights(vectors, batch.lengths)
            if weights is None:
                return None
            for i, own in zip(part, weights.float().cpu().split(batch.lengths.tolist())):
                weighted[i] = list(zip(tokens[i], own.tolist()))
        return weighted

    def save_state(self, folder: Path) -> None:
        """Write vocabulary and weights."""
        self.vocabulary.save(folder / VOCABULARY)
        save_weights(self, folder / WEIGHTS)

    def load_state(self, folder: Path) -> None:
        """Read vocabulary and weights; needs neither vector files nor training data.

        Raises:
            ModelError: a file is missing or damaged, or does not fit the config.
        """
        vocabulary = Vocabulary.load(folder / VOCABULARY)
        path = folder / WEIGHTS
        state = read_weights(path, load_file)
        table = state.get("embedder.words.weight")
        width = 0 if table is None else table.shape[1]
        try:
            self._build(vocabulary, torch.zeros(len(vocabulary), width) if width else None)
            self.load_state_dict(state)
        except (ConfigError, RuntimeError) as error:
            raise ModelError(f"{path}: does not fit the config beside it: {error}") from error
        self.eval()


class _Ordered:
    """Texts by length, so that those that are encoded together lie together on the token axis."""

    def __init__(self, texts: Sequence[EncodedText], vocabulary_size: int) -> None:
        self.order = sorted(range(len(texts)), key=lambda i: len(texts[i].ids))
        self.batch = collate([texts[i] for i in self.order], vocabulary_size)
        # Where each text has come to lie.
        self.back = torch.empty(len(texts), dtype=torch.int64)
        self.back[torch.tensor(self.order)] = torch.arange(len(texts))


def _by_frequency(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]
