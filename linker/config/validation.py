"""Checks a config against the types it must have, and reports everything that does not fit."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linker.config.nodes import NOTHING, DictNode, LazyNode, ListNode, Node, ObjectNode, ValueNode, joined
from linker.config.registry import catalog, nearest, short, suggestion
from linker.config.types import (
    Atom,
    Choice,
    ClassSpec,
    Default,
    DictOf,
    Instance,
    LazyOf,
    ListOf,
    OneOf,
    Parameter,
    TupleOf,
    TypeSpec,
)


def describe(kind: TypeSpec) -> str:
    """Return a description of a type for messages."""
    match kind:
        case Atom(name):
            words = {"int": "an integer", "float": "a number", "str": "a string", "bool": "true or false"}
            words |= {"None": "null", "Any": "any value", "Path": "a path (a string)"}
            return words.get(name, "nothing (this cannot be set from a config)")
        case Choice(values):
            return " or ".join(json.dumps(value) for value in values)
        case ListOf(item):
            return f"a list ({describe(item)} each)"
        case DictOf(value):
            return f"an object ({describe(value)} for each key)"
        case TupleOf(items, True):
            return f"a list ({describe(items[0])} each)"
        case TupleOf(items):
            return f"a list of {len(items)} ({', '.join(describe(item) for item in items)})"
        case OneOf(options):
            return " or ".join(describe(option) for option in options)
        case LazyOf(inner):
            return describe(inner)
        case Instance(reference):
            spec = catalog.spec(reference)
            names = catalog.choices(spec)[0] if spec else {}
            if spec and (spec.is_family or names):
                return f"a registered {spec.name} ({', '.join(sorted(names)) or 'none'})"
            return f"an object ({', '.join(spec.keys)})" if spec and spec.keys else f"a {short(reference)}"
    raise AssertionError(kind)


def as_json(value: Any) -> str:
    """Return a value as JSON, truncated to 60 characters."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."


#: Maximum nesting depth of a config.
DEEPEST = 60


