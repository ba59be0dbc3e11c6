"""JSON inputs with one object per line, and what JSON of articles and posts may contain."""

import json
import math
from collections.abc import Iterator
from typing import Any

from linker.data.files.line_errors import InputFile, LineError
from linker.data.files.rows import Line, Row, Table

#: Maximum nesting depth of a row.
DEEPEST = 100


def _finite(text: str) -> float | None:
    number = float(text)
    return None if math.isinf(number) else number


#: Numbers that no other program reads are missing: NaN, which Python and pandas write for them, Infinity and 1e999.
DECODER = json.JSONDecoder(parse_constant=lambda name: None, parse_float=_finite)


def json_table(file: InputFile, lines: Iterator[Line]) -> Table:
    """Open a file with one JSON object per line."""

    def rows() -> Iterator[Row]:
        for number, text in lines:
            if not text.strip():
                file.blank()
                continue
            try:
                yield Row(number, json_object(text), text)
            except LineError as error:
                file.bad(number, error, text)

    return Table("jsonl", None, rows())


def json_object(text: str) -> dict[str, Any]:
    """Parse a line with one object.

    Raises:
        LineError: if it is not an object, or not valid JSON or Unicode.
    """
    if _not_utf8(text):
        raise LineError("invalid UTF-8")
    try:
        value = DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise LineError("broken JSON", f"{error.msg} (column {error.colno})") from error
    except RecursionError as error:
        raise LineError("broken JSON", "nested too deeply") from error
    except ValueError as error:  # an integer of more than 4,300 digits
        raise LineError("broken JSON", "a number too long to read") from error
    return checked_object(value, text)


def checked_object(value: Any, raw: str) -> dict[str, Any]:
    """Return a value parsed from `raw` if it is an object of valid Unicode.

    Raises:
        LineError: otherwise.
    """
    if not isinstance(value, dict):
        raise LineError("not a JSON object", f"but {_kind(value)}")
    # What reads a value further recurses, deeper than the parser can.
    if raw.count("[") + raw.count("{") > DEEPEST and _depth(value) > DEEPEST:
        raise LineError("broken JSON", "nested too deeply")
    # JSON can escape half of a surrogate pair ("\ud83d"), which UTF-8 cannot encode.
    if "\\u" in raw and _not_utf8(json.dumps(value, ensure_ascii=False)):
        raise LineError("invalid Unicode", "half of a surrogate pair (a truncated character)")
    return value


def _not_utf8(text: str) -> bool:
    """Return whether the text has lone surrogates: from bytes that are not UTF-8, or half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _depth(value: Any) -> int:
    """Return the nesting depth of objects and lists."""
    depth, layer = 0, [value]
    while layer := [item for item in layer if isinstance(item, (dict, list))]:
        depth += 1
        layer = [inner for item in layer for inner in (item.values() if isinstance(item, dict) else item)]
    return depth


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "null" if value is None else f"{json.dumps(value)[:40]}"
