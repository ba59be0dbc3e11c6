"""Open local and remote files as streams of decompressed bytes."""

import bz2
import codecs
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any, BinaryIO, cast
from urllib.parse import urlsplit, urlunsplit

from typing_extensions import override

from linker.common.errors import DataError, LinkerError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
# Read by pyarrow, which is a dependency.
_OBJECT_STORES = ("s3", "gs")
_HTTP = ("http", "https")
# Size of a request to an object store: small enough for memory, large enough that waits are rare.
_REQUEST_BYTES = 8 << 20
_BUFFER = 1 << 18


def is_address(path: str) -> bool:
    """Return whether a path begins with a scheme, such as s3:// or https://."""
    return _ADDRESS.match(path) is not None


def without_secrets(url: str) -> str:
    """Return an address for messages, without password and query, which contains the signature of signed URLs."""
    parts = urlsplit(url)
    scheme = _scheme(url)
    if scheme not in (*_HTTP, *_OBJECT_STORES):
        return url
    host = parts.netloc.rpartition("@")[2]
    if scheme in _OBJECT_STORES:  # `?` and `#` may be part of a key or a pattern
        return f"{scheme}://{host}{url.partition('://')[2][len(parts.netloc) :]}"
    return urlunsplit((scheme, host, parts.path, "", ""))


def is_page(url: str) -> bool:
    """Return whether an address is http(s), where folders cannot be listed."""
    return is_address(url) and _scheme(url) in _HTTP


@contextmanager
def open_address(url: str) -> Iterator[IO[bytes]]:
    """Open a remote file for sequential reading.

    Raises:
        DataError: if it is not found or not readable; also while reading.
        LinkerError: if a package is missing.
    """
    with _readable_errors(url):
        system, path = _file_system(url)
        if _scheme(url) in _OBJECT_STORES:
            file = system.fs.open_input_stream(path, compression=None, buffer_size=_REQUEST_BYTES)
        else:
            file = system.open(path, "rb", block_size=_REQUEST_BYTES)

    def read(size: int) -> bytes:
        with _readable_errors(url):
            return file.read(size)

    try:
        yield _buffered(read)
    finally:
        file.close()


def files_below(url: str, pattern: str | None = None) -> list[str]:
    """List the files in a remote folder, relative to it: all, or those that match a pattern.

    Raises:
        DataError: see `open_address`.
    """
    with _readable_errors(url):
        system, path = _file_system(url)
        start = f"{path.rstrip('/')}/"
        found = (
            system.find(start, detail=True) if pattern is None else system.glob(start + pattern, detail=True)
        )
    return [name.removeprefix(start) for name, info in found.items() if info["type"] == "file"]


def kind_of(url: str) -> str | None:
    """Return `file` or `folder`; None if the address is not found.

    Raises:
        DataError: see `open_address`.
    """
    if is_page(url):
        return "file"
    with _readable_errors(url):
        system, path = _file_system(url)
        try:
            return "folder" if system.info(path)["type"] == "directory" else "file"
        except FileNotFoundError:
            return None


class _Stream(io.RawIOBase):
    """A stream of what a function returns for a maximum number of bytes."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        chunk = self._read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _buffered(read: Callable[[int], bytes]) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(cast(Any, _Stream(read)), _BUFFER))


def _scheme(url: str) -> str:
    return url.partition("://")[0].lower()


def _file_system(url: str) -> tuple[Any, str]:
    """The file system of an address, in fsspec's interface, and the path in it."""
    import fsspec
    from fsspec.implementations.arrow import ArrowFSWrapper
    from pyarrow import fs

    scheme, _, path = url.partition("://")
    if scheme.lower() in _OBJECT_STORES:
        bucket, _, key = path.partition("/")
        user, _, name = bucket.rpartition("@")
        if scheme.lower() == "s3" and user == "anonymous":
            region = fs.resolve_s3_region(name)
            return ArrowFSWrapper(fs.S3FileSystem(anonymous=True, region=region)), f"{name}/{key}"
        # Only the bucket is parsed: in a key `?`, `#` and `%` have no special meaning.
        system = fs.FileSystem.from_uri(f"{scheme.lower()}://{bucket}")[0]
        return ArrowFSWrapper(system), f"{name}/{key}".rstrip("/")
    options: dict[str, Any] = {}
    if is_page(url):
        try:
            from aiohttp import ClientTimeout
        except ModuleNotFoundError as error:
            raise LinkerError(
                f"{without_secrets(url)}: {_scheme(url)} addresses need packages that are not installed: "
                "pip install 'article-linker[cloud]'"
            ) from error
        # No total timeout: reading may take hours while posts are encoded. Proxies come from the environment.
        timeout = ClientTimeout(total=None, sock_connect=30, sock_read=300)
        options = {"client_kwargs": {"timeout": timeout, "trust_env": True}}
    system, path = fsspec.core.url_to_fs(url, **options)
    return system, path


