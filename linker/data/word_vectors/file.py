"""Pretrained word vectors: which file is meant, and the rows of it that are needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linker.data.vocabulary import EMPTY, Vocabulary
from linker.data.word_vectors.cache import available, find_vectors
from linker.data.word_vectors.formats import read_rows
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
        """Say which vectors are meant; nothing is read yet.

        Args:
            source: a path, `archive.zip/member`, or a name as torchtext has them, such as `6B.300d`.
            max_words: keep this many of the file's first (most frequent) words besides the wanted ones; null
                keeps all.
            cache: the folder where named vectors lie; default: the environment variable LINKER_VECTOR_CACHE,
                else `.vector_cache`.
            otherwise: a file to use where `source` is a name and its vectors are not in the cache. `linker train`
                says so on standard error and records which of the two it used.
        """
        self.source = source
        self.max_words = max_words
        self.cache = cache
        self.otherwise = otherwise

    def path(self) -> Path:
        """The file that `source` means.

        Raises:
            DataError: there is no such file; the message says how to get it.
        """
        return find_vectors(available(self.source, self.otherwise, self.cache), self.cache)

    def read(self, wanted: set[str] | None = None) -> tuple[list[str], np.ndarray]:
        """The words and their vectors, in file order: the wanted ones and the file's first `max_words`.

        If no wanted word has a capital letter, the file's capitalised words are lower-cased, and the first
        of several spellings counts unless the lower-case word has a row of its own. A word that comes twice
        keeps its first row. Words with white space inside are left out: no tokenizer makes them. Memory: the
        rows kept, two to three times.

        Returns:
            The words, distinct, and float32, words × dimensions.

        Raises:
            DataError: the file is missing or broken; the message names file and line.
        """
        return read_rows(self.path(), wanted, self.max_words)


def align(vocabulary: Vocabulary, words: list[str], matrix: np.ndarray) -> np.ndarray:
    """Rows of `matrix` in the vocabulary's order; zeros for `<empty>` and for words without a vector.

    Returns:
        float32, vocabulary × dimensions.
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
    """How much of a corpus has a word vector.

    Attributes:
        tokens: running tokens of the corpus.
        covered_tokens: those among them whose word has a vector.
        words: distinct words of the corpus.
        covered_words: those among them with a vector.
        missing: the most frequent words without one, with their counts.
    """

    tokens: int
    covered_tokens: int
    words: int
    covered_words: int
    missing: list[tuple[str, int]]

    def __str__(self) -> str:
        """One paragraph for people."""
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
    # Ties by spelling, so that the report of one corpus is always the same.
    frequent = sorted(missing.items(), key=lambda item: (-item[1], item[0]))[:examples]
    total = counts.total()
    return Coverage(total, total - missing.total(), len(counts), len(counts) - len(missing), frequent)
