"""Schemas of classes, read off their signatures, annotations and docstrings."""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import pathlib
import re
import sys
import types
import typing
from typing import Any

from linker.common.errors import ConfigError
from linker.config.registrable import Lazy, Registrable
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

ATOMS: dict[Any, str] = {
    int: "int",
    float: "float",
    str: "str",
    bool: "bool",
    type(None): "None",
    None: "None",
    Any: "Any",
    object: "Any",
    pathlib.Path: "Path",
}
BARE: dict[Any, TypeSpec] = {
    list: ListOf(Atom("Any")),
    dict: DictOf(Atom("Any")),
    tuple: TupleOf((Atom("Any"),), repeated=True),
}


class Inspector:
    """Reads schemas of classes, and keeps every class so that it can be built later."""

    def __init__(self) -> None:
        self.classes: dict[str, type] = {}

    def remember(self, met: type) -> str:
        """Keep a class; return its reference `module:Class`."""
        reference = f"{met.__module__}:{met.__qualname__}"
        self.classes[reference] = met
        return reference

    def class_spec(self, met: type) -> ClassSpec:
        """Return the schema of a class.

        Raises:
            ConfigError: if the annotation of a config key names something that cannot be found.
        """
        owner = next((base for base in met.__mro__ if "__init__" in vars(base)), object)
        initializer = vars(owner)["__init__"]
        factories = {}
        if dataclasses.is_dataclass(owner):
            factories = {field.name: field.default_factory for field in dataclasses.fields(owner)}
        docs = (
            argument_docs(_own_doc(owner)) | argument_docs(initializer.__doc__) | argument_docs(_own_doc(met))
        )
        parameters: list[Parameter] = []
        supplied: dict[str, bool] = {}
        for parameter in list(inspect.signature(initializer).parameters.values())[1:]:
            if parameter.kind is parameter.KEYWORD_ONLY:
                supplied[parameter.name] = parameter.default is parameter.empty
            elif (
                parameter.kind is not parameter.VAR_POSITIONAL and parameter.kind is not parameter.VAR_KEYWORD
            ):
                kind = self.type_spec(_annotation(owner, parameter))
                default = _default(parameter, factories.get(parameter.name))
                parameters.append(Parameter(parameter.name, kind, default, docs.get(parameter.name, "")))
        default_component = vars(met).get("default_component")
        return ClassSpec(
            reference=self.remember(met),
            parameters=tuple(parameters),
            supplied=supplied,
            lineage=tuple(sorted(self.remember(base) for base in met.__mro__ if _in_family(base))),
            is_family=Registrable in met.__bases__,
            default_component=default_component if isinstance(default_component, str) else None,
            description=first_line(_own_doc(met)),
            papers=papers_of(_own_doc(met)),
        )

    def type_spec(self, hint: Any) -> TypeSpec:
        """Return the type of an evaluated annotation."""
        if hint is inspect.Parameter.empty:
            return Atom("Any")
        try:
            if hint in ATOMS:
                return Atom(ATOMS[hint])
            if hint in BARE:
                return BARE[hint]
        except TypeError:  # It is not hashable, hence not a type.
            return Atom("unsupported")
        origin, parts = typing.get_origin(hint), typing.get_args(hint)
        if origin is None:
            return Instance(self.remember(hint)) if isinstance(hint, type) else Atom("unsupported")
        return self._generic(origin, parts)

    def _generic(self, origin: Any, parts: tuple[Any, ...]) -> TypeSpec:
        if origin is typing.Union or origin is types.UnionType:
            return union([self.type_spec(part) for part in parts])
        if origin is typing.Literal:
            return Choice(parts)
        if origin is typing.Annotated:
            return self.type_spec(parts[0])
        if origin is list or origin is collections.abc.Sequence:
            return ListOf(self.type_spec(parts[0]))
        if origin is dict or origin is collections.abc.Mapping:
            return DictOf(self.type_spec(parts[1]))
        if origin is tuple:
            repeated = parts[-1] is ...
            items = parts[:-1] if repeated else parts
            return TupleOf(tuple(map(self.type_spec, items)), repeated)
        if origin is Lazy:
            return LazyOf(self.type_spec(parts[0]))
        return Atom("unsupported")


