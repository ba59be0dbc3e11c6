"""Archives of tweet objects as units of work: files, packed or not, and the members of tar files."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple, cast
from zipfile import BadZipFile, ZipExtFile, ZipFile, ZipInfo

from linker.common.errors import DataError
from linker.contrib.twitter4sse.tweets import Tweet, tweets_in
from linker.data.io.streams import DAMAGE, decompressor, packing_of

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


_ENCRYPTED = 0x1


def zip_members(file: IO[bytes]) -> list[ZipInfo]:
    """The files in a zip file, in its order.

    Raises:
        zipfile.BadZipFile: its directory, which stands at its end, is damaged or missing.
    """
    with ZipFile(file) as zipped:
        return [member for member in zipped.infolist() if not member.is_dir()]


def open_member(file: IO[bytes], start: int) -> tuple[ZipExtFile, Callable[[], int]]:
    """The member whose entry begins at byte `start`; several may have the same name.

    Returns:
        Its unpacked bytes, and what tells about how many of its packed bytes are not read yet.

    Raises:
        NotUnpacked: it is encrypted, or packed in a way that Python does not unpack.
        zipfile.BadZipFile: the zip file is damaged.
    """
    zipped = ZipFile(file)
    info = next(member for member in zipped.infolist() if member.header_offset == start)
    if info.flag_bits & _ENCRYPTED:
        raise NotUnpacked("is encrypted; unpack it first")
    try:
        stream = zipped.open(info)
    except NotImplementedError as error:
        raise NotUnpacked(f"is packed in an unusual way ({error}); unpack it first") from error
    assert isinstance(stream, ZipExtFile)
    size, packed = max(info.file_size, 1), info.compress_size
    return stream, lambda: round(packed * (1 - stream.tell() / size))


MAX_LINE = 16 << 20


def read_lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of a stream; None stands for one that is longer than 16 MiB, which is never held whole."""
    while line := stream.readline(MAX_LINE):
        if len(line) < MAX_LINE or line.endswith(b"\n"):
            yield line
            continue
        while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


class SourceLines:
    """The lines of a source, as `read_lines` gives them; to be iterated once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._opened: OpenSource | None = None

    @property
    def left(self) -> int:
        """Packed bytes that are not read yet."""
        return self._opened.left() if self._opened else self._source.size

    def __iter__(self) -> Iterator[bytes | None]:
        # Only what reading raises means damage, not what is raised while a line is worked on elsewhere.
        with open_source(self._source) as self._opened:
            for stream in self._opened.streams:
                yield from read_lines(stream)


def parse_line(line: bytes | None) -> list[Tweet] | str:
    """The tweets of a line, at least one, or why there are none."""
    if line is None:
        return "longer than 16 MiB"
    try:
        text = line.decode().strip().removeprefix("\ufeff")
    except UnicodeDecodeError:
        return "invalid UTF-8"
    if not text:
        return "blank"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # also a number of more than 4,300 digits
        return "broken JSON"
    if not isinstance(value, dict):
        return "not a JSON object"
    return tweets_in(value) or ("notice of a deletion" if "delete" in value else "no tweet in it")


# A stream archive has a file for every minute: few bytes each, so several make one unit.
UNIT_BYTES = 16 << 20
_ENDINGS = (
    ".json",
    ".jsonl",
    ".ndjson",
    ".gz",
    ".gzip",
    ".bz2",
    ".zst",
    ".zstd",
    ".xz",
    ".zip",
    ".tar",
    ".tgz",
    ".tbz2",
    ".txt",
)


class Source(NamedTuple):
    """A stretch of a file: all of it, some lines of a large plain one, or a member of a zip file or plain tar file.

    Attributes:
        path: the file.
        start: its first byte.
        size: bytes, as packed.
        member: its name in the tar or zip file; empty: it is no member.
        changed: when the file last changed, in nanoseconds.
    """

    path: str
    start: int
    size: int
    member: str
    changed: int

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self.path}:{self.member}" if self.member else self.path


def find_sources(archives: Sequence[str | Path]) -> list[Source]:
    """Every file in some files and folders, each once, sorted by path; of zip and plain tar files each member.

    In folders only files whose names end like archives of JSON are taken, and none that begin with a dot.

    Raises:
        DataError: an archive is missing or cannot be read, or a folder holds none.
    """
    found: dict[str, Path] = {}
    for archive in map(Path, archives):
        if archive.is_dir():
            files = _files_below(archive)
            if not files:
                raise DataError(f"{archive}: no archive in this folder (looked for *{', *'.join(_ENDINGS)})")
        elif archive.is_file():
            files = [archive]
        else:
            raise DataError(f"{archive}: there is no such file or folder; give archives of tweet objects")
        for file in files:
            found.setdefault(str(file.resolve()), file)
    return [source for file in sorted(found.values(), key=str) for source in _sources_of(file)]


def units(sources: Sequence[Source], size: int = UNIT_BYTES) -> list[list[Source]]:
    """Neighbouring sources put together until a unit has about `size` packed bytes."""
    gathered: list[list[Source]] = []
    room = 0
    for source in sources:
        if room <= 0:
            gathered.append([])
            room = size
        gathered[-1].append(source)
        room -= source.size
    return gathered


class OpenSource(NamedTuple):
    """A source being read.

    Attributes:
        streams: its unpacked streams, one after the other: packed tar files hold several.
        left: how many of its packed bytes are not read yet.
    """

    streams: Iterator[IO[bytes]]
    left: Callable[[], int]


@contextmanager
def open_source(source: Source) -> Iterator[OpenSource]:
    """Open a source for reading from its beginning to its end.

    Raises:
        DataError: it is damaged, cut short, or packed in a way that is not known.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open(source.path, "rb"))
            if source.member and packing_of(file.read(10)) == "zip":
                member, left = open_member(file, source.start)
                yield OpenSource(_streams(forwards(stack.enter_context(member))), left)
                return
            stretch = _Stretch(file, source.start, source.size)
            yield OpenSource(_streams(buffered(stretch)), lambda: stretch.left)
        except (tarfile.TarError, BadZipFile) as error:
            raise DataError(f"{source.name}: damaged or cut short ({error})") from error
        except NotUnpacked as error:
            raise DataError(f"{source.name}: {error}") from error
        except DAMAGE as error:
            raise DataError(f"{source.name}: damaged or cut short ({error})") from error


