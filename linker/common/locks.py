"""Locks on open files between processes, on POSIX and Windows."""

from __future__ import annotations

import os
from typing import IO

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
