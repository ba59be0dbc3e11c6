"""Chunks of posts: read from files, and written into a corpus; both in any process."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linker.common.errors import LinkerError, ModelError
from linker.corpus.encoding import encoded
from linker.corpus.engines.engine import Engine, NotThereError
from linker.corpus.indexes.vectors import VECTORS, finite
from linker.corpus.known_posts import Answer, post_keys
from linker.corpus.storage.checksums import FACTS
from linker.corpus.storage.data_files import DataFile
from linker.corpus.storage.reader import table_of
from linker.corpus.storage.store import Store
from linker.data.files.line_errors import OnError
from linker.data.files.streams import STANDARD_INPUT, is_address, shown_name
from linker.data.identity import repeated
from linker.data.io.columns import PostColumns
from linker.data.io.file_ranges import FileRange, lines_in, range_rows, ranges_of
from linker.data.io.platform_rows import deleted_in, is_read_once
from linker.data.io.recorded_lines import RecordedLines, Report
from linker.data.io.records import posts_of_files
from linker.data.types import Post
from linker.models.model import Model

#: Files that are read together have this many bytes at most. One that is larger is read alone; if it can be divided, in
#: ranges of as many bytes.
_BYTES_AT_ONCE = 32 << 20
# Sizes of addresses are not looked up.
_BYTES_OF_ADDRESS = 4 << 20


class Posts(list[Post]):
    """Posts that are pickled in a third of the time of a list."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _posts, tuple([getattr(post, name) for post in self] for name in Post.__dataclass_fields__)


def _posts(*columns: Sequence[Any]) -> Posts:
    return Posts(map(Post, *columns))


@dataclass(frozen=True)
class Chunk:
    """What the driver must know of a chunk of posts.

    Attributes:
        keys: keys of the posts, see `post_keys`.
        reports: reports on the files since the last chunk.
    """

    keys: np.ndarray
    reports: Sequence[Report]


@dataclass(frozen=True)
class ChunkReader:
    """Reads chunks of posts from files.

    Attributes:
        columns: column names of the files.
        on_error: as for `read_posts`; in strict mode, the chunk with the first bad line is the last.
        deleted: what the files delete, see `deleted_in`; files that can be read only once add to it.
        posts: maximum number of posts of a chunk.
        characters: number of characters of their texts after which a chunk ends.
    """

    columns: PostColumns
    on_error: OnError
    deleted: set[bytes]
    posts: int
    characters: int

    def __call__(
        self, first: int, files: Sequence[str], part: FileRange | None = None
    ) -> Iterator[tuple[Chunk, Posts]]:
        """Yield the posts of some files, in their order.

        Args:
            first: number of the first file among all files, for the reports.
            files: the files.
            part: the range to read of the only file; None: the whole files.

        Raises:
            DataError: if a file cannot be read; after the chunks before it, and the reports on it.
            NotThereError: if a local file is not there, because this process runs on another machine.
        """
        _check_there(files)
        lines = RecordedLines(self.on_error, first)
        rows_of = None if part is None else lambda path: range_rows(path, part, lines)
        source = posts_of_files(files, self.columns, lines, self.deleted, rows_of)
        posts, characters = Posts(), 0
        try:
            for post in source:
                posts.append(post)
                characters += len(post.text)
                if len(posts) == self.posts or characters > self.characters:
                    yield _chunk(posts, lines), posts
                    if self.on_error == "strict" and lines.total:
                        return
                    posts, characters = Posts(), 0
        except LinkerError:
            yield _chunk(Posts(), lines), Posts()
            raise
        yield _chunk(posts, lines), posts


def _chunk(posts: Posts, lines: RecordedLines) -> Chunk:
    keys = post_keys([post.id for post in posts], [post.text for post in posts])
    return Chunk(keys, lines.taken())


def _check_there(files: Sequence[str]) -> None:
    for path in files:
        if not is_address(path) and path != STANDARD_INPUT and not os.path.exists(path):
            raise NotThereError(f"{shown_name(path)}: file not found on {socket.gethostname()}")


@dataclass(frozen=True)
class FileGroup:
    """Files that are read together.

    Attributes:
        first: number of the first file among all files.
        files: the files, in their order.
        bytes: their size; None: unknown.
        part: the range to read of the only file; None: the whole files.
    """

    first: int
    files: Sequence[str]
    bytes: int | None
    part: FileRange | None = None


