"""Checked values of a row: ids, texts, dates, labels."""

import json
import re
from datetime import datetime
from decimal import Decimal
from typing import Any

from linker.data.files.line_errors import LineError
from linker.data.io.columns import Columns, missing_column
from linker.data.io.dates import parse_date

Values = dict[str, Any]
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
#: Why a line with the id of no post is bad.
ROUNDED = "rounded id"
#: First characters of ids that programs change.
_CHANGED = frozenset("0123456789+-='#")
# Excel's marks of text: ="123", =123 and '123.
_MARKED = re.compile(r"""="([^"]+)"|=([+-]?[\d.,]+)|'([+-]?\d.*)""")
# A whole number that was made a float, as pandas does in columns with empty cells.
_WHOLE = re.compile(r"([+-]?\d+)[.,]0{1,2}")
# 1.57e+18, 1,29403E+18, 1E+18. `12e5` may be the id of a post, as on Reddit.
_SCIENTIFIC = re.compile(r"[+-]?\d+(?:[.,]\d+[eE][+-]?|[eE]\+)\d+")
# Floats are exact for whole numbers up to here; spreadsheets keep 15 digits.
_EXACT, _DIGITS = 2**53, 15
_IDS = frozenset(("id", "article_id"))
# What programs write into cells without an id.
_NO_IDS = frozenset(("nan", "none", "null", "<na>", "nat", "#n/a"))
# What spreadsheets show in cells that are too narrow, or whose formula failed.
_SHOWN_BY_SHEETS = re.compile(r"#+|#(?:NAME\?|REF!|VALUE!|NUM!|NULL!|DIV/0!|WERT!|BEZUG!|ZAHL!)")


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN (how pandas writes None to Parquet) or white space."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def has_no_id(value: Any) -> bool:
    """Return whether a cell for an id is empty, or holds what programs write into empty cells, such as `nan`."""
    return is_missing(value) or (isinstance(value, str) and value.strip().casefold() in _NO_IDS)


def text_of(values: Values, columns: Columns, ours: str) -> str:
    """Return a text, or several joined by blank lines; empty if missing.

    Raises:
        LineError: if a value is not a string.
    """
    texts = []
    for name in columns.names(ours):
        value = values.get(name)
        if not is_missing(value):
            if not isinstance(value, str):
                raise _wrong_type(name, value, "a string")
            texts.append(value)
    return "\n\n".join(texts)


def required_text(values: Values, columns: Columns) -> dict[str, str]:
    """Return the texts of which at least one must be non-empty, by our names.

    Raises:
        LineError: if all are missing or empty.
    """
    texts = {ours: text_of(values, columns, ours) for ours in columns.any_of}
    if not any(texts.values()):
        names = [name for ours in columns.any_of for name in columns.names(ours)]
        present = ", ".join(f'"{name}"' for name in names if name in values)
        if not present:
            raise LineError("missing column", missing_column(names[-1], columns.any_of[-1], values))
        raise LineError("empty text", f"nothing in {present}")
    return texts


def id_of(values: Values, columns: Columns, ours: str = "id") -> str:
    """Return a required id, a string or integer, as a string.

    Raises:
        LineError: if it is missing or of another type.
    """
    (name,) = columns.names(ours)
    if name not in values:
        raise LineError("missing column", missing_column(name, ours, values))
    value = label_of(values, columns, ours)
    if value is None:
        raise LineError("empty id", f'nothing in "{name}"')
    return value


def label_of(values: Values, columns: Columns, ours: str) -> str | None:
    """Return a string or integer as a stripped string, an id as `clean_id` does; None if missing.

    Raises:
        LineError: if it is of another type or has control characters.
    """
    is_empty, read = (has_no_id, clean_id) if ours in _IDS else (is_missing, _label)
    for name in columns.names(ours):
        if not is_empty(value := values.get(name)):
            return read(value, name)
    return None


