"""What a config may hold: a small tree of types, read off the signature of a component.

Two modules produce these trees: `introspection.static` from source text, so that a config can be checked without
importing anything, and `introspection.live` from classes defined at run time. They agree.
"""

from __future__ import annotations

import enum
import inspect
import re
from dataclasses import dataclass
from typing import Any

REGISTRABLE = "linker.config.registrable:Registrable"
LAZY = "linker.config.registrable:Lazy"


class Default(enum.Enum):
    """A default that is not a literal."""

    REQUIRED = "required"
    OPAQUE = "made by code"


@dataclass(frozen=True)
class Atom:
    """`int`, `float`, `str`, `bool`, `None`, `Any`, `Path`, or `unsupported`: what no config can express."""

    name: str


@dataclass(frozen=True)
class Choice:
    """`Literal[...]`."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class ListOf:
    """`list[item]`."""

    item: TypeSpec


@dataclass(frozen=True)
class DictOf:
    """`dict[str, value]`."""

    value: TypeSpec


@dataclass(frozen=True)
class TupleOf:
    """`tuple[a, b]`, or `tuple[a, ...]` where `repeated`."""

    items: tuple[TypeSpec, ...]
    repeated: bool = False


@dataclass(frozen=True)
class OneOf:
    """`a | b`; the first that fits is used."""

    options: tuple[TypeSpec, ...]


@dataclass(frozen=True)
class Instance:
    """An object of a family (derived directly from `Registrable`) or of another class: `module:Class`."""

    reference: str


@dataclass(frozen=True)
class LazyOf:
    """`Lazy[inner]`: checked with the rest, built later."""

    inner: TypeSpec


TypeSpec = Atom | Choice | ListOf | DictOf | TupleOf | OneOf | Instance | LazyOf


@dataclass(frozen=True)
class Parameter:
    """A config key: a positional-or-keyword parameter of `__init__`. `default` is in config form."""

    name: str
    type: TypeSpec
    default: Any = Default.REQUIRED
    description: str = ""


@dataclass(frozen=True)
class ClassSpec:
    """A class as configs see it.

    Attributes:
        reference: `module:Class`.
        parameters: the config keys, in the order of the signature.
        supplied: keyword-only parameters, which code supplies; true where there is no default.
        lineage: the family it belongs to, and the classes between the two, itself included; sorted. Empty for
            a plain class.
        is_family: whether components are registered under this class.
        default_component: the component of a family that is used if a config names none.
        description: the first line of the docstring.
        papers: authors, year and address of the papers that it follows.
    """

    reference: str
    parameters: tuple[Parameter, ...] = ()
    supplied: tuple[tuple[str, bool], ...] = ()
    lineage: tuple[str, ...] = ()
    is_family: bool = False
    default_component: str | None = None
    description: str = ""
    papers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Class name without its module."""
        return self.reference.partition(":")[2]

    @property
    def keys(self) -> list[str]:
        """Names of the config keys."""
        return [parameter.name for parameter in self.parameters]


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
    found: dict[str, str] = {}
    name, indent = "", 0
    for line in lines[lines.index("Args:") + 1 :]:
        if line and not line[0].isspace():
            break
        depth = len(line) - len(line.lstrip())
        entry = re.match(r"\s+\*{0,2}(\w+)(?: \(.*?\))?:\s*(.*)", line)
        if entry and (not indent or depth <= indent):
            name, indent = entry[1], depth
            found[name] = entry[2]
        elif name and line.strip():
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found
