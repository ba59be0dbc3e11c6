"""Paths into nested records, compiled to functions.

`a.b` is the value of a key, `a[]` each item of a list, `a[0]` one of them, `a[type=link]` those items whose `type` is
`link`. `a|b` is the first of two that has a value, `at://{a}/{b.c}` a text with values filled in, none if one
is missing. A list may be a text: cells of tables hold lists as JSON, or as Python writes them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Getter = Callable[[Mapping[str, Any]], Any]

#: Maximum number of characters of a cell that is parsed.
_LONGEST_CELL = 1_000_000

_STEP = re.compile(r"([^\[\]]+)(?:\[(?:(\d+)|([^\[\]=]+)=([^\[\]]*))?\])?")
_PLACE = re.compile(r"\{([^{}]+)\}")
_Step = tuple[str, Callable[[Any], Iterator[Any]] | None]


def getter(expression: str) -> Getter:
    """Return a function that returns the first value of an expression in a record; None if it has none.

    Missing keys, values of other types on the way, empty strings and nulls count as no value.

    Raises:
        ValueError: if the expression is malformed.
    """
    paths = [_template(path) if "{" in path else _first(_steps(path)) for path in expression.split("|")]
    if len(paths) == 1:
        return paths[0]
    return lambda record: next((value for path in paths if (value := path(record)) is not None), None)


def lister(expression: str) -> Callable[[Mapping[str, Any]], list[Any]]:
    """Return a function that returns all values of an expression in a record, in order.

    Raises:
        ValueError: if the expression is malformed.
    """
    paths = [_steps(path) for path in expression.split("|")]
    return lambda record: [value for steps in paths for value in _walk(record, steps, 0) if _is_filled(value)]


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
            inside = inside.setdefault(key, {})
            if not isinstance(inside, dict):
                break
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


def _steps(path: str) -> list[_Step]:
    steps: list[_Step] = []
    for piece in path.split("."):
        match = _STEP.fullmatch(piece)
        if match is None:
            raise ValueError(f"{path!r} is not a path; write it like a.b, a[].b, a[0].b or a[type=link].b")
        key, number, name, wanted = match.groups()
        steps.append((key, _selector(number, name, wanted) if piece.endswith("]") else None))
    return steps


def _selector(number: str | None, name: str | None, wanted: str | None) -> Callable[[Any], Iterator[Any]]:
    def select(items: Any) -> Iterator[Any]:
        if isinstance(items, str) and items.startswith("["):
            items = parsed(items)
        if not isinstance(items, list):
            return iter(())
        if number is not None:
            return iter(items[int(number) : int(number) + 1])
        if name is not None:
            return (item for item in items if isinstance(item, dict) and item.get(name) == wanted)
        return iter(items)

    return select


def _first(steps: list[_Step]) -> Getter:
    if any(select for _, select in steps):
        return lambda record: next(filter(_is_filled, _walk(record, steps, 0)), None)
    keys = [key for key, _ in steps]

    def value_of(record: Mapping[str, Any]) -> Any:
        value: Any = record
        for key in keys:
            if not isinstance(value, dict):
                return None
            value = value.get(key)
        return value if _is_filled(value) else None

    return value_of


def _walk(value: Any, steps: list[_Step], at: int) -> Iterator[Any]:
    if at == len(steps):
        yield value
        return
    key, select = steps[at]
    if not isinstance(value, dict) or key not in value:
        return
    for item in (value[key],) if select is None else select(value[key]):
        yield from _walk(item, steps, at + 1)


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
