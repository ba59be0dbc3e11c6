"""Cells of CSV and TSV files that spreadsheets must not run as formulas."""

from __future__ import annotations

import re

# What Excel, LibreOffice and Google Sheets take for a formula: anything after `=`. After the other signs only what
# calls a function or another program does harm, and posts often begin with `@name`, `-` or `+1`.
_FORMULA = re.compile(r"'*[\t\r\n ]*(?:[=＝]|[+\-@＋－＠][\s\S]*[(|])")


def guarded(text: str) -> str:
    """The text, behind an apostrophe where a spreadsheet might run it: `=1+1`, `@SUM(A1)`, `+cmd|…`."""
    return "'" + text if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """What `guarded` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
