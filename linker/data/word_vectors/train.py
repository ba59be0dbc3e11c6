"""Train word vectors on texts with gensim."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from linker.common.console import info, track
from linker.common.errors import DataError, LinkerError
from linker.common.files import write_lines
from linker.data.characters import plain
from linker.data.io.columns import PostColumns
from linker.data.io.line_errors import BadLines, OnError
from linker.data.io.platform_rows import deleted_in, post_rows, recognized
from linker.data.io.tables import open_table
from linker.data.platforms.sniffing import BY_COLUMNS
from linker.data.tokenizers.tokenizer import Tokenizer
from linker.data.word_vectors.file import VectorFile

if TYPE_CHECKING:
    import numpy as np

Method = Literal["skipgram", "cbow", "fasttext"]
#: Columns with text, unless others are named.
DEFAULT_COLUMNS = ["title", "text"]
# gensim silently truncates longer texts.
LONGEST_TEXT = 10_000
# Rows for n-grams; gensim's default of two million would need 2.4 GB at 300 dimensions.
BUCKETS = 200_000


def texts_of(paths: Sequence[str], columns: Sequence[str], on_error: OnError = "strict") -> Iterator[str]:
    """Yield every text in the named columns of files; with the columns `title` and `text`, also of platforms' records.

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
            found, there = False, dict[str, None]()
            file = bad_lines.file(path)
            with open_table(file, set(columns)) as table:
                formats, table = recognized(table, posts)
                if formats is not None:
                    for _, row in post_rows(file, table, formats, posts, deleted):
                        if isinstance(text := row.values["text"], str):
                            file.posts += 1
                            yield text
                    info(f"{path}: {', '.join(file.notes)}")
                    continue
                for row in table.rows:
                    there.update(dict.fromkeys(row.values))
                    for column in columns:
                        text = row.values.get(column)
                        found = found or column in row.values
                        if isinstance(text, str) and text:
                            yield text
            if not found:
                raise DataError(
                    f"{path}: column {' or '.join(columns)} is missing (columns: {', '.join(there) or 'none'}); "
                    "name the columns with text by --column"
                )


def train_vectors(
    texts: Iterable[str],
    tokenizer: Tokenizer,
    out: Path,
    method: Method = "skipgram",
    dim: int = 300,
    epochs: int = 5,
    min_count: int = 3,
    window: int = 5,
    seed: int = 1,
    workers: int = 1,
    start: str | None = None,
) -> tuple[int, int]:
    """Train word vectors and write them in word2vec's text format, compressed if `out` ends in `.gz`.

    Repeated texts, such as retweets, count once. The tokenized texts are kept in a temporary file, the vectors and
    words in memory.

    Args:
        texts: the texts.
        tokenizer: the tokenizer of the model that will use the vectors.
        out: the file to write.
        method: skip-gram, CBOW (Mikolov et al. 2013), or skip-gram with character n-grams (Bojanowski et al.
            2017).
        dim: length of the vectors.
        epochs: number of passes over the texts.
        min_count: minimum number of occurrences of a word with a vector.
        window: number of context words on each side.
        seed: random seed; with one worker, the vectors are reproducible.
        workers: number of threads; with more than one, the vectors vary slightly between runs.
        start: initial vectors (a file or a name) for the words that have one; others start at random.

    Returns:
        The number of words with a vector, and the number of tokens read.

    Raises:
        LinkerError: if gensim is not installed, or `method` is fasttext and `start` is set.
        DataError: if no word occurs `min_count` times, or the length of the vectors of `start` is not `dim`.
    """
    models = _gensim_models()
    if start is not None and method == "fasttext":
        # fastText vectors are made from those of n-grams, which a file of word vectors lacks.
        raise LinkerError("--start is not supported for fasttext; use skipgram or cbow, or leave --start out")
    with tempfile.TemporaryDirectory() as folder:
        corpus = _Corpus(Path(folder) / "corpus.txt")
        tokens = corpus.write(texts, tokenizer)
        options: dict[str, Any] = {
            "vector_size": dim,
            "window": window,
            "min_count": min_count,
            "epochs": epochs,
            "sg": int(method != "cbow"),
            "sample": 1e-4,
            "negative": 5,
            "seed": seed,
            "workers": workers,
        }
        model = (
            models.FastText(bucket=BUCKETS, **options) if method == "fasttext" else models.Word2Vec(**options)
        )
        model.build_vocab(corpus_iterable=corpus.passes("counting words", 1))
        if not len(model.wv):
            raise DataError(
                f"no word occurs {min_count} times in {tokens:,} tokens; lower --min-count or add texts"
            )
        if start is not None:
            _begin_with(model.wv, VectorFile(start, max_words=0))
        model.train(
            corpus_iterable=corpus.passes("training", epochs), total_examples=corpus.lines, epochs=epochs
        )
    write_vectors(out, model.wv.index_to_key, model.wv.vectors)
    return len(model.wv), tokens


