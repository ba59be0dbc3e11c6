"""Check a config against the types it must have, and build the object it describes."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from linker.common.errors import ConfigError
from linker.config.registrable import Lazy
from linker.config.registry import catalog, short, suggestion
from linker.config.schema import ClassSpec, Parameter

#: Maximum nesting depth of a config.
DEEPEST = 60


class Problem(NamedTuple):
    """A fault of a config.

    Attributes:
        path: path of the key, such as `model.encoder.num_heads`.
        message: what is wrong with it and what to do.
    """

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def check(target: Any, params: Any) -> list[Problem]:
    """Return everything that is wrong with a config; imports none of linker's components.

    Args:
        target: what the config describes: a class, a family, or a reference `module:Class`.
        params: the config, as returned by `load_config` or `json.load`.

    Returns:
        The problems, in the order of the signatures.
    """
    checker = _Checker()
    checker.fit({"class": catalog.reference_of(target)}, params)
    return checker.problems


def resolve(target: Any, params: Any) -> dict[str, Any]:
    """Return the complete config: every default written out, keys in the order of the signatures.

    Args:
        target: as for `check`.
        params: the config.

    Raises:
        ConfigError: if anything is wrong with the config; lists all problems.
    """
    return dict(_checked(target, params).config)


def build(target: Any, params: Any, **supplied: Any) -> Any:
    """Build the object that a config describes. `Lazy` parts are checked now and built later.

    Args:
        target: as for `check`.
        params: the config.
        supplied: keyword-only arguments of the object; those that its signature does not name are ignored. An
            object with a keyword-only argument `config` gets its resolved config.

    Returns:
        The object.

    Raises:
        ConfigError: if anything is wrong with the config; lists all problems, before anything is imported or built.
    """
    checked = _checked(target, params)
    return checked.build(**{"config": checked.config, **supplied})


class _Checked(NamedTuple):
    """A part of a config that fits: with every default written out, and what builds it from arguments of code."""

    config: Any
    build: Callable[..., Any]


def _checked(target: Any, params: Any) -> _Checked:
    checker = _Checker()
    checked = checker.fit({"class": catalog.reference_of(target)}, params)
    source, problems = getattr(params, "source", "config"), checker.problems
    if len(problems) == 1:
        raise ConfigError(f"{source}: {problems[0]}")
    if problems:
        raise ConfigError("\n  ".join([f"{source}: {len(problems)} problems", *map(str, problems)]))
    return checked


class _Checker:
    """Walks config and types in parallel, from the part at `root`; collects all problems."""

    def __init__(self, root: str = "") -> None:
        self.root, self.problems = root, list[Problem]()
        # Whether the outer form is the expected one, so that the problems within are worth reporting.
        self.resembles = True

    def fit(self, kind: Any, value: Any, path: str = "") -> _Checked:
        """Return a value, checked against its type; see `schema` for types."""
        if path.count(".") > DEEPEST:
            return self._wrong(path, "nested too deeply")
        match kind:
            case {"list": item} if isinstance(value, list):
                return self._items([item] * len(value), value, path, list)
            case {"tuple_of": item} if isinstance(value, list):
                return self._items([item] * len(value), value, path, tuple)
            case {"tuple": items} if isinstance(value, list) and len(value) == len(items):
                return self._items(items, value, path, tuple)
            case {"dict": item} if isinstance(value, dict):
                parts = {key: self.fit(item, part, _joined(path, key)) for key, part in value.items()}
                config = {key: part.config for key, part in parts.items()}
                return _Checked(config, lambda: {key: part.build() for key, part in parts.items()})
            case {"literal": choices} if any(
                value == choice and type(value) is type(choice) for choice in choices
            ):
                return _Checked(value, lambda: value)
            case {"lazy": inner}:
                part = self.fit(inner, value, path)
                return _Checked(part.config, lambda: Lazy(part.build, part.config))
            case {"union": options}:
                return self._any_of(options, value, path)
            case {"class": reference} if (spec := catalog.spec(reference)) is not None:
                if spec.is_family and isinstance(value, (dict, str)):
                    return self._component(spec, value, path)
                if isinstance(value, dict):
                    return self._object(spec, None, value, path)
            case str() if (atom := _atom(kind, value)) is not None:
                return atom
        return self._unexpected(kind, value, path)

    def _wrong(self, path: str, message: str) -> _Checked:
        self.problems.append(Problem(path, message))
        return _Checked(None, lambda: None)

    def _unexpected(self, kind: Any, value: Any, path: str) -> _Checked:
        self.resembles &= path != self.root
        hint = ""
        if isinstance(kind, dict) and isinstance(value, str):
            hint = suggestion(
                value, [choice for choice in kind.get("literal", ()) if isinstance(choice, str)]
            )
        return self._wrong(path, f"expected {describe(kind)}, got {_as_json(value)}{hint}")

    def _items(
        self, kinds: Sequence[Any], values: list[Any], path: str, made: Callable[..., Any]
    ) -> _Checked:
        parts = [self.fit(*pair, _joined(path, at)) for at, pair in enumerate(zip(kinds, values))]
        return _Checked([part.config for part in parts], lambda: made(part.build() for part in parts))

    def _any_of(self, options: list[Any], value: Any, path: str) -> _Checked:
        attempts = []
        for option in options:
            attempt = _Checker(path)
            checked = attempt.fit(option, value, path)
            if not attempt.problems:
                return checked
            attempts.append(attempt)
        # Of the options of this form, the one with the fewest problems was most likely meant.
        meant = [attempt.problems for attempt in attempts if attempt.resembles]
        if not meant:
            return self._unexpected({"union": options}, value, path)
        nearest = min(meant, key=len)
        self.problems += nearest
        return _Checked(None, lambda: None)

    def _component(self, family: ClassSpec, value: dict[str, Any] | str, path: str) -> _Checked:
        table, at = ({"type": value}, path) if isinstance(value, str) else (value, _joined(path, "type"))
        name, kind = table.get("type", family.default_component), {"class": family.reference}
        if name is None:
            return self._wrong(
                at, f"required key is missing: expected {describe(kind)}; the rest is {_as_json(table)}"
            )
        if not isinstance(name, str):
            return self._unexpected(kind, name, at)
        try:
            spec = catalog.spec(catalog.found(family.reference, name))
        except ConfigError as error:
            return self._wrong(at, str(error))
        assert spec is not None, name
        return self._object(spec, name, {key: item for key, item in table.items() if key != "type"}, path)

    def _object(self, spec: ClassSpec, name: str | None, table: dict[str, Any], path: str) -> _Checked:
        parts: dict[str, _Checked] = {}
        for parameter in spec.parameters:
            key = parameter["name"]
            if key in table or not parameter.get("optional"):
                parts[key] = self._argument(parameter, table, _joined(path, key))
        for key in table:
            if key not in spec.keys:
                message = f"unknown key (value {_as_json(table[key])}){suggestion(key, spec.keys) or '.'}"
                self._wrong(
                    _joined(path, key), f"{message} Keys of {spec.name}: {', '.join(spec.keys) or 'none'}"
                )

        def made(**supplied: Any) -> Any:
            component = catalog.load(spec.reference)
            arguments = {key: part.build() for key, part in parts.items()}
            taken = {key: supplied[key] for key in spec.supplied if key in supplied}
            try:
                return component(**arguments, **taken)
            except ValueError as error:
                # Not its subclasses: a UnicodeDecodeError, for example, is not about the config.
                if type(error) is not ValueError:
                    raise
                raise ConfigError(f"{path or spec.name}: {error}") from error

        named = {} if name is None else {"type": name}
        return _Checked(named | {key: part.config for key, part in parts.items()}, made)

    def _argument(self, parameter: Parameter, table: dict[str, Any], path: str) -> _Checked:
        """Return the value of a key or its default; of a missing one, an object that needs no keys."""
        kind = parameter["type"]
        if parameter["name"] in table or "default" in parameter:
            return self.fit(kind, table.get(parameter["name"], parameter.get("default")), path)
        if isinstance(kind, dict) and kind.keys() & {"class", "lazy"}:
            attempt = _Checker(path)
            checked = attempt.fit(kind, {}, path)
            if not attempt.problems:
                return checked
        return self._wrong(path, f"required key is missing: expected {describe(kind)}")


def _atom(name: str, value: Any) -> _Checked | None:
    """Return the value as an atom of this type; None if it does not fit."""
    if name == "Path" and isinstance(value, str) and value and "\0" not in value:
        return _Checked(value, lambda: Path(value))
    if name in ("int", "float") and isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            # Jsonnet has one kind of number: 3 may mean 3.0, and 1e3 may mean 1000.
            number = float(value) if name == "float" else int(value)
            fits = number == value and math.isfinite(number)
        except (OverflowError, ValueError):  # infinite, not a number, or an integer that exceeds every float
            fits = False
        return _Checked(number, lambda: number) if fits else None
    kinds: dict[str, type] = {"Any": object, "None": type(None), "bool": bool, "str": str}
    return _Checked(value, lambda: value) if isinstance(value, kinds.get(name, ())) else None


def describe(kind: Any) -> str:
    """Return a description of a type for messages."""
    match kind:
        case {"literal": choices}:
            return " or ".join(map(json.dumps, choices))
        case {"list": item} | {"tuple_of": item}:
            return f"a list ({describe(item)} each)"
        case {"dict": item}:
            return f"an object ({describe(item)} for each key)"
        case {"tuple": items}:
            return f"a list of {len(items)} ({', '.join(map(describe, items))})"
        case {"union": options}:
            return " or ".join(map(describe, options))
        case {"lazy": inner}:
            return describe(inner)
        case {"class": reference}:
            spec = catalog.spec(reference)
            if spec and spec.is_family:
                return (
                    f"a registered {spec.name} ({', '.join(sorted(catalog.components(reference))) or 'none'})"
                )
            return f"an object ({', '.join(spec.keys)})" if spec and spec.keys else f"a {short(reference)}"
    words = {"int": "an integer", "float": "a number", "str": "a string", "bool": "true or false"}
    words |= {"None": "null", "Any": "any value", "Path": "a path (a string)"}
    return words.get(kind, "nothing (this cannot be set from a config)")


def _as_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _joined(path: str, key: str | int) -> str:
    """Return the path of `key` under `path`, such as `model.encoder.num_heads`."""
    return f"{path}.{key}" if path else str(key)
