"""Bi-encoder models: one embedding per text, compared by cosine or distance; NumPy only."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from typing_extensions import override

from linker.common.checks import at_least, between
from linker.common.concurrency import ahead
from linker.common.console import progress_bar
from linker.data.characters import plain
from linker.data.token_axis import token_batches
from linker.data.types import Article, Post
from linker.data.vocabulary import EncodedText
from linker.models.features.text_encoder import dot_products
from linker.models.model import EncoderModel

Similarity = Literal["cosine", "euclidean"]
Side = Literal["articles", "posts"]

# More than a token has in any text that people write. What follows is not tokenized: a post may have megabytes.
_CHARACTERS_PER_TOKEN = 256
# Embeddings that are handled at a time, since a copy of all would double the memory.
_AT_ONCE = 4_096


class EmbeddingModel(EncoderModel):
    """Scores from embeddings of tokenized texts, made in the same way for articles and posts.

    Attributes:
        max_article_tokens: articles are truncated to this many tokens.
        max_post_tokens: posts are truncated to this many tokens.
        similarity: `cosine` of the embeddings, or `euclidean`, their negative distance.
        title_weight: weight of the title in an article's embedding when posts are scored, 0 to 1; the rest is that of
            the whole article.
        article_prefixes: numbers of tokens, ascending: when posts are scored, the embedding of an article is the mean
            of those of its beginnings of these lengths; empty: that of its first `max_article_tokens`.
        rounds_posts: whether embeddings of posts are rounded to 8 bits, so that a corpus can store them in 8 bits and
            gives the same scores.
        tokens_per_chunk: number of tokens encoded between two updates of the progress bar.
    """

    max_article_tokens: int
    max_post_tokens: int
    similarity: Similarity
    title_weight: float
    article_prefixes: Sequence[int] = ()
    rounds_posts: bool = False
    tokens_per_chunk: ClassVar[int]

    def _set_limits(
        self,
        max_article_tokens: int,
        max_post_tokens: int,
        similarity: Similarity,
        title_weight: float,
        article_prefixes: Sequence[int] | None = None,
    ) -> None:
        """Check and set the attributes.

        Raises:
            ValueError: if a number is out of range, or prefixes are not ascending.
        """
        at_least(1, max_article_tokens=max_article_tokens, max_post_tokens=max_post_tokens)
        between(0, 1, title_weight=title_weight)
        self.article_prefixes = tuple(article_prefixes or ())
        if any(least <= before for before, least in zip((0, *self.article_prefixes), self.article_prefixes)):
            raise ValueError(
                f"article_prefixes is {list(self.article_prefixes)}, but must be positive and ascending"
            )
        self.max_article_tokens, self.max_post_tokens = max_article_tokens, max_post_tokens
        self.similarity, self.title_weight = similarity, title_weight

    def article_tokens(self, article: Article) -> EncodedText:
        """Return the token ids of the article's title and text, truncated to `max_article_tokens`."""
        return self._beginning(article.full_text, self.max_article_tokens)

    def post_tokens(self, post: Post) -> EncodedText:
        """Return the token ids of the post, truncated to `max_post_tokens`."""
        return self._beginning(post.text, self.max_post_tokens)

    def _beginning(self, text: str, limit: int) -> EncodedText:
        return self._tokens(plain(text[: limit * _CHARACTERS_PER_TOKEN]), limit)

    def _tokens(self, text: str, limit: int) -> EncodedText:
        """Return the token ids of a plain text, truncated to `limit`."""
        raise NotImplementedError

    @property
    def output_dim(self) -> int:
        """Length of an embedding."""
        raise NotImplementedError

    def _collate(self, texts: Sequence[EncodedText]) -> Any:
        """Prepare a batch for `_embedded`; a thread does it ahead of the encoding. By default nothing."""
        return texts

    def _embedded(self, collated: Any) -> np.ndarray:
        """Return embeddings of a batch: float32, texts × dim; of unit length if `similarity` is `cosine`."""
        raise NotImplementedError

    def encode(
        self, texts: Iterable[EncodedText], description: str = "encoding", count: int | None = None
    ) -> np.ndarray:
        """Embed texts in bounded memory, with a progress bar.

        Args:
            texts: token ids; may be a generator.
            description: label of the progress bar.
            count: number of texts; None: they are counted first, for which a generator is read whole.

        Returns:
            float32, texts × dim; of unit length if `similarity` is `cosine`.
        """
        if count is None:
            texts = texts if isinstance(texts, Sequence) else list(texts)
            count = len(texts)
        vectors, done = np.empty((count, self.output_dim), dtype=np.float32), 0
        with progress_bar() as progress:
            bar = progress.add_task(description, total=count)
            for collated in ahead(map(self._collate, token_batches(texts, self.tokens_per_chunk))):
                some = self._embedded(collated)
                vectors[done : done + len(some)] = some
                done += len(some)
                progress.advance(bar, len(some))
        return vectors

    def article_vectors(self, articles: Sequence[Article]) -> np.ndarray:
        """Embed articles: float32, articles × dim; of unit length if `similarity` is `cosine`, before `_mapped`."""
        wholes = self._untitled_vectors(articles)
        titled = [i for i, one in enumerate(articles) if self.title_weight and one.title and one.text]
        if titled:
            texts = [self.article_tokens(replace(articles[i], text="")) for i in titled]
            titles = self.encode(texts, "titles")
            mixed = (1 - self.title_weight) * wholes[titled] + self.title_weight * titles
            wholes[titled] = unit_length(mixed) if self.similarity == "cosine" else mixed
        return self._mapped(wholes, "articles")

    def _mapped(self, vectors: np.ndarray, side: Side) -> np.ndarray:
        """Return the embeddings of articles or posts from those of their texts, by default the same; dim may grow."""
        return vectors

    def _untitled_vectors(self, articles: Sequence[Article]) -> np.ndarray:
        """Embed articles without extra weight for titles: the mean over `article_prefixes`, if there are any."""
        if not self.article_prefixes:
            return self.encode(map(self.article_tokens, articles), "encoding articles", len(articles))
        longer = list(range(len(articles)))  # rows of articles that continue after the last prefix
        vectors = total = np.zeros(0, dtype=np.float32)
        for limit in self.article_prefixes:
            texts = [self._beginning(articles[row].full_text, limit) for row in longer]
            if len(longer) == len(articles):
                vectors = self.encode(texts, "encoding articles")
            elif longer:
                vectors[longer] = self.encode(texts, "encoding articles")
            total = total + vectors if len(total) else vectors.copy()
            longer = [row for row, text in zip(longer, texts) if len(text.ids) >= limit]
        mean = total / np.float32(len(self.article_prefixes))
        return unit_length(mean) if self.similarity == "cosine" else mean

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray:
        """Embed posts: float32, posts × dim; of unit length if `similarity` is `cosine`, before `_mapped` and rounding.

        Equal texts have bitwise equal embeddings.
        """
        row: dict[str, int] = {}
        rows = [row.setdefault(post.text, len(row)) for post in posts]
        distinct = posts if len(row) == len(posts) else [Post("", text) for text in row]
        del row
        vectors = self.encode(map(self.post_tokens, distinct), "encoding posts", len(distinct))
        vectors = self._mapped(vectors, "posts")
        if self.rounds_posts:
            for some in blocks(vectors):
                values, scales = eight_bits(some)
                np.multiply(values, scales[:, None], out=some)
        # The last bits of an embedding depend on the batch, so equal texts are encoded once.
        return vectors if len(distinct) == len(posts) else vectors[rows]

    @override
    def similarities(self, articles: np.ndarray, posts: np.ndarray) -> np.ndarray:
        if self.similarity == "cosine":
            return dot_products(articles, posts)
        # |a - p|² = |a|² - 2 a·p + |p|², articles × posts, in float64 because near vectors cancel.
        left, right = articles.astype(np.float64), posts.astype(np.float64)
        squares = (left**2).sum(axis=1)[:, None] - 2 * left @ right.T + (right**2).sum(axis=1)
        return -np.sqrt(np.maximum(squares, 0)).astype(np.float32)


def unit_length(vectors: np.ndarray) -> np.ndarray:
    """Divide vectors (last axis) by their Euclidean length; zeros stay zeros. Shape and type stay the same."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)


def blocks(vectors: np.ndarray) -> list[np.ndarray]:
    """Return views of the rows of a matrix, up to 4,096 in each, at least one view: small enough to copy."""
    return np.array_split(vectors, 1 + len(vectors) // _AT_ONCE)


def eight_bits(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Round vectors to 8 bits: each is divided by a 127th of its largest number, which is rounded up to 11 bits.

    Vectors that were rounded already stay the same in every bit.

    Args:
        vectors: float32, n × dim, finite.

    Returns:
        The whole numbers, int8, n × dim; and what they are multiplied with, float32, n.
    """
    largest = np.abs(vectors).max(axis=1, initial=0)
    fraction, exponent = np.frexp(
        np.where(largest < np.finfo(np.float32).tiny, 127, largest) / np.float32(127)
    )
    scales = np.ldexp(np.ceil(fraction * 2048) / 2048, exponent).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales
