"""Where two configs differ."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError

#: Configs nested deeper than this are refused.
DEEPEST = 100

#: The name of the text that adds up a file and its overrides; never shown.
WHOLE = "whole"


class LoadedConfig(dict[str, Any]):
    """A config that knows the file it came from, so that messages can name it."""

    source = "config"


def load_config(
    path: str | Path, overrides: Sequence[str] = (), ext_vars: Mapping[str, str] | None = None
) -> LoadedConfig:
    """Evaluate a Jsonnet file.

    Args:
        path: the file. It may import files of its folder, of folders below, and of the nearest folder named
            `configs` above it.
        overrides: `model.encoder.num_heads=6` sets one value (JSON, or else the text itself); a Jsonnet
            object `{trainer+: {epochs: 3}}` is added to the file's. Objects are added first, then values set.
        ext_vars: what `std.extVar` gives.

    Raises:
        ConfigError: naming file, line and column, or the override.
    """
    source = _JsonnetSource(Path(path), [text for text in overrides if is_snippet(text)])
    config = LoadedConfig(source.evaluate(dict(ext_vars or {})))
    config.source = str(path)
    for override in overrides:
        if not is_snippet(override):
            set_value(config, override)
    if _depth(config) > DEEPEST:
        raise ConfigError(f"{path}: nested more than {DEEPEST} deep")
    return config


class _JsonnetSource:
    """A config file and the objects to be added to it, as Jsonnet sees them."""

    def __init__(self, path: Path, snippets: list[str]) -> None:
        self.path = path
        self.folder = path.parent.resolve()
        tree = [parent for parent in self.folder.parents if parent.name == "configs"][:1]
        self.roots = [self.folder, *tree]
        # The names under which messages speak of the texts.
        self.texts = {str(path): _read(path)} | {
            f"override {at}": snippet.encode("utf-8", "replace") for at, snippet in enumerate(snippets, 1)
        }

    def evaluate(self, ext_vars: dict[str, str]) -> dict[str, Any]:
        """The object that file and snippets add up to."""
        import _jsonnet

        whole = " + ".join(f"(import {json.dumps(name)})" for name in self.texts)
        try:
            config = json.loads(
                _jsonnet.evaluate_snippet(WHOLE, whole, ext_vars=ext_vars, import_callback=self._load)
            )
        except (RuntimeError, ValueError, RecursionError) as error:
            raise ConfigError(self._message(str(error))) from error
        if not isinstance(config, dict):
            raise ConfigError(
                f"{self.path}: a config is an object {{...}}, this is {json.dumps(config)[:60]}"
            )
        return config

    def _load(self, importer: str, name: str) -> tuple[str, bytes]:
        """Jsonnet's way to files: `importer` is the folder of the importing text, empty for an override."""
        if not importer and name in self.texts:
            return name, self.texts[name]
        wanted = Path(importer or self.path.parent, name)
        if not any(wanted.resolve().is_relative_to(root) for root in self.roots):
            raise ValueError(f"configs may only import from {self.roots[-1]}")
        if not wanted.is_file():
            raise ValueError("no such file")
        return _shortest(wanted), _read(wanted)

    def _message(self, text: str) -> str:
        """Jsonnet's message with the place first, and the line that stands there."""
        first, *trace = text.strip().splitlines() or ["failed"]
        message = re.sub(r"^(STATIC|RUNTIME) ERROR: ", "", first).strip()
        places = [re.match(r"(.+?):\(?(\d+):(\d+)", line.strip()) for line in [message, *trace]]
        place = next((found for found in places if found and found[1] != WHOLE), None)
        if place is None:
            return f"{self.path}: {message}"
        name, line, column = place.groups()
        message = message.removeprefix(place[0]).lstrip("0123456789-:() ") if places[0] else message
        return f"{name}:{line}:{column}: {message}{self._line(name, int(line), int(column))}"

    def _line(self, name: str, line: int, column: int) -> str:
        try:
            text = self.texts[name] if name in self.texts else _read(Path(name))
            shown = text.decode("utf-8", "replace").splitlines()[line - 1]
        except (ConfigError, IndexError):
            return ""
        return f"\n    {shown[:100]}\n    {' ' * (column - 1)}^" if column <= 100 else ""


def _shortest(path: Path) -> str:
    """The path without `..` where that is the same file: `std.thisFile` of what is imported."""
    normal = os.path.normpath(path)
    return normal if os.path.realpath(normal) == os.path.realpath(path) else str(path)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read ({getattr(error, 'strerror', error)})") from error


def _depth(config: Any) -> int:
    """How many objects and lists lie inside each other."""
    depth, layer = 0, [config]
    while layer:
        depth += 1
        inner = [
            list(one.values()) if isinstance(one, dict) else one
            for one in layer
            if isinstance(one, (dict, list))
        ]
        layer = [item for items in inner for item in items if isinstance(item, (dict, list))]
    return depth


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
