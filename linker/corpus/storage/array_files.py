"""Files of arrays, memory-mapped, each with a checksum in its name."""

import errno
import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa

from linker.common.errors import DataError, LinkerError
from linker.common.files import atomic_write

# Error numbers of missing write permission.
_READ_ONLY = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
#: Bytes from which a file is mapped; smaller ones are read.
_MAPPED = 1 << 16
_NAME = re.compile(r"(.+)-([0-9a-f]{16})\.safetensors")
_TYPES = {
    "I8": "i1", "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "I32": "<i4", "I64": "<i8",
    "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip


class Arrays(dict[str, np.ndarray]):
    """Arrays by name.

    Attributes:
        path: file that they are mapped from; None: they are in memory.
    """

    path: Path | None = None


class ArrayFiles:
    """Folder of files of arrays. They never change, and can be computed again from the posts.

    Several processes may write the same one at once.

    Args:
        folder: the folder, which the first file creates.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str) -> Arrays | None:
        """Return the arrays of a file, memory-mapped; None if there is none.

        Raises:
            DataError: if the file is damaged.
        """
        for path in self._named(name):
            with suppress(FileNotFoundError):  # replaced by another process
                return mapped(path)
        return None

    def write(self, name: str, arrays: Mapping[str, np.ndarray]) -> Arrays:
        """Write a file, and return its arrays, memory-mapped.

        Raises:
            LinkerError: if it cannot be written.
        """
        from safetensors.numpy import save

        content = save({key: np.ascontiguousarray(values) for key, values in arrays.items()})
        path = self.folder / f"{name}-{_digest(content)}.safetensors"
        with atomic_write(path, "wb") as file:
            file.write(content)
        for other in self._named(name):
            if other != path:
                other.unlink(missing_ok=True)
        return mapped(path)

    def keep(self, name: str, arrays: Mapping[str, np.ndarray]) -> Arrays:
        """Write a file as `write` does; in a folder that cannot be written to, return the arrays themselves."""
        try:
            return self.write(name, arrays)
        except (OSError, LinkerError) as error:
            cause = error.__cause__ if isinstance(error, LinkerError) else error
            if isinstance(cause, OSError) and cause.errno in _READ_ONLY:
                return Arrays(arrays)
            raise

    def names(self) -> list[str]:
        """Return the names of the files, sorted."""
        matches = (_NAME.fullmatch(path.name) for path in self.folder.glob("*.safetensors"))
        return sorted({name[1] for name in matches if name})

    def damaged(self) -> Iterator[Path]:
        """Yield the damaged files, those in folders of this folder included."""
        for path in sorted(self.folder.rglob("*.safetensors")):
            name = _NAME.fullmatch(path.name)
            if name is None or _digest(path.read_bytes()) != name[2]:
                yield path

    def _named(self, name: str) -> list[Path]:
        paths = sorted(self.folder.glob(f"{name}-*.safetensors"))
        return [path for path in paths if (match := _NAME.fullmatch(path.name)) and match[1] == name]


def mapped(path: Path) -> Arrays:
    """Return the arrays of a file, memory-mapped.

    Raises:
        DataError: if it is damaged.
        FileNotFoundError: if it is missing.
    """
    arrays = Arrays()
    arrays.path = path
    try:
        # Unlike `mmap`, a buffer of Arrow keeps no descriptor open; and a process may map some 65,000 files.
        with pa.OSFile(str(path)) if path.stat().st_size < _MAPPED else pa.memory_map(str(path)) as file:
            content = file.read_buffer()
        start = 8 + int.from_bytes(content[:8].to_pybytes(), "little")
        for name, entry in json.loads(content[8:start].to_pybytes()).items():
            shape, dtype = tuple(entry["shape"]), np.dtype(_TYPES[entry["dtype"]])
            count, begin = math.prod(shape), start + entry["data_offsets"][0]
            values = np.frombuffer(content, dtype, count, begin) if count else np.zeros(0, dtype)
            arrays[name] = values.reshape(shape)
    except (ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise DataError(f"{path}: damaged ({error}); delete it, and it is created again") from error
    return arrays


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]
