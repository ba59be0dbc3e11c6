"""Check prose, pages, and the commands, keys and files they name; `make lint` runs it.

    python -m scripts.lint

Prints `file:line: what is wrong: what to do` for each finding. Exit code 1 if there is any.
"""

from __future__ import annotations

import sys

from . import ROOT, commands, links, prose


def main() -> int:
    """Print all findings, sorted by file and line, and return the exit code."""
    checks = (prose.check, commands.check, links.check)
    findings = sorted({finding for check in checks for finding in check(ROOT)})
    for finding in findings:
        print(finding)
    print(f"lint: {len(findings)} findings" if findings else "lint: ok", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
