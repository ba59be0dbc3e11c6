"""One encoder for articles and posts; relevance is how near their vectors lie (Danovitch 2020, section 3.6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Sized
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from linker.ahead import ahead
from linker.bounds import at_least
from linker.config import Lazy
from linker.data.batch import collate
from linker.data.idf import idf_of
from linker.data.tokenizer import Tokenizer
from linker.data.types import Article, LinkedPosts, Post
from linker.data.vectors.file import Coverage, align, coverage
from linker.data.vocabulary import EncodedText, Vocabulary
from linker.data.word_vectors import WordVectors
from linker.errors import ConfigError, ModelError
from linker.files import atomic_write
from linker.models.model import Model
from linker.modules.embedder import Embedder
from linker.modules.encoder import Encoder
from linker.progress import progress_bar

# Few enough for the caches, enough for the matrix products to be fast.
TOKENS_TOGETHER = 8_192
# Enough for most tokens to be words that were there before, whose part of the work is done once per chunk.
TOKENS_PER_CHUNK = 200_000
WEIGHTS, VOCABULARY = "model.safetensors", "vocabulary.txt"


@Model.register("siamese")
class SiameseModel(nn.Module, Model):
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
    ) -> None:
        at_least(
            1, min_count=min_count, max_article_tokens=max_article_tokens, max_post_tokens=max_post_tokens
        )
        super().__init__()
        self._lazy_encoder, self._lazy_embedder = encoder, embedder
        self.tokenizer, self.vectors, self.min_count = tokenizer, vectors, min_count
        self.max_article_tokens, self.max_post_tokens = max_article_tokens, max_post_tokens
        self.similarity = similarity
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
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def article_tokens(self, article: Article) -> EncodedText:
        """Ids of title and text, cut at `max_article_tokens`."""
        return self.vocabulary.encode(self.tokenizer.tokenize(article.full_text)[: self.max_article_tokens])

    def post_tokens(self, post: Post) -> EncodedText:
        """Ids of the post, cut at `max_post_tokens`."""
        return self.vocabulary.encode(self.tokenizer.tokenize(post.text)[: self.max_post_tokens])

    def forward(self, texts: Sequence[EncodedText]) -> Tensor:
        """Vectors, of unit length for cosines: float, texts × output_dim."""
        ordered = _Ordered(texts, len(self.vocabulary))
        return self._vectors(ordered, None if self.encoder.any_lengths() else TOKENS_TOGETHER)

    def _vectors(self, ordered: _Ordered, budget: int | None) -> Tensor:
        """Vectors in the texts' own order.

        Distinct words are embedded once; `budget` bounds the tokens that are encoded together.
        """
        batch = ordered.batch.to(self.device)
        words = self.encoder.per_word(self.embedder(batch))
        if budget is None:
            vectors = self.encoder.encode(words, batch.rows, batch.lengths)
        else:
            parts = [len(part) for part in length_buckets(ordered.batch.lengths.tolist(), budget)]
            sizes = [int(part.sum()) for part in ordered.batch.lengths.split(parts)]
            pieces = zip(batch.rows.split(sizes), batch.lengths.split(parts))
            vectors = torch.cat([self.encoder.encode(words, rows, lengths) for rows, lengths in pieces])
        if self.similarity == "cosine":
            vectors = nn.functional.normalize(vectors, dim=-1)
        return vectors[ordered.back.to(self.device)]

    @torch.no_grad()
    def encode(
        self, texts: Iterable[EncodedText], description: str = "encoding", count: int | None = None
    ) -> np.ndarray:
        """The vectors of `forward` without gradients, in bounded memory and with progress.

        Args:
            texts: a thread reads them ahead of the encoding, so that they may be tokenized on the way.
            description: what the progress display says.
            count: how many there are, for the display, where `texts` has no length.

        Returns:
            float32, texts × output_dim.
        """
        training = self.training
        self.eval()
        vectors = [np.zeros((0, self.encoder.output_dim), dtype=np.float32)]
        with progress_bar() as progress:
            bar = progress.add_task(description, total=len(texts) if isinstance(texts, Sized) else count)
            for ordered in ahead(_Ordered(chunk, len(self.vocabulary)) for chunk in _chunks(texts)):
                vectors.append(self._vectors(ordered, TOKENS_TOGETHER).float().cpu().numpy())
                progress.advance(bar, len(ordered.back))
        self.train(training)
        return np.concatenate(vectors)

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Cosines or negative distances: float32, articles × posts."""
        return self.similarities(self.article_vectors(articles), self.post_vectors(posts))

    def article_vectors(self, articles: Sequence[Article]) -> np.ndarray:
        """Of unit length for cosines: float32, articles × output_dim."""
        return self.encode(map(self.article_tokens, articles), "encoding articles", len(articles))

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray:
        """Of unit length for cosines: float32, posts × output_dim."""
        return self.encode(map(self.post_tokens, posts), "encoding posts", len(posts))

    def similarities(self, articles: np.ndarray, posts: np.ndarray) -> np.ndarray:
        """Scores from what `encode` gave: float32, articles × posts."""
        if self.similarity == "cosine":
            return articles @ posts.T
        return -torch.cdist(torch.from_numpy(articles), torch.from_numpy(posts)).numpy()

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
        try:
            state = load_file(path)
        except (OSError, SafetensorError) as error:
            raise ModelError(
                f"{path}: cannot be read as model weights ({error}); copy the model folder anew"
            ) from error
        table = state.get("embedder.words.weight")
        width = 0 if table is None else table.shape[1]
        try:
            self._build(vocabulary, torch.zeros(len(vocabulary), width) if width else None)
            self.load_state_dict(state)
        except (ConfigError, RuntimeError) as error:
            raise ModelError(f"{path}: does not fit the config beside it: {error}") from error
        self.eval()


def save_weights(module: nn.Module, path: Path) -> None:
    """Write all weights of a module as safetensors, in one piece."""
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    with atomic_write(path, "wb") as file:
        file.write(save(state))


class _Ordered:
    """Texts by length, so that those that are encoded together lie together on the token axis."""

    def __init__(self, texts: Sequence[EncodedText], vocabulary_size: int) -> None:
        order = sorted(range(len(texts)), key=lambda i: len(texts[i].ids))
        self.batch = collate([texts[i] for i in order], vocabulary_size)
        # Where each text has come to lie.
        self.back = torch.empty(len(order), dtype=torch.int64)
        self.back[torch.tensor(order)] = torch.arange(len(order))


def _chunks(texts: Iterable[EncodedText]) -> Iterator[list[EncodedText]]:
    """Texts whose words are embedded together."""
    chunk: list[EncodedText] = []
    tokens = 0
    for text in texts:
        chunk.append(text)
        tokens += len(text.ids)
        if tokens >= TOKENS_PER_CHUNK:
            yield chunk
            chunk, tokens = [], 0
    if chunk:
        yield chunk


def length_buckets(lengths: Sequence[int], budget: int = TOKENS_TOGETHER) -> Iterator[list[int]]:
    """Split texts into batches of similar length, so that a post never pays for an article.

    In a batch the longest is at most twice as long as the shortest (8 tokens more for short ones), and longest × count
    stays within `budget` tokens unless a single text exceeds it.
    """
    part: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        longest = lengths[i]
        if part and (longest * (len(part) + 1) > budget or longest > 2 * lengths[part[0]] + 8):
            yield part
            part = []
        part.append(i)
    if part:
        yield part


def _by_frequency(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]
