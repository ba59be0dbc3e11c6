"""Which words stand in which posts of a corpus: kept beside the store and mapped into memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linker.common.console import progress_bar
from linker.common.errors import DataError, LinkerError
from linker.common.files import atomic_write
from linker.corpus.indexes.id_set import keys_of
from linker.corpus.indexes.postings import Postings, Segment, segment_of
from linker.corpus.indexes.vectors import READ_ONLY
from linker.corpus.storage.reader import batches
from linker.models.lexical import StopWords, lexical_words

if TYPE_CHECKING:
    import lance

# The number goes up when `lexical_words` or the layout of the files changes.
LEXICAL = "words.1"
WITH_STOP_WORDS = "all-words.1"
SEGMENT = 131_072
"""Posts in one file."""
_NAME = re.compile(r"(\d+)-(\d+)-([0-9a-f]{16})\.safetensors")
_DTYPES = {"U64": np.uint64, "I64": np.int64, "I32": np.int32}
# A file that was listed may be gone when it is opened: another process put a longer one in its place.
_TRIES = 20


class Lexical:
    """What of BM25 does not depend on the article; what new posts need is made up for on opening.

    Per word and post 8 bytes on disk, some 100 bytes a post. Nothing of it stays in memory. Words are told by 64 bits
    of a hash. How rare words are and how long posts are on average is counted anew for each query, so scores are those
    of `BM25Model` over all the posts that are there.

    Args:
        folder: the corpus.
        stop_words: as for `BM25Model`.
    """

    def __init__(self, folder: Path, stop_words: StopWords = "english") -> None:
        self._stop_words: StopWords = stop_words
        self.folder = folder / (LEXICAL if stop_words == "english" else WITH_STOP_WORDS)

    def complete(self, dataset: lance.LanceDataset) -> Postings:
        """The words of all posts.

        Raises:
            DataError: a file is damaged.
        """
        for _ in range(_TRIES):
            try:
                return Postings(self._segments(dataset, dataset.count_rows()), self._stop_words)
            except FileNotFoundError:
                continue
        raise DataError(f"{self.folder}: its files come and go; is another process deleting them? Try again")

    def damaged(self) -> Iterator[Path]:
        """Files that are not what was written."""
        for path in sorted(self.folder.glob("*.safetensors")):
            name = _NAME.fullmatch(path.name)
            if name is None or _digest(path.read_bytes()) != name[3]:
                yield path

    def _segments(self, dataset: lance.LanceDataset, rows: int) -> list[Segment]:
        segments: list[Segment] = []
        have, last = 0, None
        while found := self._longest(have, rows):
            last, stop = found
            segments.append(_mapped(last))
            if stop > rows:  # written by somebody who sees more posts
                segments[-1] = segments[-1].cut(rows - have)
                return segments
            have = stop
        if have < rows:
            tail = segments.pop() if segments and len(segments[-1].lengths) < SEGMENT else None
            segments += self._added(dataset, have, rows, tail)
            if tail is not None and last is not None:
                with suppress(OSError):
                    last.unlink(missing_ok=True)
        return segments

    def _longest(self, start: int, rows: int) -> tuple[Path, int] | None:
        """The file that begins with a post and holds most of those that there are."""
        found = []
        for path in self.folder.glob(f"{start:012}-*.safetensors"):
            if name := _NAME.fullmatch(path.name):
                found.append((int(name[2]) <= rows, int(name[2]), path))
        if not found:
            return None
        _, stop, path = max(found)
        return path, stop

    def _added(
        self, dataset: lance.LanceDataset, have: int, rows: int, current: Segment | None
    ) -> Iterator[Segment]:
        """Segments of the posts from `have` on, the first of them after those of `current`; written as well."""
        start = have - (len(current.lengths) if current else 0)
        with progress_bar() as progress:
            bar = progress.add_task("reading words", total=rows - have)
            for batch in batches(dataset, ["text"], have):
                texts = batch.column("text").to_pylist()
                progress.advance(bar, len(texts))
                while texts:
                    room = SEGMENT - (len(current.lengths) if current else 0)
                    new = _read(texts[:room], self._stop_words)
                    current = current.joined(new) if current else new
                    texts = texts[room:]
                    if len(current.lengths) == SEGMENT:
                        yield self._written(current, start)
                        current, start = None, start + SEGMENT
            if current:
                yield self._written(current, start)

    def _written(self, segment: Segment, start: int) -> Segment:
        from safetensors.numpy import save

        content = save(segment._asdict())
        name = f"{start:012}-{start + len(segment.lengths):012}-{_digest(content)}.safetensors"
        try:
            with atomic_write(self.folder / name, "wb") as file:
                file.write(content)
        except LinkerError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno in READ_ONLY:
                return segment  # a corpus can be asked where it cannot be written to
            raise
        return _mapped(self.folder / name)


def _read(texts: Sequence[str], stop_words: StopWords) -> Segment:
    ids: dict[str, int] = {}
    flat: list[int] = []
    lengths = np.empty(len(texts), dtype=np.int32)
    for i, text in enumerate(texts):
        words = lexical_words(text, stop_words)
        lengths[i] = len(words)
        flat.extend([ids.setdefault(word, len(ids)) for word in words])
    keys = keys_of(list(ids))[:, 0]
    rank = np.empty(len(ids), dtype=np.int64)
    order = np.argsort(keys)
    rank[order] = np.arange(len(ids))
    pairs = rank[flat] * len(texts) + np.repeat(np.arange(len(texts)), lengths) if flat else np.zeros(0, int)
    pairs, counts = np.unique(pairs, return_counts=True)
    words_, places = np.divmod(pairs, max(len(texts), 1))
    return segment_of(keys[order][words_], places.astype(np.int32), counts.astype(np.int32), lengths)


def _mapped(path: Path) -> Segment:
    """Its arrays, mapped: nothing is read before it is asked for."""
    try:
        with open(path, "rb") as file:
            start = 8 + int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(start - 8))
        arrays = {}
        for name in Segment._fields:
            (length,), (begin, _) = header[name]["shape"], header[name]["data_offsets"]
            dtype = _DTYPES[header[name]["dtype"]]
            arrays[name] = (
                np.memmap(path, dtype, "r", start + begin, (length,)) if length else np.zeros(0, dtype)
            )
        return Segment(**arrays)
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: damaged ({error}); delete it, it is made again") from error


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]
