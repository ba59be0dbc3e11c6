"""Pretrained word vectors from files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linker.data.vocabulary import EMPTY, Vocabulary
from linker.data.word_vectors.formats import read_rows
from linker.data.word_vectors.published import available, find_vectors
from linker.data.word_vectors.word_vectors import WordVectors


@WordVectors.register("file")
class VectorFile(WordVectors):
    """A file of word vectors: GloVe or word2vec text, word2vec binary, or one of torchtext's names."""

    def __init__(
        self,
        source: str,
        max_words: int | None = 100_000,
        cache: str | None = None,
        otherwise: str | None = None,
    ) -> None:
        """Set the file; nothing is read yet.

        Args:
            source: a path, or a name used by torchtext, such as `6B.300d`.
            max_words: number of the file's first (most frequent) words to keep besides the wanted ones; null: all.
            cache: folder of named vectors; default: the environment variable LINKER_VECTOR_CACHE, else
                `.vector_cache`.
            otherwise: a file to use if `source` is a name whose vectors are not in the cache. `linker train` reports
                and records which of the two it used.
        """
        self.source = source
        self.max_words = max_words
        self.cache = cache
        self.otherwise = otherwise

    def path(self) -> Path:
        """Return the file of `source`.

        Raises:
            DataError: if it is not found; the message says how to get it.
        """
        return find_vectors(available(self.source, self.otherwise, self.cache), self.cache)

    def read(self, wanted: set[str] | None = None) -> tuple[list[str], np.ndarray]:
        """Read the wanted words and the file's first `max_words` words, in file order.

        If no wanted word has a capital letter, the file's words are lower-cased; a lower-case row takes precedence,
        then the first of several spellings. A repeated word keeps its first row. Words with white space are left out,
        because no tokenizer makes them. Memory: two to three times the rows kept.

        Returns:
            The distinct words, and float32, words × dim.

        Raises:
            DataError: if the file is missing or broken; the message names file and line.
        """
        return read_rows(self.path(), wanted, self.max_words)


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


@dataclass(frozen=True)
class Coverage:
    """Share of a corpus that has word vectors.

    Attributes:
        tokens: number of tokens of the corpus.
        covered_tokens: number of tokens with a vector.
        words: number of distinct words.
        covered_words: number of distinct words with a vector.
        missing: the most frequent words without a vector, with their counts.
    """

    tokens: int
    covered_tokens: int
    words: int
    covered_words: int
    missing: list[tuple[str, int]]

    def __str__(self) -> str:
        """Return a summary in one line."""
        tokens, words = self.covered_tokens / max(self.tokens, 1), self.covered_words / max(self.words, 1)
        missing = ", ".join(f"{word} ({count:,})" for word, count in self.missing)
        return (
            f"{tokens:.1%} of {self.tokens:,} running tokens and {words:.1%} of {self.words:,} distinct "
            "words have a vector" + (f"; most frequent without: {missing}" if missing else "")
        )


def coverage(vocabulary: Container[str], texts: Iterable[Iterable[str]], examples: int = 10) -> Coverage:
    """Count the tokens and words of tokenized texts that are in the vocabulary."""
    counts: Counter[str] = Counter()
    for tokens in texts:
        counts.update(tokens)
    missing = Counter({word: count for word, count in counts.items() if word not in vocabulary})
    # Ties by spelling, so that the report is reproducible.
    frequent = sorted(missing.items(), key=lambda item: (-item[1], item[0]))[:examples]
    total = counts.total()
    return Coverage(total, total - missing.total(), len(counts), len(counts) - len(missing), frequent)
