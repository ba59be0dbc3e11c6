"""Workloads of the speed benchmark: real texts, and the encoders that are measured on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from unittest import mock

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.speed.baselines import EveryToken, OriginalStarTransformer, SelfAttentionEncoder
from linker.config import Lazy
from linker.data import read_articles, read_posts
from linker.data.tokenizers.social import SocialTokenizer
from linker.data.types import Article, Post
from linker.data.vocabulary import EncodedText, Vocabulary
from linker.models.siamese.word_siamese import WordSiamese
from linker.modules.embedders.word_vectors import WordVectorsEmbedder
from linker.modules.encoders.cnn import CnnEncoder
from linker.modules.encoders.encoder import Encoder
from linker.modules.encoders.gru import BiGruEncoder
from linker.modules.encoders.star_transformer import Cycle, StarTransformerEncoder
from linker.modules.kernels import native
from linker.modules.kernels.dispatch import use_kernels
from linker.modules.kernels.plain import PlainKernels
from linker.modules.losses.triplet_margin import TripletMarginLoss
from linker.modules.miners import MultiSimilarityMiner

DIM, HEADS, HEAD_DIM = 300, 10, 30
MOST_ARTICLE_TOKENS = 1000
# Shorter articles are left out, or joined where few others are there.
LEAST_ARTICLE_TOKENS, ENOUGH_ARTICLES = 300, 250

ORIGINAL = "original"
PLAIN, PLAIN_EVERY = "ours, plain", "ours, plain, every token"
NATIVE, NATIVE_EVERY = "ours, native", "ours, native, every token"
SOFTMAX, FULL, BIGRU, CNN = "softmax for entmax", "full attention", "BiGRU", "CNN"
SAME_FUNCTION = (ORIGINAL, PLAIN_EVERY, PLAIN, NATIVE_EVERY, NATIVE)
CONTENDERS = (*SAME_FUNCTION, SOFTMAX, FULL, BIGRU, CNN)


def native_problem() -> str:
    """Return why the native kernels cannot be measured, or an empty string."""
    return native.problem()


def contenders() -> tuple[str, ...]:
    """Return the names of all contenders that can be measured here."""
    return tuple(name for name in CONTENDERS if "native" not in name or not native_problem())


@dataclass(frozen=True)
class Texts:
    """Articles and posts in random order, and their tokens."""

    source: str
    articles: list[Article]
    posts: list[Post]
    article_tokens: list[list[str]]
    post_tokens: list[list[str]]

    @classmethod
    def read(cls, folders: Sequence[Path]) -> Texts:
        """The texts of all folders."""
        tokenize = SocialTokenizer().tokenize
        articles: list[Article] = []
        posts: list[Post] = []
        for folder in folders:
            suffix = "jsonl.gz" if (folder / "articles.jsonl.gz").exists() else "jsonl"
            articles += read_articles(str(folder / f"articles.{suffix}"))
            posts += read_posts(str(folder / f"posts.{suffix}"))
        order = np.random.default_rng(0)
        order.shuffle(articles)
        order.shuffle(posts)
        long = [a for a in articles if len(tokenize(a.full_text)) >= LEAST_ARTICLE_TOKENS]
        articles = long if len(long) >= ENOUGH_ARTICLES else _joined(articles, tokenize)
        return cls(
            ", ".join(folder.name for folder in folders),
            articles,
            posts,
            [tokenize(article.full_text)[:MOST_ARTICLE_TOKENS] for article in articles],
            [tokenize(post.text)[:200] for post in posts],
        )

    def vocabulary(self, articles: slice, posts: slice, min_count: int) -> Vocabulary:
        """The words that occur at least `min_count` times in the named texts."""
        chosen = [*self.article_tokens[articles], *self.post_tokens[posts]]
        counts = Counter(token for text in chosen for token in text)
        return Vocabulary(word for word, count in counts.most_common() if count >= min_count)


def _joined(articles: list[Article], tokenize: Callable[[str], list[str]]) -> list[Article]:
    answer: list[Article] = []
    waiting = ""
    for article in articles:
        waiting = f"{waiting}\n\n{article.full_text}".strip()
        if len(tokenize(waiting)) >= LEAST_ARTICLE_TOKENS:
            answer.append(Article(article.id, waiting))
            waiting = ""
    return answer


def zipf_texts(count: int, length: int, words: int, seed: int) -> list[EncodedText]:
    """Return texts of one length whose words follow Zipf's law."""
    chances = 1 / np.arange(1, words + 1)
    ids = np.random.default_rng(seed).choice(words, (count, length), p=chances / chances.sum())
    return [EncodedText(row.astype(np.int32), ()) for row in ids]


class Contender(Protocol):
    """Something that encodes texts and can be trained."""

    @property
    def module(self) -> nn.Module:
        """What has the weights."""
        ...

    def learn_vectors(self, articles: list[EncodedText], posts: list[EncodedText]) -> tuple[Tensor, Tensor]:
        """Unit vectors with gradients."""
        ...

    def encode(self, texts: list[EncodedText]) -> Any:
        """Unit vectors without gradients."""
        ...


class Linkers:
    """A model of linker with one of its encoders, on one path of kernels."""

    def __init__(self, encoder: Encoder, table: Tensor, kernels: str) -> None:
        self.module: WordSiamese = siamese(encoder, Vocabulary(str(i) for i in range(1, len(table))), table)
        self.kernels = kernels

    def learn_vectors(self, articles: list[EncodedText], posts: list[EncodedText]) -> tuple[Tensor, Tensor]:
        with use_kernels(self.kernels):
            vectors = self.module([*articles, *posts])
        return vectors[: len(articles)], vectors[len(articles) :]

    def encode(self, texts: list[EncodedText]) -> np.ndarray:
        with use_kernels(self.kernels):
            return self.module.encode(texts)


