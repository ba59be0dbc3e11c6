"""SQLite databases in files, with their errors as one message."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType

from linker.common.errors import LinkerError

_DAMAGED = ("not a database", "malformed")
_NO_ROOM = ("disk", "full", "open", "readonly")
_NO_PROBLEMS: Mapping[str, str] = MappingProxyType({})


@contextmanager
def open_database(
    path: Path, problems: Mapping[str, str] = _NO_PROBLEMS, timeout: float = 5.0
) -> Iterator[sqlite3.Connection]:
    """Open a database in a file, made if missing, without implicit transactions; for one thread at a time.

    Args:
        path: the file.
        problems: message by words in SQLite's own; `{}` in it is replaced by it.
        timeout: seconds to wait for another process.

    Raises:
        LinkerError: if a problem is met, or there is no room; also while it is used.
    """
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=timeout, check_same_thread=False)
        with closing(connection) as database:
            yield database
    except sqlite3.DatabaseError as error:
        message = str(error)
        for words, problem in problems.items():
            if words in message:
                raise LinkerError(f"{path}: {problem.format(message)}") from error
        if any(words in message for words in _NO_ROOM) and not any(words in message for words in _DAMAGED):
            raise LinkerError(f"{path}: cannot be written ({message}); make room and try again") from error
        raise
