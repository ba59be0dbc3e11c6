"""Overrides from the command line: `model.encoder.num_heads=6`."""

from __future__ import annotations

import json
from typing import Any

from linker.errors import ConfigError


def is_snippet(override: str) -> bool:
    """Whether an override is a Jsonnet object to be added, not a value to be set."""
    return override.lstrip().startswith("{")


def set_value(config: dict[str, Any], override: str) -> None:
    """Set one value in place: `model.encoder.num_heads=6`, `readers.0.path=posts.jsonl`.

    Objects that do not exist yet are made; a component given by its bare name becomes an object.

    Raises:
        ConfigError: the override has no `=`, or its path leads through a plain value or beyond a list.
    """
    path, equals, text = override.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        raise ConfigError(f"-o {override}: expected path.to.key=value, or a Jsonnet object {{...}}")
    here: Any = config
    for at, key in enumerate(keys[:-1]):
        slot = _slot(here, key, override, keys[:at])
        inner = here[slot] if isinstance(here, list) else here.get(slot)
        if inner is None:
            here[slot] = {}
        elif isinstance(inner, str):
            here[slot] = {"type": inner}
        here = here[slot]
    here[_slot(here, keys[-1], override, keys[:-1])] = parse_value(text)


def parse_value(text: str) -> Any:
    """The value of an override: JSON where it is valid JSON, the text itself where it is not."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return text


def _slot(here: Any, key: str, override: str, path: list[str]) -> Any:
    """The key or list index that `key` means in `here`."""
    if isinstance(here, dict):
        return key
    where = ".".join(path)
    if not isinstance(here, list):
        raise ConfigError(f"-o {override}: {where} is {json.dumps(here)} and has no keys")
    if not (key.isascii() and key.isdigit() and int(key) < len(here)):
        raise ConfigError(f"-o {override}: {where} is a list of {len(here)} and has no item {key}")
    return int(key)
