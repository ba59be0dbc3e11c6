"""Train word vectors on texts with gensim."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linker.common.console import track
from linker.common.errors import DataError, LinkerError
from linker.common.files import write_lines
from linker.data.characters import plain
from linker.data.tokenizers.tokenizer import Tokenizer
from linker.data.word_vectors.file import VectorFile

if TYPE_CHECKING:
    import numpy as np

# gensim silently truncates longer texts.
LONGEST_TEXT = 10_000


def train_vectors(
    texts: Iterable[str],
    tokenizer: Tokenizer,
    out: Path,
    dim: int = 300,
    epochs: int = 5,
    min_count: int = 3,
    window: int = 5,
    seed: int = 1,
    workers: int = 1,
    start: str | None = None,
) -> tuple[int, int]:
    """Train skip-gram word vectors (Mikolov et al. 2013) and write them in word2vec's text format.

    Repeated texts, such as retweets, count once. The tokenized texts are in a temporary file, the vectors and words in
    memory.

    Args:
        texts: the texts.
        tokenizer: the tokenizer of the model that will use the vectors.
        out: the file to write, compressed if it ends in `.gz`.
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
        LinkerError: if gensim is not installed.
        DataError: if no word occurs `min_count` times, or the length of the vectors of `start` is not `dim`.
    """
    try:
        from gensim.models import Word2Vec
        from gensim.models.word2vec import LineSentence
    except ImportError as error:
        raise LinkerError(
            "gensim is not installed, which training word vectors needs: pip install 'article-linker[vectors]'"
        ) from error
    # gensim logs warnings about small corpora and unequal passes that do not help users.
    logging.getLogger("gensim").setLevel(logging.ERROR)
    model = Word2Vec(
        vector_size=dim, window=window, min_count=min_count, epochs=epochs, sg=1, sample=1e-4, negative=5,
        seed=seed, workers=workers,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "texts.txt")
        tokens = _write_tokenized(texts, tokenizer, path)
        sentences = LineSentence(str(path), max_sentence_length=LONGEST_TEXT)
        model.build_vocab(corpus_iterable=track(sentences, "counting words"))
        if not len(model.wv):
            raise DataError(
                f"no word occurs {min_count} times in {tokens:,} tokens; lower --min-count or add texts"
            )
        if start is not None:
            _begin_with(model.wv, VectorFile(start, max_words=0))
        passes = _Passes(sentences, epochs, model.corpus_count)
        model.train(corpus_iterable=passes, total_examples=model.corpus_count, epochs=epochs)
    write_vectors(out, model.wv.index_to_key, model.wv.vectors)
    return len(model.wv), tokens


def _write_tokenized(texts: Iterable[str], tokenizer: Tokenizer, path: Path) -> int:
    """Write the tokens of each text, each text once, on a line; return the number of tokens."""
    seen: set[bytes] = set()
    total = 0
    with path.open("w", encoding="utf-8") as file:
        for text in track(texts, "tokenizing"):
            tokens = tokenizer.tokenize(plain(text))
            line = " ".join(tokens)
            digest = blake2b(line.encode(), digest_size=12).digest()
            if line and digest not in seen:
                seen.add(digest)
                total += len(tokens)
                file.write(line + "\n")
    return total


class _Passes:
    """Sentences for several passes, with one progress bar over all."""

    def __init__(self, sentences: Iterable[list[str]], passes: int, count: int) -> None:
        self._sentences = sentences
        self._progress = track(range(passes * count), "training", passes * count)

    def __iter__(self) -> Iterator[list[str]]:
        for sentence in self._sentences:
            next(self._progress, None)
            yield sentence


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
