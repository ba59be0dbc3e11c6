"""Inverted index of a corpus for BM25, in memory-mapped files."""

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
from linker.models.lexical import lexical_words

if TYPE_CHECKING:
    import lance

# The number goes up when `lexical_words` or the layout of the files changes.
LEXICAL = "words.1"
WITH_STOP_WORDS = "all-words.1"
SEGMENT = 131_072
"""Number of posts per file."""
_NAME = re.compile(r"(\d+)-(\d+)-([0-9a-f]{16})\.safetensors")
_DTYPES = {"U64": np.uint64, "I64": np.int64, "I32": np.int32}
# A listed file may be gone when it is opened, because another process replaced it with a longer one.
_TRIES = 20


class Lexical:
    """The parts of BM25 that do not depend on the article; completed for new posts on opening.

    It takes 8 bytes per word and post on disk, about 100 bytes per post, and no memory. Words are identified by 64-bit
    hashes. Document frequencies and the mean length are computed for each query, so scores are those of `BM25Model`
    over all posts of the corpus.

    Args:
        folder: the corpus.
        stop_words: as for `lexical_words`.
    """

    def __init__(self, folder: Path, stop_words: str = "english") -> None:
        self._stop_words = stop_words
        names = {"english": LEXICAL, "none": WITH_STOP_WORDS}
        self.folder = folder / names.get(stop_words, f"{LEXICAL}.{stop_words}")

    @classmethod
    def stored(cls, folder: Path) -> Iterator[Lexical]:
        """Yield all that a corpus has."""
        yield cls(folder)
        yield cls(folder, "none")
        for path in sorted(folder.glob(f"{LEXICAL}.*")):
            yield cls(folder, path.name.removeprefix(f"{LEXICAL}."))

    def complete(self, dataset: lance.LanceDataset) -> Postings:
        """Return the words of all posts.

        Raises:
            DataError: if a file is damaged.
        """
        for _ in range(_TRIES):
            try:
                return Postings(self._segments(dataset, dataset.count_rows()), self._stop_words)
            except FileNotFoundError:
                continue
        raise DataError(
            f"{self.folder}: files disappear while they are read; end the process that deletes them"
        )

    def carry(self, folder: Path, kept: np.ndarray) -> None:
        """Write the words of some of the posts to another folder of indexes.

        Args:
            folder: that folder.
            kept: bool, one per post: whether its words are written.
        """
        to, have, begin = Lexical(folder, self._stop_words), 0, 0
        while found := self._longest(have, len(kept)):
            path, stop = found
            if stop > len(kept):
                return
            segment = _mapped(path).kept(kept[have:stop])
            if len(segment.lengths):
                to._written(segment, begin)
            have, begin = stop, begin + len(segment.lengths)

    def damaged(self) -> Iterator[Path]:
        """Yield the damaged files."""
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
            if stop > rows:  # written by a process that sees more posts
                segments[-1] = segments[-1].kept(np.arange(stop - have) < rows - have)
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
        """Return the longest file that begins with post `start`, and its end; None if there is none."""
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
        """Yield and write the segments of the posts from `have` on; the first one extends `current`."""
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
                return segment  # a read-only corpus can be searched
            raise
        return _mapped(self.folder / name)


def _read(texts: Sequence[str], stop_words: str) -> Segment:
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
    """Return the arrays of a file, memory-mapped."""
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
        raise DataError(f"{path}: damaged ({error}); delete it, and it is created again") from error


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]
