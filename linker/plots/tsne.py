"""t-SNE map of the posts of the most shared articles (Danovitch 2020, figure 2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.common.errors import DataError, ModelError
from linker.data.types import LinkedPosts
from linker.models.model import Model, embedding_submodel
from linker.plots.style import COLORS, GREY, label, panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKERS = "os^DvPX*<>"
_SIZES = {"*": 70, "P": 45, "X": 40}
_PERPLEXITY = 30


@dataclass(frozen=True)
class SharedArticle:
    """An article, and the ids and coordinates of its posts."""

    id: str
    title: str
    posts: list[str]
    x: list[float]
    y: list[float]


@dataclass(frozen=True)
class VectorMap:
    """Data of the figure: articles, the most shared first."""

    articles: list[SharedArticle]


def vector_map(
    model: Model, linked: LinkedPosts, count: int = 10, seed: int = 13, name: str = "the model"
) -> VectorMap:
    """Compute a t-SNE map, by cosine, of the posts of the articles with the most posts.

    A post of several of these articles belongs to the most shared one.

    Args:
        model: a model with embeddings.
        linked: articles, posts and their links.
        count: number of articles.
        seed: random seed of t-SNE.
        name: name of the model in messages.

    Raises:
        ModelError: if the model has no embeddings.
        DataError: if fewer than four posts belong to the articles.
    """
    articles = {article.id: article for article in linked.articles}
    shares = Counter(i for post in linked.posts for i in post.article_ids if i in articles)
    chosen = [i for i, _ in sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:count]]
    article_of = {
        post.id: min(chosen.index(i) for i in post.article_ids if i in chosen)
        for post in linked.posts
        if not set(chosen).isdisjoint(post.article_ids)
    }
    posts = [post for post in linked.posts if post.id in article_of]
    if len(posts) < 4:
        raise DataError(f"only {len(posts)} posts belong to these articles; t-SNE needs at least four")
    encoder = embedding_submodel(model)
    if encoder is None:
        raise ModelError(f"{name}: has no embeddings; give a model folder of `linker train`")
    points = _tsne(encoder.post_vectors(posts), seed)
    numbers = np.array([article_of[post.id] for post in posts])
    shared = []
    for number, i in enumerate(chosen):
        at = np.flatnonzero(numbers == number)
        title = articles[i].title or label(articles[i].text)
        shared.append(SharedArticle(i, title, [posts[n].id for n in at], *points[at].T.tolist()))
    return VectorMap(shared)


def _tsne(vectors: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    if not np.any(vectors != vectors[0]):
        return np.zeros((len(vectors), 2))
    perplexity = min(_PERPLEXITY, (len(vectors) - 1) / 3)
    method = TSNE(metric="cosine", init="random", perplexity=perplexity, random_state=seed)
    with threadpool_limits(1):  # the order of summation of several threads varies
        return np.round(method.fit_transform(vectors.astype(np.float64)), 3)


@style()
def figure(numbers: VectorMap) -> Figure:
    """Plot each article with a separate color, marker and number."""
    figure, (axis, beside) = panels(8.6, 4.6, 2, ratios=[1.35, 1])
    for row, article in enumerate(numbers.articles):
        color, marker = COLORS[row % len(COLORS)], _MARKERS[row % len(_MARKERS)]
        size = _SIZES.get(marker, 30)
        drawn: dict[str, Any] = {"color": color, "marker": marker, "linewidths": 0.4, "edgecolors": "white"}
        axis.scatter(article.x, article.y, size, alpha=0.75, **drawn)
        beside.scatter([0.02], [-row], 1.4 * size, **drawn)
        beside.text(0.07, -row, label(f"{row + 1}. {article.title}", 46), va="center")
        counted = f"{len(article.posts):,} post{'s' if len(article.posts) > 1 else ''}"
        beside.text(0.07, -row - 0.36, counted, va="center", color=GREY, size=8)
        points = np.array([article.x, article.y])
        middle = np.square(points - np.median(points, axis=1, keepdims=True)).sum(axis=0).argmin()
        box = {"boxstyle": "circle,pad=0.2", "facecolor": "white", "edgecolor": color, "alpha": 0.9}
        font: dict[str, Any] = {"weight": "bold", "size": 8, "ha": "center", "va": "center"}
        axis.annotate(
            str(row + 1), points[:, middle].tolist(), (9, 9), textcoords="offset points", bbox=box, **font
        )
    axis.set(title="t-SNE of post vectors", xticks=[], yticks=[])
    axis.grid(visible=False)
    beside.set(title="posts of", xlim=(0, 1), ylim=(-max(len(numbers.articles), 6) + 0.3, 0.6))
    beside.axis("off")
    return figure
