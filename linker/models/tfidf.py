"""TF-IDF: cosines of words, fitted on all posts and the article."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from typing_extensions import override

from linker.common.checks import at_least
from linker.common.concurrency import in_threads
from linker.common.text_keys import keys_of
from linker.data.languages import language_of
from linker.data.types import Article, Post
from linker.models.features.feature import WORDS, Contributions, Feature
from linker.models.features.postings import Postings, Segment, query_words, tfidf_idf
from linker.models.features.table import PostTable
from linker.models.features.words import CHARACTERS, StopWords, lexical_words, runs_of
from linker.models.model import Model
from linker.models.score_scale import ScoreScale
from linker.modules.kernels.scoring import TfidfArrays, available, tfidf

# Scored by one thread at a time.
_SEGMENTS = 8


@Model.register("tfidf")
class TfidfModel(Model):
    """Cosine of sublinear TF-IDF vectors (0 to 1), fitted for each article on that article and the posts.

    Words that occur in one text only match nothing; they are left out, so that they do not dilute its vector.

    By cosine, the shortest posts rank too high: a post that only repeats the two words of a query outranks every post
    that says something about them. With `min_words`, the length of a post's vector is at least that of the given number
    of rarest words, which lowers the scores of short posts (decision 205).

    Paper: Singhal et al. 1996, https://doi.org/10.1145/243199.243206

    Args:
        stop_words: `english` removes English function words, `none` keeps all words, `by_language` removes those of
            the article's language from the article and the posts (English ones if it is unknown).
        terms: what is matched. `characters`: every four adjacent characters of a word, function words included, so that
            other forms of a word match (decision 170).
        min_words: length that the vector of a post has at least, as a number of words that occur in one text only, ≥ 0;
            at 0, scores are cosines.
    """

    keys_without_weights = frozenset({"min_words"})

    def __init__(
        self,
        stop_words: StopWords | Literal["by_language"] = "english",
        min_words: int = 0,
        terms: Literal["words", "characters"] = "words",
    ) -> None:
        at_least(0, min_words=min_words)
        self.stop_words = CHARACTERS if terms == "characters" else stop_words
        self.min_words = min_words

    @override
    def score_scale(self) -> ScoreScale:
        return ScoreScale("similarity")

    @override
    def features(self) -> Sequence[Feature]:
        return [TfidfWords(self.stop_words, self.min_words)]

    @override
    def separable(self, articles: Sequence[Article]) -> bool:
        return True


@dataclass(frozen=True)
class TfidfWords(Feature):
    """Words of a post, scored by TF-IDF; see `TfidfModel` for the attributes."""

    stop_words: str
    min_words: int
    share = WORDS

    def stop_words_for(self, articles: Sequence[Article]) -> Sequence[str]:
        """Return the stop words of the articles' languages if they differ by language."""
        if self.stop_words != "by_language":
            return [self.stop_words]
        languages = dict.fromkeys(map(language_of, articles))
        return ["english" if language in (None, "en") else language for language in languages]

    def scores(
        self, table: PostTable, articles: Sequence[Article], rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return cosines: float32, articles × rows, 0 to 1."""
        scores = np.empty((len(articles), len(table)), dtype=np.float32)
        for row, query in enumerate(self._queries(table, articles)):
            scores[row] = query.scores()
        return scores if rows is None else scores[:, rows]

    @override
    def scores_together(self, table: PostTable, articles: Sequence[Article]) -> np.ndarray:
        """Return cosines fitted on the posts and all articles with the same stop words: float32, articles × posts."""
        scores = np.empty((len(articles), len(table)), dtype=np.float32)
        of_each = [self.stop_words_for([article])[0] for article in articles]
        for stop_words in dict.fromkeys(of_each):
            rows = [row for row, name in enumerate(of_each) if name == stop_words]
            postings = table.postings(stop_words).fitted_to([articles[row].full_text for row in rows])
            for row in rows:
                scores[row] = TfidfQuery(postings, articles[row], self.min_words).scores()[: len(table)]
        return scores

    def contributions(
        self, table: PostTable, articles: Sequence[Article], posts: Sequence[Post]
    ) -> Contributions:
        """Return the words that posts share with the articles, with their parts of the mean cosine."""
        queries = self._queries(table, articles)
        found: Contributions = []
        for post in posts:
            mean: defaultdict[str, float] = defaultdict(float)
            for query in queries:
                for word, part in self._by_word(post.text, query.terms(post.text)).items():
                    mean[word] += part / len(articles)
            found.append(dict(mean))
        return found

    def _by_word(self, text: str, parts: dict[str, float]) -> dict[str, float]:
        """Return the parts of words; parts of characters are added up in the words that contain them."""
        if self.stop_words != CHARACTERS:
            return parts
        words = lexical_words(text, "none")
        times = Counter(run for word in words for run in runs_of(word))
        by_word: defaultdict[str, float] = defaultdict(float)
        for word in words:
            by_word[word] += sum(parts.get(run, 0.0) / times[run] for run in runs_of(word))
        return {word: part for word, part in by_word.items() if part}

    def _queries(self, table: PostTable, articles: Sequence[Article]) -> list[TfidfQuery]:
        return [
            TfidfQuery(table.postings(self.stop_words_for([article])[0]), article, self.min_words)
            for article in articles
        ]


class TfidfQuery:
    """TF-IDF fitted on all posts of a table and on one article.

    Document frequencies count both. The lengths of the posts' vectors without the article's counts are computed once
    per table, `Postings.squares`; each query changes those of the posts that contain a word of the article.
    """

    def __init__(self, postings: Postings, article: Article, min_words: int) -> None:
        added = postings.added_texts
        self._postings, self._texts = postings, postings.counted + added
        # The length of `min_words` words of a single text, as a number of float32.
        self._least = float(np.float32(min_words * (np.log((1 + self._texts) / 2) + 1) ** 2))
        self._words, keys, frequencies = query_words(article.full_text, postings.stop_words)
        self._spans = postings.spans(keys)
        containing = np.maximum(postings.containing(keys, self._spans), postings.least_count)
        idf, before = tfidf_idf(self._texts, added + containing), tfidf_idf(self._texts, containing)
        self._weights = frequencies * idf
        known = self._weights[postings.known(keys)]
        self._length = float(np.sqrt(known @ known)) or 1.0
        # What each word adds to a post: parts of the product, which count 1 + ln n times, and changes of the squared
        # length, which count its square times: float64, 2 × words.
        self._of_words = np.array([self._weights * idf / self._length, idf**2 - before**2])

    def scores(self) -> np.ndarray:
        """Return the cosines of all posts with the article: float32, 0 to 1."""
        postings, spans, first = self._postings, self._spans, self._postings.first_rows.tolist()
        scores = np.empty(first[-1], dtype=np.float32)

        def fill_from(begin: int) -> None:
            end = min(begin + _SEGMENTS, len(first) - 1)
            some, rows = slice(begin, end), slice(first[begin], first[end])
            of_some = (postings.addresses[some], spans.ranges[some], spans.repeats[some], self._of_words)
            tables, squares = postings.repetition_tables, postings.squares[rows]
            tfidf(TfidfArrays(*of_some, tables, squares, self._least), scores[rows])

        if available():
            in_threads(fill_from, range(0, len(first) - 1, _SEGMENTS))
        else:
            for segment, ranges, repeats, begin in zip(postings.segments, *spans, first):
                rows = slice(begin, begin + len(segment.lengths))
                scores[rows] = self._cosines(segment, ranges, repeats, postings.squares[rows])
        return postings.of_live(scores)

    def _cosines(
        self, segment: Segment, ranges: np.ndarray, repeats: np.ndarray, squares: np.ndarray
    ) -> np.ndarray:
        """Return the cosines of the rows of a segment, as the native library computes them: float64.

        The numbers of words are added up in alphabetical order for every post, so that equal posts get equal sums.
        """
        places, (which, again, counts) = segment.posts_in(*ranges.T), segment.repeated_in(repeats)
        lengths, sums = ranges[:, 1] - ranges[:, 0], []
        for of_words, table in zip(self._of_words, self._postings.repetition_tables):
            once = np.bincount(places, np.repeat(of_words, lengths), minlength=len(squares))
            sums.append(once + np.bincount(again, of_words[which] * table[counts], minlength=len(squares)))
        products, added = sums
        norms = np.sqrt(np.maximum(squares + added, self._least))
        norms[products == 0] = 1
        return np.asarray(products / norms)

    def terms(self, text: str) -> dict[str, float]:
        """Return the words that a post shares with the article, and their parts of the cosine."""
        of_article = dict(zip(self._words, (self._weights / self._length).tolist()))
        count = Counter(lexical_words(text, self._postings.stop_words))
        words = sorted(count)
        keys = keys_of(words)[:, 0]
        containing = np.maximum(self._postings.containing(keys), self._postings.least_count)
        containing += self._postings.added_texts * np.array(
            [word in of_article for word in words], dtype=np.int64
        )
        idf = tfidf_idf(self._texts, containing)
        weights = np.array([1 + np.log(count[word]) for word in words]) * idf
        weights /= np.sqrt(max(weights @ weights, self._least)) or 1
        parts = weights * np.array([of_article.get(word, 0.0) for word in words])
        return {word: float(part) for word, part in zip(words, parts) if part > 0}