def _begin_with(vectors: Any, start: VectorFile) -> None:
    words, matrix = start.read(set(vectors.index_to_key))
    if matrix.shape[1] != vectors.vector_size:
        raise DataError(
            f"{start.source}: vectors of length {matrix.shape[1]}, not {vectors.vector_size}; "
            f"give --dim {matrix.shape[1]}"
        )
    rows = {vectors.key_to_index[word]: row for row, word in enumerate(words) if word in vectors.key_to_index}
    vectors.vectors[list(rows)] = matrix[list(rows.values())]


def write_vectors(path: Path, words: Sequence[str], matrix: np.ndarray) -> None:
    """Write vectors in word2vec's text format, compressed if the name ends in `.gz`; the bytes are reproducible.

    Args:
        path: the file.
        words: the words.
        matrix: their vectors, float, words × dim.
    """
    form = " ".join(["%.5g"] * matrix.shape[1])
    rows = track(zip(words, matrix), "writing vectors", len(words))
    lines = (f"{word} {form % tuple(row.tolist())}\n" for word, row in rows)
    write_lines(path, chain([f"{len(words)} {matrix.shape[1]}\n"], lines))


class _Corpus:
    """Tokenized texts in a file, one per line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = 0

    def write(self, texts: Iterable[str], tokenizer: Tokenizer) -> int:
        """Tokenize the texts into the file, each once; returns the number of tokens."""
        seen: set[bytes] = set()
        total = 0
        with self.path.open("w", encoding="utf-8") as file:
            for text in track(texts, "tokenizing"):
                tokens = tokenizer.tokenize(plain(text))
                digest = blake2b(" ".join(tokens).encode(), digest_size=12).digest()
                if digest in seen:
                    continue
                seen.add(digest)
                total += len(tokens)
                rest = iter(tokens)
                while part := list(islice(rest, LONGEST_TEXT)):
                    file.write(" ".join(part) + "\n")
                    self.lines += 1
        return total

    def passes(self, description: str, count: int) -> Iterable[list[str]]:
        """Return an iterable of the texts for `count` passes, with one progress bar over all."""
        return _Passes(self, track(range(count * self.lines), description, count * self.lines))


class _Passes:
    def __init__(self, corpus: _Corpus, progress: Iterator[int]) -> None:
        self._corpus, self._progress = corpus, progress

    def __iter__(self) -> Iterator[list[str]]:
        with self._corpus.path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                next(self._progress, None)
                yield line.split()


def _gensim_models() -> Any:
    try:
        from gensim import models
    except ImportError as error:
        raise LinkerError(
            "gensim is not installed, which training word vectors needs: pip install 'article-linker[vectors]'"
        ) from error
    # gensim logs warnings about small corpora and unequal passes that do not help users.
    logging.getLogger("gensim").setLevel(logging.ERROR)
    return models
