"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from linker.errors import LinkerError


@contextmanager
def atomic_write(path: str | Path, mode: str = "w") -> Iterator[IO]:
    """Open a temporary file beside `path` that takes its place only when the block ends well.

    Text is UTF-8 with `\\n` line ends. On any error the temporary file is removed and `path` keeps its old content.

    Raises:
        LinkerError: the folder cannot be written to.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise LinkerError(f"{path}: cannot be written ({error.strerror})") from error
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        with os.fdopen(descriptor, mode, **text) as file:  # type: ignore[call-overload]
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes private files; give the result the rights a plain open() would have given it.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def check_writable(path: str | Path) -> None:
    """Find out before the work begins whether a file can be written at its end.

    Raises:
        LinkerError: `path` is a folder, or lies where no file can be made.
    """
    path = Path(path)
    if path.is_dir():
        raise LinkerError(f"{path}: is a folder; give the name of a file to write")
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir():
        raise LinkerError(f"{path}: cannot be written ({above} is no folder)")
    if not os.access(above, os.W_OK):
        raise LinkerError(f"{path}: cannot be written (no permission in {above})")
