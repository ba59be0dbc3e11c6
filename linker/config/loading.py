"""Reads a Jsonnet config and applies overrides. Nothing comes from the environment, nothing from outside its folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from linker.errors import ConfigError

#: How Jsonnet files see a snippet given with `-o`.
SNIPPET = "override {}"


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
        overrides: `model.encoder.num_heads=6` sets one value (JSON, or else the text itself); a Jsonnet object
            `{trainer+: {epochs: 3}}` is added to the file's object, before any single value is set.
        ext_vars: what `std.extVar` gives.

    Raises:
        ConfigError: naming file, line and column, or the override.
    """
    path = Path(path)
    snippets = [text for text in overrides if text.lstrip().startswith("{")]
    config = LoadedConfig(_evaluate(path, snippets, dict(ext_vars or {})))
    config.source = str(path)
    for text in overrides:
        if not text.lstrip().startswith("{"):
            set_value(config, text)
    return config


def _evaluate(path: Path, snippets: list[str], ext_vars: dict[str, str]) -> dict[str, Any]:
    import _jsonnet

    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text") from error
    name = str(path)
    virtual = {name: text} | {SNIPPET.format(at): snippet for at, snippet in enumerate(snippets, 1)}
    if snippets:
        name, text = "overrides", " + ".join(f"(import {json.dumps(file)})" for file in virtual)
    try:
        result = _jsonnet.evaluate_snippet(
            name, text, ext_vars=ext_vars, import_callback=_importer(path, virtual if snippets else {})
        )
        config = json.loads(result)
    except (RuntimeError, ValueError, RecursionError) as error:
        raise ConfigError(_jsonnet_message(str(error), path)) from error
    if not isinstance(config, dict):
        raise ConfigError(f"{path}: a config must be an object {{...}}, this is {type(config).__name__}")
    return config


def _importer(path: Path, virtual: dict[str, str]) -> Callable[[str, str], tuple[str, bytes]]:
    folder = path.parent.resolve()
    trees = [folder, *[parent for parent in folder.parents if parent.name == "configs"][:1]]

    def load(importer_folder: str, name: str) -> tuple[str, bytes]:
        if name in virtual and not importer_folder:
            return name, virtual[name].encode()
        beside = Path(importer_folder) if importer_folder else path.parent
        wanted = beside / name
        if not any(wanted.resolve().is_relative_to(tree) for tree in trees):
            raise ValueError(f'import "{name}" leads out of {trees[-1]}')
        if not wanted.is_file():
            raise ValueError(f'import "{name}": no such file')
        return str(wanted), wanted.read_bytes()

    return load


def _jsonnet_message(text: str, path: Path) -> str:
    """Jsonnet's message, the place first: `file:line:column: what is wrong`."""
    first, *trace = text.strip().splitlines()
    message = re.sub(r"^(STATIC|RUNTIME) ERROR: ", "", first)
    places = [re.sub(r"\s.*", "", line.strip()) for line in trace if re.match(r"\s+\S+:\d+:\d+", line)]
    if re.match(r"\S+:\d+:\d+", message) or message.startswith("override "):
        return message
    place = next((place for place in places if not place.startswith("overrides:")), str(path))
    return f"{place}: {message}"


def set_value(config: dict[str, Any], override: str) -> None:
    """Set one value in place: `model.encoder.num_heads=6`, `readers.0.path=posts.jsonl`.

    Objects that do not exist yet are made; a component given by its bare name becomes an object.

    Raises:
        ConfigError: the override has no `=`, or its path leads through a value or beyond a list.
    """
    path, equals, text = override.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        raise ConfigError(f"-o {override}: expected path.to.key=value, or a Jsonnet object {{...}}")
    here: Any = config
    for at, key in enumerate(keys):
        last = at == len(keys) - 1
        if isinstance(here, list):
            if not key.isdecimal() or int(key) >= len(here):
                raise ConfigError(
                    f"-o {override}: {'.'.join(keys[:at])} is a list of {len(here)}, has no item {key}"
                )
            slot: Any = int(key)
        elif isinstance(here, dict):
            slot = key
        else:
            raise ConfigError(
                f"-o {override}: {'.'.join(keys[:at])} is {json.dumps(here)}, which has no key {key}"
            )
        if last:
            here[slot] = parse_value(text)
            return
        inner = here[slot] if isinstance(here, list) else here.get(slot)
        if inner is None:
            here[slot] = {}
        elif isinstance(inner, str):
            here[slot] = {"type": inner}
        here = here[slot]


def parse_value(text: str) -> Any:
    """The value of an override: JSON where it is valid JSON, the text itself where it is not."""

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return text
