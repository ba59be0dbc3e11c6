"""How far mining is: a bar with tweets per second and time left, on terminals."""

from __future__ import annotations

import time
from types import TracebackType

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from linker.progress import stderr


class _Lines(ProgressColumn):
    """Lines read, and how many a second since the beginning."""

    def render(self, task: Task) -> Text:
        """The figures as rich text, empty where no lines are read."""
        lines = task.fields.get("lines")
        if not lines:
            return Text("")
        return Text(f"{lines:,} lines, {lines / max(task.elapsed or 0, 1e-3):,.0f}/s")


class Display:
    """Bars for both halves of a run, a context manager.

    Args:
        size: packed bytes to be read.
    """

    def __init__(self, size: int) -> None:
        self.lines = 0
        self._began = time.monotonic()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            _Lines(),
            TimeRemainingColumn(),
            console=stderr,
            transient=True,
            disable=not stderr.is_terminal,
        )
        self._task = self._progress.add_task("reading archives", total=size, lines=0)

    def show(self, size: int, lines: int) -> None:
        """So many packed bytes are done, and so many lines were read in this run."""
        self.lines = lines
        self._progress.update(self._task, completed=size, lines=lines)

    def second_half(self, steps: int) -> None:
        """All archives are read; the next half has so many steps."""
        self._task = self._progress.add_task("putting groups together", total=steps)

    def advance(self) -> None:
        """One step of the second half is done."""
        self._progress.advance(self._task)

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return time.monotonic() - self._began

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()