@contextmanager
def _readable_errors(url: str) -> Iterator[None]:
    """Turn the errors of many libraries into one message."""
    try:
        yield
    except LinkerError:
        raise
    except Exception as error:
        raise DataError(f"{without_secrets(url)}: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, FileNotFoundError) and error.__cause__ is not None:
        return _reason(error.__cause__)  # fsspec raises FileNotFoundError for every error of http
    status = getattr(error, "status", None)
    if isinstance(error, FileNotFoundError) or status == 404:
        return "file not found"
    if "NO_SUCH_BUCKET" in text:
        return "bucket not found"
    if isinstance(error, PermissionError) or "ACCESS_DENIED" in text or status in (401, 403):
        return (
            "access denied, credentials are missing or insufficient "
            "(s3: AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; gs: GOOGLE_APPLICATION_CREDENTIALS; "
            "public buckets: s3://anonymous@BUCKET/…, gs://anonymous@BUCKET/…)"
        )
    if isinstance(error, (ImportError, ValueError)):
        return f"cannot be opened ({text})"
    return f"cannot be read ({text or type(error).__name__})"


STANDARD_INPUT = "-"
#: Errors of the decompressors for truncated and damaged files.
DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError)
_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bzip2": re.compile(rb"BZh[1-9](1AY&SY|\x17\x72\x45\x38\x50\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "zip": re.compile(rb"PK(\x03\x04|\x05\x06)"),
    "UTF-16": re.compile(rb"\xff\xfe|\xfe\xff"),
}
_MAGIC_LENGTH = 10
_DECOMPRESSORS: dict[str, Callable[[Any], Any]] = {
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
    # The dumps of Reddit need the largest window; the default is 2^27 bytes.
    "zstd": lambda stream: zstd.ZstdFile(stream, options={zstd.DecompressionParameter.window_log_max: 31}),
}


def changed(stream: IO[bytes], change: Callable[[bytes, bool], bytes]) -> BinaryIO:
    """Return a stream whose bytes are changed.

    Args:
        stream: the bytes.
        change: takes the next bytes, and whether these are the last, which are empty; returns what becomes of them,
            and of those that it kept.
    """
    # What a pipe has is passed on at once.
    read_piece, ready = getattr(stream, "read1", stream.read), b""

    def read(size: int) -> bytes:
        nonlocal ready
        more = True
        while not ready and more:
            piece = read_piece(_BUFFER)
            more = bool(piece)
            ready = change(piece, not more)
        piece, ready = ready[:size], ready[size:]
        return piece

    return _buffered(read)


def rejoined(head: bytes, rest: IO[bytes], on_read: Callable[[int], None] | None = None) -> BinaryIO:
    """Return a stream that yields `head`, which was already read (pipes cannot be rewound), and then the rest.

    Args:
        head: the first bytes.
        rest: the stream after them.
        on_read: called with the number of bytes whenever some are read.
    """
    # `read1` returns everything before a damage, `read` may not.
    read_rest = getattr(rest, "read1", rest.read)

    def read(size: int) -> bytes:
        nonlocal head
        chunk, head = head[:size] or read_rest(size), head[size:]
        if on_read is not None:
            on_read(len(chunk))
        return chunk

    return _buffered(read)


def shown_name(path: str) -> str:
    """Return the name of an input for messages."""
    if is_address(path):
        return without_secrets(path)
    return "standard input" if path == STANDARD_INPUT else path or "a file without a name"


@contextmanager
def open_bytes(
    path: str, as_table: bool = False, on_read: Callable[[int], None] | None = None
) -> Iterator[BinaryIO]:
    """Open a file, address or standard input (`-`), decompress it, and recode UTF-16 with a byte order mark as UTF-8.

    The compression is detected from the content, not the name.

    Args:
        path: the file.
        as_table: leave zip archives, as workbooks of Excel and LibreOffice are, and UTF-16 as they are.
        on_read: called with the number of bytes, still compressed, whenever some are read.

    Raises:
        DataError: if the file cannot be opened, is damaged or truncated, or is a zip archive.
    """
    with ExitStack() as stack:
        try:
            if is_address(path):
                raw = stack.enter_context(open_address(path))
            elif path != STANDARD_INPUT:
                raw = stack.enter_context(open(path, "rb"))
            elif sys.stdin is not None:
                raw = sys.stdin.buffer
            else:  # `<&-`
                raise DataError("standard input is closed; give a file")
            head = raw.read(_MAGIC_LENGTH)
        except OSError as error:
            raise DataError(f"{shown_name(path)}: cannot be read ({error.strerror})") from error
        packing = next((name for name, magic in _MAGIC.items() if magic.match(head)), None)
        if as_table and packing in ("zip", "UTF-16"):
            packing = None
        if packing == "zip":
            raise DataError(f"{shown_name(path)}: a zip archive; unpack it")
        try:
            stream = rejoined(head, raw, on_read)
            if packing == "UTF-16":  # such as what PowerShell redirects to a file
                decode = codecs.getincrementaldecoder("utf-16")("replace").decode
                stream = changed(stream, lambda piece, final: decode(piece, final).encode())
            elif packing is not None:
                unpacked = cast(Any, _DECOMPRESSORS[packing](stream))
                stream = stack.enter_context(cast(BinaryIO, io.BufferedReader(unpacked, _BUFFER)))
            yield stream
        except DAMAGE as error:
            kind = f"damaged or truncated ({packing}: {error})" if packing else f"cannot be read ({error})"
            raise DataError(f"{shown_name(path)}: {kind}; nothing was read from it") from error
