"""A pretrained transformer of Hugging Face that trains like the other models (Di Giovanni & Brambilla 2021)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from linker.common.errors import ConfigError, ModelError
from linker.data.tokenizers.patterns import URL, WORD, hashtag_words
from linker.data.types import Article, LinkedPosts, Post
from linker.data.vocabulary import EncodedText
from linker.models.model import Model
from linker.models.siamese.hugging_face import (
    keep_layers,
    load_network,
    most_tokens,
    save_network,
    saved_pooling,
)
from linker.models.siamese.siamese import TOKENS_TOGETHER, SiameseModel, length_buckets
from linker.modules.precision import lower_type

FOLDER = "transformer"
_URL = re.compile(URL)
_MENTION = re.compile(r"(?<![\w@＠.])[@＠]\w+")
# A link's own # begins no hashtag.
_HASHTAG = re.compile(rf"({URL})|(?<!\w)[#＃]({WORD})")


@Model.register("transformer")
class TransformerModel(SiameseModel):
    """A network of Hugging Face with pooling over its last layer, the same for articles and posts.

    Needs the extra `transformers`.

    Args:
        path: the folder of a Hugging Face or sentence-transformers model, or its name on the Hugging Face hub. A
            folder is used as it is; nothing is fetched for it, nor where HF_HUB_OFFLINE=1 is set.
        pooling: `mean` of all tokens' vectors, special ones too; the vector of the first token (`cls`); or each
            dimension's `max`. Null: as the sentence-transformers folder says; `mean` where none says anything.
        max_article_tokens: articles are cut here, special tokens counted.
        max_post_tokens: posts are cut here; 128 in the paper.
        normalization: `bertweet`: mentions become `@USER` and links `HTTPURL`, as in the tweets that BERTweet has
            seen; emojis stay. `hashtags`: hashtags become the words in them (`#BostonMarathon`: Boston Marathon), which
            word pieces cannot find where words run together.
        similarity: `cosine` of the vectors, which the loss sees with unit length; or `euclidean`, the negative distance
            of the vectors as they are.
        layers: which of the network's layers are kept, counted from 0; null: all. Two of six are three times as fast,
            and learn from the whole again by `linker distil`.
        title_share: of the title in an article's vector when posts are scored; the rest is the whole's.
        precision: of what the network computes when texts are encoded; `trainer.precision` tells of training. `auto`:
            bfloat16 where the processor itself multiplies it, 2.7 times as fast; else float32.
    """

    network: Any
    # Some two thousand posts, a few seconds on a CPU, after which the progress display moves on. Half as many would
    # take 5 to 8 % longer: fewer texts of similar length to encode together.
    tokens_per_chunk = 65_536

    def __init__(
        self,
        path: str,
        pooling: Literal["mean", "cls", "max"] | None = None,
        max_article_tokens: int = 128,
        max_post_tokens: int = 128,
        normalization: Literal["none", "bertweet", "hashtags"] = "none",
        similarity: Literal["cosine", "euclidean"] = "cosine",
        layers: list[int] | None = None,
        title_share: float = 0.0,
        precision: Literal["auto", "float32"] = "float32",
    ) -> None:
        super().__init__(max_article_tokens, max_post_tokens, similarity, title_share)
        self.layers, self.precision = layers, precision
        self.path, self.pooling, self.normalization = path, pooling, normalization
        self.tokenizer: Any = None
        self.register_module("network", None)

    def prepare(self, data: LinkedPosts) -> None:
        """Load the network; it learns nothing from the texts but by training."""
        self._load_pretrained()

    def _ready(self) -> None:
        """Load the network where that has not happened yet: a model may be used as it was pretrained."""
        if self.network is None:
            self._load_pretrained()
            self.eval()

    def _load_pretrained(self) -> None:
        self._load(self.path)
        if self.layers is not None:
            keep_layers(self.network, self.layers)

    def _load(self, path: str) -> None:
        pooling = self.pooling or saved_pooling(path) or "mean"
        network, tokenizer = load_network(path)
        limit = most_tokens(network, tokenizer)
        for name, value in (
            ("max_article_tokens", self.max_article_tokens),
            ("max_post_tokens", self.max_post_tokens),
        ):
            if limit is not None and value > limit:
                raise ConfigError(f"model.{name}: {value}, but {path} takes {limit} tokens at most")
        # No vector depends on it; without a gradient it stays as it was pretrained.
        pooler = getattr(network, "pooler", None)
        if isinstance(pooler, nn.Module):
            pooler.requires_grad_(False)
        self.network, self.tokenizer, self.pooling = network, tokenizer, pooling

    @property
    def output_dim(self) -> int:
        """Numbers in a vector."""
        self._ready()
        return self.network.config.hidden_size

    @property
    def words(self) -> Sequence[str]:
        """The word pieces, by id."""
        self._ready()
        pieces = self.tokenizer.get_vocab()
        return sorted(pieces, key=pieces.__getitem__)

    @property
    def description(self) -> str:
        """The number of word pieces."""
        self._ready()
        return f"{len(self.tokenizer):,} word pieces of {self.path}"

    def article_tokens(self, article: Article) -> EncodedText:
        """Ids of title and text with the special tokens, cut at `max_article_tokens`."""
        return self._tokens(article.full_text, self.max_article_tokens)

    def post_tokens(self, post: Post) -> EncodedText:
        """Ids of the post with the special tokens, cut at `max_post_tokens`."""
        return self._tokens(post.text, self.max_post_tokens)

    def _tokens(self, text: str, most: int) -> EncodedText:
        self._ready()
        if self.normalization == "bertweet":
            text = bertweet_normalized(text)
        elif self.normalization == "hashtags":
            text = hashtags_split(text)
        ids = self.tokenizer(text, truncation=True, max_length=most)["input_ids"]
        # A tokenizer without special tokens has none for an empty text.
        return EncodedText(np.array(ids or [self._padding], dtype=np.int32), ())

    @property
    def _padding(self) -> int:
        return self.tokenizer.pad_token_id or 0

    def forward(self, texts: Sequence[EncodedText]) -> Tensor:
        """Vectors, of unit length for cosines: float, texts × output_dim."""
        return self._vectors(texts, TOKENS_TOGETHER)

    def _collate(self, texts: Sequence[EncodedText]) -> Sequence[EncodedText]:
        return texts

    def _vectors(self, laid_out: Sequence[EncodedText], budget: int | None) -> Tensor:
        parts = list(length_buckets([len(text.ids) for text in laid_out], budget or TOKENS_TOGETHER))
        pieces = [self._pooled([laid_out[i].ids for i in part]) for part in parts]
        vectors = torch.cat(pieces)
        back = torch.empty(len(laid_out), dtype=torch.int64)
        back[torch.tensor([i for part in parts for i in part])] = torch.arange(len(laid_out))
        return self._normalize(vectors)[back.to(vectors.device)]

    def _pooled(self, texts: Sequence[np.ndarray]) -> Tensor:
        """Vectors of texts of similar length: float, texts × output_dim."""
        lengths = torch.tensor([len(ids) for ids in texts])
        ids = torch.full((len(texts), int(lengths.max())), self._padding)
        real = torch.arange(ids.shape[1]) < lengths[:, None]
        ids[real] = torch.from_numpy(np.concatenate(texts).astype(np.int64))
        real = real.to(self.device)
        lower = None if self.training else lower_type(self.precision, self.device)
        with torch.autocast(self.device.type, lower) if lower else nullcontext():
            states = self.network(input_ids=ids.to(self.device), attention_mask=real.long()).last_hidden_state
        if self.pooling == "cls":
            return states[:, 0]
        real = real[..., None]
        if self.pooling == "max":
            return states.masked_fill(~real, float("-inf")).amax(dim=1)
        # Sums of many numbers are float32 in whatever precision the network computes.
        states = states if states.dtype == torch.float64 else states.float()
        return (states * real).sum(dim=1) / real.sum(dim=1)

    def save_state(self, folder: Path) -> None:
        """Write the network, its tokenizer and the pooling: a folder that sentence-transformers loads too."""
        self._ready()
        longest = max(self.max_article_tokens, self.max_post_tokens)
        pooling = self.pooling or "mean"
        save_network(self.network, self.tokenizer, folder / FOLDER, pooling, longest)

    def load_state(self, folder: Path) -> None:
        """Read what `save_state` wrote; needs nothing of `path`.

        Raises:
            ModelError: a file is missing or damaged.
        """
        if not (folder / FOLDER).is_dir():
            raise ModelError(f"{folder / FOLDER}: there is no such folder; copy the model folder anew")
        self._load(str(folder / FOLDER))
        self.eval()


def bertweet_normalized(text: str) -> str:
    """Mentions as `@USER` and links as `HTTPURL`; emojis and everything else as they are."""
    return _MENTION.sub("@USER", _URL.sub("HTTPURL", text))


def hashtags_split(text: str) -> str:
    """Hashtags as the words in them; everything else as it is."""
    return _HASHTAG.sub(lambda found: found[1] or " ".join(hashtag_words(found[2])), text)
