"""Archives of tweet objects as units of work: files, compressed or not, and members of tar and zip files."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple, cast
from zipfile import BadZipFile, ZipFile

from linker.common.errors import DataError
from linker.common.files import real_path
from linker.contrib.twitter4sse.tweets import Tweet, tweets_in
from linker.data.files.streams import DAMAGE, decompressor, packing_of, rejoined

_BUFFER = 1 << 18


class UnsupportedCompression(ValueError):  # noqa: N818
    """A compression that is not supported."""


def decompressed(stream: IO[bytes]) -> IO[bytes]:
    """Return the plain bytes of a buffered stream that may be compressed with gzip, bzip2, xz or zstd, even twice.

    Raises:
        UnsupportedCompression: if it is UTF-16, or a zip archive, which cannot be read from a stream.
    """
    packing = packing_of(stream.peek(10)[:10])  # type: ignore[attr-defined]
    if packing is None:
        return stream
    if packing == "zip":
        raise UnsupportedCompression("is a zip archive inside another archive; unpack it first")
    if packing == "UTF-16":
        raise UnsupportedCompression("is UTF-16 text; save it as UTF-8")
    return decompressed(rejoined(b"", decompressor(stream, packing)))


_ENCRYPTED = 0x1


def _open_member(file: IO[bytes], start: int) -> IO[bytes]:
    """Open the zip member whose entry begins at byte `start`; names need not be unique.

    Raises:
        UnsupportedCompression: if it is encrypted, or Python cannot decompress it.
        zipfile.BadZipFile: if the zip file is damaged.
    """
    zipped = ZipFile(file)
    info = next(member for member in zipped.infolist() if member.header_offset == start)
    if info.flag_bits & _ENCRYPTED:
        raise UnsupportedCompression("is encrypted; unpack it first")
    try:
        return zipped.open(info)
    except NotImplementedError as error:
        raise UnsupportedCompression(f"is packed in an unusual way ({error}); unpack it first") from error


MAX_LINE = 16 << 20


def read_lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """Yield the lines of a stream, None for a line longer than 16 MiB, which is never in memory as a whole."""
    while line := stream.readline(MAX_LINE):
        if len(line) < MAX_LINE or line.endswith(b"\n"):
            yield line
            continue
        while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def source_lines(source: Source) -> Iterator[bytes | None]:
    """Yield the lines of a source as `read_lines` does.

    Raises:
        DataError: if it is damaged, truncated, or compressed in an unsupported way.
    """
    with closing(_lines(source)) as lines:
        while True:
            # Only errors of reading mean damage, not errors of whoever processes a line.
            try:
                line = next(lines, b"")
            except UnsupportedCompression as error:
                raise DataError(f"{source.name}: {error}") from error
            except (tarfile.TarError, BadZipFile, *DAMAGE) as error:
                raise DataError(f"{source.name}: damaged or cut short ({error})") from error
            if line == b"":
                return
            yield line


def _lines(source: Source) -> Generator[bytes | None, None, None]:
    with open(source.path, "rb") as file:
        if source.member and packing_of(file.read(10)) == "zip":
            packed: IO[bytes] = rejoined(b"", _open_member(file, source.start))
        else:
            packed = cast(IO[bytes], io.BufferedReader(_Section(file, source.start, source.size), _BUFFER))
        for stream in _streams(packed):
            yield from read_lines(stream)


def parse_line(line: bytes | None) -> list[Tweet] | str:
    """Return the tweets of a line, at least one, or the reason why it has none."""
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
    except (ValueError, RecursionError):  # Also for a number of more than 4,300 digits.
        return "broken JSON"
    if not isinstance(value, dict):
        return "not a JSON object"
    return tweets_in(value) or ("notice of a deletion" if "delete" in value else "no tweet in it")


# A stream archive has one small file per minute, so several make a unit of work.
UNIT_BYTES = 16 << 20
_ENDINGS = (
    ".json", ".jsonl", ".ndjson", ".gz", ".gzip", ".bz2", ".zst", ".zstd", ".xz", ".zip", ".tar",
    ".tgz", ".tbz2", ".txt",
)  # fmt: skip


class Source(NamedTuple):
    """A file, some lines of a large plain file, or a member of a zip file or plain tar file.

    Attributes:
        path: the file.
        start: offset of the first byte.
        size: number of bytes, compressed.
        member: name of the member in the tar or zip file, or "".
        changed: modification time of the file, in nanoseconds.
    """

    path: str
    start: int
    size: int
    member: str
    changed: int

    @property
    def name(self) -> str:
        """Return the name in messages."""
        return f"{self.path}:{self.member}" if self.member else self.path


def find_sources(archives: Sequence[str | Path]) -> list[Source]:
    """Return every file among files and folders once, sorted by path; of zip and plain tar files each member.

    In folders, only files with the name of an archive of JSON count, and hidden files do not.

    Raises:
        DataError: if an archive is missing or unreadable, or a folder contains none.
    """
    files_by_path: dict[str, Path] = {}
    for archive in map(Path, archives):
        if archive.is_dir():
            files = _files_below(archive)
            if not files:
                raise DataError(f"{archive}: no archive in this folder (looked for *{', *'.join(_ENDINGS)})")
        elif archive.is_file():
            files = [archive]
        else:
            raise DataError(f"{archive}: file or folder not found; give archives of tweet objects")
        for file in files:
            files_by_path.setdefault(str(real_path(file)), file)
    return [source for file in sorted(files_by_path.values(), key=str) for source in _sources_of(file)]


def units(sources: Sequence[Source], size: int = UNIT_BYTES) -> list[list[Source]]:
    """Group neighboring sources into units of about `size` compressed bytes."""
    grouped: list[list[Source]] = []
    room = 0
    for source in sources:
        if room <= 0:
            grouped.append([])
            room = size
        grouped[-1].append(source)
        room -= source.size
    return grouped


def _streams(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    plain = decompressed(stream)
    if not _is_tar(plain):
        yield plain
        return
    with tarfile.open(fileobj=plain, mode="r|") as tar:
        for member in tar:
            if member.isfile() and _is_archive(member.name):
                inside = tar.extractfile(member)
                if inside is not None:
                    yield from _streams(rejoined(b"", inside))


def _is_tar(stream: IO[bytes]) -> bool:
    head = stream.peek(512)[:512]  # type: ignore[attr-defined]
    return head[257:262] == b"ustar"


def _files_below(folder: Path) -> list[Path]:
    def refuse(error: OSError) -> None:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror})") from error

    paths = []
    for where, folders, files in os.walk(folder, onerror=refuse, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths += [Path(where, name) for name in sorted(files) if _is_archive(name)]
    for path in paths:
        if path.exists() and not path.is_file():
            raise DataError(f"{path}: a pipe or a device among the archives; remove it")
    return paths


def _is_archive(name: str) -> bool:
    last = name.rpartition("/")[2]
    return last.lower().endswith(_ENDINGS) and not last.startswith(".")


def _sources_of(file: Path) -> Iterator[Source]:
    try:
        state = file.stat()
        with open(file, "rb") as stream:
            head = stream.read(512)
            if packing_of(head) == "zip":
                with ZipFile(stream) as zipped:
                    members = [info for info in zipped.infolist() if _is_archive(info.filename)]
                for info in members:
                    yield Source(
                        str(file), info.header_offset, info.compress_size, info.filename, state.st_mtime_ns
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
        raise DataError(f"{file}: damaged or cut short ({error}); unpack its undamaged members") from error


def _cuts(stream: IO[bytes], size: int) -> Iterator[int]:
    """Yield the offsets at which a large plain file is split for several processes, always after a line end."""
    place = 0
    while place < size:
        yield place
        stream.seek(min(place + UNIT_BYTES, size))
        while (piece := stream.readline(1 << 20)) and not piece.endswith(b"\n"):
            pass
        place = stream.tell()
    yield size


class _Section(io.RawIOBase):
    """A section of a file, read from its first to its last byte."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        file.seek(start)
        self._file, self._left = file, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        chunk = self._file.read(min(len(buffer), self._left))
        if not chunk and self._left and buffer:
            raise EOFError(f"{self._left} bytes are missing at the end")
        self._left -= len(chunk)
        buffer[: len(chunk)] = chunk
        return len(chunk)
