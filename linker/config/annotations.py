"""What annotations and defaults in source text mean."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from linker.config.schema import (
    LAZY,
    Atom,
    Choice,
    Default,
    DictOf,
    Instance,
    LazyOf,
    ListOf,
    TupleOf,
    TypeSpec,
    config_form,
    union,
)
from linker.config.sources import Found, Module, Sources

UNSUPPORTED = Atom("unsupported")
ATOMS = {
    "builtins.int": "int",
    "builtins.float": "float",
    "builtins.str": "str",
    "builtins.bool": "bool",
    "builtins.object": "Any",
    "typing.Any": "Any",
    "pathlib.Path": "Path",
}
LISTS = {"builtins.list", "typing.List", "typing.Sequence", "collections.abc.Sequence"}
DICTS = {"builtins.dict", "typing.Dict", "typing.Mapping", "collections.abc.Mapping"}
TUPLES = {"builtins.tuple", "typing.Tuple"}


def annotation(sources: Sources, module: Module, expression: ast.expr | None) -> TypeSpec:
    """The type that an annotation in `module` stands for; no annotation is `Any`."""

    def inner(part: ast.expr) -> TypeSpec:
        return annotation(sources, module, part)

    match expression:
        case None:
            return Atom("Any")
        case ast.Constant(value=None):
            return Atom("None")
        case ast.Constant(value=str(text)):
            return inner(_parsed(text))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return union([inner(left), inner(right)])
        case ast.Subscript(value=head, slice=index):
            parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
            return _generic(canonical(sources.lookup(module, head)), parts, inner)
    return _plain(sources, sources.lookup(module, expression))


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return ast.Name(id=text)


def _plain(sources: Sources, found: Found | None) -> TypeSpec:
    if found is None:
        return UNSUPPORTED
    if found.kind == "class":
        return Instance(found.name)
    if found.kind == "alias" and found.module:
        if isinstance(found.expression, ast.Call):
            return UNSUPPORTED
        return annotation(sources, found.module, found.expression)
    name = canonical(found)
    if name in ATOMS:
        return Atom(ATOMS[name])
    if name in LISTS:
        return ListOf(Atom("Any"))
    if name in DICTS:
        return DictOf(Atom("Any"))
    if name in TUPLES:
        return TupleOf((Atom("Any"),), repeated=True)
    return Instance(":".join(name.rsplit(".", 1))) if "." in name else UNSUPPORTED


def _generic(head: str, parts: list[ast.expr], inner: Callable[[ast.expr], TypeSpec]) -> TypeSpec:
    if head in LISTS:
        return ListOf(inner(parts[0]))
    if head in DICTS and len(parts) == 2:
        return DictOf(inner(parts[1]))
    if head in TUPLES:
        repeated = isinstance(parts[-1], ast.Constant) and parts[-1].value is ...
        return TupleOf(tuple(inner(part) for part in (parts[:-1] if repeated else parts)), repeated)
    if head == "typing.Optional":
        return union([inner(parts[0]), Atom("None")])
    if head == "typing.Union":
        return union([inner(part) for part in parts])
    if head == "typing.Literal":
        values = [literal(part) for part in parts]
        return UNSUPPORTED if Default.OPAQUE in values else Choice(tuple(values))
    if head == LAZY:
        return LazyOf(inner(parts[0]))
    if head == "typing.Annotated":
        return inner(parts[0])
    return UNSUPPORTED


def canonical(found: Found | None) -> str:
    """The dotted name of something outside the sources, `module:Class` of a class within, or nothing."""
    return found.name.replace("typing_extensions.", "typing.") if found else ""


def literal(expression: ast.expr) -> Any:
    """The value of a literal in config form; `Default.OPAQUE` for any other expression."""
    try:
        return config_form(ast.literal_eval(expression))
    except (ValueError, TypeError, SyntaxError):
        return Default.OPAQUE
