"""Messages and progress bars on standard error; bars are silent when it is not a terminal."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

T = TypeVar("T")

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
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s")


def progress_bar() -> Progress:
    """Return a progress display on standard error that vanishes when done.

    It is silent when standard error is not a terminal, and in threads other than the main one, as of a server.
    """
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Throughput(),
        TimeRemainingColumn(),
        console=stderr,
        transient=True,
        disable=not stderr.is_terminal or threading.current_thread() is not threading.main_thread(),
    )


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
