"""One JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from linker.data.formats.bad_lines import InputFile, LineError
from linker.data.formats.rows import Line, Row, Table, not_utf8


def json_table(file: InputFile, lines: Iterator[Line]) -> Table:
    """Rows of a file with one JSON object a line."""

    def rows() -> Iterator[Row]:
        for number, text in lines:
            try:
                yield Row(number, json_object(text), text)
            except LineError as error:
                file.bad(number, error, text)

    return Table("jsonl", None, rows())


def json_object(text: str) -> dict[str, Any]:
    """The object that a line holds.

    Raises:
        LineError: it holds something else, or what no UTF-8 file can hold.
    """
    if not text.strip():
        raise LineError("blank line")
    if not_utf8(text):
        raise LineError("invalid UTF-8")
    try:
        value = json.loads(text, parse_constant=no_constant, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as error:
        raise LineError("broken JSON", f"{error.msg} (column {error.colno})") from error
    except LineError:
        raise
    except RecursionError as error:
        raise LineError("broken JSON", "nested too deeply") from error
    except ValueError as error:  # an integer of more than 4,300 digits
        raise LineError("broken JSON", "a number too long to read") from error
    return checked_object(value, text)


def checked_object(value: Any, raw: str) -> dict[str, Any]:
    """A value that was read from `raw`, if it is an object of proper Unicode.

    Raises:
        LineError: it is not.
    """
    if not isinstance(value, dict):
        raise LineError("not a JSON object", f"but {_kind(value)}")
    # JSON can spell half a surrogate pair ("\ud83d"), which no UTF-8 file can hold.
    if "\\u" in raw and not_utf8(json.dumps(value, ensure_ascii=False)):
        raise LineError("invalid Unicode", "half of a surrogate pair (a character cut in two)")
    return value


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "null" if value is None else f"{json.dumps(value)[:40]}"


def no_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python reads and JSON does not know."""
    raise LineError("broken JSON", f"{name} is not a JSON value")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these keys and values.

    Raises:
        LineError: a key is there twice.
    """
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise LineError("broken JSON", f'key "{twice}" is there twice')
    return values
