"""Where two configs differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


ABSENT: Any = _Absent()
"""Stands for a value that is only in the other config."""


def differing(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """(path, value, other value) for each value in which two configs differ, in the order of the first."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            at = f"{path}.{key}" if path else key
            yield from differing(one.get(key, ABSENT), other.get(key, ABSENT), at)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, (mine, theirs) in enumerate(zip(one, other)):
            yield from differing(mine, theirs, f"{path}.{i}")
    elif one is ABSENT or other is ABSENT or one != other:
        yield path, one, other
