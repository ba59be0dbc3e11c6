"""Streams inside streams: the packing is told from the first bytes."""

from __future__ import annotations

import io
from typing import IO, Any, cast

from linker.data.formats.opening import decompressor, packing_of

_BUFFER = 1 << 18


class NotUnpacked(ValueError):  # noqa: N818
    """Packed in a way that is not read here."""


def unpacked(stream: IO[bytes]) -> IO[bytes]:
    """The plain bytes of a buffered stream that may be packed with gzip, bzip2, xz or zstd, even twice.

    Raises:
        NotUnpacked: it is UTF-16, or a zip archive, of which a stream cannot be read.
    """
    packing = packing_of(stream.peek(10)[:10])  # type: ignore[attr-defined]
    if packing is None:
        return stream
    if packing == "zip":
        raise NotUnpacked("is a zip archive inside another archive; unpack it first")
    if packing == "UTF-16":
        raise NotUnpacked("is UTF-16 text; save it as UTF-8")
    return unpacked(forwards(decompressor(stream, packing)))


def buffered(raw: io.RawIOBase) -> IO[bytes]:
    """A raw stream with a buffer, whose `peek` and `readline` are quick."""
    return cast(IO[bytes], io.BufferedReader(raw, _BUFFER))


def forwards(stream: Any) -> IO[bytes]:
    """A buffered stream over one that need not be able to seek."""
    return buffered(_Forwards(stream))


class _Forwards(io.RawIOBase):
    def __init__(self, stream: Any) -> None:
        # Of a stream that is damaged `read1` gives all that comes before the damage, `read` may not.
        self._read = getattr(stream, "read1", stream.read)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        chunk = self._read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)
