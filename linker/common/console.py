"""Messages and progress on standard error: a bar in a terminal, a line per minute in a log."""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text
from typing_extensions import override

T = TypeVar("T")

#: Between two lines on progress in a log.
_SECONDS_PER_LINE = 60.0

stderr = Console(stderr=True)


def info(message: str, style: str = "") -> None:
    """Print a message on standard error as it is: no markup, no highlighting, no wrapping."""
    stderr.print(message, style=style or None, highlight=False, markup=False, soft_wrap=True)


def warn(message: str) -> None:
    """Print a message on standard error, in yellow on a terminal."""
    info(message, "yellow")


class _Throughput(ProgressColumn):
    """Items per second over the last stretch of work."""

    def render(self, task: Task) -> Text:
        """Return the speed as rich text, empty until it is known."""
        return Text(_throughput(task))


def _throughput(task: Task) -> str:
    speed = task.finished_speed or task.speed
    if speed is None:
        return ""
    return f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.1f}/s"


class _Display(Progress):
    """A bar in a terminal; a line per minute where there is none, as in the log of a job on a cluster."""

    def __init__(self, *columns: ProgressColumn, is_logged: bool, **settings: Any) -> None:
        super().__init__(*columns, **settings)
        self._is_logged = is_logged
        self._last_line = time.monotonic()

    @override
    def update(self, task_id: TaskID, **changes: Any) -> None:
        super().update(task_id, **changes)
        self._log(task_id)

    @override
    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        super().advance(task_id, advance)
        self._log(task_id)

    def _log(self, task_id: TaskID) -> None:
        if not self._is_logged or time.monotonic() - self._last_line < _SECONDS_PER_LINE:
            return
        self._last_line = time.monotonic()
        task = next(task for task in self.tasks if task.id == task_id)
        count = f"{task.completed:,.0f}" + (f" of {task.total:,.0f}" if task.total else "")
        left = task.time_remaining
        until = "" if left is None else f"{timedelta(seconds=round(left))} left"
        info(f"{task.description}: {', '.join(part for part in (count, _throughput(task), until) if part)}")


def progress_bar() -> Progress:
    """Return a progress display on standard error that vanishes when done.

    Where standard error is not a terminal, it prints a line per minute instead, with what is done, throughput and time
    left. In threads other than the main one, as of a server, it is silent.
    """
    in_main = threading.current_thread() is threading.main_thread()
    return _Display(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Throughput(),
        TimeRemainingColumn(), console=stderr, transient=True, disable=not (stderr.is_terminal and in_main),
        is_logged=in_main and not stderr.is_terminal,
    )  # fmt: skip


def track(items: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Yield `items` and show a bar with throughput and remaining time on standard error."""
    with progress_bar() as progress:
        yield from progress.track(items, total=total, description=description)


def table_of_counts(sections: Mapping[str, Mapping[str, int]]) -> Table:
    """Return counts as a table for the terminal.

    Args:
        sections: counts by section: first the total with its name, then its parts, which are shown with their shares.
    """
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    table.add_column("count", justify="right")
    table.add_column("share", justify="right")
    for section, counts in sections.items():
        (name, whole), *parts = counts.items()
        table.add_row(f"{section} {name}", f"{whole:,}", "")
        for part, count in parts:
            table.add_row(f"  {part}", f"{count:,}", f"{count / whole:.1%}" if whole else "")
    return table
