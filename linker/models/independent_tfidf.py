"""TF-IDF scores with one fit per article, computed for all articles at once from two sparse products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from linker.models.word_statistics import WordStatistics

_ROWS_AT_ONCE = 256
#: By counts of words in other posts, no word of a post is one that occurs in a single text only: words that the other
#: posts do not have, new stories for example, lengthen the vector.
LEAST_COUNT = 2


def independent_tfidf(
    articles: Sequence[Sequence[str]],
    posts: Sequence[Sequence[str]],
    least: float,
    statistics: WordStatistics | None = None,
) -> np.ndarray:
    """Compute cosines of sublinear TF-IDF vectors, fitted for each article on that article and all posts.

    A word's document frequency is its frequency among the posts, plus one if the article contains it. So two articles'
    idf values differ only for the words they contain, and a post's squared norm by a sum over these words.

    Args:
        articles: the words of each article.
        posts: the words of each post.
        least: what the squared lengths of the posts' vectors are at least.
        statistics: counts of words in other posts, which are taken for those of `posts`; None: count these. The length
            of an article then has only words that are known there, so that scores do not depend on the other posts, and
            can be a little above 1.

    Returns:
        float32, articles × posts, 0 to 1.
    """
    vocabulary = {word: i for i, word in enumerate(sorted({word for post in posts for word in post}))}
    result = np.zeros((len(articles), len(posts)), dtype=np.float32)
    if not vocabulary:
        return result
    in_posts = _frequencies(posts, vocabulary)  # (posts, words)
    if statistics is None:
        containing = np.diff(in_posts.tocsc().indptr)
    else:
        containing = np.maximum(statistics.containing(list(vocabulary)), LEAST_COUNT)
    texts = len(posts) if statistics is None else statistics.posts
    # A word that occurs in one text only matches nothing: a word of a single post counts only if the article has it.
    without = np.where(containing > 1, _idf(containing, texts), 0)  # idf of words the article lacks
    having = _idf(containing + 1, texts)  # idf of words the article has
    squares = in_posts.multiply(in_posts).tocsr()
    lengths = squares @ without**2
    by_word, squares_by_word = in_posts.T.tocsr(), squares.T.tocsr()
    for start in range(0, len(articles), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        in_articles = _frequencies(articles[rows], vocabulary)  # (articles, words)
        # 1 for each word that the article contains, to select its idf.
        has = sparse.csr_matrix(
            (np.ones_like(in_articles.data), in_articles.indices, in_articles.indptr), shape=in_articles.shape
        )
        article_lengths = (
            np.asarray(in_articles.multiply(in_articles) @ having**2)
            if statistics is None
            else np.array([_square(words, statistics) for words in articles[rows]])
        )  # squared, (articles,)
        products = (in_articles.multiply(having**2).tocsr() @ by_word).toarray()  # (articles, posts)
        changed = has.multiply(having**2 - without**2).tocsr()
        post_lengths = (changed @ squares_by_word).toarray() + lengths  # squared, (articles, posts)
        norms = np.sqrt(article_lengths[:, None] * np.maximum(post_lengths, least))
        result[rows] = np.divide(products, norms, out=np.zeros_like(products), where=products > 0)
    return result


def _square(article: Sequence[str], statistics: WordStatistics) -> float:
    """Return the squared length of an article's vector, of the words that are known; 1 if none is."""
    counts = Counter(word for word in article if word in statistics.frequencies)
    words = sorted(counts)
    frequencies = 1 + np.log([counts[word] for word in words])
    weights = frequencies * _idf(statistics.containing(words) + 1, statistics.posts)
    return float(weights @ weights) or 1.0


def _frequencies(texts: Sequence[Sequence[str]], vocabulary: dict[str, int]) -> sparse.csr_matrix:
    """Sublinear term frequencies, 1 + ln n: float64, texts × vocabulary."""
    indices, values, ends = list[int](), list[int](), [0]
    for text in texts:
        counts = Counter(word for word in text if word in vocabulary)
        indices += [vocabulary[word] for word in counts]
        values += counts.values()
        ends.append(len(indices))
    data = 1 + np.log(np.array(values, dtype=np.float64))
    shape = (len(texts), len(vocabulary))
    matrix = sparse.csr_matrix((data, np.array(indices, dtype=np.int64), ends), shape=shape)
    matrix.sort_indices()
    return matrix


def _idf(containing: np.ndarray, posts: int) -> np.ndarray:
    """Smoothed idf over the posts and one article, ln((1 + N) / (1 + df)) + 1 as in scikit-learn."""
    idf: np.ndarray = np.log((2 + posts) / (1 + containing)) + 1
    return idf
