"""TF-IDF of every article by itself: the scores of one fit per article, from two sparse products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy import sparse

_ROWS_AT_ONCE = 256


def independent_tfidf(articles: Sequence[Sequence[str]], posts: Sequence[Sequence[str]]) -> np.ndarray:
    """Cosines of sublinear TF-IDF vectors, each article's fitted on that article and the posts only.

    A word's document frequency is its frequency among the posts, plus one if the article has it. So between two
    articles the idf differs only for their own words, and a post's squared length by a sum over these words.

    Args:
        articles: words of each article.
        posts: words of each post.

    Returns:
        float32, articles × posts, 0 to 1.
    """
    vocabulary = {word: i for i, word in enumerate(sorted({word for post in posts for word in post}))}
    result = np.zeros((len(articles), len(posts)), dtype=np.float32)
    if not vocabulary:
        return result
    in_posts = _frequencies(posts, vocabulary)
    containing = np.diff(in_posts.tocsc().indptr)
    # Words of one text only match nothing, so a word of a single post counts only if the article has it, too.
    without = np.where(containing > 1, _idf(containing, len(posts)), 0)
    having = _idf(containing + 1, len(posts))
    squares = in_posts.multiply(in_posts).tocsr()
    lengths = squares @ without**2
    by_word, squares_by_word = in_posts.T.tocsr(), squares.T.tocsr()
    for start in range(0, len(articles), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        own = _frequencies(articles[rows], vocabulary)
        # A plus sign of every word that the article has, to take the right idf from.
        has = sparse.csr_matrix((np.ones_like(own.data), own.indices, own.indptr), shape=own.shape)
        own_lengths = np.asarray(own.multiply(own) @ having**2)
        products = (own.multiply(having**2).tocsr() @ by_word).toarray()
        changed = has.multiply(having**2 - without**2).tocsr()
        post_lengths = (changed @ squares_by_word).toarray() + lengths
        below = np.sqrt(own_lengths[:, None] * post_lengths)
        result[rows] = np.divide(products, below, out=np.zeros_like(products), where=products > 0)
    return result


def _frequencies(texts: Sequence[Sequence[str]], vocabulary: dict[str, int]) -> sparse.csr_matrix:
    """1 + ln of how often each word of the vocabulary stands in each text: float64, texts × vocabulary."""
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
    """Of words in so many of the posts and one article: ln((1 + N) / (1 + df)) + 1, as scikit-learn smooths it."""
    idf: np.ndarray = np.log((2 + posts) / (1 + containing)) + 1
    return idf
