"""Zip files, member by member; only their directory of members is kept in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO
from zipfile import ZipExtFile, ZipFile, ZipInfo

from linker.mining.unpacking import NotUnpacked

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
