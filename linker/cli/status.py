"""Messages and the status line on standard error. Imports nothing slow."""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO, cast

_ERASE = "\r\x1b[2K"


class _StatusLine:
    """Standard error with a status in its last line, which other output replaces."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._shown = False

    def show(self, text: str) -> None:
        """Replace the status."""
        self.stream.write(f"{_ERASE}{text}")
        self.stream.flush()
        self._shown = True

    def erase(self) -> None:
        """Erase the status."""
        if self._shown:
            self._shown = False
            self.stream.write(_ERASE)
            self.stream.flush()

    def write(self, text: str) -> int:
        """Write to the stream, in place of the status."""
        self.erase()
        return self.stream.write(text)

    def writelines(self, lines: list[str]) -> None:
        """Write to the stream, in place of the status."""
        self.erase()
        self.stream.writelines(lines)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def begin(text: str) -> None:
    """Show the first status of a command, before slow imports.

    On a terminal the next status or message replaces the line. Elsewhere it stays, and is the
    only one: whoever looks into a log sees that the command has started.
    """
    if not _on_terminal():
        print(f"{text} ...", file=sys.stderr, flush=True)
        return
    if not isinstance(sys.stderr, _StatusLine):
        sys.stderr = cast(TextIO, _StatusLine(sys.stderr))
    step(text)


def step(text: str) -> None:
    """Show the next step; does nothing before `begin` or without a terminal."""
    if isinstance(sys.stderr, _StatusLine):
        sys.stderr.show(f"{text} ...")


def end() -> None:
    """Erase the status, before results are written and when a command ends."""
    if isinstance(sys.stderr, _StatusLine):
        sys.stderr.erase()
        sys.stderr = sys.stderr.stream


def say(message: str) -> None:
    """Print a message on standard error."""
    print(message, file=sys.stderr)


def _on_terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
