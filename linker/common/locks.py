"""Locks on open files between processes, on POSIX and Windows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from linker.common.errors import LinkerError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# Windows locks ranges of bytes, and nobody can read a locked range: lock a byte far behind the end of any file.
_LOCKED_BYTE = 1 << 40


def lock(file: IO) -> bool:
    """Lock an open file against other processes. Closing the file, or the end of the process, releases the lock.

    Args:
        file: an open file, writable.

    Returns:
        Whether it is locked now; False if another process holds the lock.

    Raises:
        OSError: if the file system has no locks.
    """
    if fcntl is None:
        return _lock_windows(file.fileno())
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def only_writer(out: Path) -> Iterator[None]:
    """Be the only process that writes a file or folder. The lock is `.NAME.lock` beside it, and removed at the end.

    Args:
        out: the file or folder; its parent is made.

    Raises:
        LinkerError: if another process writes it, or nothing can be written there.
    """
    path = out.absolute().with_name(f".{out.absolute().name}.lock")
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = open(path, "a")  # noqa: SIM115
        except OSError as error:
            raise LinkerError(f"{out}: cannot be written ({error.strerror})") from error
        with file:
            if not lock(file):
                raise LinkerError(f"{out}: another process is writing it; wait until it has ended")
            try:
                is_there = os.path.samestat(os.stat(path), os.fstat(file.fileno()))
            except FileNotFoundError:
                is_there = False
            if not is_there:  # the one before has removed it meanwhile
                continue
            try:
                yield
            finally:
                with suppress(OSError):  # Windows removes no open file
                    path.unlink()
            return


def _lock_windows(descriptor: int) -> bool:
    import msvcrt

    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)
    return True