class Original:
    """The original algorithm with its padded batches: articles and posts apart; sorted by length when encoding."""

    # Longest text × texts of a batch when encoding: smaller batches were slower.
    budget = 32_768

    def __init__(self, encoder: StarTransformerEncoder, table: Tensor) -> None:
        self.module = OriginalStarTransformer(encoder)
        self.table = table

    def learn_vectors(self, articles: list[EncodedText], posts: list[EncodedText]) -> tuple[Tensor, Tensor]:
        return self.vectors(articles), self.vectors(posts)

    def vectors(self, texts: list[EncodedText]) -> Tensor:
        lengths = torch.tensor([len(text.ids) for text in texts])
        ids = np.zeros((len(texts), int(lengths.max())), dtype=np.int64)
        for row, text in zip(ids, texts):
            row[: len(text.ids)] = text.ids
        mask = torch.arange(ids.shape[1]) < lengths[:, None]
        embedded = nn.functional.embedding(torch.from_numpy(ids), self.table)
        return nn.functional.normalize(self.module(embedded, mask), dim=-1)

    @torch.no_grad()
    def encode(self, texts: list[EncodedText]) -> Tensor:
        self.module.eval()
        order = sorted(range(len(texts)), key=lambda i: len(texts[i].ids))
        vectors, part = torch.empty(len(texts), self.table.shape[1]), list[int]()
        for i in order:
            if part and len(texts[i].ids) * (len(part) + 1) > self.budget:
                vectors[part] = self.vectors([texts[j] for j in part])
                part = []
            part.append(i)
        vectors[part] = self.vectors([texts[j] for j in part])
        self.module.train()
        return vectors


def siamese(encoder: Encoder, vocabulary: Vocabulary, table: Tensor) -> WordSiamese:
    """Return a model over these word vectors, built in memory."""
    embedder = WordVectorsEmbedder(dim=table.shape[1], vocabulary_size=len(table), pretrained=table)
    model = WordSiamese(Lazy(lambda **_: encoder), Lazy(lambda **_: embedder), SocialTokenizer())
    model.vocabulary, model.embedder, model.encoder = vocabulary, embedder, encoder
    return model


def word_vectors(words: int) -> Tensor:
    """Return random vectors of about the length of GloVe's."""
    return torch.randn(words, DIM, generator=torch.Generator().manual_seed(0)) / 3


def star_encoder(table: Tensor, dropout: float, alpha: float | None = None) -> StarTransformerEncoder:
    """Return an encoder with weights as after training: α differs between heads, scores have standard deviation 1."""
    torch.manual_seed(0)
    encoder = StarTransformerEncoder(HEADS, HEAD_DIM, dropout=dropout, alpha=alpha, input_dim=DIM)
    cycle = encoder.cycles[0]
    assert isinstance(cycle, Cycle)
    texts = zipf_texts(4, 100, len(table), 0)
    tokens = table[torch.from_numpy(np.concatenate([text.ids for text in texts])).long()]
    lengths = torch.full((len(texts),), 100)
    with torch.no_grad():
        for number, heads in enumerate((cycle.ring, cycle.star)):
            if heads.alphas.theta is not None:
                nn.init.normal_(heads.alphas.theta)
            scores = scores_of(encoder, tokens, lengths)[number][0]
            scale = 1 / scores[scores.isfinite()].std()
            heads.query.weight.mul_(scale)
            heads.query.bias.mul_(scale)
    return encoder


@torch.no_grad()
def scores_of(encoder: Encoder, tokens: Tensor, lengths: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return the inputs of entmax: scores, −inf where masked, and α; first the ring's, then the relays'."""
    caught: list[tuple[Tensor, Tensor]] = []
    entmax = PlainKernels.entmax

    def catching(self: PlainKernels, scores: Tensor, alpha: Tensor) -> Tensor:
        caught.append((scores, alpha))
        return entmax(self, scores, alpha)

    with mock.patch.object(PlainKernels, "entmax", catching), use_kernels("plain"):
        encoder(tokens, lengths)
    return caught


def contender(name: str, words: int, dropout: float = 0.0) -> Contender:
    """One of `CONTENDERS`, over `words` random word vectors; the star transformers have the same weights."""
    table = word_vectors(words)
    best = "plain" if native_problem() else "native"
    if name == SOFTMAX:
        return Linkers(star_encoder(table, dropout, 1.0), table, best)
    if name in SAME_FUNCTION:
        star = star_encoder(table, dropout)
        if name == ORIGINAL:
            return Original(star, table)
        kernels = "native" if "native" in name else "plain"
        return Linkers(EveryToken(star) if "every" in name else star, table, kernels)
    others: dict[str, Callable[[], Encoder]] = {
        FULL: lambda: SelfAttentionEncoder(DIM, HEADS, dropout),
        BIGRU: lambda: BiGruEncoder(DIM, dropout, input_dim=DIM),
        CNN: lambda: CnnEncoder(hidden_dim=DIM, dropout=dropout, input_dim=DIM),
    }
    torch.manual_seed(0)
    return Linkers(others[name](), table, best)


class Training:
    """A contender in training: mined triplets, Adam."""

    def __init__(self, who: Contender) -> None:
        self.who = who
        self.parameters = [p for p in who.module.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(self.parameters, lr=1e-4)
        self.miner, self.loss = MultiSimilarityMiner(), TripletMarginLoss()
        who.module.train()

    def step(self, articles: list[EncodedText], posts: list[EncodedText]) -> float:
        """One step on as many articles as posts, the i-th post being about the i-th article."""
        a, p = self.who.learn_vectors(articles, posts)
        loss = self.loss(a, p, self.miner(a, p, torch.eye(len(a), dtype=torch.bool)))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())
