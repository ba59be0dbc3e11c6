"""t-SNE map of the posts of the most shared articles (Danovitch 2020, figure 2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.common.errors import DataError, ModelError
from linker.data.types import LinkedPosts
from linker.models.model import Model
from linker.plots.style import COLORS, GREY, label, panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKERS = "os^DvPX*<>"
_SIZES = {"*": 70, "P": 45, "X": 40}
_PERPLEXITY = 30


@dataclass(frozen=True)
class Shared:
    """An article, and the ids and coordinates of its posts."""

    id: str
    title: str
    posts: list[str]
    x: list[float]
    y: list[float]


@dataclass(frozen=True)
class VectorMap:
    """Data of the figure: articles, the most shared first."""

    articles: list[Shared]


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
    known = {article.id: article for article in linked.articles}
    shares = Counter(i for post in linked.posts for i in post.article_ids if i in known)
    chosen = [i for i, _ in sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:count]]
    owners = [next((i for i in chosen if i in post.article_ids), None) for post in linked.posts]
    posts = [post for post, owner in zip(linked.posts, owners) if owner]
    if len(posts) < 4:
        raise DataError(f"only {len(posts)} posts belong to these articles; t-SNE needs at least four")
    vectors = model.post_vectors(posts)
    if vectors is None:
        raise ModelError(f"{name}: has no embeddings; give a model folder of `linker train`")
    places = _tsne(vectors, seed)
    of = np.array([owner for owner in owners if owner])
    return VectorMap(
        [
            Shared(
                i,
                known[i].title or label(known[i].text),
                [post.id for post, mine in zip(posts, of == i) if mine],
                places[of == i, 0].tolist(),
                places[of == i, 1].tolist(),
            )
            for i in chosen
        ]
    )


def _tsne(vectors: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(_PERPLEXITY, (len(vectors) - 1) / 3)
    if not np.any(vectors != vectors[0]):
        return np.zeros((len(vectors), 2))
    method = TSNE(metric="cosine", init="random", perplexity=perplexity, random_state=seed)
    with threadpool_limits(1):  # the order of summation of several threads varies
        return np.round(method.fit_transform(vectors.astype(np.float64)), 3)


@style()
def figure(numbers: VectorMap) -> Figure:
    """Plot each article with a separate color, marker and number."""
    figure, (axis, beside) = panels(8.6, 4.6, 2, [1.35, 1])
    for place, article in enumerate(numbers.articles):
        color, marker = COLORS[place % len(COLORS)], _MARKERS[place % len(_MARKERS)]
        drawn: dict[str, Any] = {"color": color, "marker": marker, "linewidths": 0.4, "edgecolors": "white"}
        size = _SIZES.get(marker, 30)
        axis.scatter(article.x, article.y, size, alpha=0.75, **drawn)
        beside.scatter([0.02], [-place], 1.4 * size, **drawn)
        number, posts = str(place + 1), len(article.posts)
        beside.text(0.07, -place, label(f"{number}. {article.title}", 46), va="center")
        counted = f"{posts:,} post{'s' if posts > 1 else ''}"
        beside.text(0.07, -place - 0.36, counted, va="center", color=GREY, size=8)
        x, y = np.array(article.x), np.array(article.y)
        middle = int(np.argmin((x - np.median(x)) ** 2 + (y - np.median(y)) ** 2))
        axis.annotate(
            number,
            (x[middle], y[middle]),
            (9, 9),
            textcoords="offset points",
            weight="bold",
            size=8,
            ha="center",
            va="center",
            bbox={"boxstyle": "circle,pad=0.2", "facecolor": "white", "edgecolor": color, "alpha": 0.9},
        )
    axis.set_title("t-SNE of post vectors")
    axis.set(xticks=[], yticks=[])
    axis.grid(visible=False)
    beside.set(xlim=(0, 1), ylim=(-max(len(numbers.articles), 6) + 0.3, 0.6))
    beside.set_title("posts of")
    beside.axis("off")
    return figure
