"""Fits a config to the types it must have, and tells everything that does not fit."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linker.config.catalogue import catalogue, short, suggestion, unknown_component
from linker.config.nodes import NOTHING, Items, Later, Leaf, Made, Node, Table, joined
from linker.config.schema import (
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

DEEPEST = 60


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: the path of the key (`model.encoder.num_heads`) and what to do about it."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class Checker:
    """Walks config and types side by side. `problems` grows; nothing stops at the first."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._strays: list[tuple[str, str, Any, ClassSpec]] = []
        self._keys: dict[str, list[str]] = {}

    def fit(self, kind: TypeSpec, value: Any, path: str = "", built_now: bool = False) -> Node:
        """The checked value; `built_now` where no code will supply the keyword-only arguments."""
        if path.count(".") > DEEPEST:
            return self._wrong(path, "nested too deeply")
        match kind:
            case Atom(name):
                return self._atom(name, value, path)
            case Choice(values):
                if any(value == one and type(value) is type(one) for one in values):
                    return Leaf(value)
                near = (
                    suggestion(value, [one for one in values if isinstance(one, str)])
                    if is_text(value)
                    else ""
                )
                return self._wrong(path, f"expected {describe(kind)}, got {shown(value)}{near}")
            case ListOf() | TupleOf():
                return self._items(kind, value, path)
            case DictOf(inner):
                if not isinstance(value, dict):
                    return self._unexpected(kind, value, path)
                return Table(
                    {key: self.fit(inner, item, joined(path, key), True) for key, item in value.items()}
                )
            case LazyOf(inner):
                return Later(self.fit(inner, value, path))
            case OneOf(options):
                return self._one_of(options, value, path, built_now)
            case Instance(reference):
                return self._instance(reference, value, path, built_now)

    def finish(self) -> list[Problem]:
        """All problems, in the order of the config; unknown keys are compared with all keys seen."""
        for path, key, value, spec in self._strays:
            self.problems.append(Problem(joined(path, key), self._stray(key, value, spec)))
        self._strays = []
        return self.problems

    def _wrong(self, path: str, message: str) -> Node:
        self.problems.append(Problem(path, message))
        return NOTHING

    def _unexpected(self, kind: TypeSpec, value: Any, path: str) -> Node:
        return self._wrong(path, f"expected {describe(kind)}, got {shown(value)}")

    def _atom(self, name: str, value: Any, path: str) -> Node:
        if name == "Any":
            return Leaf(value)
        if name == "None" and value is None:
            return Leaf(value)
        if name == "bool" and isinstance(value, bool):
            return Leaf(value)
        if name == "str" and isinstance(value, str):
            return Leaf(value)
        if name == "Path" and isinstance(value, str) and value and "\0" not in value:
            return Leaf(value, Path)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and _is_finite(value):
            # Jsonnet has one kind of number: 3 may stand for 3.0, and 1e3 for 1000.
            if name == "float":
                return Leaf(float(value))
            if name == "int" and value == int(value):
                return Leaf(int(value))
        return self._unexpected(Atom(name), value, path)

    def _items(self, kind: ListOf | TupleOf, value: Any, path: str) -> Node:
        if not isinstance(value, list):
            return self._unexpected(kind, value, path)
        if isinstance(kind, ListOf):
            kinds, made = [kind.item] * len(value), list
        else:
            if not kind.repeated and len(kind.items) != len(value):
                return self._unexpected(kind, value, path)
            kinds, made = list(kind.items) * (len(value) if kind.repeated else 1), tuple  # type: ignore[assignment]
        fitted = [
            self.fit(one, item, joined(path, at), True) for at, (one, item) in enumerate(zip(kinds, value))
        ]
        return Items(fitted, made)

    def _one_of(self, options: tuple[TypeSpec, ...], value: Any, path: str, built_now: bool) -> Node:
        tried = []
        for option in options:
            if not resembles(option, value):
                continue
            attempt = Checker()
            node = attempt.fit(option, value, path, built_now)
            if not attempt.problems and not attempt._strays:
                self._keys.update(attempt._keys)
                return node
            tried.append(attempt)
        if not tried:
            return self._unexpected(OneOf(options), value, path)
        nearest = min(tried, key=lambda attempt: len(attempt.problems) + len(attempt._strays))
        if len(tried) > 1 and not isinstance(value, (dict, list)):
            return self._unexpected(OneOf(options), value, path)
        self.problems += nearest.problems
        self._strays += nearest._strays
        self._keys.update(nearest._keys)
        return NOTHING

    def _instance(self, reference: str, value: Any, path: str, built_now: bool) -> Node:
        spec = catalogue.spec(reference)
        if spec is None:
            return self._wrong(
                path, f"{reference.replace(':', '.')} cannot be set from a config, got {shown(value)}"
            )
        if spec.is_family:
            return self._component(spec, value, path, built_now)
        if not isinstance(value, dict):
            return self._unexpected(Instance(reference), value, path)
        return self._made(spec, None, value, path, built_now)

    def _component(self, family: ClassSpec, value: Any, path: str, built_now: bool) -> Node:
        names = catalogue.components(family.reference)
        at = path
        if isinstance(value, dict):
            name, at = value.get("type", family.default_component), joined(path, "type")
            value = {key: item for key, item in value.items() if key != "type"}
        elif isinstance(value, str):
            name, value = value, {}
        else:
            return self._unexpected(Instance(family.reference), value, path)
        if name is None:
            listed = ", ".join(sorted(names)) or "none"
            return self._wrong(at, f"required key is missing: which {family.name}? Registered: {listed}")
        if not isinstance(name, str):
            return self._wrong(at, f"expected the name of a registered {family.name}, got {shown(name)}")
        if name not in names:
            return self._wrong(at, unknown_component(family.reference, name, list(names)))
        spec = catalogue.spec(names[name])
        assert spec is not None, names[name]
        return self._made(spec, name, value, path, built_now)

    def _made(self, spec: ClassSpec, name: str | None, value: dict, path: str, built_now: bool) -> Node:
        needed = [key for key, required in spec.supplied if required]
        if built_now and needed:
            self._wrong(
                path,
                f'{name or spec.name} needs "{needed[0]}" from the code around it, which does not supply it',
            )
        self._keys[path] = spec.keys
        made = Made(spec, name)
        self._strays += [(path, key, item, spec) for key, item in value.items() if key not in spec.keys]
        for parameter in spec.parameters:
            node = self._argument(parameter, value, joined(path, parameter.name))
            if node is not None:
                made.arguments[parameter.name] = node
        return made

    def _argument(self, parameter: Parameter, value: dict, path: str) -> Node | None:
        if parameter.name in value:
            return self.fit(parameter.type, value[parameter.name], path, True)
        if parameter.default is Default.OPAQUE:
            return None
        if parameter.default is not Default.REQUIRED:
            return self.fit(parameter.type, parameter.default, path, True)
        if fills_itself(parameter.type, path.count(".")):
            return self.fit(parameter.type, {}, path, True)
        return self._wrong(path, f"required key is missing: expected {describe(parameter.type)}")

    def _stray(self, key: str, value: Any, spec: ClassSpec) -> str:
        told = f"unknown key (value {shown(value)})"
        if key in dict(spec.supplied):
            return f'"{key}" is supplied by the program and cannot be set in a config'
        hint = suggestion(key, spec.keys)
        if not hint:
            elsewhere = [joined(path, key) for path, keys in self._keys.items() if key in keys]
            hint = f'; did you mean "{elsewhere[0]}"?' if elsewhere else "."
        return f"{told}{hint} Keys of {spec.name}: {', '.join(spec.keys) or 'none'}"


