"""Locks between processes, by filelock."""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from linker.common.errors import LinkerError


def acquire(path: Path, busy: str) -> BaseFileLock:
    """Lock a file, made if missing, against other processes; `release` or the end of the process frees it.

    Args:
        path: the file of the lock.
        busy: message if another process holds it.

    Raises:
        LinkerError: if another process holds the lock, or the file cannot be written.
    """
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(0)
    except Timeout as error:
        raise LinkerError(busy) from error
    except OSError as error:
        raise LinkerError(f"{path.parent}: cannot be written ({error.strerror})") from error
    return lock


@contextmanager
def only_writer(out: Path) -> Iterator[None]:
    """Be the only process that writes a file or folder. The lock is `.NAME.lock` beside it, and removed at the end.

    Args:
        out: the file or folder; its parent is made.

    Raises:
        LinkerError: if another process writes it, or nothing can be written there.
    """
    path = out.absolute().with_name(f".{out.absolute().name}.lock")
    with acquire(path, f"{out}: another process is writing it; wait until it has ended") as lock:
        remove = weakref.finalize(
            lock, path.unlink, missing_ok=True
        )  # signals in an import end the process at once
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes no open file
                remove()
