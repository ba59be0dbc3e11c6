"""What became of every line, link and pair: as JSON and as a table."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from linker.common.console import stderr
from linker.common.files import atomic_write


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


@dataclass
class Report:
    """Counts of a run; in each section the parts add up to the first figure.

    Attributes:
        lines: what the lines were; they add up to the lines read.
        links: by what was looked for ("quote", "reply"): what became of those found.
        results: by what was made ("pairs", "dq"): what became of it.
        damaged: archives that could not be read to their ends.
    """

    lines: Counter[str] = field(default_factory=Counter)
    links: dict[str, Counter[str]] = field(default_factory=dict)
    results: dict[str, Counter[str]] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)

    def sections(self) -> dict[str, dict[str, int]]:
        """Every section as it is shown: first the whole, then its parts, the largest first."""
        whole = {"lines": _section("read", self.lines, self.lines.total())}
        for child, counts in self.links.items():
            rest = Counter({name.format(child): n for name, n in counts.items() if name != "found" and n})
            whole[f"links to {_plural(child)}"] = _section("found", rest, counts["found"])
        for name, counts in self.results.items():
            rest = Counter({part: n for part, n in counts.items() if part != "made" and n})
            whole[name] = _section("in all", rest, counts["made"])
        return whole

    def write(self, path: str | Path, settings: dict[str, Any]) -> None:
        """Write the report and the settings of the run as JSON."""
        with atomic_write(path) as file:
            content = {"settings": settings, **self.sections(), "damaged archives": self.damaged}
            json.dump(content, file, indent=2, ensure_ascii=False)
            file.write("\n")

    def table(self) -> Table:
        """The report for people."""
        table = Table(box=None, pad_edge=False)
        for name, justify in (("", "left"), ("count", "right"), ("share", "right")):
            table.add_column(name, justify=justify)  # type: ignore[arg-type]
        for section, counts in self.sections().items():
            whole = next(iter(counts.values()))
            for i, (name, count) in enumerate(counts.items()):
                label = f"{section} {name}" if i == 0 else f"  {name}"
                table.add_row(label, f"{count:,}", "" if i == 0 or not whole else f"{count / whole:.1%}")
        return table


def _plural(word: str) -> str:
    return word[:-1] + "ies" if word.endswith("y") else word + "s"


def _section(name: str, parts: Counter[str], whole: int) -> dict[str, int]:
    return {name: whole} | dict(sorted(parts.items(), key=lambda item: (-item[1], item[0])))
