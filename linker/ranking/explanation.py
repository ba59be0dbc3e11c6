"""Explain scores: which words of the article and of the post contributed.

An explanation depends on the article, the post, the model and all posts that were scored, not on which posts are shown.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from linker.common.text_keys import keys_of
from linker.data.types import Article, Post
from linker.models.features.content_words import Span, WordWeights, align, is_content_word, words_of
from linker.models.features.feature import Share
from linker.models.features.postings import bm25_idf
from linker.models.features.table import PostTable
from linker.models.model import Model

#: Posts whose mean others are compared with, evenly spaced.
_COMPARED = 10_000
_ARTICLE_WORDS = 20
# Posts are untrusted: remove escape sequences, line breaks and changes of text direction.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Explanation(NamedTuple):
    """Words that contributed to the score of a post, and the parts of the score.

    Attributes:
        article_words: up to 20 content words of the articles with weights, heaviest first; the same for all posts.
            Weights are (1 + ln n) · idf for n occurrences in the article, idf over all posts, and add up to 1 over all
            words.
        post_words: the post's content words, in order, with their contributions to the raw score; only those above 0.
        post_spans: (start, end) of the content words in the post that contributed at least the mean over its words.
        shares: `text_similarity`, `shared_words` and `date`, those that the model considers → whole percentages of the
            difference to the average of all posts. Absolute values add up to 100; negative ones lowered the score.
    """

    article_words: WordWeights
    post_words: WordWeights
    post_spans: list[Span]
    shares: Mapping[str, int] = MappingProxyType({})

    @property
    def article_line(self) -> str:
        """Return the article words with their weights as text."""
        return printable(", ".join(f"{word} {weight:.3f}" for word, weight in self.article_words)) or "none"

    @property
    def decided_by(self) -> str:
        """Return the shares as text, such as `text similarity 70 %, shared words 20 %, date 10 % against it`."""
        return ", ".join(
            f"{name.replace('_', ' ')} {abs(value)} %{' against it' if value < 0 else ''}"
            for name, value in self.shares.items()
        )


class Explainer:
    """Explains the scores of posts of a table.

    Args:
        model: the model that scored the posts.
        table: all posts that were scored.
        articles: the articles as they were scored.
        encode: explain by embeddings, too: about ten more texts to encode per post.
    """

    def __init__(
        self, model: Model, table: PostTable, articles: Sequence[Article], encode: bool = True
    ) -> None:
        self._model = model.suited_to(articles, table.languages(None))
        self._table, self._articles, self._encode = table, articles, encode

    def __call__(self, rows: np.ndarray, posts: Sequence[Post]) -> list[Explanation] | None:
        """Explain the scores of the posts in some rows; None if the model cannot be explained."""
        explanations = self.words(posts)
        if explanations is None:
            return None
        return [one._replace(shares=shares) for one, shares in zip(explanations, self._shares(rows))]

    def words(self, posts: Sequence[Post]) -> list[Explanation] | None:
        """Explain the scores of posts without shares, which need the scores of other posts; None as in `__call__`."""
        contributions = {
            feature: of_posts
            for feature in self._model.features()
            if self._encode or not feature.slow_to_explain
            if (of_posts := feature.contributions(self._table, self._articles, posts)) is not None
        }
        of_posts = self._model.parts_by_word(contributions, self._articles)
        if of_posts is None:
            return None
        return [_explanation(self._article_words, words, post) for words, post in zip(of_posts, posts)]

    @cached_property
    def _article_words(self) -> WordWeights:
        """Weigh the content words of the articles that occur in posts; rare words weigh more."""
        totals: defaultdict[str, float] = defaultdict(float)
        postings = self._table.postings("english")
        for article in self._articles:
            counts = Counter(word for word in words_of(article.full_text) if is_content_word(word))
            idf = bm25_idf(postings.posts, postings.containing(keys_of(list(counts))[:, 0]))
            weights = (1 + np.log(np.array([*counts.values()], dtype=np.float64))) * idf
            whole = weights.sum() or 1
            for word, weight in zip(counts, weights.tolist()):
                totals[word] += weight / whole / len(self._articles)
        return _heaviest(totals)

    def _shares(self, rows: np.ndarray) -> list[dict[str, int]]:
        """Return the shares of the parts of scores in the difference between each post and the average post."""
        average = np.arange(0, len(self._table), max(1, -(-len(self._table) // _COMPARED)))
        if self._model.separable(self._articles):
            some, at = np.unique(np.concatenate([rows, average]), return_inverse=True)
            parts, rows, average = self._parts(some), at[: len(rows)], at[len(rows) :]
        else:
            parts = self._parts_of_all
        means = {share: part[average].mean() for share, part in parts.items()}
        found = []
        for row in rows.tolist():
            moved = {share: float(part[row] - means[share]) for share, part in parts.items()}
            if sum(map(abs, moved.values())) < 1e-9:  # all posts are alike, or there is only one
                moved = {share: float(part[row]) for share, part in parts.items()}
            found.append(_percent(moved))
        return found

    @cached_property
    def _parts_of_all(self) -> dict[Share, np.ndarray]:
        return self._parts(None)

    def _parts(self, rows: np.ndarray | None) -> dict[Share, np.ndarray]:
        """Return the parts of the scores of some posts, the mean over the articles: float64, one per post."""
        scores = {f: f.scores(self._table, self._articles, rows) for f in self._model.features()}
        parts = self._model.parts_by_kind(scores, self._articles)
        return {share: part.mean(axis=0, dtype=np.float64) for share, part in parts.items()}


def _percent(moved: Mapping[Share, float]) -> dict[str, int]:
    """Return whole percentages, signed, whose absolute values add up to 100, by the largest remainders."""
    total = sum(map(abs, moved.values()))
    if not total:
        return dict.fromkeys(moved, 0)
    exact = {share: 100 * abs(value) / total for share, value in moved.items()}
    whole = {share: int(value) for share, value in exact.items()}
    by_remainder = sorted(exact, key=lambda share: (whole[share] - exact[share], share))
    for share in by_remainder[: 100 - sum(whole.values())]:
        whole[share] += 1
    return {share: -value if moved[share] < 0 else value for share, value in whole.items()}


def _explanation(article_words: WordWeights, carried: dict[str, float], post: Post) -> Explanation:
    words = words_of(post.text)
    count = Counter(words)
    weights = [(word, max(carried.get(word, 0.0), 0.0) / count[word]) for word in words]
    return Explanation(article_words, _above_zero(weights), _spans(post.text, weights))


def _heaviest(weights: dict[str, float]) -> WordWeights:
    words = [(word, weight) for word, weight in weights.items() if weight > 0 and is_content_word(word)]
    return sorted(words, key=lambda item: (-item[1], item[0]))[:_ARTICLE_WORDS]


def _above_zero(weights: Iterable[tuple[str, float]]) -> WordWeights:
    return [(word, weight) for word, weight in weights if weight > 0 and is_content_word(word)]


def _spans(text: str, weights: WordWeights) -> list[Span]:
    """Return the spans of content words with at least the mean weight, without overlaps."""
    share = sum(weight for _, weight in weights) / max(len(weights), 1)
    places = align(text, [token for token, _ in weights])
    spans = sorted(
        place
        for place, (word, weight) in zip(places, weights)
        if place and 0 < weight >= share and is_content_word(word)
    )
    apart: list[Span] = []
    for start, end in spans:
        if not apart or start >= apart[-1][1]:
            apart.append((start, end))
        elif start > apart[-1][0] and end > apart[-1][1]:  # pairs of characters, of a script without spaces
            apart[-1] = (apart[-1][0], end)
    return apart


def printable(text: str) -> str:
    """Return untrusted text as one line without terminal escape sequences."""
    return _CONTROL.sub(" ", text)
