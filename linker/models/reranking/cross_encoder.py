"""Cross-encoders: a transformer that reads a post and an article together (Nogueira and Cho 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from typing_extensions import override

from linker.common.checks import at_least
from linker.common.console import progress_bar
from linker.common.errors import ConfigError, ModelError
from linker.data.token_axis import length_buckets, token_batches
from linker.data.tokenizers.normalization import Normalization, normalized
from linker.data.types import Article, LinkedPosts, Post
from linker.data.vocabulary import EncodedText
from linker.models.averaged_word_vectors import check_finite
from linker.models.model import Model, index_of
from linker.models.score_scale import ScoreScale
from linker.models.siamese.hugging_face import load_network, save_network, token_limit
from linker.models.siamese.siamese import TOKENS_TOGETHER, save_weights
from linker.models.trainable import TrainableModel

FOLDER, HEAD = "cross-encoder", "head.safetensors"
#: Tokens of pairs between two updates of the progress bar: a few seconds on a CPU.
_TOKENS_PER_CHUNK = 32_768
#: `[CLS] post [SEP] article [SEP]`
_SPECIAL_TOKENS = 3
#: Cosines of the two texts before training enter the score with this slope and offset.
_SLOPE, _OFFSET = 15.0, -7.0


@dataclass(frozen=True)
class EncodedPair(EncodedText):
    """A post and an article as one text of token ids.

    Attributes:
        first: number of tokens of the post and the special tokens around it; the others are the article's.
    """

    first: int


@Model.register("cross_encoder")
class CrossEncoderModel(TrainableModel):
    """A Hugging Face network that reads `[CLS] post [SEP] article [SEP]`, with a head that scores the pair.

    The head is a layer of GELU over the first token's vector, the means u and v of the two texts' token vectors,
    |u − v| and u · v (as in Reimers and Gurevych 2019, section 3), plus a linear function of the cosine of u and v, so
    that an untrained one ranks by similarity. A pair takes as long as encoding both texts, and nothing can be computed
    in advance: use it in a `reranker`. Needs the extra `transformers`.

    Args:
        path: folder of a Hugging Face or sentence-transformers model with the tokens `[CLS]` and `[SEP]`, or its name
            on the Hugging Face hub.
        max_tokens: pairs are truncated to this many tokens, including special tokens; the post keeps half of them, or
            more if the article is shorter.
        normalization: see `transformer`.

    Raises:
        ConfigError: if the network has other special tokens or reads fewer tokens.
    """

    keys_without_weights = frozenset({"path", "max_tokens", "normalization"})

    network: Any

    def __init__(self, path: str, max_tokens: int = 112, normalization: Normalization = "none") -> None:
        at_least(2 * _SPECIAL_TOKENS, max_tokens=max_tokens)
        super().__init__()
        self.path, self.max_tokens = path, max_tokens
        self.normalization: Normalization = normalization
        self.tokenizer: Any = None
        self.register_module("network", None)
        self.register_module("head", None)

    @override
    def prepare(self, data: LinkedPosts) -> None:
        """Load the pretrained network; the texts are not used."""
        self._load(self.path)

    def _load(self, path: str) -> None:
        network, tokenizer = load_network(path)
        limit = token_limit(network, tokenizer)
        if limit is not None and self.max_tokens > limit:
            raise ConfigError(
                f"cross_encoder.max_tokens: {self.max_tokens} is above the limit of {path}, {limit}"
            )
        if tokenizer.cls_token_id is None or tokenizer.sep_token_id is None:
            raise ConfigError(
                f"cross_encoder.path: {path} has no tokens [CLS] and [SEP]; give a network like BERT"
            )
        pooler = getattr(network, "pooler", None)
        if isinstance(pooler, nn.Module):  # not used, so it has no gradient
            pooler.requires_grad_(False)
        self.network, self.tokenizer = network, tokenizer
        self.head = PairHead(self.network.config.hidden_size)

    def _ready(self) -> None:
        if self.network is None:
            self._load(self.path)
            self.eval()

    @property
    @override
    def output_dim(self) -> int:
        return 1

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
    def score_scale(self) -> ScoreScale:
        return ScoreScale("any")

    @override
    def article_tokens(self, article: Article) -> EncodedText:
        """Return the token ids of the article without special tokens; none for an empty one."""
        return self._tokens(article.full_text)

    @override
    def post_tokens(self, post: Post) -> EncodedText:
        """Return the token ids of the post without special tokens; none for an empty one."""
        return self._tokens(post.text)

    def _tokens(self, text: str) -> EncodedText:
        self._ready()
        text = normalized(text, self.normalization)
        limit = self.max_tokens - _SPECIAL_TOKENS
        ids = self.tokenizer(text, add_special_tokens=False, truncation=True, max_length=limit)["input_ids"]
        return EncodedText(np.array(ids, dtype=np.int32), ())

    def joined(self, post: EncodedText, article: EncodedText) -> EncodedPair:
        """Join a post and an article, from `post_tokens` and `article_tokens`.

        Returns:
            The pair, with at most `max_tokens` tokens.
        """
        room = self.max_tokens - _SPECIAL_TOKENS
        first = post.ids[: max(room // 2, room - len(article.ids))]
        second = article.ids[: room - len(first)]
        end = [self.tokenizer.sep_token_id]
        ids = np.concatenate([[self.tokenizer.cls_token_id], first, end, second, end]).astype(np.int32)
        return EncodedPair(ids, (), len(first) + 2)

    @override
    def forward(self, texts: Sequence[EncodedText]) -> Tensor:
        """Return the scores of pairs: float, pairs × 1.

        Args:
            texts: pairs from `joined`.
        """
        buckets = list(length_buckets([len(text.ids) for text in texts], TOKENS_TOGETHER))
        scores = torch.cat([self._scores([texts[i] for i in bucket]) for bucket in buckets])
        back = torch.empty(len(texts), dtype=torch.int64)
        back[torch.tensor([i for bucket in buckets for i in bucket])] = torch.arange(len(texts))
        return scores[back.to(scores.device)]

    def _scores(self, pairs: Sequence[EncodedText]) -> Tensor:
        """Return the scores of pairs of similar length: float, pairs × 1."""
        lengths = torch.tensor([len(pair.ids) for pair in pairs])
        firsts = torch.tensor([pair.first for pair in pairs if isinstance(pair, EncodedPair)])
        ids = torch.full(
            (len(pairs), int(lengths.max())), self.tokenizer.pad_token_id or 0
        )  # (pairs, longest)
        places = torch.arange(ids.shape[1])
        real = places < lengths[:, None]  # (pairs, longest)
        ids[real] = torch.from_numpy(np.concatenate([pair.ids for pair in pairs]).astype(np.int64))
        second = (real & (places >= firsts[:, None])).to(self.device)
        real = real.to(self.device)
        inputs = {"input_ids": ids.to(self.device), "attention_mask": real.long()}
        if getattr(self.network.config, "type_vocab_size", 0) > 1:
            inputs["token_type_ids"] = second.long()
        states = self.network(**inputs).last_hidden_state  # (pairs, longest, dim)
        states = states if states.dtype == torch.float64 else states.float()
        scores: Tensor = self.head(states, real & ~second, second)
        return scores

    @override
    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Score all pairs, one by one: float32, articles × posts, any real number."""
        pairs = [(article, post) for article in articles for post in posts]
        scores = self.score_pairs([article for article, _ in pairs], [post for _, post in pairs])
        return scores.reshape(len(articles), len(posts))

    @override
    @torch.no_grad()
    def score_pairs(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Score the i-th of `articles` with the i-th of `posts`: float32; equal texts have equal scores."""
        training = self.training
        self._ready()
        self.eval()
        of_article = {article: self.article_tokens(article) for article in index_of(articles)}
        of_text = {text: self.post_tokens(Post("", text)) for text in {post.text: None for post in posts}}
        index: dict[tuple[Article, str], int] = {}
        for article, post in zip(articles, posts):
            index.setdefault((article, post.text), len(index))
        pairs = [self.joined(of_text[text], of_article[article]) for article, text in index]
        found = [np.zeros(0, dtype=np.float32)]
        with progress_bar() as progress:
            bar = progress.add_task("reading posts with the article", total=len(pairs))
            for batch in token_batches(pairs, _TOKENS_PER_CHUNK):
                found.append(self(batch)[:, 0].float().cpu().numpy())
                progress.advance(bar, len(batch))
        self.train(training)
        scores = np.concatenate(found)
        return scores[[index[article, post.text] for article, post in zip(articles, posts)]]

    @override
    def save_state(self, folder: Path) -> None:
        """Write network and tokenizer as a Hugging Face folder, and the head."""
        self._ready()
        save_network(self.network, self.tokenizer, folder / FOLDER)
        save_weights(self.head, folder / FOLDER / HEAD)

    @override
    def load_state(self, folder: Path) -> None:
        """Read what `save_state` wrote; the pretrained model at `path` is not needed.

        Raises:
            ModelError: if a file is missing or damaged.
        """
        path = folder / FOLDER / HEAD
        if not path.is_file():
            raise ModelError(f"{path}: file not found; copy the model folder again")
        self._load(str(folder / FOLDER))
        try:
            weights = load_file(path)
            self.head.load_state_dict(weights)
        except (SafetensorError, RuntimeError, OSError) as error:
            reason = str(error).strip().split("\n")[0]
            raise ModelError(f"{path}: cannot be loaded ({reason}); copy the model folder again") from error
        check_finite(path, weights)
        self.eval()


class PairHead(nn.Module):
    """Scores of pairs from the token vectors of both texts.

    Args:
        dim: length of the token vectors.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(5 * dim, dim)
        self.dropout = nn.Dropout(0.1)
        self.output = nn.Linear(dim, 1)
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)
        self.slope, self.offset = nn.Parameter(torch.tensor(_SLOPE)), nn.Parameter(torch.tensor(_OFFSET))

    def forward(self, states: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """Return the scores: float, pairs × 1.

        Args:
            states: float, pairs × tokens × dim.
            first: bool, pairs × tokens: tokens of the post.
            second: bool, pairs × tokens: tokens of the article.
        """
        u, v = _mean(states, first), _mean(states, second)  # (pairs, dim)
        features = torch.cat([states[:, 0], u, v, (u - v).abs(), u * v], dim=1)  # (pairs, 5 dim)
        scores = self.output(self.dropout(nn.functional.gelu(self.hidden(features))))
        cosine = nn.functional.cosine_similarity(u, v)[:, None]
        line: Tensor = scores.to(states.dtype) + self.slope * cosine + self.offset
        return line


def _mean(states: Tensor, chosen: Tensor) -> Tensor:
    """Mean of the chosen token vectors: pairs × dim."""
    weights = chosen[..., None].to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)
