"""Train the linear heads of the multilingual part of `best` on links; `scripts/make_pretrained.py` runs it.

One head maps embeddings of articles, the other embeddings of posts: the mean is subtracted, and a matrix near the
identity is learned by InfoNCE with the other posts and articles of the same source as negatives. Trained on ten of
eleven sources, the heads raise MAP on the eleventh by 1.2 points on average, TF-IDF included
(benchmarks/quality/results/choices.md). `hubs` are articles by which posts that are near too many are found.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize, softplus

from linker.data import read_articles, read_posts
from linker.data.types import LinkedPosts, Post
from linker.models.embedding_model import EmbeddingModel

_ARTICLES, _POSTS = 1_500, 3_000
_STEPS, _SOURCES_PER_STEP = 250, 4
_ARTICLES_PER_STEP, _NEGATIVES, _POSITIVES = 64, 600, 200
_RATE, _DECAY, _TEMPERATURE = 1e-3, 0.02, 0.07
_HUBS, _LARGEST, _NEAREST = 440, 8, 10
_NEVER = -1e9


class Source(NamedTuple):
    """Embeddings of the articles and posts of a source, before the heads.

    Attributes:
        articles: float32, articles × dim.
        posts: float32, posts × dim.
        relevance: bool, articles × posts.
    """

    articles: Tensor
    posts: Tensor
    relevance: Tensor


def sampled(folder: Path) -> LinkedPosts:
    """Read up to 1,500 articles of a folder that posts discuss, and about 3,000 of their posts."""
    (articles_file,), (posts_file,) = (list(folder.glob(f"{name}.*")) for name in ("articles", "posts"))
    chance = random.Random(0)
    of_each: dict[str, list[Post]] = {}
    for post in read_posts(str(posts_file)):
        for article in post.article_ids:
            of_each.setdefault(article, []).append(post)
    articles = [article for article in read_articles(str(articles_file)) if article.id in of_each]
    articles = chance.sample(articles, min(_ARTICLES, len(articles)))
    most = max(1, _POSTS // len(articles))
    chosen = (chance.sample(of_each[a.id], min(most, len(of_each[a.id]))) for a in articles)
    return LinkedPosts(articles, [*{post.id: post for some in chosen for post in some}.values()])


def read_source(model: EmbeddingModel, folder: Path) -> Source:
    """Embed the articles and posts that `sampled` reads."""
    linked = sampled(folder)
    vectors = model.article_vectors(linked.articles), model.post_vectors(linked.posts)
    return Source(*map(torch.from_numpy, (*vectors, linked.relevance())))


def trained_heads(sources: Sequence[Source]) -> dict[str, np.ndarray]:
    """Return the tensors of the file of heads, see `linker.models.onnx.transformer`."""
    generator = torch.Generator().manual_seed(3)
    means = [torch.stack([source[side].mean(dim=0) for source in sources]).mean(dim=0) for side in (0, 1)]
    changes = [torch.zeros(len(mean), len(mean)) for mean in means]
    parameters = [tensor.requires_grad_() for tensor in (*means, *changes)]
    optimizer = torch.optim.Adam(parameters, lr=_RATE)
    for _ in range(_STEPS):
        chosen = torch.randperm(len(sources), generator=generator)[:_SOURCES_PER_STEP].tolist()
        losses = [_loss(sources[number], means, changes, generator) for number in chosen]
        decay = _DECAY * torch.stack([(change**2).sum() for change in changes]).sum()
        loss = torch.stack(losses).mean() + decay
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    heads = {}
    for side, mean, change in zip(("articles", "posts"), means, changes):
        # Embeddings are rows: v + v A is (1 + Aᵀ) v.
        # Steps of 1/2048 change no cosine by more than 1e-5, and are compressed to half the size in a wheel.
        matrix = ((torch.eye(len(mean)) + change.T) * 2048).round() / 2048
        for name, tensor in (("mean", mean), ("matrix", matrix)):
            heads[f"{side}.{name}"] = np.ascontiguousarray(tensor.detach().to(torch.float16).numpy())
    return heads


def hubs(sources: Sequence[Source], heads: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return articles of all sources, rounded, and how near posts are; see `linker.models.onnx.transformer`."""
    generator = torch.Generator().manual_seed(0)
    tensors = {name: torch.from_numpy(values).float() for name, values in heads.items()}
    chosen, nearest = [], []
    for source in sources:
        rows = torch.randperm(len(source.articles), generator=generator)[: _HUBS // len(sources)]
        chosen.append(_mapped(source.articles[rows], tensors, "articles"))
    articles = torch.cat(chosen)  # (hubs, dim)
    # Whole numbers up to 8 take half the size of 8 bits in a wheel, and rank as well.
    values = (articles / articles.abs().amax(dim=1, keepdim=True) * _LARGEST).round()
    scales = 1 / values.norm(dim=1)
    articles = values * scales[:, None]
    for source in sources:
        similar = _mapped(source.posts, tensors, "posts") @ articles.T  # (posts, articles)
        nearest.append(similar.topk(min(_NEAREST, len(articles)), dim=1).values.mean())
    usual = torch.stack(nearest).mean()[None].numpy()
    return {"hubs": values.to(torch.int8).numpy(), "hubs.scales": scales.numpy(), "hubs.usual": usual}


def _mapped(vectors: Tensor, heads: dict[str, Tensor], side: str) -> Tensor:
    return normalize((vectors - heads[f"{side}.mean"]) @ heads[f"{side}.matrix"].T, dim=-1)


def _loss(source: Source, means: list[Tensor], changes: list[Tensor], generator: torch.Generator) -> Tensor:
    rows = torch.randperm(len(source.articles), generator=generator)[:_ARTICLES_PER_STEP]
    others = torch.randperm(len(source.posts), generator=generator)[:_NEGATIVES]
    positives = source.relevance[rows].any(dim=0).nonzero()[:, 0]
    positives = positives[torch.randperm(len(positives), generator=generator)[:_POSITIVES]]
    columns = torch.unique(torch.cat([others, positives]))
    relevant = source.relevance[rows][:, columns]  # (articles, posts)
    mapped = []
    for vectors, mean, change in zip((source.articles[rows], source.posts[columns]), means, changes):
        centered = vectors - mean
        mapped.append(normalize(centered + centered @ change, dim=-1))
    return info_nce(mapped[0], mapped[1], relevant, _TEMPERATURE)


def info_nce(
    articles: Tensor, posts: Tensor, relevant: Tensor, temperature: float, left_out: Tensor | None = None
) -> Tensor:
    """InfoNCE of articles against posts, and half of that of posts against articles.

    Args:
        articles: embeddings of unit length, articles × dim.
        posts: embeddings of unit length, posts × dim.
        relevant: bool, articles × posts; several posts may be relevant to an article, and the reverse.
        temperature: divides the cosines.
        left_out: bool, articles × posts: pairs that are no negatives, either.
    """
    logits = articles @ posts.T / temperature
    negatives = logits.masked_fill(relevant if left_out is None else relevant | left_out, _NEVER)
    of_articles = softplus(torch.logsumexp(negatives, dim=1, keepdim=True) - logits) * relevant
    of_posts = softplus(torch.logsumexp(negatives, dim=0, keepdim=True) - logits) * relevant
    linked = relevant.any(dim=1)
    mean_of_articles = (of_articles.sum(dim=1) / relevant.sum(dim=1).clamp(min=1))[linked].mean()
    return mean_of_articles + 0.5 * of_posts.sum() / relevant.sum().clamp(min=1)
