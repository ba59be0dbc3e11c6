"""Vocabularies: words and their ids, and idf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linker.common.errors import ModelError
from linker.common.files import atomic_write


def idf_of(words: Sequence[str], texts: Iterable[Iterable[str]]) -> np.ndarray:
    """Compute ln(N / (1 + df)) of each word, for N texts, df of them with the word (De Boom et al. 2016, equation 1).

    Returns:
        float32, one per word: from slightly below 0 for a word of all texts to ln N for a word of none.
    """
    containing: Counter[str] = Counter()
    count = 0
    for text in texts:
        containing.update(set(text))
        count += 1
    frequencies = np.array([containing[word] for word in words], dtype=np.float64)
    return np.log(max(count, 1) / (1 + frequencies)).astype(np.float32)


EMPTY = "<empty>"


@dataclass(frozen=True, slots=True)
class EncodedText:
    """A text as token ids.

    Attributes:
        ids: int32, at least one. An id at or above the vocabulary's size is the word `unknown[id - size]`.
        unknown: the text's distinct out-of-vocabulary words.
    """

    ids: np.ndarray
    unknown: tuple[str, ...]


class Vocabulary:
    """Words and their ids, 0 to len − 1. The first entry, `<empty>`, represents texts without tokens.

    Args:
        words: the words by id, from 1; repeated ones count once.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words: list[str] = list(dict.fromkeys([EMPTY, *words]))
        self._ids = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def encode(self, tokens: Sequence[str]) -> EncodedText:
        """Map tokens to ids, in order; a text without tokens becomes the single token `<empty>`."""
        size = len(self.words)
        unknown: dict[str, int] = {}
        id_of = self._ids.get
        ids = []
        for token in tokens or (EMPTY,):
            i = id_of(token)
            ids.append(size + unknown.setdefault(token, len(unknown)) if i is None else i)
        return EncodedText(np.array(ids, dtype=np.int32), tuple(unknown))

    def save(self, path: Path) -> None:
        """Write the words, one per line."""
        with atomic_write(path) as file:
            file.writelines(f"{word}\n" for word in self.words)

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Read what `save` wrote.

        Raises:
            ModelError: if the file is missing, not UTF-8, or has a word twice.
        """
        try:
            words = path.read_text(encoding="utf-8").split("\n")[:-1]
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(
                f"{path}: vocabulary cannot be read ({error}); copy the model folder again"
            ) from error
        vocabulary = cls(words)
        if vocabulary.words != words:
            raise ModelError(
                f"{path}: damaged vocabulary, words are missing or repeated; copy the model folder again"
            )
        return vocabulary