@dataclass(frozen=True)
class Problem:
    """A fault of a config.

    Attributes:
        path: path of the key, such as `model.encoder.num_heads`.
        message: what is wrong with it and what to do.
    """

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class Checker:
    """Walks config and types in parallel; collects all problems."""

    def __init__(self) -> None:
        # Of an unknown key: its path, value and class, until all known keys are collected: it may belong elsewhere.
        self._problems: list[Problem | tuple[str, str, Any, ClassSpec]] = []
        self._keys: dict[str, list[str]] = {}

    @property
    def problems(self) -> list[Problem]:
        """All problems so far, in the order of the signatures."""
        return [item if isinstance(item, Problem) else self._unknown_key(*item) for item in self._problems]

    def _unknown_key(self, path: str, key: str, value: Any, spec: ClassSpec) -> Problem:
        hint = suggestion(key, spec.keys)
        elsewhere = [joined(other, key) for other, keys in self._keys.items() if key in keys]
        if key in spec.supplied:
            hint = "; the program supplies it, no config can set it."
        elif not hint:
            hint = f'; did you mean "{elsewhere[0]}"?' if elsewhere else "."
        valid = f"Keys of {spec.name}: {', '.join(spec.keys) or 'none'}"
        return Problem(joined(path, key), f"unknown key (value {as_json(value)}){hint} {valid}")

    def fit(self, kind: TypeSpec, value: Any, path: str = "", complete: bool = False) -> Node:
        """Check a value.

        Args:
            kind: the type it must have.
            value: the value in the config.
            path: its path.
            complete: whether code supplies no arguments when it is built.

        Returns:
            The checked value.
        """
        if path.count(".") > DEEPEST:
            return self._wrong(path, "nested too deeply")
        match kind:
            case Atom(name):
                leaf = fit_atom(name, value)
                return leaf or self._unexpected(kind, value, path)
            case Choice(values):
                return self._choice(kind, values, value, path)
            case ListOf() | TupleOf():
                return self._items(kind, value, path)
            case DictOf(inner):
                if not isinstance(value, dict):
                    return self._unexpected(kind, value, path)
                return DictNode(
                    {key: self.fit(inner, item, joined(path, key), True) for key, item in value.items()}
                )
            case LazyOf(inner):
                return LazyNode(self.fit(inner, value, path))
            case OneOf(options):
                return self._one_of(options, value, path, complete)
            case Instance(reference):
                return self._instance(reference, value, path, complete)

    def _wrong(self, path: str, message: str) -> Node:
        self._problems.append(Problem(path, message))
        return NOTHING

    def _unexpected(self, kind: TypeSpec, value: Any, path: str, hint: str = "") -> Node:
        return self._wrong(path, f"expected {describe(kind)}, got {as_json(value)}{hint}")

    def _choice(self, kind: TypeSpec, values: tuple[Any, ...], value: Any, path: str) -> Node:
        if any(value == choice and type(value) is type(choice) for choice in values):
            return ValueNode(value)
        texts = [choice for choice in values if isinstance(choice, str)]
        hint = suggestion(value, texts) if isinstance(value, str) else ""
        return self._unexpected(kind, value, path, hint)

    def _items(self, kind: ListOf | TupleOf, value: Any, path: str) -> Node:
        if not isinstance(value, list):
            return self._unexpected(kind, value, path)
        if isinstance(kind, ListOf):
            kinds = [kind.item] * len(value)
        elif kind.repeated:
            kinds = list(kind.items) * len(value)
        else:
            kinds = list(kind.items)
        if len(kinds) != len(value):
            return self._unexpected(kind, value, path)
        items = [
            self.fit(inner, item, joined(path, at), True)
            for at, (inner, item) in enumerate(zip(kinds, value))
        ]
        return ListNode(items, list if isinstance(kind, ListOf) else tuple)

    def _one_of(self, options: tuple[TypeSpec, ...], value: Any, path: str, complete: bool) -> Node:
        tried: list[Checker] = []
        for option in options:
            if resembles(option, value):
                attempt = Checker()
                node = attempt.fit(option, value, path, complete)
                if not attempt._problems:
                    self._keys.update(attempt._keys)
                    return node
                tried.append(attempt)
        if not tried or (len(tried) > 1 and not isinstance(value, (dict, list))):
            return self._unexpected(OneOf(options), value, path)
        # The option with the fewest problems was most likely meant.
        meant = min(tried, key=lambda attempt: len(attempt._problems))
        self._problems += meant._problems
        self._keys.update(meant._keys)
        return NOTHING

    def _instance(self, reference: str, value: Any, path: str, complete: bool) -> Node:
        spec = catalog.spec(reference)
        if spec is None:
            name = reference.replace(":", ".")
            return self._wrong(path, f"{name} cannot be made from a config, got {as_json(value)}")
        names, default = catalog.choices(spec)
        if spec.is_family or names:
            return self._component(spec, names, default, value, path, complete)
        if not isinstance(value, dict):
            return self._unexpected(Instance(reference), value, path)
        return self._object(spec, None, value, path, complete)

    def _component(
        self,
        base: ClassSpec,
        names: dict[str, str],
        default: str | None,
        value: Any,
        path: str,
        complete: bool,
    ) -> Node:
        if isinstance(value, dict):
            name, at = value.get("type", default), joined(path, "type")
            value = {key: item for key, item in value.items() if key != "type"}
        elif isinstance(value, str):
            name, at, value = value, path, {}
        else:
            return self._unexpected(Instance(base.reference), value, path)
        if name is None:
            wanted = describe(Instance(base.reference))
            return self._wrong(
                at, f"required key is missing: expected {wanted}; the rest is {as_json(value)}"
            )
        if not isinstance(name, str):
            return self._unexpected(Instance(base.reference), name, at)
        if name not in names:
            catalog.include_plugins(*base.lineage)
            names, _ = catalog.choices(base)
        if name not in names:
            self._wrong(at, catalog.unknown(name, f"registered {base.name}", list(names)))
            name = nearest(name, list(names))
            if name is None:
                return NOTHING
            # A misspelled name should not hide the other problems of the component that was likely meant.
        spec = catalog.spec(names[name])
        return self._object(spec, name, value, path, complete) if spec else NOTHING

    def _object(
        self, spec: ClassSpec, name: str | None, value: dict[str, Any], path: str, complete: bool
    ) -> Node:
        needed = [key for key, required in spec.supplied.items() if required]
        if complete and needed:
            self._wrong(path, f"{spec.name} needs {', '.join(needed)} from code, which supplies nothing here")
        self._keys[path] = spec.keys
        arguments = {}
        for parameter in spec.parameters:
            node = self._argument(parameter, value, joined(path, parameter.name))
            if node is not None:
                arguments[parameter.name] = node
        self._problems += [(path, key, item, spec) for key, item in value.items() if key not in spec.keys]
        return ObjectNode(spec, name, arguments)

    def _argument(self, parameter: Parameter, value: dict[str, Any], path: str) -> Node | None:
        """Return the checked value of a key; None if its default is known only to code."""
        if parameter.name in value:
            return self.fit(parameter.type, value[parameter.name], path, True)
        if parameter.default is Default.OPAQUE:
            return None
        if parameter.default is not Default.REQUIRED:
            return self.fit(parameter.type, parameter.default, path, True)
        if fills_itself(parameter.type, path.count(".")):
            return self.fit(parameter.type, {}, path, True)
        return self._wrong(path, f"required key is missing: expected {describe(parameter.type)}")


