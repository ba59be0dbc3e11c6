"""BM25: the sum over shared words, rare words counting more."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from linker.common.checks import at_least, between
from linker.data.types import Article, Post
from linker.models.features.feature import WORDS, Contributions, Feature
from linker.models.features.postings import Postings, Segment, bm25_idf, query_words
from linker.models.features.table import PostTable
from linker.models.features.words import StopWords, lexical_words
from linker.models.model import Model
from linker.models.score_scale import ScoreScale

#: BM25 score that users see as 50: about the median of linked posts (decision 169).
_HALF = 0.4


@Model.register("bm25")
class BM25Model(Model):
    """BM25 (Lucene's variant) with the article as the query and the posts as documents; scores ≥ 0.

    Articles are far longer than the queries that BM25 was designed for, so a word that occurs n times in the article
    has the weight 1 + ln n, not n. The sum is divided by the square root of Σ weight × idf over the article's words.
    This makes scores of long and short articles comparable and keeps each article's ranking.

    Paper: Kamphuis et al. 2020, https://doi.org/10.1007/978-3-030-45442-5_4

    Args:
        k1: saturation of a word's frequency in a post, ≥ 0; at 0 only presence counts.
        b: length normalization, 0 (none) to 1 (full).
        stop_words: `english` removes English function words, `none` keeps all words.
    """

    def __init__(self, k1: float = 1.5, b: float = 0.75, stop_words: StopWords = "english") -> None:
        at_least(0, k1=k1)
        between(0, 1, b=b)
        self.k1 = k1
        self.b = b
        self.stop_words: StopWords = stop_words

    @override
    def score_scale(self) -> ScoreScale:
        return ScoreScale("sum", width=_HALF)

    @override
    def features(self) -> Sequence[Feature]:
        return [BM25Words(self.stop_words, self.k1, self.b)]

    @override
    def separable(self, articles: Sequence[Article]) -> bool:
        return True


@dataclass(frozen=True)
class BM25Words(Feature):
    """Words of a post, scored by BM25; see `BM25Model` for the attributes."""

    stop_words: str
    k1: float
    b: float
    share = WORDS

    @override
    def stop_words_for(self, articles: Sequence[Article]) -> Sequence[str]:
        return [self.stop_words]

    def scores(
        self, table: PostTable, articles: Sequence[Article], rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return BM25 scores: float32, articles × rows."""
        postings = table.postings(self.stop_words)
        scores = np.empty((len(articles), postings.posts), dtype=np.float32)
        for of_article, article in zip(scores, articles):
            _, keys, weights = _query(postings, article)
            of_segments = zip(postings.segments, *postings.spans(keys))
            parts = [self._of_segment(postings, weights, *of_segment) for of_segment in of_segments]
            of_article[:] = np.concatenate([np.zeros(0), *parts])
        return scores if rows is None else scores[:, rows]

    def _of_segment(
        self,
        postings: Postings,
        weights: np.ndarray,
        segment: Segment,
        ranges: np.ndarray,
        repeats: np.ndarray,
    ) -> np.ndarray:
        """Return the scores of a segment's posts, summed in float64, word by word: equal posts get equal sums."""
        norms = self.k1 * ((1 - self.b) + self.b * segment.lengths / postings.mean_length)
        places, (which, again, counts) = segment.posts_in(*ranges.T), segment.repeated_in(repeats)
        once = np.repeat(weights, ranges[:, 1] - ranges[:, 0]) / (norms[places] + 1)
        more = weights[which] * (counts / (norms[again] + counts) - 1 / (norms[again] + 1))
        rows = len(norms)
        return segment.of_live(np.bincount(places, once, rows) + np.bincount(again, more, rows))

    def contributions(
        self, table: PostTable, articles: Sequence[Article], posts: Sequence[Post]
    ) -> Contributions:
        """Return the words that posts share with the articles, with their parts of the mean score."""
        postings = table.postings(self.stop_words)
        weights: defaultdict[str, float] = defaultdict(float)
        for article in articles:
            words, _, of_article = _query(postings, article)
            for word, weight in zip(words, of_article.tolist()):
                weights[word] += weight / len(articles)
        return [self._terms(postings, weights, post.text) for post in posts]

    def _terms(self, postings: Postings, weights: Mapping[str, float], text: str) -> dict[str, float]:
        words = lexical_words(text, self.stop_words)
        norm = self.k1 * ((1 - self.b) + self.b * len(words) / postings.mean_length)
        return {
            word: float(weights[word] * times / (norm + times))
            for word, times in Counter(words).items()
            if weights.get(word, 0) > 0
        }


def _query(postings: Postings, article: Article) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the words of an article, their keys, and their weights: (1 + ln n) · idf, normalized."""
    words, keys, weights = query_words(article.full_text, postings.stop_words)
    idf = bm25_idf(postings.counted, postings.containing(keys))
    scale = np.sqrt(weights @ np.where(postings.known(keys), idf, 0.0)) or 1.0  # 0: no post has any of them
    return words, keys, weights * idf / scale
