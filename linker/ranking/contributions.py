"""Contribution of each word of a post to its score, for models that can be explained."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from linker.data.types import Article, Post
from linker.models.lexical import lexical_words
from linker.models.model import Model
from linker.ranking.words import Span, align, is_content_word

if TYPE_CHECKING:
    from linker.models.ensemble import EnsembleModel

_MOST_WORDS = 24
"""Words of a post that are left out one by one to measure their contribution."""

Carried = list[dict[str, float]]
"""For each post: word → its contribution to the score."""


@runtime_checkable
class SharesTerms(Protocol):
    """A model whose scores are sums over the words that article and post share (BM25, TF-IDF)."""

    def shared_terms(
        self, articles: Sequence[Article], posts: Sequence[Post], chosen: Sequence[int]
    ) -> list[dict[str, float]]:
        """Return for each chosen post: shared word → its part of the score, the mean over the articles."""


class Statistics(Protocol):
    """Statistics of all posts that were scored."""

    def terms(self, part: SharesTerms, posts: Sequence[Post]) -> Carried:
        """Return for each post: word shared with the articles → its part of this model's score."""

    def rarity(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return (1 + ln n) · idf of words that occur n times in an article, if they occur in posts."""

    def article_vectors(self, model: Model) -> np.ndarray | None:
        """Return the embeddings of the articles by a part of the model; None if it has none."""

    def shortened_vectors(self, model: Model, post: Post) -> np.ndarray | None:
        """Return the embeddings of a post and of its text without each of its content words, see `shortened`."""


class PostsStatistics:
    """Statistics of posts in memory.

    Args:
        articles: the query.
        posts: all posts.
        chosen: indices of the posts to explain.
    """

    def __init__(self, articles: Sequence[Article], posts: Sequence[Post], chosen: Sequence[int]) -> None:
        self._articles, self._posts, self._chosen = articles, posts, chosen

    def terms(self, part: SharesTerms, posts: Sequence[Post]) -> Carried:
        """Return `Statistics.terms` of the chosen posts."""
        return part.shared_terms(self._articles, self._posts, self._chosen)

    def rarity(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return `Statistics.rarity`."""
        containing: Counter[str] = Counter()
        for post in self._posts:
            containing.update(counts.keys() & set(words_of(post.text)))
        return rarity(counts, containing, len(self._posts))

    def article_vectors(self, model: Model) -> np.ndarray | None:
        """Return `Statistics.article_vectors`."""
        return model.article_vectors(self._articles)

    def shortened_vectors(self, model: Model, post: Post) -> np.ndarray | None:
        """Return `Statistics.shortened_vectors`."""
        return model.post_vectors(shortened(post.text).posts)


def rarity(counts: Mapping[str, int], containing: Mapping[str, int], posts: int) -> dict[str, float]:
    """Return (1 + ln n) · ln(1 + (N − df + 0.5) / (df + 0.5)) of words: n times in an article, in df > 0 of N posts."""
    return {
        word: float((1 + np.log(count)) * np.log1p((posts - df + 0.5) / (df + 0.5)))
        for word, count in counts.items()
        if (df := containing.get(word, 0))
    }


def words_of(text: str) -> list[str]:
    """Return all words of a text, in order, as lexical models match them."""
    return lexical_words(text, "none")


def contributions(
    model: object,
    articles: Sequence[Article],
    posts: Sequence[Post],
    statistics: Statistics,
    encode: bool = True,
) -> Carried | None:
    """Return for each post: word → its contribution to the score; None if the model cannot be explained.

    Scores that are sums over words, as of BM25, are divided exactly. For models with embeddings it is the loss of score
    when the word is left out of the post (content words only; may be negative). Ensembles add up the contributions in
    their members, weighted; if they standardize scores, contributions are normalized, and those of a post add up to 1.

    Args:
        model: the model that scored the posts.
        articles: the query.
        posts: the posts to explain.
        statistics: word statistics of all posts.
        encode: explain models with embeddings, too: each content word of a post is one more text to encode.
    """
    if isinstance(model, SharesTerms):
        return statistics.terms(model, posts)
    # Imported late: lexical models need neither SciPy nor torch.
    from linker.models.article_softmax import ArticleSoftmaxModel
    from linker.models.bundled_word_vectors import BundledWordVectorsModel
    from linker.models.ensemble import EnsembleModel

    if isinstance(model, ArticleSoftmaxModel):
        inner = contributions(model.model, articles, posts, statistics, encode)
        return inner and [_times(carried, 1 / model.temperature) for carried in inner]
    if isinstance(model, EnsembleModel):
        return _together(model, articles, posts, statistics, encode)
    if isinstance(model, BundledWordVectorsModel):
        return contributions(model.vectors, articles, posts, statistics, encode)
    if encode and isinstance(model, Model) and type(model).post_vectors is not Model.post_vectors:
        return _left_out(model, articles, posts, statistics)
    return None


def _together(
    model: EnsembleModel,
    articles: Sequence[Article],
    posts: Sequence[Post],
    statistics: Statistics,
    encode: bool,
) -> Carried | None:
    of_parts = [contributions(part, articles, posts, statistics, encode) for part in model.submodels()]
    # Contributions are means over the articles, and so are the weights where articles have different ones.
    of_each = model.weights_for(articles)
    same = all(weights == of_each[0] for weights in of_each)
    weights = of_each[0] if same else [sum(column) / len(of_each) for column in zip(*of_each)]
    known = [(part, weight) for part, weight in zip(of_parts, weights) if part is not None]
    if not known:
        return None
    total = sum(abs(weight) for _, weight in known) or 1
    together: Carried = []
    for place in range(len(posts)):
        words: defaultdict[str, float] = defaultdict(float)
        for part, weight in known:
            carried_here = part[place]
            if model.fusion != "sum":
                carried_here = {word: carried for word, carried in carried_here.items() if carried > 0}
                weight = weight / total / (sum(carried_here.values()) or 1)
            for word, carried in carried_here.items():
                words[word] += weight * carried
        together.append(dict(words))
    return together


def _times(carried: dict[str, float], factor: float) -> dict[str, float]:
    return {word: factor * part for word, part in carried.items()}


def _left_out(
    model: Model, articles: Sequence[Article], posts: Sequence[Post], statistics: Statistics
) -> Carried:
    """Return the loss of score of each post without each of its content words, the mean over the articles."""
    carried = []
    vectors = statistics.article_vectors(model)  # once: an article takes longer to encode than a post
    # Post by post: the last bits of an embedding may depend on what is encoded with it, an explanation must not.
    for post in posts:
        without = None if vectors is None else statistics.shortened_vectors(model, post)
        if vectors is None or without is None:
            scores = model.score_independently(articles, shortened(post.text).posts)
        else:
            scores = model.similarities(vectors, without)
        means = scores.mean(axis=0, dtype=np.float64)
        carried.append(dict(zip(shortened(post.text).words, (means[0] - means[1:]).tolist())))
    return carried


class Shortened(NamedTuple):
    """A text, whole and without each of its content words.

    Attributes:
        words: the content words.
        posts: the whole text, followed by one text for each word.
    """

    words: Sequence[str]
    posts: Sequence[Post]


@lru_cache(maxsize=1_000)
def shortened(text: str) -> Shortened:
    """Return a text without each of its content words, all occurrences of it."""
    words = words_of(text)
    content = [word for word in dict.fromkeys(words) if is_content_word(word)][:_MOST_WORDS]
    spans: dict[str, list[Span]] = {word: [] for word in words}
    for word, span in zip(words, align(text, words)):
        if span:
            spans[word].append(span)
    texts = [text, *(_without(text, spans[word]) for word in content)]
    return Shortened(content, [Post(str(i), one) for i, one in enumerate(texts)])


def _without(text: str, spans: Sequence[Span]) -> str:
    # In one pass, since a post may repeat a word a million times.
    begins = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), len(text)]
    return "".join(text[begin:end] for begin, end in zip(begins, ends))