@dataclass(frozen=True)
class _RangeFinder:
    columns: PostColumns
    bytes: int

    def __call__(self, path: str) -> list[FileRange]:
        _check_there([path])
        return ranges_of(path, self.columns, self.bytes)


def _lines_before_next(path: str, part: FileRange) -> int:
    _check_there([path])
    return lines_in(path, part.begin, part.end)


def divided(files: Iterable[str], columns: PostColumns, engine: Engine) -> dict[str, list[FileRange]]:
    """Return the ranges of the large files that can be divided, see `ranges_of`; their lines are counted.

    Args:
        files: files and addresses that exist.
        columns: column names of the files.
        engine: where the files are read.
    """
    large = [path for path in files if os.path.isfile(path) and os.path.getsize(path) > _BYTES_AT_ONCE]
    found = dict(zip(large, engine.map(_RangeFinder(columns, _BYTES_AT_ONCE), ((path,) for path in large))))
    counts = engine.map(_lines_before_next, ((path, part) for path in found for part in found[path]))
    for parts in found.values():
        line = 1
        for number, part in enumerate(parts):
            parts[number] = replace(part, line=line)
            line += next(counts)
    return {path: parts for path, parts in found.items() if parts}


def groups_of(files: Iterable[str], ranges: Mapping[str, Sequence[FileRange]]) -> list[FileGroup]:
    """Group consecutive files; chunks end with a group, in whichever process it is read.

    Args:
        files: files and addresses that exist.
        ranges: those of divided files; each is a group of its own.
    """
    groups: list[FileGroup] = []
    group: list[str] = []
    known, total, first = True, 0, 0
    for number, path in enumerate(files):
        if path in ranges:
            if group:
                groups.append(FileGroup(first, group, total if known else None))
            groups += [FileGroup(number, [path], part.end - part.begin, part) for part in ranges[path]]
            group, known, total, first = [], True, 0, number + 1
            continue
        is_file = not is_address(path) and not is_read_once(path)
        size = os.path.getsize(path) if is_file else _BYTES_OF_ADDRESS
        if group and total + size > _BYTES_AT_ONCE:
            groups.append(FileGroup(first, group, total if known else None))
            group, known, total, first = [], True, 0, number
        group.append(path)
        known, total = known and is_file, total + size
    return groups + ([FileGroup(first, group, total if known else None)] if group else [])


@dataclass(frozen=True)
class DeletionReader:
    """Reads what files of a platform delete.

    Attributes:
        columns: column names of the files.
    """

    columns: PostColumns

    def __call__(self, files: Sequence[str]) -> set[bytes]:
        """Return digests of what some files delete, see `deleted_in`.

        Raises:
            NotThereError: as for `ChunkReader`.
        """
        _check_there(files)
        return deleted_in(files, self.columns)


@dataclass(frozen=True)
class Written:
    """A chunk whose new posts are written, but not yet committed.

    Attributes:
        file: the data file.
        replaced: ids of those of the posts that replace others.
    """

    file: DataFile
    replaced: Sequence[str]


@dataclass(frozen=True)
class ChunkWriter:
    """Encodes posts and writes them into data files of a corpus.

    Attributes:
        store: the corpus.
        model: the model, which `check_parts` accepts.
    """

    store: Store
    model: Model

    def __call__(self, posts: Sequence[Post], answer: Answer) -> Written:
        """Write the new posts of a chunk.

        Args:
            posts: the chunk.
            answer: which are new.

        Raises:
            LinkerError: if they cannot be written.
            ModelError: if the embeddings are not finite or of another dimension.
        """
        facts, folder = self.store.facts, self.store.folder
        if not (folder / FACTS).is_file():
            raise LinkerError(
                f"{folder}: a worker does not see the corpus; put it where all machines of the cluster see it "
                "under the same path"
            )
        chosen = [
            post if repeat == 1 else replace(post, id=repeated(post.id, repeat))
            for row, repeat in zip(answer.rows.tolist(), answer.repeats.tolist())
            for post in (posts[row],)
        ]
        files = encoded(self.model, chosen)
        vectors = files[VECTORS]
        if vectors["values"].shape[1] != facts.dim:
            raise ModelError(f"{folder}: the model's embeddings do not have {facts.dim} dimensions")
        if not finite(vectors):
            raise ModelError(f"{facts.model}: gives embeddings that are not finite numbers; train it again")
        with self.store.write_errors():
            return Written(
                DataFile.write(folder, table_of(chosen), files),
                [posts[row].id for row in answer.replaced.tolist()],
            )
