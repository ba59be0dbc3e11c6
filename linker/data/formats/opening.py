"""Files as a stream of bytes, whatever they are packed with."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import IO, Any, BinaryIO, cast

from linker.data.formats.addresses import is_address, open_address, without_secrets
from linker.errors import DataError

STANDARD_INPUT = "-"
_BUFFER = 1 << 18
#: What the decompressors raise where a file is cut short or damaged.
DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError)
_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bzip2": re.compile(rb"BZh[1-9](1AY&SY|\x17\x72\x45\x38\x50\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "zip": re.compile(rb"PK\x03\x04"),
    "UTF-16": re.compile(rb"\xff\xfe|\xfe\xff"),
}
_MAGIC_LENGTH = 10
# Names of files in the archives that workbooks are: of Excel, and of LibreOffice.
_WORKBOOK = re.compile(
    rb"\[Content_Types\]\.xml|xl/|mimetypeapplication/vnd\.oasis\.opendocument\.spreadsheet"
)


class _Rejoined(io.RawIOBase):
    """A stream whose first bytes were already read, put together again (pipes cannot be rewound)."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        """Always: this is what it is for."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Fill `buffer` with the next bytes; 0 at the end."""
        chunk = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)


def rejoined(head: bytes, rest: IO[bytes]) -> BinaryIO:
    """A stream of which `head` was read, from its start again."""
    return cast(BinaryIO, io.BufferedReader(_Rejoined(head, rest), _BUFFER))


def packing_of(head: bytes) -> str | None:
    """What a file is packed with, told from its first 10 bytes: gzip, bzip2, xz, zstd, zip or UTF-16, or nothing."""
    return next((name for name, magic in _MAGIC.items() if magic.match(head)), None)


def decompressor(stream: IO[bytes], packing: str) -> Any:
    """The unpacked bytes of a stream that is packed with gzip, bzip2, xz or zstd, without a buffer."""
    if packing == "gzip":
        return gzip.GzipFile(fileobj=stream)
    if packing == "bzip2":
        return bz2.BZ2File(stream)
    if packing == "xz":
        return lzma.LZMAFile(stream)
    import pyarrow

    # pyarrow is needed anyway and, unlike the zstandard package, notices a file that was cut short.
    return pyarrow.CompressedInputStream(stream, "zstd")


def shown_name(path: str) -> str:
    """The name of an input in messages."""
    if is_address(path):
        return without_secrets(path)
    return "standard input" if path == STANDARD_INPUT else path or "a file without a name"


@contextmanager
def open_bytes(path: str, workbooks: bool = False) -> Iterator[BinaryIO]:
    """The unpacked bytes of a file, of what an address leads to, or of standard input (`-`).

    The packing is told from the content, not the name.

    Args:
        path: the file.
        workbooks: whether zip archives that are workbooks of Excel or LibreOffice are given out, as they are.

    Raises:
        DataError: the file cannot be opened, is damaged or cut short, is UTF-16, or a zip archive that is no workbook.
    """
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(_opened(path))
            head = raw.read(_MAGIC_LENGTH)
            if packing_of(head) == "zip":
                head += raw.read(_BUFFER)
        except OSError as error:
            raise DataError(f"{shown_name(path)}: cannot be read ({error.strerror})") from error
        stream = rejoined(head, raw)
        packing = packing_of(head)
        if workbooks and packing == "zip" and _WORKBOOK.search(head):
            packing = None
        try:
            yield stack.enter_context(_unpacked(stream, packing, path))
        except DAMAGE as error:
            kind = f"damaged or cut short ({packing}: {error})" if packing else f"cannot be read ({error})"
            raise DataError(f"{shown_name(path)}: {kind}; nothing was taken from it") from error


def _opened(path: str) -> AbstractContextManager[IO[bytes]]:
    if path == STANDARD_INPUT:
        if sys.stdin is None:  # `<&-`
            raise DataError("standard input: is closed; give a file")
        return nullcontext(sys.stdin.buffer)
    return open_address(path) if is_address(path) else open(path, "rb")


def _unpacked(stream: BinaryIO, packing: str | None, path: str) -> BinaryIO:
    if packing == "zip":
        raise DataError(f"{shown_name(path)}: is a zip archive; unpack it")
    if packing == "UTF-16":
        raise DataError(f"{shown_name(path)}: is UTF-16 text; save it as UTF-8")
    if packing is None:
        return stream
    return cast(BinaryIO, io.BufferedReader(decompressor(stream, packing), _BUFFER))
