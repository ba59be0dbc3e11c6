"""Loading Jsonnet configs, overriding their values, and comparing them."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError
from linker.common.files import real_path
from linker.config.recipes import CONFIGS, find_config, nearest_recipes, recipe_for, shared_folder


class LoadedConfig(dict[str, Any]):
    """A config with the name of its file, for messages.

    Attributes:
        source: the file as the user named it.
        recipe: linker's own file, if it was read because the working folder has none of that name; else None.
    """

    source = "config"
    recipe: Path | None = None


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> LoadedConfig:
    """Evaluate a Jsonnet file.

    Args:
        path: the file, or the name of one of linker's recipes, such as `configs/ast.jsonnet`; a file in the working
            folder takes precedence. It may import files of its folder, of the nearest folder named `configs` above it,
            and of linker's `configs`, which supply what these lack.
        overrides: `model.encoder.num_heads=6` sets one value (JSON, or else the text itself); a Jsonnet
            object `{trainer+: {epochs: 3}}` is added to the file's. Objects are added first, then values set.

    Returns:
        The config, as JSON values.

    Raises:
        ConfigError: if it cannot be evaluated; names file, line and column, or the override.
    """
    import _jsonnet

    file = find_config(path)
    added = [override for override in overrides if override.lstrip().startswith("{")]
    # Each has a name, for messages.
    texts = {str(path): _read(file)} | {
        f"override {at}": text.encode("utf-8", "replace") for at, text in enumerate(added, 1)
    }

    # The folder of the config, the nearest folder named `configs` above it, and linker's own.
    home = real_path(file.parent)
    above = [parent for parent in home.parents if parent.name == CONFIGS][:1]
    roots = [home, *above, real_path(shared_folder() / CONFIGS)]

    def load(folder: str, name: str) -> tuple[str, bytes]:
        if not folder and name in texts:
            return (str(file) if name == str(path) else name), texts[name]
        # Without `..`: recipes find the data by `std.thisFile`.
        wanted = Path(os.path.normpath(Path(folder or file.parent, name)))
        if not any(real_path(wanted).is_relative_to(root) for root in roots):
            raise ValueError(f"configs may only import from {roots[-2]} and linker's recipes")
        found = wanted if wanted.is_file() else recipe_for(wanted, file.parent)
        if found is None:
            raise ValueError("file not found")
        return str(found), _read(found)

    whole = " + ".join(f"(import {json.dumps(name)})" for name in texts)
    try:
        values = json.loads(_jsonnet.evaluate_snippet("whole", whole, import_callback=load))
    except (RuntimeError, ValueError, OSError) as error:
        raise ConfigError(_message(str(path), str(error))) from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: a config is an object {{...}}, this is {json.dumps(values)[:60]}")
    config = LoadedConfig(values)
    config.source, config.recipe = str(path), file if file != Path(path) else None
    for override in overrides:
        if override not in added:
            set_value(config, override)
    return config


def _message(path: str, text: str) -> str:
    """Return Jsonnet's message with the position first."""
    kind, _, message = text.strip().partition(" ERROR: ")
    message, *trace = message.splitlines() or [kind]
    if kind == "STATIC":
        return message
    positions = [re.match(r"\s*(?!whole:)(\S.*?):\(?(\d+:\d+)", line) for line in trace]
    position = next(("{}:{}".format(*match.groups()) for match in positions if match), path)
    return f"{position}: {message}"


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        content.decode()  # the library ends the process where the name of an import is not UTF-8
        return content
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8; save the file in this encoding") from error
    except FileNotFoundError as error:
        nearest = nearest_recipes(path)
        hint = f"similar recipes of linker: {', '.join(nearest)}; " if nearest else ""
        raise ConfigError(
            f"{path}: config not found; {hint}`linker config list` lists all recipes"
        ) from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read ({getattr(error, 'strerror', error)})") from error


def set_value(config: dict[str, Any], override: str) -> None:
    """Set one value in place: `model.encoder.num_heads=6`, `readers.0.path=posts.jsonl`.

    Missing objects are created; a component given by its bare name becomes an object.

    Raises:
        ConfigError: if the override has no `=`, or its path leads through a plain value or beyond a list.
    """
    path, equals, text = override.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        raise ConfigError(f"-o {override}: expected path.to.key=value, or a Jsonnet object {{...}}")
    here: Any = config
    for at, key in enumerate(keys, 1):
        slot: Any = key
        if isinstance(here, list) and key.isascii() and key.isdigit() and int(key) < len(here):
            slot = int(key)
        elif not isinstance(here, dict):
            where = f"{'.'.join(keys[: at - 1])} is {json.dumps(here)[:60]}"
            raise ConfigError(f"-o {override}: {where} and has no {key}")
        if at == len(keys):
            here[slot] = parse_value(text)
            return
        inner = here[slot] if isinstance(here, list) else here.get(slot)
        if inner is None or isinstance(inner, str):
            here[slot] = {} if inner is None else {"type": inner}
        here = here[slot]


def parse_value(text: str) -> Any:
    """Return the value of an override: JSON if it is valid, else the text itself."""
    try:
        return text if text in ("NaN", "Infinity", "-Infinity") else json.loads(text)
    except (ValueError, RecursionError):
        return text


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


ABSENT: Any = _Absent()
"""In place of a value that only the other config has."""


def diff_configs(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield (path, old value, new value) of each difference between two configs, in the order of the first."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            at = f"{path}.{key}" if path else key
            yield from diff_configs(old.get(key, ABSENT), new.get(key, ABSENT), at)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (before, after) in enumerate(zip(old, new)):
            yield from diff_configs(before, after, f"{path}.{i}")
    elif old is ABSENT or new is ABSENT or old != new:
        yield path, old, new
