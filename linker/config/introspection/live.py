"""Schemas of live classes, for components defined at run time, as in a notebook."""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import pathlib
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
    Parameter,
    TupleOf,
    TypeSpec,
    argument_docs,
    config_form,
    first_line,
    papers_of,
    union,
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
        supplied: list[tuple[str, bool]] = []
        for parameter in list(inspect.signature(initializer).parameters.values())[1:]:
            if parameter.kind is parameter.KEYWORD_ONLY:
                supplied.append((parameter.name, parameter.default is parameter.empty))
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
            supplied=tuple(supplied),
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
            kept = parts[:-1] if repeated else parts
            return TupleOf(tuple(self.type_spec(part) for part in kept), repeated)
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
