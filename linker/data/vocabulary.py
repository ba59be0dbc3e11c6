"""The words that have a row of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linker.common.errors import ModelError
from linker.common.files import atomic_write


def idf_of(words: Sequence[str], texts: Iterable[Iterable[str]]) -> np.ndarray:
    """ln(N / (1 + df)) of each word, N texts, df of them with the word (De Boom et al. 2016, equation 1).

    A word of all texts lies a little under 0; one of no text has ln N.

    Returns:
        float32, one entry per word.
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
    """Token ids of one text.

    Attributes:
        ids: int32, at least one. An id at or above the vocabulary's size means `unknown[id - size]`.
        unknown: the text's distinct words outside the vocabulary.
    """

    ids: np.ndarray
    unknown: tuple[str, ...]


class Vocabulary:
    """Words and their ids, 0 to len - 1. Never empty: its first entry stands for texts without any token."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words: list[str] = list(dict.fromkeys([EMPTY, *words]))
        self._ids = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def encode(self, tokens: Sequence[str]) -> EncodedText:
        """Ids of the tokens, in order; a text without tokens becomes the one token `<empty>`."""
        size = len(self.words)
        unknown: dict[str, int] = {}
        known = self._ids.get
        ids = []
        for token in tokens or (EMPTY,):
            i = known(token)
            ids.append(size + unknown.setdefault(token, len(unknown)) if i is None else i)
        return EncodedText(np.array(ids, dtype=np.int32), tuple(unknown))

    def save(self, path: Path) -> None:
        """Write the words, one a line."""
        with atomic_write(path) as file:
            file.writelines(f"{word}\n" for word in self.words)

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Read what `save` wrote.

        Raises:
            ModelError: the file is missing, not UTF-8, or has a word twice.
        """
        try:
            words = path.read_text(encoding="utf-8").split("\n")[:-1]
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"{path}: cannot be read as a vocabulary ({error})") from error
        vocabulary = cls(words)
        if vocabulary.words != words:
            raise ModelError(
                f"{path}: damaged: words are missing or doubled; train the model again or copy it anew"
            )
        return vocabulary
