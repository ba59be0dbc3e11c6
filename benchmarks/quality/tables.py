"""Result tables of the quality benchmark, kept from one run to the next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from linker.common.files import atomic_write

Cells = dict[str, str]


@dataclass
class Kept:
    """Tables by name, each from a row's name to its cells, in a JSON file with a row per line.

    Args:
        path: read where it exists.
        today: the value of `on` in every new row.
    """

    path: Path
    today: str
    tables: dict[str, dict[str, Cells]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path.exists():
            self.tables = json.loads(self.path.read_text(encoding="utf-8"))

    def add(self, table: str, new: dict[str, Cells]) -> None:
        """Replace rows; one that was never there comes behind the one before it in `new`."""
        rows = list(self.tables.get(table, {}).items())
        place = 0
        for name, cells in new.items():
            known = next((i for i, (own, _) in enumerate(rows) if own == name), None)
            if known is None:
                rows.insert(place, (name, {}))
                known = place
            rows[known] = (name, cells | {"on": self.today})
            place = known + 1
        self.tables[table] = dict(rows)

    def write(self) -> None:
        """Keep everything for the next run."""
        tables = []
        for table, rows in self.tables.items():
            lines = [
                f"{json.dumps(name)}: {json.dumps(cells, ensure_ascii=False)}" for name, cells in rows.items()
            ]
            tables.append(f"{json.dumps(table)}: {{\n" + ",\n".join(lines) + "\n}")
        with atomic_write(self.path) as file:
            file.write("{" + ",\n".join(tables) + "}\n")

    def lines(self, table: str, columns: Sequence[str]) -> list[str]:
        """Markdown, with the day of each row."""
        every = ["", *columns, "on"]
        lines = ["| " + " | ".join(every) + " |", "|---" * len(every) + "|"]
        for name, cells in self.tables.get(table, {}).items():
            label = f"{name}, {cells['seeds']} seeds" if int(cells.get("seeds", 1)) > 1 else name
            lines.append(f"| {label} | " + " | ".join(cells.get(column, "") for column in every[1:]) + " |")
        return lines
