"""Explain scores: which words of the article and of the post contributed.

An explanation depends on the article, the post, the model and all posts that were scored, not on which posts are shown.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from itertools import permutations
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from linker.common.text_keys import keys_of
from linker.data.languages import language_code, language_of
from linker.data.types import Article, Post
from linker.models.features.content_words import Span, WordWeights, align, is_content_word, words_of
from linker.models.features.feature import Share
from linker.models.features.postings import bm25_idf
from linker.models.features.table import PostTable
from linker.models.model import Model
from linker.models.score_scale import UNSCALED, ScoreScale

#: The start of the points of a score.
AVERAGE = "average_post"
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
        points: `average_post` → the score of the average of all posts; then those of `text_similarity`, `shared_words`
            and `date` that the model considers → the points that they add to it or, below 0, take from it. The sum
            is the post's score.
    """

    article_words: WordWeights
    post_words: WordWeights
    post_spans: list[Span]
    points: Mapping[str, float] = MappingProxyType({})

    @property
    def article_line(self) -> str:
        """Return the article words with their weights as text."""
        return printable(", ".join(f"{word} {weight:.3f}" for word, weight in self.article_words)) or "none"

    @property
    def decided_by(self) -> str:
        """Return the points as text, such as `average post 12.0, text similarity +31.2, date −5.1 = 38.1`."""
        if not self.points:
            return ""
        total = round(10 * round(sum(self.points.values()), 1))
        tenths = {name: round(10 * points) for name, points in self.points.items()}
        # So that the rounded numbers add up, too.
        tenths[max(self.points, key=lambda name: abs(self.points[name]))] += total - sum(tenths.values())
        first, *others = ((name.replace("_", " "), value / 10) for name, value in tenths.items())
        terms = [f"{name} {'+' if value >= 0 else '−'}{abs(value):.1f}" for name, value in others]
        return f"{', '.join([f'{first[0]} {first[1]:.1f}', *terms])} = {total / 10:.1f}"


class Explainer:
    """Explains the scores of posts of a table.

    Args:
        model, table, articles: the model, all posts that it scored, and the articles as they were scored.
        encode: explain by embeddings, too: about ten more texts to encode per post.
        scale: the map of raw scores to those that users see.
    """

    def __init__(
        self,
        model: Model,
        table: PostTable,
        articles: Sequence[Article],
        encode: bool = True,
        scale: ScoreScale = UNSCALED,
    ) -> None:
        self._model = model.suited_to(articles, table.languages(None))
        self._table, self._articles, self._encode, self._scale = table, articles, encode, scale
        self._languages = {language_of(article) for article in articles}

    def __call__(self, rows: np.ndarray, posts: Sequence[Post]) -> list[Explanation] | None:
        """Explain the scores of the posts in some rows; None if the model cannot be explained."""
        explanations = self.words(posts)
        if explanations is None:
            return None
        return [one._replace(points=points) for one, points in zip(explanations, self._points(rows))]

    def words(self, posts: Sequence[Post]) -> list[Explanation] | None:
        """Explain the scores of posts without points, which need the scores of other posts; None as in `__call__`."""
        contributions = {
            feature: of_posts
            for feature in self._model.features()
            if self._encode or not feature.slow_to_explain
            if (of_posts := feature.contributions(self._table, self._articles, posts)) is not None
        }
        of_posts = self._model.parts_by_word(contributions, self._articles)
        if of_posts is None:
            return None
        return [self._explanation(words, post) for words, post in zip(of_posts, posts)]

    def _explanation(self, carried: dict[str, float], post: Post) -> Explanation:
        language = language_of(Article("", post.text, language=language_code(post.language or "")))
        words, languages = words_of(post.text), {language, *self._languages}
        count = Counter(words)
        weights = [(word, max(carried.get(word, 0.0), 0.0) / count[word]) for word in words]
        content = {word for word, weight in weights if weight > 0 and is_content_word(word, languages)}
        heavy = [(word, weight) for word, weight in weights if word in content]
        return Explanation(self._article_words, heavy, _spans(post.text, weights, content))

    @cached_property
    def _article_words(self) -> WordWeights:
        """Weigh the content words of the articles that occur in posts; rare words weigh more."""
        totals: defaultdict[str, float] = defaultdict(float)
        postings = self._table.postings("english")
        for article in self._articles:
            languages = [language_of(article)]
            counts = Counter(word for word in words_of(article.full_text) if is_content_word(word, languages))
            idf = bm25_idf(postings.posts, postings.containing(keys_of(list(counts))[:, 0]))
            weights = (1 + np.log(np.array([*counts.values()], dtype=np.float64))) * idf
            whole = weights.sum() or 1
            for word, weight in zip(counts, weights.tolist()):
                totals[word] += weight / whole / len(self._articles)
        found = [(word, weight) for word, weight in totals.items() if weight > 0]
        return sorted(found, key=lambda item: (-item[1], item[0]))[:_ARTICLE_WORDS]

    def _points(self, rows: np.ndarray) -> list[dict[str, float]]:
        """Return the points of the parts of scores, as `Explanation` has them: Shapley values from the average post.

        A part's points are what it adds to the score when the parts are added one by one, the mean over all orders.
        """
        average = np.arange(0, len(self._table), max(1, -(-len(self._table) // _COMPARED)))
        if self._model.separable(self._articles):
            some, at = np.unique(np.concatenate([rows, average]), return_inverse=True)
            (raw, parts), rows, average = self._parts(some), at[: len(rows)], at[len(rows) :]
        else:
            raw, parts = self._parts_of_all
        moved = np.stack([part[rows] - part[average].mean() for part in parts.values()])  # parts × rows
        start = raw[rows] - moved.sum(axis=0)
        points, orders = np.zeros(moved.shape), [*permutations(range(len(moved)))]
        for order in orders:
            before = start
            for part in order:
                points[part] += self._scale(before + moved[part]) - self._scale(before)
                before = before + moved[part]
        columns = np.vstack([self._scale(start), points / len(orders)]).T.tolist()
        return [dict(zip((AVERAGE, *parts), column)) for column in columns]

    @cached_property
    def _parts_of_all(self) -> tuple[np.ndarray, dict[Share, np.ndarray]]:
        return self._parts(None)

    def _parts(self, rows: np.ndarray | None) -> tuple[np.ndarray, dict[Share, np.ndarray]]:
        """Return the raw scores of some posts and their parts, means over the articles: float64, one per post."""
        scores = {f: f.scores(self._table, self._articles, rows) for f in self._model.features()}
        raw = self._model.combine(scores, self._articles).mean(axis=0, dtype=np.float64)
        parts = self._model.parts_by_kind(scores, self._articles)
        return raw, {share: part.mean(axis=0, dtype=np.float64) for share, part in parts.items()}


def _spans(text: str, weights: WordWeights, content: Set[str]) -> list[Span]:
    """Return the spans of content words with at least the mean weight, without overlaps."""
    share = sum(weight for _, weight in weights) / max(len(weights), 1)
    places = align(text, [token for token, _ in weights])
    spans = sorted(
        place
        for place, (word, weight) in zip(places, weights)
        if place and weight >= share and word in content
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
