"""Archives of tweet objects as units of work: files, packed or not, and the members of tar files."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple
from zipfile import BadZipFile

from linker.data.formats.opening import DAMAGE, packing_of
from linker.errors import DataError
from linker.mining.unpacking import NotUnpacked, buffered, forwards, unpacked
from linker.mining.zipped import open_member, zip_members

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
