"""Write the table of arguments and options at the end of each page in docs/commands, from the commands themselves.

python scripts/option_tables.py            # write
python scripts/option_tables.py --check    # report pages that are out of date; `make lint` runs it
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from typer.main import get_command

from linker.cli.main import app
from linker.config.registry import catalog

DOCS = Path(__file__).parents[1] / "docs"
COMMANDS = DOCS / "commands"
KEYS = re.compile(r"(<!-- keys of ([\w.]+) -->)\n.*?<!-- end -->", re.DOTALL)
DECISION = re.compile(r"decision (\d{3})")
MARK = "<!-- Made by scripts/option_tables.py; everything below is replaced. -->"


def main() -> int:
    """Write or check all pages and return the exit code."""
    commands: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("**/*.md"))}
    stale = [path for path in pages if path.parent == COMMANDS and path.stem not in commands]
    written = {COMMANDS / f"{name}.md": command_page(name, commands[name], pages) for name in commands}
    written |= {path: keys_page(path, text) for path, text in pages.items() if path not in written}
    for path, text in written.items():
        if text != pages.get(path):
            stale.append(path)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        names = ", ".join(path.relative_to(DOCS).as_posix() for path in stale)
        print(f"error: docs: {names}; run `python scripts/option_tables.py`", file=sys.stderr)
        return 1
    return 0


def command_page(name: str, command: Any, pages: dict[Path, str]) -> str:
    """Return the page of a command with its table at the end."""
    text = pages.get(COMMANDS / f"{name}.md", f"# `linker {name}`\n")
    return f"{text.partition(MARK)[0].rstrip()}\n\n{MARK}\n\n## Options\n\n{table(command)}"


def keys_page(path: Path, text: str) -> str:
    """Return a page with the tables of keys between their marks."""
    return KEYS.sub(lambda match: f"{match[1]}\n{keys_table(match[2], path)}<!-- end -->", text)


def keys_table(name: str, page: Path) -> str:
    """Return the table of keys of a component, such as `Encoder.gru`, or of `Trainer`; decisions become links."""
    lines = ["| key | default | meaning |", "|---|---|---|"]
    for key in catalog.named(name).parameters:
        default = f"`{json.dumps(key['default'], ensure_ascii=False)}`" if "default" in key else ""
        meaning = key["description"].rstrip(".").replace("None:", "null:").replace("|", "\\|")
        meaning = DECISION.sub(lambda match: link(match, page), meaning)
        lines.append(f"| `{key['name']}` | {default} | {meaning} |".replace("|  |", "| |"))
    return "\n".join(lines) + "\n"


def link(match: re.Match[str], page: Path) -> str:
    """Return a link to the record of a decision."""
    record = next(DOCS.glob(f"decisions/{match[1]}-*.md"))
    return f"[{match[0]}]({Path(os.path.relpath(record, page.parent)).as_posix()})"


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
