"""How long work shows that it goes on: a bar with throughput and time left on terminals, silence elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
from rich.text import Text

T = TypeVar("T")

stderr = Console(stderr=True)


class _Throughput(ProgressColumn):
    """Items per second over the last stretch of work."""

    def render(self, task: Task) -> Text:
        """The speed as rich text, empty until it is known."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s")


def progress_bar() -> Progress:
    """A progress display on standard error that vanishes when done and stays silent when not on a terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Throughput(),
        TimeRemainingColumn(),
        console=stderr,
        transient=True,
        disable=not stderr.is_terminal,
    )


def track(items: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Yield `items`, showing a bar with throughput and time left on standard error."""
    with progress_bar() as progress:
        yield from progress.track(items, total=total, description=description)
