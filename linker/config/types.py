"""What a config may hold: a small tree of types, read off the signature of a component by `introspection`."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any


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
    supplied: dict[str, bool] = field(default_factory=dict)
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