def fills_itself(kind: TypeSpec, depth: int = 0) -> bool:
    """Whether a key of this type may be left out: `{}` stands for an object that needs nothing."""
    if isinstance(kind, LazyOf):
        return fills_itself(kind.inner, depth)
    if not isinstance(kind, Instance) or depth > DEEPEST:
        return False
    spec = catalogue.spec(kind.reference)
    if spec is not None and spec.is_family:
        reference = catalogue.components(spec.reference).get(spec.default_component or "")
        spec = catalogue.spec(reference) if reference else None
    return spec is not None and all(
        parameter.default is not Default.REQUIRED or fills_itself(parameter.type, depth + 1)
        for parameter in spec.parameters
    )


def resembles(kind: TypeSpec, value: Any) -> bool:
    """Whether a value is of the outer form of a type, so that its inner problems are worth telling."""
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
            return any(type(value) is type(one) for one in values)
        case ListOf() | TupleOf():
            return isinstance(value, list)
        case DictOf():
            return isinstance(value, dict)
        case LazyOf(inner):
            return resembles(inner, value)
        case OneOf(options):
            return any(resembles(option, value) for option in options)
        case Instance(reference):
            spec = catalogue.spec(reference)
            return isinstance(value, dict) or (isinstance(value, str) and spec is not None and spec.is_family)
    return False


def describe(kind: TypeSpec) -> str:
    """A type in words."""
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
            spec = catalogue.spec(reference)
            if spec is not None and spec.is_family:
                names = ", ".join(sorted(catalogue.components(reference))) or "none"
                return f"a registered {spec.name} ({names})"
            return f"an object ({', '.join(spec.keys)})" if spec and spec.keys else f"a {short(reference)}"
    raise AssertionError(kind)


def shown(value: Any) -> str:
    """A value as JSON, cut after 60 characters."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_text(value: Any) -> bool:
    """Whether a value is a string."""
    return isinstance(value, str)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        return False
