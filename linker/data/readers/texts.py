"""Texts without links, for word vectors and distillation."""

from collections.abc import Iterable, Iterator, Sequence

from linker.common.errors import DataError
from linker.data.files.line_errors import BadLines, OnError
from linker.data.files.tables import format_of_name, open_table
from linker.data.io.columns import PostColumns
from linker.data.io.input_files import input_files
from linker.data.io.platform_rows import deleted_in, post_rows, recognized
from linker.data.platforms.recognition import BY_COLUMNS
from linker.data.readers.reader import PairReader
from linker.data.types import LinkedPosts, Post

#: Columns with text, unless others are named.
DEFAULT_COLUMNS = ["title", "text"]
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

    inputs = ("files",)

    def __init__(
        self, files: str | list[str], columns: list[str] | None = None, on_error: OnError = "strict"
    ) -> None:
        self.files = [files] if isinstance(files, str) else files
        self.columns, self.on_error = columns or DEFAULT_COLUMNS, on_error

    def read(self) -> LinkedPosts:
        """Return the texts in file order, split into chunks of at most 100 words.

        Raises:
            DataError: if a file cannot be read, has bad lines (in strict mode), or has none of the columns.
        """
        # Other files of a folder, such as notes, are left out.
        files = [file for file in input_files(self.files) if file in self.files or format_of_name(file)]
        chunks = split_into_chunks(texts_of(files, self.columns, self.on_error))
        return LinkedPosts([], [Post(str(i), chunk) for i, chunk in enumerate(chunks)])


def texts_of(paths: Sequence[str], columns: Sequence[str], on_error: OnError = "strict") -> Iterator[str]:
    """Yield every text in the named columns of files; with the default columns, also of platforms' records.

    Args:
        paths: JSON lines, CSV, TSV, Parquet or plain-text files, compressed or not.
        columns: names of the columns with texts.
        on_error: see `read_articles`.

    Raises:
        DataError: if a file cannot be read, has bad lines (in strict mode), or has none of the columns.
    """
    posts = PostColumns(format=None if list(columns) == DEFAULT_COLUMNS else BY_COLUMNS)
    deleted = deleted_in(paths, posts)
    with BadLines(on_error) as bad_lines:
        for path in paths:
            file, present = bad_lines.file(path), dict[str, None]()
            with open_table(file, set(columns)) as table:
                formats, table = recognized(table, posts)
                if formats is not None:
                    for _, row in post_rows(file, table, formats, posts, deleted):
                        if isinstance(text := row.values["text"], str):
                            file.posts += 1
                            yield text
                    continue
                for row in table.rows:
                    present.update(dict.fromkeys(row.values))
                    for column in columns:
                        if isinstance(text := row.values.get(column), str) and text:
                            yield text
            if present.keys().isdisjoint(columns):
                raise DataError(
                    f"{path}: column {' or '.join(columns)} is missing (columns: {', '.join(present) or 'none'}); "
                    "name the columns with text by --column"
                )


def split_into_chunks(texts: Iterable[str]) -> list[str]:
    """Return the chunks of at most 100 words of all texts, in order, each distinct one once."""
    chunks: dict[str, None] = {}
    for words in map(str.split, texts):
        chunks |= dict.fromkeys(" ".join(words[i : i + MAX_WORDS]) for i in range(0, len(words), MAX_WORDS))
    return list(chunks)