def _in_family(met: type) -> bool:
    return issubclass(met, Registrable) and met is not Registrable


def _own_doc(met: type) -> str | None:
    doc = vars(met).get("__doc__")
    # A dataclass without a docstring gets its signature as one.
    generated = dataclasses.is_dataclass(met) and doc and doc.startswith(f"{met.__name__}(")
    return None if generated else doc


def _default(parameter: inspect.Parameter, factory: Any) -> Any:
    if parameter.default is parameter.empty:
        return Default.REQUIRED
    if factory is not None and factory is not dataclasses.MISSING:
        return factory() if factory in (list, dict) else Default.REQUIRED
    return config_form(parameter.default)


def _annotation(owner: type, parameter: inspect.Parameter) -> Any:
    """Return the annotation, evaluated in the module where it was written; dataclasses inherit fields."""
    if parameter.annotation is parameter.empty:
        return parameter.empty
    if dataclasses.is_dataclass(owner):
        writers = [base for base in owner.__mro__ if parameter.name in vars(base).get("__annotations__", {})]
        namespace = vars(sys.modules[(writers or [owner])[0].__module__])
    else:
        namespace = inspect.unwrap(vars(owner)["__init__"]).__globals__
    holder = types.FunctionType(compile("None", "annotation", "eval"), {})
    holder.__annotations__ = {"hint": parameter.annotation}
    try:
        return typing.get_type_hints(holder, namespace)["hint"]
    except NameError as error:
        where = f"{owner.__module__}:{owner.__qualname__}"
        raise ConfigError(f"{where}: the annotation of {parameter.name} cannot be read ({error})") from error


def union(options: list[TypeSpec]) -> TypeSpec:
    """Return the union of `options`: nested unions flattened, repeated members dropped, order kept."""
    flat: list[TypeSpec] = []
    for option in options:
        for member in option.options if isinstance(option, OneOf) else (option,):
            if member not in flat:
                flat.append(member)
    return flat[0] if len(flat) == 1 else OneOf(tuple(flat))


def config_form(value: Any) -> Any:
    """Return a default as a config would write it (tuples as lists); `Default.OPAQUE` if none can."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        items = [config_form(item) for item in value]
        return Default.OPAQUE if Default.OPAQUE in items else items
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        table = {key: config_form(item) for key, item in value.items()}
        return Default.OPAQUE if Default.OPAQUE in table.values() else table
    return Default.OPAQUE


def first_line(docstring: str | None) -> str:
    """Return the first paragraph of a docstring, on one line."""
    paragraph = inspect.cleandoc(docstring or "").partition("\n\n")[0]
    return " ".join(paragraph.split())


def papers_of(docstring: str | None) -> tuple[str, ...]:
    """Return the papers that a docstring names: its lines of the form `Paper: Kim 2014, https://arxiv.org/abs/1408.5882`."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    return tuple(line.removeprefix("Paper: ").strip() for line in lines if line.startswith("Paper: "))


def argument_docs(docstring: str | None) -> dict[str, str]:
    """Return the descriptions of the parameters in the `Args:` section of a docstring."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    if "Args:" not in lines:
        return {}
    descriptions: dict[str, str] = {}
    name, indent = "", 0
    for line in lines[lines.index("Args:") + 1 :]:
        if line and not line[0].isspace():
            break
        depth = len(line) - len(line.lstrip())
        entry = re.match(r"\s+\*{0,2}(\w+)(?: \(.*?\))?:\s*(.*)", line)
        if entry and (not indent or depth <= indent):
            name, indent = entry[1], depth
            descriptions[name] = entry[2]
        elif name and line.strip():
            descriptions[name] = f"{descriptions[name]} {line.strip()}".strip()
    return descriptions
