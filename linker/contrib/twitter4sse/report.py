"""Counts of a mining run: what happened to each line, link and pair, as JSON and as a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from linker.common.console import table_of_counts
from linker.common.files import write_json


@dataclass
class Report:
    """Counts of a run; the parts of each section add up to its first figure.

    Attributes:
        lines: lines read, by kind.
        links: links found ("quote", "reply"), by their fate.
        results: results ("pairs", "queries of dq"), by their fate.
        damaged: messages about archives that could not be read to the end.
    """

    lines: Counter[str] = field(default_factory=Counter)
    links: dict[str, Counter[str]] = field(default_factory=dict)
    results: dict[str, Counter[str]] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)

    def sections(self) -> dict[str, dict[str, int]]:
        """Return each section: first the total, then its parts in descending order."""
        whole = {"lines": _section("read", self.lines, self.lines.total())}
        for child, counts in self.links.items():
            rest = Counter({name.format(child): n for name, n in counts.items() if name != "found" and n})
            whole[f"links to {_plural(child)}"] = _section("found", rest, counts["found"])
        for name, counts in self.results.items():
            rest = Counter({part: n for part, n in counts.items() if part != "made" and n})
            whole[name] = _section("in all", rest, counts["made"])
        return whole

    def write(self, path: Path, settings: dict[str, Any]) -> None:
        """Write the report and the settings of the run as JSON."""
        write_json(path, {"settings": settings, **self.sections(), "damaged archives": self.damaged})

    def table(self) -> Table:
        """Return the report as a table for the terminal."""
        return table_of_counts(self.sections())


def _plural(word: str) -> str:
    return word[:-1] + "ies" if word.endswith("y") else word + "s"


def _section(name: str, parts: Counter[str], whole: int) -> dict[str, int]:
    return {name: whole} | dict(sorted(parts.items(), key=lambda item: (-item[1], item[0])))
