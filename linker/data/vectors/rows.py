"""Which rows of a vector file are kept, and under which word."""

from __future__ import annotations

import numpy as np


class RowSelection:
    """Decides row by row, in file order, and remembers the words of the rows kept."""

    def __init__(self, wanted: set[str] | None, max_words: int | None) -> None:
        """Keep the `wanted` words and the first `max_words` rows; all rows where `max_words` is None."""
        self._wanted = {word.encode("utf-8", "surrogatepass") for word in wanted or ()}
        # Tokens without any capital can meet a capitalised row only by its lower-cased spelling.
        self._fold = bool(wanted) and all(word == word.lower() for word in wanted or ())
        self._first = float("inf") if max_words is None else max_words
        self._rows = 0
        self._words: list[bytes | None] = []
        self._exact: set[bytes] = set()
        self._folded: dict[bytes, int] = {}

    def needs(self, word: bytes) -> bool:
        """Is the row of this word, the next of the file, to be kept?"""
        self._rows += 1
        lower = _lower(word) if self._fold else word
        if not (self._rows <= self._first or lower in self._wanted) or lower in self._exact:
            return False
        return lower == word or lower not in self._folded

    def keep(self, word: bytes) -> None:
        """Keep the row just asked for."""
        lower = _lower(word) if self._fold else word
        if lower != word:
            self._folded[lower] = len(self._words)
        else:
            self._exact.add(word)
            if word in self._folded:
                self._words[self._folded.pop(word)] = None
        self._words.append(lower)

    def result(self, rows: list[np.ndarray], dim: int) -> tuple[list[str], np.ndarray]:
        """The words and their matrix, given the vectors of all rows kept, in order, in blocks."""
        matrix = np.concatenate(rows) if rows else np.zeros((0, dim), dtype=np.float32)
        decoded = [None if word is None else _token(word) for word in self._words]
        if None in decoded:
            matrix = matrix[[word is not None for word in decoded]]
        return [word for word in decoded if word is not None], matrix


def _lower(word: bytes) -> bytes:
    if word.isascii():
        return word.lower()
    return word.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")


def _token(word: bytes) -> str | None:
    """The word as a token, or None where no token can be that word: broken UTF-8, white space, nothing."""
    try:
        text = word.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text.split() == [text] else None
