"""How much of a post's score each of its words carried, by any model that can tell."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from linker.data.types import Article, Post
from linker.models.lexical import lexical_words
from linker.models.model import Model
from linker.ranking.words import align, is_content_word

if TYPE_CHECKING:
    from linker.models.ensemble import EnsembleModel

_MOST_WORDS = 24
"""Of a post, that are left out one after the other."""

Carried = list[dict[str, float]]
"""For each post: word → how much of the score it carried."""


@runtime_checkable
class SharesTerms(Protocol):
    """A model whose scores are sums over the words that article and post share (BM25, TF-IDF)."""

    def shared_terms(
        self, articles: Sequence[Article], posts: Sequence[Post], chosen: Sequence[int]
    ) -> list[dict[str, float]]:
        """For each chosen post: shared word → its part of the score, the mean over the articles."""


class Pile(Protocol):
    """What is known of all posts that were scored."""

    def terms(self, part: SharesTerms, posts: Sequence[Post]) -> Carried:
        """The words that some posts share with the articles → their parts of this model's score."""

    def rarity(self, counts: Mapping[str, int]) -> dict[str, float]:
        """(1 + ln n) · idf of words that occur n times in an article; only those that occur in posts."""


class PostsPile:
    """A pile in memory.

    Args:
        articles: the query.
        posts: the pile.
        chosen: which posts are explained.
    """

    def __init__(self, articles: Sequence[Article], posts: Sequence[Post], chosen: Sequence[int]) -> None:
        self._articles, self._posts, self._chosen = articles, posts, chosen

    def terms(self, part: SharesTerms, posts: Sequence[Post]) -> Carried:
        """As `Pile.terms`; of the posts that were chosen."""
        return part.shared_terms(self._articles, self._posts, self._chosen)

    def rarity(self, counts: Mapping[str, int]) -> dict[str, float]:
        """As `Pile.rarity`."""
        containing: Counter[str] = Counter()
        for post in self._posts:
            containing.update(counts.keys() & set(words_of(post.text)))
        return rarity(counts, containing, len(self._posts))


def rarity(counts: Mapping[str, int], containing: Mapping[str, int], posts: int) -> dict[str, float]:
    """(1 + ln n) · ln(1 + (N − df + 0.5) / (df + 0.5)) of words with n in an article and df of N posts, df above 0."""
    return {
        word: float((1 + np.log(count)) * np.log1p((posts - df + 0.5) / (df + 0.5)))
        for word, count in counts.items()
        if (df := containing.get(word, 0))
    }


def words_of(text: str) -> list[str]:
    """All words of a text, in order, as lexical models match them."""
    return lexical_words(text, "none")


def contributions(
    model: object, articles: Sequence[Article], posts: Sequence[Post], pile: Pile, encode: bool = True
) -> Carried | None:
    """For each post: word → the part of its score that it carried; None if the model cannot tell.

    Sums over words, as of BM25, are taken apart exactly. Of models with vectors it is how much the score falls when the
    word is left out of the post (content words only; may be negative). A model made of others adds theirs up, with its
    weights; where it standardizes their scores, their shares are weighed, and the words of a post add up to 1.

    Args:
        model: what scored.
        articles: the query.
        posts: to be explained.
        pile: what is known of all posts.
        encode: ask models with vectors, too; each content word of a post is one more text to be encoded.
    """
    if isinstance(model, SharesTerms):
        return pile.terms(model, posts)
    # Only now: lexical models alone need neither SciPy nor torch.
    from linker.models.article_softmax import ArticleSoftmaxModel
    from linker.models.bundled_word_vectors import BundledWordVectorsModel
    from linker.models.ensemble import EnsembleModel

    if isinstance(model, ArticleSoftmaxModel):
        inner = contributions(model.model, articles, posts, pile, encode)
        return inner and [_times(own, 1 / model.temperature) for own in inner]
    if isinstance(model, EnsembleModel):
        return _together(model, articles, posts, pile, encode)
    if isinstance(model, BundledWordVectorsModel):
        return contributions(model.vectors, articles, posts, pile, encode)
    if encode and isinstance(model, Model) and type(model).post_vectors is not Model.post_vectors:
        return _left_out(model, articles, posts)
    return None


def _together(
    model: EnsembleModel, articles: Sequence[Article], posts: Sequence[Post], pile: Pile, encode: bool
) -> Carried | None:
    of_parts = [contributions(part, articles, posts, pile, encode) for part in model.submodels()]
    told = [(own, weight) for own, weight in zip(of_parts, model.weights) if own is not None]
    if not told:
        return None
    total = sum(abs(weight) for _, weight in told) or 1
    together: Carried = []
    for place in range(len(posts)):
        words: defaultdict[str, float] = defaultdict(float)
        for part, weight in told:
            own = part[place]
            if model.fusion != "sum":
                own = {word: carried for word, carried in own.items() if carried > 0}
                weight = weight / total / (sum(own.values()) or 1)
            for word, carried in own.items():
                words[word] += weight * carried
        together.append(dict(words))
    return together


def _times(carried: dict[str, float], factor: float) -> dict[str, float]:
    return {word: factor * part for word, part in carried.items()}


def _left_out(model: Model, articles: Sequence[Article], posts: Sequence[Post]) -> Carried:
    """The loss of score of each post without each of its content words, the mean over the articles."""
    words = [_content_words(post.text) for post in posts]
    texts = [post.text for post in posts]
    texts += [_without(post.text, word) for post, own in zip(posts, words) for word in own]
    scores = model.score_independently(articles, [Post(str(i), text) for i, text in enumerate(texts)])
    means = scores.mean(axis=0, dtype=np.float64)
    carried, start = [], len(posts)
    for place, own in enumerate(words):
        lost = means[place] - means[start : start + len(own)]
        carried.append(dict(zip(own, lost.tolist())))
        start += len(own)
    return carried


def _content_words(text: str) -> list[str]:
    return [word for word in dict.fromkeys(words_of(text)) if is_content_word(word)][:_MOST_WORDS]


def _without(text: str, word: str) -> str:
    """The text without a word, wherever it stands."""
    words = words_of(text)
    spans = [span for span, own in zip(align(text, words), words) if span and own == word]
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    return text
