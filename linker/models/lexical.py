"""Lexical baselines: BM25 and TF-IDF."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse
from typing_extensions import override

from linker.common.checks import at_least, between
from linker.data.characters import MARKS, folded, is_latin, plain
from linker.data.languages import function_words, language_of
from linker.data.tokenizers.patterns import WORD
from linker.data.types import Article, Post
from linker.models.independent_tfidf import independent_tfidf
from linker.models.model import Model, all_submodels
from linker.models.score_scale import ScoreScale
from linker.models.word_statistics import Statistics, WordStatistics, kept_statistics

ENGLISH = frozenset(
    """
    a an the this that these those each every either neither some any no all both few more most much
    many other another such own same several enough i me my mine myself you your yours yourself
    yourselves he him his himself she her hers herself it its itself we us our ours ourselves they them
    their theirs themselves one ones someone something anyone anything everyone everything nobody
    nothing none who whom whose which what whoever whatever whichever am is are was were be been being
    have has had having do does did doing done can could may might must shall should will would ought
    isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't couldn't won't wouldn't
    shouldn't mustn't cannot i'm i've i'll i'd you're you've you'll you'd he'll he'd she'll she'd it'll
    it'd we're we've we'll we'd they're they've they'll they'd that'll that'd who'll who'd there'll and
    or but nor so yet if unless because although though while whereas whether than as since until of in
    on at by for with about against between among into onto through during before after above below over
    under to from up down out off across along around behind beside besides beyond within without toward
    towards upon via per despite except like near not only just also too very even still again ever
    never always often then there here now when whenever where wherever why how however therefore thus
    hence else rather quite almost already perhaps maybe well
    """.split()  # noqa: SIM905
)


StopWords = Literal["english", "none"]

# Scripts whose words are not separated, Thai, Lao, Burmese, Khmer, Japanese, Chinese; and Hangul, whose words carry
# particles.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
#: A run of these scripts.
UNSPACED = re.compile(rf"[{_UNSPACED}]+")
_LINK_OR_MENTION = re.compile(rf"https?://[^\s{_UNSPACED}]+|www\.[^\s{_UNSPACED}]+|@\w+")
_HASHTAG = re.compile(rf"#({WORD})")
_HASHTAG_PART = re.compile(rf"[^\W\d_]?(?:[^\W\d_A-Z]|[{MARKS}])+|[A-Z]+(?![a-z])|\d+")
_LATIN_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_LETTERS = rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*"
_WORD = re.compile(rf"{_LETTERS}(?:'{_LETTERS})*")
_CHARACTER = re.compile(rf".[{MARKS}]*", re.DOTALL)
_ROWS_AT_ONCE = 256
#: BM25 score that users see as 50: about the median of linked posts (decision 169).
_BM25_HALF = 0.4


def lexical_words(text: str, stop_words: str = "english") -> list[str]:
    """Split a text into the lower-cased words that lexical models match, the same for all code points of a word.

    Links, mentions and the English genitive are removed. A hashtag counts as a whole and by its parts (#ClimateMarch
    gives climatemarch, climate and march). Scripts that do not separate words, such as Chinese, and Hangul give every
    pair of adjacent characters.

    Args:
        text: a text.
        stop_words: `english` removes English function words, `none` keeps all words. The ISO 639-1 code of another
            language removes its function words, and separates words at apostrophes (l'eau).
    """
    text = _LINK_OR_MENTION.sub(" ", plain(text))
    text = folded(_HASHTAG.sub(lambda tag: " ".join((tag[1], *_hashtag_parts(tag[1]))), text))
    if stop_words not in ("english", "none"):
        text = text.replace("'", " ")
    pattern = _LATIN_WORD
    if not is_latin(text):
        pattern, text = _WORD, UNSPACED.sub(_pairs, text)
    words = pattern.findall(text)
    if "'s" in text:
        words = [word.removesuffix("'s") for word in words]
    if stop_words == "none":
        return words
    removed = ENGLISH if stop_words == "english" else function_words(stop_words)
    return [word for word in words if word not in removed]


def _pairs(match: re.Match[str]) -> str:
    """Separate each pair of adjacent characters, with the marks of the second, from the others by spaces."""
    characters = _CHARACTER.findall(match[0])
    pairs = [first + second for first, second in pairwise(characters)] or characters
    return f" {' '.join(pairs)} "


def _hashtag_parts(tag: str) -> list[str]:
    parts = _HASHTAG_PART.findall(tag)
    return parts if len(parts) > 1 else []


class Vectors(NamedTuple):
    """Sparse vectors whose dot products are the scores.

    Attributes:
        articles: float32, articles × words.
        posts: float32, posts × words.
        words: the words, one per column.
    """

    articles: sparse.csr_matrix
    posts: sparse.csr_matrix
    words: list[str]


def _no_vectors(articles: int, posts: int) -> Vectors:
    empty = sparse.csr_matrix((articles + posts, 1), dtype=np.float32)
    return Vectors(empty[:articles], empty[articles:], [""])


def _shared_terms(
    articles: sparse.csr_matrix, posts: sparse.csr_matrix, words: list[str], chosen: Sequence[int]
) -> list[dict[str, float]]:
    query = sparse.csr_matrix(articles.mean(axis=0))
    shares = sparse.csr_matrix(posts[list(chosen)].multiply(query))  # (chosen posts, words)
    slices = zip(shares.indptr, shares.indptr[1:])
    return [
        {words[i]: float(share) for i, share in zip(shares.indices[start:end], shares.data[start:end])}
        for start, end in slices
    ]


class LexicalModel(Model):
    """A model that scores by shared words; each score is a sum over these words."""

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Return scores ≥ 0, float32, articles × posts; 0 if article and post share no word."""
        return _products(*self._vectors(articles, posts)[:2])

    def shared_terms(
        self, articles: Sequence[Article], posts: Sequence[Post], chosen: Sequence[int]
    ) -> list[dict[str, float]]:
        """Return the words that make up scores.

        Args:
            articles: the articles.
            posts: all posts.
            chosen: indices of the posts in question.

        Returns:
            Per chosen post: shared word → its share of the mean of the post's scores for the articles.
        """
        return _shared_terms(*self._vectors(articles, posts), chosen)

    def _vectors(self, articles: Sequence[Article], posts: Sequence[Post]) -> Vectors:
        raise NotImplementedError


@Model.register("tfidf")
class TfidfModel(LexicalModel):
    """Cosine of sublinear TF-IDF vectors (0 to 1), fitted on the articles and posts that are scored.

    Words that occur in one text only match nothing; they are left out, so that they do not dilute its vector.

    By cosine, the shortest posts rank too high: a post that only repeats the two words of a query outranks every post
    that says something about them. With `min_words`, the length of a post's vector is at least that of the given number
    of rarest words, which lowers the scores of short posts (decision 021).

    Paper: Singhal et al. 1996, https://doi.org/10.1145/243199.243206

    Args:
        stop_words: `english` removes English function words, `none` keeps all words, `by_language` removes those of
            the article's language from the article and the posts (English ones if it is unknown). Articles of several
            languages are then fitted by language.
        min_words: length that the vector of a post has at least, as a number of words that occur in one text only, ≥ 0;
            at 0, scores are cosines.
    """

    keys_without_weights = frozenset({"min_words"})

    def __init__(
        self, stop_words: StopWords | Literal["by_language"] = "english", min_words: int = 0
    ) -> None:
        at_least(0, min_words=min_words)
        self.stop_words: StopWords | Literal["by_language"] = stop_words
        self.min_words = min_words

    def stop_words_for(self, article: Article) -> str:
        """Return the `stop_words` of `lexical_words` for an article and the posts that are scored for it."""
        if self.stop_words != "by_language":
            return self.stop_words
        language = language_of(article)
        return "english" if language in (None, "en") else language

    @override
    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Return cosines, fitted on the articles and all posts: float32, articles × posts, 0 to 1."""
        return self._by_stop_words(articles, posts, super().score)

    @override
    def score_scale(self) -> ScoreScale:
        return ScoreScale("similarity")

    def score_independently(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Return cosines, fitted for each article on that article and all posts: float32, articles × posts, 0 to 1."""
        return self._by_stop_words(articles, posts, self._independently)

    def _independently(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        stop_words = self._stop_words_of(articles)
        statistics = kept_statistics(stop_words)
        if len(articles) == 1 and statistics is None:
            return super().score(articles, posts)
        return independent_tfidf(
            [lexical_words(article.full_text, stop_words) for article in articles],
            [lexical_words(post.text, stop_words) for post in posts],
            least_square(self.min_words, (statistics.posts if statistics else len(posts)) + 1),
            statistics,
        )

    def _by_stop_words(
        self,
        articles: Sequence[Article],
        posts: Sequence[Post],
        score: Callable[[Sequence[Article], Sequence[Post]], np.ndarray],
    ) -> np.ndarray:
        """Score the articles that have the same stop words together."""
        of_each = [self.stop_words_for(article) for article in articles]
        if len(set(of_each)) <= 1:
            return score(articles, posts)
        scores = np.empty((len(articles), len(posts)), dtype=np.float32)
        for stop_words in dict.fromkeys(of_each):
            rows = [row for row, other in enumerate(of_each) if other == stop_words]
            scores[rows] = score([articles[row] for row in rows], posts)
        return scores

    def shared_terms(
        self, articles: Sequence[Article], posts: Sequence[Post], chosen: Sequence[int]
    ) -> list[dict[str, float]]:
        """As in `LexicalModel`, for the mean of `score_independently` over the articles."""
        per_article = [super(TfidfModel, self).shared_terms([article], posts, chosen) for article in articles]
        return [mean_terms(terms) for terms in zip(*per_article)]

    def _vectors(self, articles: Sequence[Article], posts: Sequence[Post]) -> Vectors:
        return tfidf_vectors(articles, posts, self._stop_words_of(articles), min_words=self.min_words)

    def _stop_words_of(self, articles: Sequence[Article]) -> str:
        """Return the stop words that all these articles have."""
        return self.stop_words_for(articles[0]) if articles else "none"


def mean_terms(per_article: Sequence[dict[str, float]]) -> dict[str, float]:
    """Average the words' shares of a post's scores over articles."""
    mean: dict[str, float] = {}
    for terms in per_article:
        for word, share in terms.items():
            mean[word] = mean.get(word, 0.0) + share / len(per_article)
    return mean


def tfidf_vectors(
    articles: Sequence[Article],
    posts: Sequence[Post],
    stop_words: str = "english",
    pairs: bool = False,
    min_words: int = 0,
) -> Vectors:
    """Compute sublinear TF-IDF vectors of articles and posts, over the words that occur in at least two of them.

    Args:
        articles: the articles; title and text count.
        posts: the posts.
        stop_words: see `lexical_words`.
        pairs: count pairs of adjacent words as words, too.
        min_words: see `TfidfModel`.
    """
    texts = [article.full_text for article in articles] + [post.text for post in posts]
    words = [lexical_words(text, stop_words) for text in texts]
    if pairs:
        words = [text + [f"{one} {next_one}" for one, next_one in pairwise(text)] for text in words]
    frequency = Counter(word for text in words for word in set(text))
    shared = sorted(word for word, count in frequency.items() if count > 1)
    if not shared:
        return _no_vectors(len(articles), len(posts))
    least = np.zeros(len(texts))
    least[len(articles) :] = least_square(min_words, len(texts))
    vectors = _tfidf(words, shared, least)
    return Vectors(vectors[: len(articles)], vectors[len(articles) :], shared)


def least_square(min_words: int, texts: int) -> float:
    """Return the least squared length of a post's vector, see `TfidfModel`, as a number of float32.

    Args:
        min_words: number of words that occur in one text only.
        texts: number of articles and posts.
    """
    return float(np.float32(min_words * (np.log((1 + texts) / 2) + 1) ** 2))


def _tfidf(texts: Sequence[Sequence[str]], vocabulary: Sequence[str], least: np.ndarray) -> sparse.csr_matrix:
    """(1 + ln n) · (ln((1 + N) / (1 + df)) + 1), divided by the length: float32, texts × vocabulary.

    Equals `TfidfVectorizer(sublinear_tf=True)` of scikit-learn, whose import takes longer than this (decision 140),
    but for texts whose squared lengths are below `least`, float64, one per text.
    """
    column = {word: i for i, word in enumerate(vocabulary)}
    columns = [[column[word] for word in text if word in column] for text in texts]
    rows = np.repeat(np.arange(len(texts)), [len(row) for row in columns])
    ones = np.ones(len(rows), dtype=np.float32)
    flat_columns = np.fromiter(chain.from_iterable(columns), dtype=np.int64, count=len(rows))
    # The constructor adds up repeated words of a text and sorts the columns of a row.
    vectors = sparse.csr_matrix((ones, (rows, flat_columns)), shape=(len(texts), len(vocabulary)))
    containing = np.bincount(vectors.indices, minlength=len(vocabulary)).astype(np.float32)
    idf = np.log((1 + len(texts)) / (1 + containing)) + 1
    weights = (1 + np.log(vectors.data)) * idf[vectors.indices]
    row = np.repeat(np.arange(len(texts)), np.diff(vectors.indptr))
    lengths = np.sqrt(np.bincount(row, np.square(weights, dtype=np.float64), minlength=len(texts)))
    lengths = np.maximum(lengths, np.sqrt(least))
    vectors.data = (weights / lengths[row]).astype(np.float32)
    return vectors


@Model.register("bm25")
class BM25Model(LexicalModel):
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
        return ScoreScale("sum", width=_BM25_HALF)

    def _vectors(self, articles: Sequence[Article], posts: Sequence[Post]) -> Vectors:
        documents = [lexical_words(post.text, self.stop_words) for post in posts]
        if not any(documents):
            return _no_vectors(len(articles), len(posts))
        if statistics := kept_statistics(self.stop_words):
            return self._counted_vectors(articles, documents, statistics)
        import bm25s  # imports numba if installed, which takes seconds that TF-IDF does not need

        index = bm25s.BM25(k1=self.k1, b=self.b, method="lucene")
        index.index(documents, show_progress=False)
        columns = index.scores
        shape = (columns["num_docs"], len(columns["indptr"]) - 1)
        parts = sparse.csc_matrix((columns["data"], columns["indices"], columns["indptr"]), shape=shape)
        # Sorted, so that sums are rounded in the same way and equal scores stay equal for any order of posts.
        words = sorted(word for word, column in index.vocab_dict.items() if column < shape[1])
        parts = parts[:, [index.vocab_dict[word] for word in words]]
        queries = _queries(
            (lexical_words(article.full_text, self.stop_words) for article in articles),
            {word: i for i, word in enumerate(words)},
            shape=(len(articles), len(words)),
        )
        scale = np.sqrt(queries @ _idf(parts))
        scale[scale == 0] = 1  # the posts contain none of the article's words
        return Vectors(sparse.diags(1 / scale) @ queries, parts.tocsr(), words)

    def _counted_vectors(
        self, articles: Sequence[Article], documents: Sequence[Sequence[str]], statistics: WordStatistics
    ) -> Vectors:
        """Return vectors by counts of words in other posts; scores are divided by the article's known words."""
        queries = [lexical_words(article.full_text, self.stop_words) for article in articles]
        words = sorted({word for text in [*documents, *queries] for word in text})
        column = {word: i for i, word in enumerate(words)}
        containing = statistics.containing(words)
        idf = np.log1p((statistics.posts - containing + 0.5) / (containing + 0.5))
        counts = [Counter(document) for document in documents]
        rows = np.repeat(np.arange(len(counts)), [len(count) for count in counts])
        columns = np.array([column[word] for count in counts for word in sorted(count)], dtype=np.int64)
        times = np.array([count[word] for count in counts for word in sorted(count)], dtype=np.float64)
        lengths = np.array([len(document) for document in documents]) / statistics.mean_length
        norms = self.k1 * ((1 - self.b) + self.b * lengths)
        parts = idf[columns] * times / (norms[rows] + times)
        shape = (len(documents), len(words))
        weights = _queries(queries, column, shape=(len(articles), len(words)))
        known = np.array([word in statistics.frequencies for word in words])
        scale = np.sqrt(weights @ np.where(known, idf, 0))
        scale[scale == 0] = 1
        found = sparse.csr_matrix((parts.astype(np.float32), (rows, columns)), shape=shape)
        return Vectors(sparse.diags(1 / scale) @ weights, found, words)


def word_statistics(model: Model, articles: Sequence[Article], posts: Sequence[Post]) -> Statistics:
    """Count the words of posts for the lexical parts of a model: by stop words, empty if it has no such parts.

    Args:
        model: the model.
        articles: articles of the languages that posts are to be scored for; the language decides the stop words.
        posts: the pool.
    """
    wanted = dict[str, None]()
    for part in all_submodels(model):
        if isinstance(part, TfidfModel):
            wanted.update(dict.fromkeys(part.stop_words_for(article) for article in articles))
        elif isinstance(part, BM25Model):
            wanted[part.stop_words] = None
    return {
        stop_words: WordStatistics.of([lexical_words(post.text, stop_words) for post in posts])
        for stop_words in wanted
    }


def _queries(
    texts: Iterable[list[str]], vocabulary: dict[str, int], shape: tuple[int, int]
) -> sparse.csr_matrix:
    """Query weights 1 + ln n of the words that occur in the posts: articles × vocabulary."""
    rows, columns, weights = [], [], []
    for row, words in enumerate(texts):
        for word, count in Counter(words).items():
            if word in vocabulary:
                rows.append(row)
                columns.append(vocabulary[word])
                weights.append(1.0 + np.log(count))
    return sparse.csr_matrix((weights, (rows, columns)), shape=shape, dtype=np.float32)


def _idf(parts: sparse.csc_matrix) -> np.ndarray:
    """Lucene's idf, ln(1 + (N - df + 0.5) / (df + 0.5)), of every word of the posts."""
    containing = np.diff(parts.indptr)
    return np.log1p((parts.shape[0] - containing + 0.5) / (containing + 0.5)).astype(np.float32)


def _products(left: sparse.csr_matrix, right: sparse.csr_matrix) -> np.ndarray:
    """left · rightᵀ as a dense float32 array, in slices of rows to bound the memory of the sparse product."""
    result = np.empty((left.shape[0], right.shape[0]), dtype=np.float32)
    transposed = right.T.tocsr()
    for start in range(0, left.shape[0], _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        result[rows] = (left[rows] @ transposed).toarray()
    return result
