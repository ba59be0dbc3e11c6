"""Pretrained word vectors from files."""

from collections import Counter
from collections.abc import Container, Iterable

import numpy as np

from linker.data.vocabulary import EMPTY, Vocabulary
from linker.data.word_vectors.formats import read_rows
from linker.data.word_vectors.published import vector_file
from linker.data.word_vectors.word_vectors import WordVectors


@WordVectors.register("file")
class VectorFile(WordVectors):
    """A file of word vectors in the text format of GloVe or word2vec, or GloVe by its name.

    Args:
        source: a path, or a name used by torchtext, such as `6B.300d`; it is downloaded unless it is in the cache.
        max_words: number of the file's first (most frequent) words to keep besides the wanted ones; null: all.
        cache: folder of named vectors; default: the environment variable LINKER_VECTOR_CACHE, else
            `.vector_cache`.
    """

    def __init__(self, source: str, max_words: int | None = 100_000, cache: str | None = None) -> None:
        self.source, self.max_words, self.cache = source, max_words, cache

    def read(self, wanted: set[str] | None = None) -> tuple[list[str], np.ndarray]:
        """Read the wanted words and the file's first `max_words` words, in file order.

        A repeated word keeps its first row. Words with white space are left out, because no tokenizer makes them.
        Memory: two to three times the rows kept.

        Returns:
            The distinct words, and float32, words × dim.

        Raises:
            DataError: if the file is missing or broken; the message names file and line.
        """
        return read_rows(vector_file(self.source, self.cache), wanted, self.max_words)


def align(vocabulary: Vocabulary, words: list[str], matrix: np.ndarray) -> np.ndarray:
    """Arrange vectors in the vocabulary's order; zeros for `<empty>` and for words without a vector.

    Args:
        vocabulary: the vocabulary.
        words: the words with vectors.
        matrix: their vectors, float32, words × dim.

    Returns:
        float32, vocabulary × dim.
    """
    row = {word: i for i, word in enumerate(words) if word != EMPTY}
    aligned = np.zeros((len(vocabulary), matrix.shape[1]), dtype=np.float32)
    known = [(i, row[word]) for i, word in enumerate(vocabulary.words) if word in row]
    if known:
        target, source = np.array(known).T
        aligned[target] = matrix[source]
    return aligned


def coverage(vocabulary: Container[str], texts: Iterable[Iterable[str]]) -> str:
    """Describe how many tokens and words of tokenized texts are in the vocabulary, and the most frequent others."""
    counts: Counter[str] = Counter()
    for tokens in texts:
        counts.update(tokens)
    missing = Counter({word: count for word, count in counts.items() if word not in vocabulary})
    total = counts.total()
    of_tokens = (total - missing.total()) / max(total, 1)
    of_words = (len(counts) - len(missing)) / max(len(counts), 1)
    # Ties by spelling, so that the line is reproducible.
    frequent = sorted(missing.items(), key=lambda item: (-item[1], item[0]))[:10]
    examples = ", ".join(f"{word} ({count:,})" for word, count in frequent)
    return (
        f"{of_tokens:.1%} of {total:,} running tokens and {of_words:.1%} of {len(counts):,} distinct words have a "
        "vector" + (f"; most frequent without: {examples}" if examples else "")
    )
