"""A million posts in little memory: they are in a temporary file, and are made again when they are accessed."""

import marshal
import tempfile
import threading
from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import overload

from typing_extensions import override

from linker.common.errors import DataError
from linker.data.types import Post

#: Bytes of posts that stay in memory, some 150,000 posts.
_IN_MEMORY = 32 << 20
#: Posts that are made at a time.
_AT_ONCE = 4_096
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


class SpooledPosts(Sequence[Post]):
    """Posts in a temporary file that nothing else can open; 8 bytes of memory for each. Safe for several threads.

    Args:
        posts: the posts, read once.

    Raises:
        DataError: if the temporary folder is full, or there is none.
    """

    def __init__(self, posts: Iterable[Post]) -> None:
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        self._ends, self._lock = array("q", [0]), threading.Lock()
        self._objects: dict[int, Post] = {}
        for row, post in enumerate(posts):
            try:
                record = _record(post)
            except ValueError:
                # Fields of types that only some formats have, such as times and decimals of Parquet.
                self._objects[row], record = post, b""
            try:
                self._file.write(record)
            except OSError as error:
                raise DataError(
                    f"posts cannot be kept in the temporary folder ({error.strerror or error}); make room there, or "
                    "name another one in TMPDIR"
                ) from error
            self._ends.append(self._ends[-1] + len(record))

    @override
    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> Post: ...

    @overload
    def __getitem__(self, index: slice) -> list[Post]: ...

    @override
    def __getitem__(self, index: int | slice) -> Post | list[Post]:
        rows = range(len(self))[index]
        if isinstance(rows, int):
            return self[rows : rows + 1][0]
        if rows.step != 1:
            return [self[row] for row in rows]
        first = self._ends[rows.start]
        with self._lock:
            self._file.seek(first)
            data = memoryview(self._file.read(self._ends[max(rows.start, rows.stop)] - first))
        return [
            self._objects.get(row) or _post(data[self._ends[row] - first : self._ends[row + 1] - first])
            for row in rows
        ]

    @override
    def __iter__(self) -> Iterator[Post]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self[start : start + _AT_ONCE]


def _record(post: Post) -> bytes:
    """Return a post as bytes for this process only; `marshal` keeps the types of values, and is faster than JSON.

    Raises:
        ValueError: if the post has values that cannot be made again.
    """
    at = post.created_at
    if at is not None and at.tzinfo is not timezone.utc:
        raise ValueError(at)
    micros = None if at is None else (at - _EPOCH) // _MICROSECOND
    return marshal.dumps((post.id, post.text, post.article_ids, micros, post.split, post.extra, post.source))


def _post(record: memoryview) -> Post:
    id_, text, article_ids, micros, split, extra, source = marshal.loads(record)
    at = None if micros is None else _EPOCH + micros * _MICROSECOND
    return Post(id_, text, article_ids, at, split, extra, source)
