"""The report of a mining run: what happened to each line, post and article."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table

from linker.common.console import table_of_counts
from linker.mining.linked_post import FATES


@dataclass
class Report:
    """Counts of a run; each post is in one row, and the rows of a section add up to its first figure.

    Attributes:
        bad_lines: number of lines without a post.
        left_out: number of records of a platform that are no posts, by name.
        posts: number of posts read.
        fates: number of posts without a usable link, by reason.
        later: number of posts with one that became no pair, by reason, in the order of the filters.
        files: number of articles in the user's files, by fate.
        result: figures of the result.
    """

    bad_lines: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    posts: int = 0
    fates: Counter[str] = field(default_factory=Counter)
    later: Counter[str] = field(default_factory=Counter)
    files: Counter[str] = field(default_factory=Counter)
    result: dict[str, Any] = field(default_factory=dict)

    def sections(self) -> dict[str, dict[str, int]]:
        """Return the sections of counts: first the total, then its parts in the order of the filters."""
        linked = self.posts - self.fates.total()
        sections = {
            "lines": {
                "read": self.posts + self.bad_lines + self.left_out.total(),
                "bad lines": self.bad_lines,
                **{f"left out: {name}": count for name, count in self.left_out.most_common()},
                "posts": self.posts,
            },
            "posts": {
                "read": self.posts,
                **{fate: self.fates[fate] for fate in FATES if self.fates[fate]},
                "linked to one article": linked,
            },
            "linked posts": {
                "found": linked,
                **{fate: count for fate, count in self.later.items() if count},
                "pairs": linked - self.later.total(),
            },
        }
        if self.files.total():
            sections["articles given"] = {"read": self.files.total(), **dict(sorted((+self.files).items()))}
        return sections

    def table(self) -> Table:
        """Return the report as a table for the terminal."""
        table = table_of_counts(self.sections())
        for name, value in self.result.items():
            if isinstance(value, (int, float)):
                table.add_row(name, f"{value:,}" if isinstance(value, int) else f"{value:,.3g}", "")
        for name, part in self.result.get("parts", {}).items():
            table.add_row(f"{name}: articles", f"{part['articles']:,}", "")
            table.add_row(
                f"{name}: pairs", f"{part['pairs']:,}", f"{part['from'] or '?'} to {part['to'] or '?'}"
            )
        for site, counts in self.result.get("sites", {}).items():
            table.add_row(f"site {site}", f"{counts['pairs']:,}", f"{counts['articles']:,} articles")
        return table
