"""One encoder for articles and posts; relevance is the cosine of their vectors (Danovitch 2020, section 3.6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from linker.bounds import at_least
from linker.config import Lazy
from linker.data.batch import collate
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
from linker.progress import track

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
    ) -> None:
        at_least(
            1, min_count=min_count, max_article_tokens=max_article_tokens, max_post_tokens=max_post_tokens
        )
        super().__init__()
        self._lazy_encoder, self._lazy_embedder = encoder, embedder
        self.tokenizer, self.vectors, self.min_count = tokenizer, vectors, min_count
        self.max_article_tokens, self.max_post_tokens = max_article_tokens, max_post_tokens
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
            self._build(Vocabulary(words), None)
        else:
            words, matrix = self.vectors.read(set(counts))
            vocabulary = Vocabulary(words)
            pretrained = torch.from_numpy(align(vocabulary, words, matrix))
            self._build(vocabulary, pretrained, vocabulary.words)
        self.coverage = coverage(self.vocabulary, texts)

    def _build(
        self, vocabulary: Vocabulary, pretrained: Tensor | None, words: list[str] | None = None
    ) -> None:
        """Make embedder and encoder; `words` fits the table of unknown words, which a saved model needs not."""
        self.vocabulary = vocabulary
        self.embedder = self._lazy_embedder.construct(
            vocabulary_size=len(vocabulary), pretrained=pretrained, words=words
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
        """Unit vectors: float, texts × output_dim."""
        # By length, so that texts that are encoded together lie together on the token axis.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i].ids))
        batch = collate([texts[i] for i in order], len(self.vocabulary)).to(self.device)
        words = self.encoder.per_word(self.embedder(batch))
        if self.encoder.any_lengths(words[0]):
            vectors = self.encoder.encode(words, batch.rows, batch.lengths)
        else:
            parts = list(length_buckets(batch.lengths.tolist()))
            lengths = batch.lengths.split([len(part) for part in parts])
            rows = batch.rows.split([int(part.sum()) for part in lengths])
            vectors = torch.cat([self.encoder.encode(words, r, n) for r, n in zip(rows, lengths)])
        back = torch.empty(len(order), dtype=torch.int64)
        back[torch.tensor(order)] = torch.arange(len(order))
        return nn.functional.normalize(vectors, dim=-1)[back.to(self.device)]

    @torch.no_grad()
    def encode(self, texts: Sequence[EncodedText], description: str = "encoding") -> np.ndarray:
        """Unit vectors without gradients, in bounded memory and with progress: float32, texts × output_dim."""
        training = self.training
        self.eval()
        vectors = np.zeros((len(texts), self.encoder.output_dim), dtype=np.float32)
        parts = list(length_buckets([len(text.ids) for text in texts]))
        for part in track(parts, description):
            vectors[part] = self([texts[i] for i in part]).float().cpu().numpy()
        self.train(training)
        return vectors

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Cosines: float32, articles × posts."""
        article_vectors = self.encode([self.article_tokens(a) for a in articles], "encoding articles")
        post_vectors = self.encode([self.post_tokens(p) for p in posts], "encoding posts")
        return article_vectors @ post_vectors.T

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


def length_buckets(lengths: Sequence[int], budget: int = 16_384) -> Iterator[list[int]]:
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