def labels_of(values: Values, columns: Columns, ours: str) -> list[str]:
    """Return a list of ids, see `clean_id`; in CSV and TSV `a|b` or `["a", "b"]`.

    Raises:
        LineError: if it is of another type.
    """
    for name in columns.names(ours):
        value = values.get(name)
        if is_missing(value):
            continue
        items = value
        if isinstance(value, str):
            items = value.split("|")
            if value.lstrip().startswith("["):
                try:
                    items = json.loads(value)
                except ValueError:
                    items = None
        if not isinstance(items, list):
            raise _wrong_type(name, value, "a list of ids (in CSV and TSV: a|b)")
        return [clean_id(item, name) for item in items]
    return []


def first_of(values: Values, columns: Columns, ours: str) -> str | None:
    """Return a string, or the first of a list of strings; None if missing."""
    for name in columns.names(ours):
        value = values.get(name)
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, str) and not is_missing(first):
            return first
    return None


def date_of(values: Values, columns: Columns, ours: str) -> datetime | None:
    """Return a date; None if missing, or if it cannot be read, which the column's `DateStyle` counts.

    Raises:
        LineError: if it cannot be read, and the column has no `DateStyle`.
    """
    for name in columns.names(ours):
        if is_missing(value := values.get(name)):
            continue
        if (style := columns.date_styles.get(ours)) is None:
            try:
                return parse_date(value)
            except ValueError as error:
                raise LineError("unreadable date", f'"{name}": {error}') from error
        return style.read(value)
    return None


def clean_id(value: Any, name: str = "id") -> str:
    """Return the id in a cell without what programs add: `123.0`, `="123"` and `'123` are 123.

    Args:
        value: text or a number; not empty.
        name: the column, for messages.

    Raises:
        LineError: if it is of another type, has control characters, or is a number that a program has rounded.
    """
    if isinstance(value, float) and value.is_integer():
        value = repr(value)
    label = _label(value, name)
    if label[:1] not in _CHANGED or label.isdecimal():  # most ids, at the price of a look
        return label
    if _SHOWN_BY_SHEETS.fullmatch(label):
        raise LineError(
            "unusable id",
            f'"{name}" is {label[:40]}, which a spreadsheet shows where it cannot show a number; export ids as text',
        )
    if marked := _MARKED.fullmatch(label):
        label = marked[1] or marked[2] or marked[3]
    if whole := _WHOLE.fullmatch(label):
        label = whole[1]
        rounded = abs(int(label)) > _EXACT
    else:
        rounded = bool(_SCIENTIFIC.fullmatch(label))
    if rounded:
        raise LineError(
            ROUNDED,
            f'"{name}" is {str(value)[:40]}, a number that a program has rounded, so that it names no post; export '
            "ids as text",
        )
    return label


def is_rounded(label: str) -> bool:
    """Return whether an id is a number that a program has rounded, see `clean_id`."""
    try:
        clean_id(label)
    except LineError as error:
        return error.reason == ROUNDED
    return False


def seems_rounded(label: str) -> bool:
    """Return whether the id of a post is a long number such as programs make that keep 15 digits, or floats.

    Few ids of 18 or more digits are such numbers by chance; if all of a file are, a program has rounded them.
    """
    if len(label) <= _DIGITS + 1 or not label.isdecimal():
        return False
    if not label[_DIGITS:].strip("0"):
        return True
    if len(label) < 18 or (int(label) % 16 and int(label) % 10):  # most: such a number is neither
        return False
    number = float(label)
    return int(label) in (int(number), int(Decimal(repr(number))))


def _label(value: Any, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise _wrong_type(name, value, "a string or integer")
    label = str(value).strip()
    if not label or _CONTROL.search(label):
        raise LineError("unusable id", f'"{name}" is {label!r}')
    return label


def _wrong_type(name: str, value: Any, expected: str) -> LineError:
    return LineError(
        "wrong type", f'"{name}" is {str(value)[:40]!r} ({type(value).__name__}), expected {expected}'
    )