def _streams(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    plain = unpacked(stream)
    if not _is_tar(plain):
        yield plain
        return
    with tarfile.open(fileobj=plain, mode="r|") as tar:
        for member in tar:
            if member.isfile() and _is_archive(member.name):
                inside = tar.extractfile(member)
                if inside is not None:
                    yield from _streams(forwards(inside))


def _is_tar(stream: IO[bytes]) -> bool:
    head = stream.peek(512)[:512]  # type: ignore[attr-defined]
    return head[257:262] == b"ustar"


def _files_below(folder: Path) -> list[Path]:
    def refuse(error: OSError) -> None:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror})") from error

    found = []
    for where, folders, files in os.walk(folder, onerror=refuse, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(where, name) for name in sorted(files) if _is_archive(name)]
    return found


def _is_archive(name: str) -> bool:
    last = name.rpartition("/")[2]
    return last.lower().endswith(_ENDINGS) and not last.startswith(".")


def _sources_of(file: Path) -> Iterator[Source]:
    try:
        state = file.stat()
        with open(file, "rb") as stream:
            head = stream.read(512)
            if packing_of(head) == "zip":
                members = [one for one in zip_members(stream) if _is_archive(one.filename)]
                for one in members:
                    yield Source(
                        str(file), one.header_offset, one.compress_size, one.filename, state.st_mtime_ns
                    )
                if not members:
                    raise DataError(
                        f"{file}: no archive in this zip file (looked for *{', *'.join(_ENDINGS)})"
                    )
                return
            if head[257:262] != b"ustar":
                cuts = [0, state.st_size] if packing_of(head) else list(_cuts(stream, state.st_size))
                for start, end in pairwise(cuts):
                    yield Source(str(file), start, end - start, "", state.st_mtime_ns)
                return
        with tarfile.open(file, "r:") as tar:
            for member in tar:
                if member.isfile() and _is_archive(member.name):
                    yield Source(str(file), member.offset_data, member.size, member.name, state.st_mtime_ns)
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror})") from error
    except (tarfile.TarError, BadZipFile) as error:
        raise DataError(f"{file}: damaged or cut short ({error}); unpack what is whole in it") from error


def _cuts(stream: IO[bytes], size: int) -> Iterator[int]:
    """Where a large plain file is cut, so that several processes can read it: always behind a line's end."""
    place = 0
    while place < size:
        yield place
        stream.seek(min(place + UNIT_BYTES, size))
        while (piece := stream.readline(1 << 20)) and not piece.endswith(b"\n"):
            pass
        place = stream.tell()
    yield size


class _Stretch(io.RawIOBase):
    """Some bytes of a file, read from their first to their last."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        file.seek(start)
        self._file, self.left = file, size

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Fill `buffer` with the next bytes; 0 at the end.

        Raises:
            EOFError: the file ends before the stretch does.
        """
        chunk = self._file.read(min(len(buffer), self.left))
        if not chunk and self.left and buffer:
            raise EOFError(f"{self.left} bytes are missing at the end")
        self.left -= len(chunk)
        buffer[: len(chunk)] = chunk
        return len(chunk)