def fit_atom(name: str, value: Any) -> ValueNode | None:
    """Return the value as an atom of this type; None if it does not fit."""
    if name == "Any":
        return ValueNode(value)
    if name == "None" and value is None:
        return ValueNode(value)
    if (name == "bool" and isinstance(value, bool)) or (name == "str" and isinstance(value, str)):
        return ValueNode(value)
    if name == "Path" and isinstance(value, str) and value and "\0" not in value:
        return ValueNode(value, Path)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and _is_finite(value):
        # Jsonnet has one kind of number: 3 may mean 3.0, and 1e3 may mean 1000.
        if name == "float":
            return ValueNode(float(value))
        if name == "int" and value == int(value):
            return ValueNode(int(value))
    return None


def fills_itself(kind: TypeSpec, depth: int = 0) -> bool:
    """Return whether a key of this type may be omitted, because `{}` is a valid value."""
    if isinstance(kind, LazyOf):
        return fills_itself(kind.inner, depth)
    if not isinstance(kind, Instance) or depth > DEEPEST:
        return False
    spec = catalog.spec(kind.reference)
    names, default = catalog.choices(spec) if spec else ({}, None)
    if default is not None or (spec and spec.is_family):
        spec = catalog.spec(names[default]) if default in names else None
    return spec is not None and all(
        parameter.default is not Default.REQUIRED or fills_itself(parameter.type, depth + 1)
        for parameter in spec.parameters
    )


def resembles(kind: TypeSpec, value: Any) -> bool:
    """Return whether a value has the outer form of a type, so that its inner problems are worth reporting."""
    match kind:
        case Atom("Any"):
            return True
        case Atom("None"):
            return value is None
        case Atom("int" | "float"):
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case Atom("bool"):
            return isinstance(value, bool)
        case Atom("str" | "Path"):
            return isinstance(value, str)
        case Choice(values):
            return any(type(value) is type(choice) for choice in values)
        case ListOf() | TupleOf():
            return isinstance(value, list)
        case DictOf():
            return isinstance(value, dict)
        case LazyOf(inner):
            return resembles(inner, value)
        case OneOf(options):
            return any(resembles(option, value) for option in options)
        case Instance(reference):
            spec = catalog.spec(reference)
            named = isinstance(value, str) and spec is not None and bool(spec.lineage)
            return isinstance(value, dict) or named
    return False


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # The integer exceeds every float.
        return False
