"""Checks of prose and pages by the rules of STYLE.md: `python -m scripts.lint`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"^(?P<fence>```+)(?P<language>[^\n`]*)\n(?P<body>.*?)^(?P=fence)", re.DOTALL | re.MULTILINE
)


class Finding(NamedTuple):
    """What is wrong in a line of a file, and what to do."""

    file: str
    line: int
    wrong: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.wrong}: {self.remedy}"


def pages(root: Path) -> dict[str, str]:
    """Return name → Markdown text of README, docs, pages of benchmarks, and the prose of notebooks."""
    files = [
        path
        for pattern in ("*.md", "docs/**/*.md", "benchmarks/**/*.md", "data/*.md")
        for path in root.glob(pattern)
    ]
    texts = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted(files)}
    for notebook in sorted(root.glob("notebooks/*.ipynb")):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        markdown = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        texts[notebook.relative_to(root).as_posix()] = "\n\n".join(markdown)
    return texts


def programs(root: Path, *folders: str) -> dict[str, str]:
    """Return name → source text of the Python files in folders of the repository."""
    files = [path for folder in folders for path in sorted((root / folder).rglob("*.py"))]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}


def line_at(text: str, position: int) -> int:
    """Return the number of the line, from 1, that holds a position of a text."""
    return text.count("\n", 0, position) + 1
