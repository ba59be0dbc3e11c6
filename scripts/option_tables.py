"""Write the table of arguments and options at the end of each page in docs/commands, from the commands themselves.

python scripts/option_tables.py            # write
python scripts/option_tables.py --check    # report pages that are out of date; `make lint` runs it
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from typer.main import get_command

from linker.cli.main import app

PAGES = Path(__file__).parents[1] / "docs/commands"
MARK = "<!-- Made by scripts/option_tables.py; everything below is replaced. -->"


def main() -> int:
    """Write or check all pages and return the exit code."""
    commands: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    stale = [page.stem for page in PAGES.glob("*.md") if page.stem not in commands]
    for name, command in commands.items():
        page = PAGES / f"{name}.md"
        text = page.read_text(encoding="utf-8") if page.exists() else f"# `linker {name}`\n"
        new = f"{text.partition(MARK)[0].rstrip()}\n\n{MARK}\n\n## Options\n\n{table(command)}"
        if new != text:
            stale.append(name)
            if "--check" not in sys.argv:
                page.write_text(new, encoding="utf-8")
    if stale and "--check" in sys.argv:
        names = ", ".join(sorted(stale))
        print(f"error: docs/commands: {names}; run `python scripts/option_tables.py`", file=sys.stderr)
        return 1
    return 0


def table(command: Any) -> str:
    """Return the table of a command, or of a group: then with the subcommands that have each option."""
    subcommands = getattr(command, "commands", None)
    if subcommands is None:
        return (
            "\n".join(["| option | meaning |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows(command))])
            + "\n"
        )
    of: dict[tuple[str, str], list[str]] = {}
    for name, subcommand in subcommands.items():
        for row in rows(subcommand):
            of.setdefault(row, []).append(f"`{name}`")
    lines = [
        f"| {option} | {'all' if len(names) == len(subcommands) else ', '.join(names)} | {meaning} |"
        for (option, meaning), names in of.items()
    ]
    return "\n".join(["| option | of | meaning |", "|---|---|---|", *lines]) + "\n"


def rows(command: Any) -> list[tuple[str, str]]:
    """Return names and meaning of each argument and option, escaped for a table."""
    context = command.context_class(command)
    records = [one.get_help_record(context) for one in command.params if one.name != "help"]
    return [cells(*record) for record in records if record]


def cells(names: str, meaning: str) -> tuple[str, str]:
    """Return `--top N` and its meaning, with the default as a sentence; without types and ranges."""
    names = re.sub(r" <[^|>]*>", "", names)
    meaning = re.sub(r"\s*\[(?:required|[\w.<>=]*x[<>=][^]]*)\]", "", meaning)
    meaning = re.sub(r"; [\w.<>=]*x[<>=][^]]*\]$", "]", meaning)
    meaning = re.sub(r"\s*\[env var: (\w+); ", r" Also in the environment as \1. [", meaning)
    meaning = re.sub(r"\s*\[default: True\]$", "", meaning)
    meaning = re.sub(r"\s*\[default: \(?(.*?)\)?\]$", r" Default: \1.", meaning)
    return f"`{names}`".replace("|", "\\|"), meaning.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
