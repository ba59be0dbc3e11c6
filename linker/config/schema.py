"""Schemas of classes, read off their signatures, annotations and docstrings.

A type is what `json` reads: the name of an atom (`int`, `float`, `str`, `bool`, `None`, `Any`, `Path`; `unsupported`
for what no config can express), or an object with one key: `{"literal": values}`, `{"list": type}`,
`{"tuple_of": type}` (any number), `{"tuple": types}`, `{"dict": type}`, `{"union": types}`, `{"lazy": type}`,
`{"class": "module:Class"}`.
"""

import collections.abc
import dataclasses
import inspect
import pathlib
import re
import types
import typing
from typing import Any, NamedTuple, TypedDict

from linker.common.errors import ConfigError
from linker.config.registrable import Lazy, Registrable

#: Classes that were met while the program runs, by `module:Class`, so that they can be built later.
CLASSES: dict[str, type] = {}

_ATOMS: dict[Any, str] = {
    int: "int", float: "float", str: "str", bool: "bool", type(None): "None", Any: "Any", object: "Any",
    pathlib.Path: "Path",
}  # fmt: skip
_CONTAINERS: dict[Any, str] = {
    list: "list",
    collections.abc.Sequence: "list",
    dict: "dict",
    collections.abc.Mapping: "dict",
    tuple: "tuple_of",
    Lazy: "lazy",
}


class Parameter(TypedDict, total=False):
    """A config key: a positional-or-keyword parameter of `__init__`.

    It has a `default` (in config form), or is `optional` (only code can write its default), or is required.
    """

    name: str
    type: Any
    default: Any
    optional: bool
    description: str


class ClassSpec(NamedTuple):
    """A class as configs see it.

    Attributes:
        reference: `module:Class`.
        parameters: the config keys, in the order of the signature.
        supplied: keyword-only parameters, which code supplies.
        is_family: whether components are registered under this class.
        default_component: the component of a family that is used if a config names none.
        description: the first line of the docstring.
        papers: authors, year and address of the papers that it follows: lines `Paper: Kim 2014, https://…`.
    """

    reference: str
    parameters: list[Parameter]
    supplied: list[str]
    is_family: bool
    default_component: str | None
    description: str
    papers: list[str]

    @property
    def name(self) -> str:
        """Class name without its module."""
        return self.reference.partition(":")[2]

    @property
    def keys(self) -> list[str]:
        """Names of the config keys."""
        return [parameter["name"] for parameter in self.parameters]


def remember(met: type) -> str:
    """Keep a class; return its reference `module:Class`."""
    reference = f"{met.__module__}:{met.__qualname__}"
    CLASSES[reference] = met
    return reference


def type_of(hint: Any) -> Any:
    """Return the type of an evaluated annotation."""
    origin, parts = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in _ATOMS:
        return _ATOMS[origin]
    if origin in (typing.Union, types.UnionType):
        return {"union": [type_of(part) for part in parts]}
    if origin is typing.Literal:
        return {"literal": list(parts)}
    if origin is tuple and parts and parts[-1] is not ...:
        return {"tuple": [type_of(part) for part in parts]}
    if origin in _CONTAINERS:
        kind = _CONTAINERS[origin]
        return {kind: type_of(parts[kind == "dict"]) if parts else "Any"}
    return {"class": remember(origin)} if isinstance(origin, type) else "unsupported"


def class_spec(met: type) -> ClassSpec:
    """Return the schema of a class.

    Raises:
        ConfigError: if an annotation names something that cannot be found.
    """
    owner = next(base for base in met.__mro__ if "__init__" in vars(base))
    initializer = vars(owner)["__init__"]
    factories: dict[str, Any] = {}
    if dataclasses.is_dataclass(owner):
        factories = {field.name: field.default_factory for field in dataclasses.fields(owner)}
    try:
        hints = typing.get_type_hints(owner if factories else initializer)
    except NameError as error:
        raise ConfigError(
            f"{remember(owner)}: the annotation of a parameter cannot be read ({error})"
        ) from error
    doc = _doc(met)
    docs = argument_docs(_doc(owner)) | argument_docs(inspect.getdoc(initializer) or "") | argument_docs(doc)
    parameters: list[Parameter] = []
    supplied: list[str] = []
    for name, parameter in list(inspect.signature(initializer).parameters.items())[1:]:
        if parameter.kind is parameter.KEYWORD_ONLY:
            supplied.append(name)
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            row: Parameter = {"name": name, "type": type_of(hints.get(name, Any))}
            factory = factories.get(name, dataclasses.MISSING)
            # Of other factories than these, `{}` is the config.
            if factory in (list, dict):
                row["default"] = factory()
            elif factory is dataclasses.MISSING and parameter.default is not parameter.empty:
                row |= _default(parameter.default)
            parameters.append(row | {"description": docs.get(name, "")})
    return ClassSpec(
        remember(met),
        parameters,
        supplied,
        Registrable in met.__bases__,
        vars(met).get("default_component"),
        " ".join(doc.partition("\n\n")[0].split()),
        re.findall(r"^Paper: (.*\S)", doc, re.MULTILINE),
    )


def _doc(met: type) -> str:
    doc = vars(met).get("__doc__") or ""
    # A dataclass without a docstring gets its signature as one.
    return (
        "" if dataclasses.is_dataclass(met) and doc.startswith(f"{met.__name__}(") else inspect.cleandoc(doc)
    )


def _default(value: Any) -> Parameter:
    """Return a default as a config would write it (tuples as lists), or that none can."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"default": value}
    if isinstance(value, (list, tuple)):
        items = [_default(item) for item in value]
        if {"optional": True} not in items:
            return {"default": [item["default"] for item in items]}
    return {"default": {}} if value == {} else {"optional": True}


def argument_docs(docstring: str) -> dict[str, str]:
    """Return the descriptions of the parameters in the `Args:` section of a docstring without indentation."""
    _, _, section = f"\n{docstring}\n".partition("\nArgs:\n")
    descriptions: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if line and not line[0].isspace():
            break
        entry = re.match(r" {4}\*{0,2}(\w+)(?: \(.*?\))?:\s*(.*)", line)
        if entry:
            name = entry[1]
            descriptions[name] = entry[2]
        elif name and line.strip():
            descriptions[name] = f"{descriptions[name]} {line.strip()}".strip()
    return descriptions
