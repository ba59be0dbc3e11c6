"""One encoder for articles and posts; relevance is how near their vectors lie (Danovitch 2020, section 3.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor, nn

from linker.common.concurrency import ahead
from linker.common.console import progress_bar
from linker.common.files import atomic_write
from linker.data.vocabulary import EncodedText
from linker.models.embedding_model import EmbeddingModel

# Few enough for the caches, enough for the matrix products to be fast.
TOKENS_TOGETHER = 8_192
# Enough for most tokens to be words that were there before, whose part of the work is done once per chunk.
TOKENS_PER_CHUNK = 200_000


class SiameseModel(nn.Module, EmbeddingModel):
    """What `linker train` trains: texts become token ids, token ids vectors, the same way for articles and posts.

    Attributes:
        max_article_tokens: articles are cut here.
        max_post_tokens: posts are cut here.
        similarity: `cosine` of the vectors, which the loss sees with unit length; or `euclidean`, the negative
            distance of the vectors as they are.
        title_share: of the title in an article's vector when posts are scored; the rest is the whole's.
        tokens_per_chunk: how many tokens are encoded between two steps of the progress display.
    """

    tokens_per_chunk: ClassVar[int] = TOKENS_PER_CHUNK

    def __init__(
        self,
        max_article_tokens: int,
        max_post_tokens: int,
        similarity: Literal["cosine", "euclidean"],
        title_share: float = 0.0,
    ) -> None:
        super().__init__()
        self._set_reading(max_article_tokens, max_post_tokens, similarity, title_share)

    @property
    def output_dim(self) -> int:
        """Numbers in a vector."""
        raise NotImplementedError

    @property
    def words(self) -> Sequence[str]:
        """What the token ids stand for; a run goes on only over the same."""
        raise NotImplementedError

    @property
    def description(self) -> str:
        """How it reads texts, in some words for people: how many words it knows, say."""
        raise NotImplementedError

    def forward(self, texts: Sequence[EncodedText]) -> Tensor:
        """Vectors, of unit length for cosines: float, texts × output_dim."""
        raise NotImplementedError

    def _collate(self, texts: Sequence[EncodedText]) -> Any:
        """The part of the encoding that needs no weights; a thread does it ahead."""
        raise NotImplementedError

    def _vectors(self, laid_out: Any, budget: int | None) -> Tensor:
        """Vectors as of `forward`, in the texts' own order.

        Args:
            laid_out: what `_collate` gave.
            budget: bounds the tokens that are encoded together; None: all of them at once, where that is possible.
        """
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

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
        vectors = [np.zeros((0, self.output_dim), dtype=np.float32)]
        with progress_bar() as progress:
            bar = progress.add_task(description, total=len(texts) if isinstance(texts, Sized) else count)
            for laid_out in ahead(map(self._collate, _chunks(texts, self.tokens_per_chunk))):
                vectors.append(self._vectors(laid_out, TOKENS_TOGETHER).float().cpu().numpy())
                progress.advance(bar, len(vectors[-1]))
        self.train(training)
        return np.concatenate(vectors)

    def similarities(self, articles: np.ndarray, posts: np.ndarray) -> np.ndarray:
        """Scores from what `encode` gave: float32, articles × posts."""
        if self.similarity == "cosine":
            return super().similarities(articles, posts)
        return -torch.cdist(torch.from_numpy(articles), torch.from_numpy(posts)).numpy()

    def _normalize(self, vectors: Tensor) -> Tensor:
        """Of unit length for cosines."""
        return nn.functional.normalize(vectors, dim=-1) if self.similarity == "cosine" else vectors


def save_weights(module: nn.Module, path: Path) -> None:
    """Write all weights of a module as safetensors, in one piece."""
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    with atomic_write(path, "wb") as file:
        file.write(save(state))


def _chunks(texts: Iterable[EncodedText], most: int) -> Iterator[list[EncodedText]]:
    """Texts that are encoded before the progress display moves on: up to `most` tokens and the rest of a text."""
    chunk: list[EncodedText] = []
    tokens = 0
    for text in texts:
        chunk.append(text)
        tokens += len(text.ids)
        if tokens >= most:
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
