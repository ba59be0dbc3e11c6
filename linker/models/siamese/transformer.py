"""Fine-tunable Hugging Face transformers as bi-encoders (Di Giovanni & Brambilla 2021)."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from typing_extensions import override

from linker.common.errors import ConfigError, ModelError
from linker.common.files import write_json
from linker.data.token_axis import length_buckets
from linker.data.tokenizers.normalization import Normalization, normalized
from linker.data.types import LinkedPosts
from linker.data.vocabulary import EncodedText
from linker.models.embedding_model import Similarity
from linker.models.model import Model
from linker.models.siamese.hugging_face import (
    MODULES,
    keep_layers,
    load_network,
    modules_of,
    save_network,
    saved_pooling,
    token_limit,
)
from linker.models.siamese.siamese import TOKENS_TOGETHER, SiameseModel
from linker.modules.precision import lower_type

FOLDER = "transformer"


@Model.register("transformer")
class TransformerModel(SiameseModel):
    """A Hugging Face network with pooling over its last layer, the same for articles and posts.

    Needs the extra `transformers`.

    Paper: Di Giovanni and Brambilla 2021, https://arxiv.org/abs/2110.02030

    Args:
        path: folder of a Hugging Face or sentence-transformers model, or its name on the Hugging Face hub. Nothing is
            downloaded for a folder, or if HF_HUB_OFFLINE=1 is set.
        pooling: `mean` of all token vectors including special tokens, `cls` (the first token's vector) or `max` per
            dimension; null: the setting of the sentence-transformers folder, else `mean`.
        max_article_tokens: articles are truncated to this many tokens, including special tokens.
        max_post_tokens: posts are truncated to this many tokens; 128 in the paper.
        normalization: `bertweet` replaces mentions by `@USER` and links by `HTTPURL`, as in BERTweet's training data,
            and keeps emojis. `hashtags` replaces hashtags by their words (`#BostonMarathon`: Boston Marathon), which
            word pieces miss. `hashtags_and_links` also replaces the links of link shorteners, whose random letters are
            a third of the tokens of a short post, by `http` (decision 132).
        similarity: `cosine` of the embeddings (the loss sees unit length), or `euclidean`, their negative distance.
        layers: indices of the layers to keep, from 0; null: all. Two of six layers are three times as fast; distill
            the full network into them with the recipes of `configs/students`.
        title_weight: weight of the title in an article's embedding when posts are scored; the rest is that of the whole
            article.
        precision: precision of the network during inference (for training see `trainer.precision`). `auto`: bfloat16 if
            the processor multiplies it natively, which is 2.7 times as fast, else float32. `int8`: commands that
            score run the graph that `linker model export` wrote, without torch; everything else computes in float32.
        article_prefixes: numbers of tokens, ascending, such as [64, 128, 256, 512]: when posts are scored, the
            embedding of an article is the mean of those of its beginnings of these lengths, so that its first
            sentences count most (decision 132); null: that of its first `max_article_tokens`, as in training.
        embedding_precision: precision of the embeddings of posts when posts are scored. `int8`: rounded to 8 bits, so
            that a corpus stores them in a quarter of the space and gives the same scores (decision 120).
    """

    keys_without_weights = frozenset(
        {"path", "title_weight", "article_prefixes", "precision", "embedding_precision", "normalization"}
    )

    network: Any
    # About two thousand posts, a few seconds on a CPU between updates of the progress bar. Half as many take 5 to 8 %
    # longer, because fewer texts of similar length are encoded together.
    tokens_per_chunk = 65_536

    def __init__(
        self,
        path: str,
        pooling: Literal["mean", "cls", "max"] | None = None,
        max_article_tokens: int = 128,
        max_post_tokens: int = 128,
        normalization: Normalization = "none",
        similarity: Similarity = "cosine",
        layers: list[int] | None = None,
        title_weight: float = 0.0,
        precision: Literal["auto", "float32", "int8"] = "float32",
        article_prefixes: list[int] | None = None,
        embedding_precision: Literal["float32", "int8"] = "float32",
    ) -> None:
        super().__init__(max_article_tokens, max_post_tokens, similarity, title_weight, article_prefixes)
        self.rounds_posts = embedding_precision == "int8"
        self.layers, self.precision = layers, precision
        self.path, self.pooling, self.normalization = path, pooling, normalization
        self.tokenizer: Any = None
        self.register_module("network", None)

    def prepare(self, data: LinkedPosts) -> None:
        """Load the pretrained network; the texts are not used."""
        self._load_pretrained()

    def _ready(self) -> None:
        """Load the pretrained network on first use, for models that were neither prepared nor loaded."""
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
        limit = token_limit(network, tokenizer)
        for name, value in (
            ("max_article_tokens", self.max_article_tokens),
            ("max_post_tokens", self.max_post_tokens),
            ("article_prefixes", max(self.article_prefixes, default=1)),
        ):
            if limit is not None and value > limit:
                raise ConfigError(f"model.{name}: {value} is above the limit of {path}, {limit} tokens")
        # Its output is not used, so it has no gradient and keeps its pretrained weights.
        pooler = getattr(network, "pooler", None)
        if isinstance(pooler, nn.Module):
            pooler.requires_grad_(False)
        self.network, self.tokenizer, self.pooling = network, tokenizer, pooling

    @property
    @override
    def output_dim(self) -> int:
        self._ready()
        return self.network.config.hidden_size

    @property
    @override
    def words(self) -> Sequence[str]:
        self._ready()
        pieces = self.tokenizer.get_vocab()
        return sorted(pieces, key=pieces.__getitem__)

    @property
    @override
    def description(self) -> str:
        self._ready()
        return f"{len(self.tokenizer):,} word pieces of {self.path}"

    @override
    def _tokens(self, text: str, limit: int) -> EncodedText:
        self._ready()
        text = normalized(text, self.normalization)
        ids = self.tokenizer(text, truncation=True, max_length=limit)["input_ids"]
        # Tokenizers without special tokens return no ids for an empty text.
        return EncodedText(np.array(ids or [self._padding], dtype=np.int32), ())

    @property
    def _padding(self) -> int:
        return self.tokenizer.pad_token_id or 0

    @override
    def forward(self, texts: Sequence[EncodedText]) -> Tensor:
        return self._vectors(texts, TOKENS_TOGETHER)

    def _vectors(self, collated: Sequence[EncodedText], budget: int | None) -> Tensor:
        buckets = list(length_buckets([len(text.ids) for text in collated], budget or TOKENS_TOGETHER))
        vectors = torch.cat([self._pooled([collated[i].ids for i in bucket]) for bucket in buckets])
        back = torch.empty(len(collated), dtype=torch.int64)
        back[torch.tensor([i for bucket in buckets for i in bucket])] = torch.arange(len(collated))
        return self._normalize(vectors)[back.to(vectors.device)]

    def _pooled(self, texts: Sequence[np.ndarray]) -> Tensor:
        """Embed token ids of texts of similar length: float, texts × output_dim, not normalized."""
        lengths = torch.tensor([len(ids) for ids in texts])
        ids = torch.full((len(texts), int(lengths.max())), self._padding)  # (texts, longest)
        real = torch.arange(ids.shape[1]) < lengths[:, None]  # (texts, longest)
        ids[real] = torch.from_numpy(np.concatenate(texts).astype(np.int64))
        real = real.to(self.device)
        auto = self.precision == "auto" and not self.training
        lower = lower_type("auto", self.device) if auto else None
        with torch.autocast(self.device.type, lower) if lower else nullcontext():
            states = self.network(input_ids=ids.to(self.device), attention_mask=real.long()).last_hidden_state
        # states: (texts, longest, dim)
        if self.pooling == "cls":
            return states[:, 0]
        real = real[..., None]
        if self.pooling == "max":
            return states.masked_fill(~real, float("-inf")).amax(dim=1)
        # Sums are float32 even if the network computes in half precision.
        states = states if states.dtype == torch.float64 else states.float()
        return (states * real).sum(dim=1) / real.sum(dim=1)

    def save_state(self, folder: Path) -> None:
        """Write network, tokenizer and pooling so that sentence-transformers can load the model folder, too."""
        self._ready()
        longest = max(self.max_article_tokens, self.max_post_tokens, *self.article_prefixes)
        save_network(self.network, self.tokenizer, folder / FOLDER, self.pooling or "mean", longest)
        write_json(folder / MODULES, modules_of(FOLDER))

    def load_state(self, folder: Path) -> None:
        """Read what `save_state` wrote; the pretrained model at `path` is not needed.

        Raises:
            ModelError: if a file is missing or damaged.
        """
        if not (folder / FOLDER).is_dir():
            raise ModelError(f"{folder / FOLDER}: folder not found; copy the model folder again")
        self._load(str(folder / FOLDER))
        self.eval()
