"""Streams inside streams: the packing is told from the first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from typing import IO, Any, cast

#: What reading raises where a stream is cut short or damaged.
DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError)
_BUFFER = 1 << 18
_GZIP, _BZIP2, _XZ, _ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
_ZIP, _UTF16 = b"PK\x03\x04", (b"\xff\xfe", b"\xfe\xff")
_MAGICS = (_GZIP, _BZIP2, _XZ, _ZSTD, _ZIP, *_UTF16)


class NotUnpacked(ValueError):  # noqa: N818
    """Packed in a way that is not read here."""


def is_packed(head: bytes) -> bool:
    """Are these the first 10 bytes of something that `unpacked` unpacks or refuses?"""
    return any(head.startswith(magic) for magic in _MAGICS)


def unpacked(stream: IO[bytes]) -> IO[bytes]:
    """The plain bytes of a buffered stream that may be packed with gzip, bzip2, xz or zstd, even twice.

    Raises:
        NotUnpacked: it is a zip archive or UTF-16.
    """
    head = stream.peek(10)[:10]  # type: ignore[attr-defined]
    inner: Any
    if head.startswith(_GZIP):
        inner = gzip.GzipFile(fileobj=stream)
    elif head.startswith(_BZIP2) and head[4:10] in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"):
        inner = bz2.BZ2File(stream)
    elif head.startswith(_XZ):
        inner = lzma.LZMAFile(stream)  # noqa: SIM115
    elif head.startswith(_ZSTD):
        import pyarrow

        inner = pyarrow.CompressedInputStream(stream, "zstd")
    elif head.startswith(_ZIP):
        raise NotUnpacked("is a zip archive; unpack it first")
    elif head.startswith(_UTF16):
        raise NotUnpacked("is UTF-16 text; save it as UTF-8")
    else:
        return stream
    return unpacked(forwards(inner))


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
