"""One JSON object a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from linker.data.formats.bad_lines import InputFile, LineError
from linker.data.formats.opening import shown_name
from linker.data.formats.rows import Line, Row, Table, not_utf8
from linker.errors import DataError

# A first line as it is in `[{...}, {...}]` and in JSON that is indented.
_IS_DOCUMENT = re.compile(r"\s*(\[\s*\{|[\[{]\s*$)")


def json_table(file: InputFile, lines: Iterator[Line]) -> Table:
    """Rows of a file with one JSON object a line."""

    def rows() -> Iterator[Row]:
        for number, text in lines:
            if number == 1 and _IS_DOCUMENT.match(text):
                raise DataError(
                    f"{shown_name(file.path)}: JSON as a list or over several lines, but one object a line is "
                    "expected; `jq -c .[]` makes lines of a list"
                )
            try:
                yield Row(number, _json_object(text), text)
            except LineError as error:
                file.bad(number, error, text)

    return Table("jsonl", None, rows())


def _json_object(text: str) -> dict[str, Any]:
    if not text.strip():
        raise LineError("blank line")
    if not_utf8(text):
        raise LineError("invalid UTF-8")
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        raise LineError("broken JSON", f"{error.msg} (column {error.colno})") from error
    except LineError:
        raise
    except RecursionError as error:
        raise LineError("broken JSON", "nested too deeply") from error
    except ValueError as error:  # an integer of more than 4,300 digits
        raise LineError("broken JSON", "a number too long to read") from error
    if not isinstance(value, dict):
        raise LineError("not a JSON object", f"but {_kind(value)}")
    # JSON can spell half a surrogate pair ("\ud83d"), which no UTF-8 file can hold.
    if "\\u" in text and not_utf8(json.dumps(value, ensure_ascii=False)):
        raise LineError("invalid Unicode", "half of a surrogate pair (a character cut in two)")
    return value


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "null" if value is None else f"{json.dumps(value)[:40]}"


def _no_constant(name: str) -> NoReturn:
    raise LineError("broken JSON", f"{name} is not a JSON value")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise LineError("broken JSON", f'key "{twice}" is there twice')
    return values
