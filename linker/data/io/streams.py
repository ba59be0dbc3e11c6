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
from urllib.parse import urlsplit, urlunsplit

from linker.common.errors import DataError, LinkerError

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
# Read by pyarrow, which is installed anyway.
_OBJECT_STORES = ("s3", "gs")
_HTTP = ("http", "https")
# One request an object store answers; few enough that memory stays flat, many enough that waiting is rare.
_REQUEST_BYTES = 8 << 20


def is_address(path: str) -> bool:
    """Does it begin with a scheme, such as s3:// or https://?"""
    return _ADDRESS.match(path) is not None


def without_secrets(address: str) -> str:
    """The address as messages show it: no password, no query, in which signed addresses hold their signature."""
    parts = urlsplit(address)
    scheme = _scheme(address)
    if scheme not in (*_HTTP, *_OBJECT_STORES):
        return address
    host = parts.netloc.rpartition("@")[2]
    if scheme in _OBJECT_STORES:  # `?` and `#` may be part of a key or a pattern
        return f"{scheme}://{host}{address.partition('://')[2][len(parts.netloc) :]}"
    return urlunsplit((scheme, host, parts.path, "", ""))


def is_page(address: str) -> bool:
    """Is it an address of the web, where folders cannot be listed?"""
    return is_address(address) and _scheme(address) in _HTTP


@contextmanager
def open_address(address: str) -> Iterator[IO[bytes]]:
    """The bytes behind an address, read forwards a few at a time.

    Raises:
        DataError: there is nothing, it may not be read, or a package is missing; also while reading.
    """
    with _told(address):
        if _scheme(address) in _OBJECT_STORES:
            system, path = _arrow(address)
            file = system.open_input_stream(path, compression=None, buffer_size=_REQUEST_BYTES)
        else:
            system, path = _fsspec(address)
            file = system.open(path, "rb", block_size=_REQUEST_BYTES)
    try:
        yield cast(IO[bytes], io.BufferedReader(cast(Any, _Told(file, address)), 1 << 18))
    finally:
        file.close()


def files_below(address: str, levels: int | None) -> list[str]:
    """Names of all files in a folder, relative to it.

    Args:
        address: the folder.
        levels: how deep, 1 is the folder alone; None: all that is below it.

    Raises:
        DataError: see `open_address`.
    """
    with _told(address):
        if _scheme(address) in _OBJECT_STORES:
            from pyarrow.fs import FileSelector, FileType

            system, path = _arrow(address)
            selector = FileSelector(path, recursive=levels != 1, allow_not_found=True)
            found = [one.path for one in system.get_file_info(selector) if one.type == FileType.File]
        else:
            system, path = _fsspec(address)
            found = system.find(path, maxdepth=levels)
    start = path.rstrip("/") + "/"
    return [name.removeprefix(start) for name in found if name.startswith(start)]


def kind_of(address: str) -> str | None:
    """`file` or `folder`; None: there is nothing.

    Raises:
        DataError: see `open_address`.
    """
    if is_page(address):
        return "file"
    with _told(address):
        if _scheme(address) in _OBJECT_STORES:
            from pyarrow.fs import FileType

            system, path = _arrow(address)
            kind = system.get_file_info(path).type
            return {FileType.File: "file", FileType.Directory: "folder"}.get(kind)
        system, path = _fsspec(address)
        return "folder" if system.isdir(path) else "file" if system.exists(path) else None


class _Told(io.RawIOBase):
    """A stream whose errors name the address."""

    def __init__(self, file: Any, address: str) -> None:
        self._file, self._address = file, address

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Fill `buffer` with the next bytes; 0 at the end."""
        with _told(self._address):
            chunk = self._file.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _scheme(address: str) -> str:
    return address.partition("://")[0].lower()


def _arrow(address: str) -> tuple[Any, str]:
    """A file system of pyarrow, and the path there."""
    from pyarrow import fs

    scheme, _, path = address.partition("://")
    bucket, _, key = path.partition("/")
    user, _, name = bucket.rpartition("@")
    if scheme.lower() == "s3" and user == "anonymous":
        region = fs.resolve_s3_region(name)
        return fs.S3FileSystem(anonymous=True, region=region), f"{name}/{key}"
    # Only of the bucket: in a key `?`, `#` and `%` stand for themselves.
    return fs.FileSystem.from_uri(f"{scheme.lower()}://{bucket}")[0], f"{name}/{key}".rstrip("/")


def _fsspec(address: str) -> tuple[Any, str]:
    """A file system of fsspec, and the path there."""
    try:
        import fsspec
    except ModuleNotFoundError as error:
        raise LinkerError(_missing(address)) from error
    options: dict[str, Any] = {}
    if is_page(address):
        try:
            from aiohttp import ClientTimeout
        except ModuleNotFoundError as error:
            raise LinkerError(_missing(address)) from error
        # A file may take hours to be read, while what was read is encoded; a proxy is taken from the environment.
        timeout = ClientTimeout(total=None, sock_connect=30, sock_read=300)
        options = {"client_kwargs": {"timeout": timeout, "trust_env": True}}
    system, path = fsspec.core.url_to_fs(address, **options)
    return system, path


def _missing(address: str) -> str:
    shown = without_secrets(address)
    return f"{shown}: {_scheme(address)} addresses need more packages: pip install 'article-linker[cloud]'"


@contextmanager
def _told(address: str) -> Iterator[None]:
    """Whatever goes wrong, in whichever of many libraries, becomes one message."""
    try:
        yield
    except LinkerError:
        raise
    except Exception as error:
        raise DataError(f"{without_secrets(address)}: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, FileNotFoundError) and error.__cause__ is not None:
        return _reason(error.__cause__)  # fsspec says so of pages whatever went wrong
    status = getattr(error, "status", None)
    if isinstance(error, FileNotFoundError) or status == 404:
        return "there is no such file"
    if "NO_SUCH_BUCKET" in text:
        return "there is no such bucket"
    if isinstance(error, PermissionError) or "ACCESS_DENIED" in text or status in (401, 403):
        return (
            "may not be read: no credentials were found, or they do not suffice "
            "(s3: AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; gs: GOOGLE_APPLICATION_CREDENTIALS; "
            "public buckets: s3://anonymous@BUCKET/…, gs://anonymous@BUCKET/…)"
        )
    if isinstance(error, (ImportError, ValueError)):
        return f"cannot be opened ({text})"
    return f"cannot be read ({text or type(error).__name__})"


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
