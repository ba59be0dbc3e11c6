"""Loading Jsonnet configs, overriding their values, and comparing them."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError
from linker.common.files import real_path
from linker.common.limited_process import LimitedProcess
from linker.config.recipes import CONFIGS, find_config, nearest_recipes, packaged, shared_folder

#: Maximum nesting depth of a config.
DEEPEST = 100

SECONDS = 10.0
"""Maximum time to evaluate a config."""
MEGABYTES = 1024
"""Maximum memory to evaluate a config, in MiB (on Linux); its result has a 64th of it at most."""
_PROGRAM = Path(__file__).with_name("jsonnet_process.py")
# Name of the snippet that adds a file and its overrides; never shown.
_WHOLE = "whole"


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
            folder takes precedence. It may import files of its folder, of folders below, of the nearest folder named
            `configs` above it, and the files of linker's `configs` that are in none of these.
        overrides: `model.encoder.num_heads=6` sets one value (JSON, or else the text itself); a Jsonnet
            object `{trainer+: {epochs: 3}}` is added to the file's. Objects are added first, then values set.

    Returns:
        The config, as JSON values.

    Raises:
        ConfigError: if it cannot be evaluated; names file, line and column, or the override.
    """
    file = find_config(path)
    snippets = [text for text in overrides if text.lstrip().startswith("{")]
    config = LoadedConfig(_JsonnetSource(file, snippets).evaluate())
    config.source = str(path)
    config.recipe = file if file != Path(path) else None
    for override in overrides:
        if override not in snippets:
            set_value(config, override)
    if not _is_within(config, DEEPEST):
        raise ConfigError(f"{path}: nested more than {DEEPEST} deep")
    return config


class _JsonnetSource:
    """A config file and the objects to be added to it."""

    def __init__(self, path: Path, snippets: list[str]) -> None:
        self.path = path
        folder = real_path(path.parent)
        tree = [parent for parent in folder.parents if parent.name == CONFIGS][:1]
        self.roots = [folder, *tree]
        self.recipes = real_path(shared_folder() / CONFIGS)
        # Names of the texts in messages.
        self.texts = {str(path): _read(path)} | {
            f"override {at}": snippet.encode("utf-8", "replace") for at, snippet in enumerate(snippets, 1)
        }

    def evaluate(self) -> dict[str, Any]:
        """Return the sum of file and snippets, evaluated in a process within limits of time and memory."""
        whole = " + ".join(f"(import {json.dumps(name)})" for name in self.texts)
        process = LimitedProcess([sys.executable, "-I", "-S", str(_PROGRAM), json.dumps(sys.path)])
        try:
            with process.within(SECONDS):
                process.limit_memory(MEGABYTES)
                process.send({"name": _WHOLE, "snippet": whole})
                while (reply := process.receive()) is not None and "import" in reply:
                    process.send(self._imported(*reply["import"]))
        finally:
            process.kill()
        if reply is None:
            raise ConfigError(
                f"{self.path}: cannot be evaluated: Jsonnet {process.ending(SECONDS)}; the config calls itself without "
                "end, or builds a huge value"
            )
        if "limit" in reply or len(reply.get("json", "")) > MEGABYTES << 14:
            raise ConfigError(f"{self.path}: cannot be evaluated: the config builds a huge value")
        if "error" in reply:
            raise ConfigError(self._message(reply["error"]))
        try:
            config = json.loads(reply["json"])
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{self.path}: {error}") from error
        if not isinstance(config, dict):
            raise ConfigError(
                f"{self.path}: a config is an object {{...}}, this is {json.dumps(config)[:60]}"
            )
        return config

    def _imported(self, importer: str, name: str) -> dict[str, str]:
        """Answer the import of a text; `importer` is the folder of the importing text, empty for an override."""
        try:
            path, content = (name, self.texts.get(name)) if not importer else (name, None)
            if content is None:
                file = self._file(Path(importer or self.path.parent, name))
                path, content = _shortest(file), _read(file)
        except (ValueError, ConfigError) as error:
            return {"error": str(error)}
        except OSError as error:  # the name is too long, say
            return {"error": f"cannot be read ({error.strerror})"}
        return {"path": path, "text": content.decode("latin-1")}

    def _file(self, wanted: Path) -> Path:
        """Return the file that an import means: the one of this path, or a recipe that the user's folder lacks."""
        real = real_path(wanted)
        roots = [root for root in [*self.roots, self.recipes] if real.is_relative_to(root)]
        if not roots:
            raise ValueError(f"configs may only import from {self.roots[-1]} and linker's recipes")
        if wanted.is_file():
            return wanted
        inside = [real.relative_to(root) for root in roots]
        names = [path for relative in inside for path in (relative, CONFIGS / relative)]
        recipe = next(filter(None, map(packaged, names)), None)
        if recipe is None:
            raise ValueError("file not found")
        return recipe

    def _message(self, text: str) -> str:
        """Return Jsonnet's message with the position first, and the line at that position."""
        first, *trace = text.strip().splitlines() or ["failed"]
        message = re.sub(r"^(STATIC|RUNTIME) ERROR: ", "", first).strip()
        positions = [re.match(r"(.+?):\(?(\d+):(\d+)", line.strip()) for line in [message, *trace]]
        position = next((match for match in positions if match and match[1] != _WHOLE), None)
        if position is None:
            return f"{self.path}: {message}"
        name, line, column = position[1], int(position[2]), int(position[3])
        message = message.removeprefix(position[0]).lstrip("0123456789-:() ") if positions[0] else message
        message = f"{name}:{line}:{column}: {message}"
        try:
            content = self.texts[name] if name in self.texts else _read(Path(name))
            source = content.decode("utf-8", "replace").splitlines()[line - 1]
        except (ConfigError, IndexError):
            return message
        return f"{message}\n    {source[:100]}\n    {' ' * (column - 1)}^" if column <= 100 else message


def _shortest(path: Path) -> str:
    """Return the path without `..` if that is the same file: `std.thisFile` of imported files."""
    normal = os.path.normpath(path)
    return normal if os.path.realpath(normal) == os.path.realpath(path) else str(path)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError as error:
        nearest = nearest_recipes(path)
        hint = f"similar recipes of linker: {', '.join(nearest)}; " if nearest else ""
        raise ConfigError(
            f"{path}: config not found; {hint}`linker config list` lists all recipes"
        ) from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read ({getattr(error, 'strerror', error)})") from error


def _is_within(value: Any, depth: int) -> bool:
    """Return whether objects and lists are nested at most so deep."""
    if not isinstance(value, (dict, list)):
        return True
    items = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_within(item, depth - 1) for item in items)


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
    """Return the value of an override: JSON if it is valid, else the text itself."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return text


def _slot(here: Any, key: str, override: str, path: list[str]) -> Any:
    """Return the key or list index of `key` in `here`."""
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
