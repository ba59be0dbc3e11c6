"""Compare the size of linker with its budgets in budgets.toml; `make lint` runs it and prints the table.

    python scripts/budgets.py            print the table
    python scripts/budgets.py --lower    write today's figures into budgets.toml where they are lower

A budget is raised only in a commit that lowers another. Exit code 1 if one is exceeded.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # of pytest on Python 3.10

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Print the table and return the exit code."""
    budgets = tomllib.loads((ROOT / "budgets.toml").read_text(encoding="utf-8"))
    goals, exceeded, figures = budgets["goals"], 0, measured()
    if "--lower" in sys.argv:
        budgets["budgets"] = {
            name: min(now, budgets["budgets"].get(name, now)) for name, now in figures.items()
        }
        lines_ = [
            f"[{part}]\n" + "".join(f'"{n}" = {v}\n' for n, v in budgets[part].items()) for part in budgets
        ]
        (ROOT / "budgets.toml").write_text("\n".join(lines_), encoding="utf-8")
    print(f"{'':<34}{'now':>10}{'budget':>10}{'goal':>10}")
    for name, now in figures.items():
        budget, goal = budgets["budgets"].get(name), goals.get(name)
        over = budget is None or now > budget
        exceeded += over
        shown = "".join(
            f"{'' if number is None else format(number, ','):>10}" for number in (now, budget, goal)
        )
        print(f"{name:<34}{shown}{'  exceeded' if over else ''}")
    if exceeded:
        print(
            "error: delete something, or lower another budget in budgets.toml in the same commit",
            file=sys.stderr,
        )
    return 1 if exceeded else 0


def measured() -> dict[str, int]:
    """Return the figures by the names of their budgets."""
    package = sorted((ROOT / "linker").rglob("*.py"))
    decisions = [path for path in (ROOT / "docs/decisions").glob("*.md") if path.name != "README.md"]
    campaigns = sum(map(lines, (ROOT / "tests/reliability").rglob("*.py")))
    figures = {
        "linker: lines of code": sum(map(code_lines, package)),
        "linker: lines": sum(map(lines, package)),
        "tests: lines": sum(map(lines, (ROOT / "tests").rglob("*.py"))) - campaigns,
        "tests/reliability: lines": campaigns,
        "benchmarks: lines": sum(map(lines, (ROOT / "benchmarks").rglob("*.py"))),
        "decisions: records": len(decisions),
        "decisions: words": sum(len(path.read_text(encoding="utf-8").split()) for path in decisions),
        "commands": len(list((ROOT / "linker/cli/commands").glob("[a-z]*.py"))),
        "modules in the widest folder": max(
            sum(path.name != "__init__.py" for path in folder.glob("*.py"))
            for folder in {path.parent for path in package}
        ),
    }
    for folder in sorted(
        {path.relative_to(ROOT / "linker").parts[0] for path in package if path.parent.name != "linker"}
    ):
        figures[f"linker/{folder}: lines"] = sum(map(lines, (ROOT / "linker" / folder).rglob("*.py")))
    return figures


def lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return path.read_bytes().count(b"\n")


def code_lines(path: Path) -> int:
    """Return the number of lines of a file that hold code: no blank lines, comments, docstrings or imports."""
    with tokenize.open(path) as file:
        tree = ast.parse(file.read())
    other = {line for node in ast.walk(tree) for line in _lines_without_code(node)}
    skipped = (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    )
    with path.open("rb") as opened:
        tokens = list(tokenize.tokenize(opened.readline))[1:]
    held = {
        line
        for token in tokens
        if token.type not in skipped
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(held - other)


def _lines_without_code(node: ast.AST) -> Iterator[int]:
    """Yield the lines of a docstring, of a string below an assignment, or of an import."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if isinstance(node, ast.stmt) and (is_text or isinstance(node, (ast.Import, ast.ImportFrom))):
        yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


if __name__ == "__main__":
    sys.exit(main())
