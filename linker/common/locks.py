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


def lock(file: IO | int, wait: bool = True) -> bool:
    """Lock an open file against other processes. Closing the file, or the end of the process, releases the lock.

    Args:
        file: an open file or its descriptor, writable.
        wait: wait while another process holds the lock.

    Returns:
        Whether the file is locked now; False only without `wait`.

    Raises:
        OSError: if the file system has no locks.
    """
    descriptor = file if isinstance(file, int) else file.fileno()
    if fcntl is None:
        return _lock_windows(descriptor, wait)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
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
            if not lock(file, wait=False):
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


def _lock_windows(descriptor: int, wait: bool) -> bool:
    import msvcrt

    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        while True:
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            try:
                # LK_LOCK tries for ten seconds, then raises.
                mode = msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK  # type: ignore[attr-defined]
                msvcrt.locking(descriptor, mode, 1)  # type: ignore[attr-defined]
                return True
            except OSError:
                if not wait:
                    return False
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)
