"""Paths into nested records, compiled to functions.

`a.b` is the value of a key, `a[]` each item of a list, `a[0]` one of them, `a[type=link]` those items whose `type` is
`link`. `a|b` is the first of two that has a value, `at://{a}/{b.c}` a text with values filled in, none if one
is missing. A list may be a text: cells of tables hold lists as JSON, or as Python writes them.
"""

import ast
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

Getter = Callable[[Mapping[str, Any]], Any]

#: Maximum number of characters of a cell that is parsed.
_LONGEST_CELL = 1_000_000

_STEP = re.compile(
    r"(?P<key>[^\[\]]+)(?P<list>\[(?:(?P<index>\d+)|(?P<name>[^\[\]=]+)=(?P<value>[^\[\]]*))?\])?"
)
_PLACE = re.compile(r"\{([^{}]+)\}")


def getter(expression: str) -> Getter:
    """Return a function that returns the first value of an expression in a record; None if it has none.

    Missing keys, values of other types on the way, empty strings and nulls count as no value.

    Raises:
        ValueError: if the expression is malformed.
    """
    paths = [_template(path) if "{" in path else _first(path) for path in expression.split("|")]
    if len(paths) == 1:
        return paths[0]
    return lambda record: next((value for path in paths if (value := path(record)) is not None), None)


def lister(expression: str) -> Callable[[Mapping[str, Any]], list[Any]]:
    """Return a function that returns all values of an expression in a record, in order.

    Raises:
        ValueError: if the expression is malformed.
    """
    paths = [_values(path) for path in expression.split("|")]
    return lambda record: [value for values_in in paths for value in values_in(record)]


def has_path(path: str) -> Callable[[Mapping[str, Any]], bool]:
    """Return a function that returns whether a record has a key at a path, whatever its value.

    `path=value` must have this string as its value; `!path` is met where there is none.
    """
    if path.startswith("!"):
        has_it = has_path(path[1:])
        return lambda record: not has_it(record)
    inside, equals, expected = path.partition("=")
    *above, last = inside.split(".")

    def has(record: Mapping[str, Any]) -> bool:
        value: Any = record
        for key in above:
            value = value.get(key) if isinstance(value, dict) else None
        return isinstance(value, dict) and last in value and (not equals or value[last] == expected)

    return has


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with nested objects in place of dotted keys: `{"a.b": 1}` → `{"a": {"b": 1}}`.

    A key stays as it is where its place is taken by another value.
    """
    result: dict[str, Any] = {}
    for name, value in values.items():
        *above, last = name.split(".")
        inside: Any = result
        for key in above:
            inside = inside.setdefault(key, {}) if isinstance(inside, dict) else None
        if isinstance(inside, dict) and last not in inside:
            inside[last] = value
        else:
            result.setdefault(name, value)
    return result


def parsed(text: str) -> Any:
    """Return the value of JSON, or of a list as Python writes it, in a text; None if it is neither."""
    if len(text) > _LONGEST_CELL:
        return None
    try:
        try:
            value = json.loads(text)
        except ValueError:
            value = ast.literal_eval(text) if text.startswith("[") else None
        # Either can escape half of a surrogate pair, which UTF-8 cannot encode.
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value


def _values(path: str) -> Callable[[Mapping[str, Any]], list[Any]]:
    """Return a function that returns all values at a path, in order."""
    steps = [_STEP.fullmatch(piece) for piece in path.split(".")]
    if None in steps:
        raise ValueError(f"{path!r} is not a path; write it like a.b, a[].b, a[0].b or a[type=link].b")
    keys = [(step["key"], step if step["list"] else None) for step in steps if step]

    def values_in(record: Mapping[str, Any]) -> list[Any]:
        values: list[Any] = [record]
        for key, step in keys:
            values = [value[key] for value in values if isinstance(value, dict) and key in value]
            if step:
                values = [item for value in values for item in _items(value, step)]
        return list(filter(_is_filled, values))

    return values_in


def _items(value: Any, step: re.Match[str]) -> list[Any]:
    """The items of a list that a step of a path selects."""
    if isinstance(value, str) and value.startswith("["):
        value = parsed(value)
    if not isinstance(value, list):
        return []
    if step["index"]:
        return value[int(step["index"]) :][:1]
    name = step["name"]
    return [i for i in value if isinstance(i, dict) and i.get(name) == step["value"]] if name else value


def _first(path: str) -> Getter:
    """Return a function that returns the first value at a path; most have keys alone, for which this is fast."""
    values_in, keys = _values(path), path.split(".")
    if "[" in path:
        return lambda record: next(iter(values_in(record)), None)

    def value_of(record: Mapping[str, Any]) -> Any:
        value: Any = record
        for key in keys:
            if not isinstance(value, dict):
                return None
            value = value.get(key)
        return value if _is_filled(value) else None

    return value_of


def _is_filled(value: Any) -> bool:
    # NaN is how pandas writes an empty cell.
    return value is not None and value != "" and not (type(value) is float and value != value)


def _template(template: str) -> Getter:
    start, *pieces = _PLACE.split(template)
    places = [(getter(path), after) for path, after in zip(pieces[::2], pieces[1::2])]

    def fill(record: Mapping[str, Any]) -> str | None:
        text = start
        for value_of, after in places:
            value = value_of(record)
            if isinstance(value, bool) or not isinstance(value, (str, int)):
                return None
            text += f"{value}{after}"
        return text

    return fill
