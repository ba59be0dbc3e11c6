"""Texts without links, for distillation."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from linker.data.io.line_errors import OnError
from linker.data.io.paths import input_files
from linker.data.io.tables import format_of_name
from linker.data.readers.reader import PairReader
from linker.data.types import LinkedPosts, Post
from linker.data.word_vectors.train import texts_of

#: Longer texts are split into chunks of this many words: less than what a sentence transformer truncates.
MAX_WORDS = 100


@PairReader.register("texts")
class Texts(PairReader):
    """Reads texts of articles, posts or both as posts without links; each distinct text once.

    Args:
        files: file or files; a folder means all files in it.
        columns: the columns with text.
        on_error: "strict" refuses files with bad lines, "skip" sets these aside and continues.
    """

    def __init__(
        self, files: str | list[str], columns: list[str] | None = None, on_error: OnError = "strict"
    ) -> None:
        self.files = [files] if isinstance(files, str) else files
        self.columns, self.on_error = columns or ["title", "text"], on_error

    def read(self) -> LinkedPosts:
        """Return the texts in file order, split into chunks of at most 100 words.

        Raises:
            DataError: if a file cannot be read, has bad lines (in strict mode), or has none of the columns.
        """
        # Other files of a folder, such as notes, are left out.
        files = [file for file in input_files(self.files) if file in self.files or format_of_name(file)]
        chunks = split_into_chunks(texts_of(files, self.columns, self.on_error))
        return LinkedPosts([], [Post(str(i), chunk) for i, chunk in enumerate(chunks)])


def split_into_chunks(texts: Iterable[str]) -> list[str]:
    """Return the chunks of at most 100 words of all texts, in order, each distinct one once."""
    return list(dict.fromkeys(chain.from_iterable(map(_chunks, texts))))


def _chunks(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[i : i + MAX_WORDS]) for i in range(0, len(words), MAX_WORDS)]
