"""Schemas of classes in source text, read with `ast` without importing them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from linker.config.introspection.source import Definition, Found, Module, Sources, parsed
from linker.config.types import (
    LAZY,
    REGISTRABLE,
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
    """Return the type of an annotation in `module`; no annotation means `Any`."""

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
        tree = parsed(text, "eval")
    except SyntaxError:
        return ast.Name(id=text)
    assert isinstance(tree, ast.Expression)
    return tree.body


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
    """Return the dotted name of an object outside the sources, `module:Class` of a class in them, or ""."""
    return found.name.replace("typing_extensions.", "typing.") if found else ""


def literal(expression: ast.expr) -> Any:
    """Return the value of a literal in config form; `Default.OPAQUE` for any other expression."""
    try:
        return config_form(ast.literal_eval(expression))
    except (ValueError, TypeError, SyntaxError):
        return Default.OPAQUE


# Bases outside the sources without an __init__: the search continues with the next base.
TRANSPARENT = {"abc.ABC", "typing.Generic", "typing.Protocol", "builtins.object"}


def registrations(
    sources: Sources, family_name: str | None = None, within: set[str] | None = None
) -> dict[str, dict[str, list[str]]]:
    """Return family reference → component name → classes registered with `@Family.register("name")`.

    Args:
        sources: where they are looked for.
        family_name: the class name of the family that is asked for: then others may lack components. None: all.
        within: modules to search; None: all.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for module in sources.registering(family_name, within):
        for class_name, definition in module.classes.items():
            for decorator in definition.decorator_list:
                match decorator:
                    case ast.Call(
                        func=ast.Attribute(value=base, attr="register"), args=[ast.Constant(value=str(name))]
                    ):
                        family = sources.lookup(module, base)
                        if family and family.kind == "class" and is_family(sources, family.name):
                            names = found.setdefault(family.name, {})
                            names.setdefault(name, []).append(f"{module.name}:{class_name}")
    return found


def is_family(sources: Sources, reference: str) -> bool:
    """Return whether a class derives directly from `Registrable`."""
    definition = sources.definition(reference)
    return definition is not None and any(base.name == REGISTRABLE for base in _bases(sources, definition))


def class_spec(sources: Sources, reference: str) -> ClassSpec | None:
    """Return the schema of `module:Class`; None if it is not in the sources."""
    definition = sources.definition(reference)
    if definition is None:
        return None
    keys, supplied, docs = _signature(sources, definition) or ([], [], {})
    own_doc = ast.get_docstring(definition.body)
    component = _class_literal(definition.body, "default_component")
    docs = docs | argument_docs(own_doc)
    return ClassSpec(
        reference=reference,
        parameters=tuple(Parameter(name, kind, default, docs.get(name, "")) for name, kind, default in keys),
        supplied=tuple(supplied),
        lineage=_lineage(sources, definition),
        is_family=is_family(sources, reference),
        default_component=component if isinstance(component, str) else None,
        description=first_line(own_doc),
        papers=papers_of(own_doc),
    )


def _bases(sources: Sources, definition: Definition) -> Iterator[Found]:
    for base in definition.body.bases:
        found = sources.lookup(definition.module, base.value if isinstance(base, ast.Subscript) else base)
        if found:
            yield found


def _ancestors(sources: Sources, definition: Definition) -> list[Definition]:
    """Return the class and its bases in the sources, nearest first."""
    found = [definition]
    for base in _bases(sources, definition):
        inherited = sources.definition(base.name)
        if inherited:
            found += _ancestors(sources, inherited)
    return found


def _lineage(sources: Sources, definition: Definition) -> tuple[str, ...]:
    return tuple(
        sorted(
            {
                ancestor.reference
                for ancestor in _ancestors(sources, definition)
                if any(is_family(sources, base.reference) for base in _ancestors(sources, ancestor))
            }
        )
    )


_Signature = tuple[list[tuple[str, TypeSpec, Any]], list[tuple[str, bool]], dict[str, str]]


def _signature(sources: Sources, definition: Definition) -> _Signature | None:
    """Return config keys (name, type, default), supplied names and parameter docs of the nearest `__init__`."""
    for statement in definition.body.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            docs = argument_docs(ast.get_docstring(definition.body)) | argument_docs(
                ast.get_docstring(statement)
            )
            return *_init_parameters(sources, definition.module, statement.args), docs
    if _dataclass_options(sources, definition) is not None:
        return _dataclass_signature(sources, definition)
    for base in _bases(sources, definition):
        inherited = sources.definition(base.name)
        if inherited:
            found = _signature(sources, inherited)
            if found:
                return found
        elif base.name not in TRANSPARENT:
            return [], [], {}
    return None


def _init_parameters(
    sources: Sources, module: Module, arguments: ast.arguments
) -> tuple[list[tuple[str, TypeSpec, Any]], list[tuple[str, bool]]]:
    positional = [*arguments.posonlyargs, *arguments.args][1:]
    defaults: list[Any] = [literal(default) for default in arguments.defaults]
    defaults = [Default.REQUIRED] * (len(positional) - len(defaults)) + defaults[-len(positional) :]
    keys = [
        (argument.arg, annotation(sources, module, argument.annotation), default)
        for argument, default in zip(positional, defaults)
    ]
    supplied = [(arg.arg, value is None) for arg, value in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    return keys, supplied


def _dataclass_options(sources: Sources, definition: Definition) -> dict[str, Any] | None:
    """Return the keyword arguments of the `@dataclass` decorator; None without one."""
    _, module, body = definition
    for decorator in body.decorator_list:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        if canonical(sources.lookup(module, function)) == "dataclasses.dataclass":
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            return {keyword.arg: literal(keyword.value) for keyword in keywords if keyword.arg}
    return None


def _dataclass_signature(sources: Sources, definition: Definition) -> _Signature:
    fields: dict[str, tuple[bool, TypeSpec, Any]] = {}
    docs: dict[str, str] = {}
    for ancestor in reversed(_ancestors(sources, definition)):
        options = _dataclass_options(sources, ancestor)
        if options is not None:
            docs |= argument_docs(ast.get_docstring(ancestor.body))
            _add_fields(sources, ancestor, bool(options.get("kw_only")), fields)
    keys = [(name, kind, default) for name, (by_code, kind, default) in fields.items() if not by_code]
    supplied = [(name, value is Default.REQUIRED) for name, (by_code, _, value) in fields.items() if by_code]
    return keys, supplied, docs


def _add_fields(
    sources: Sources, definition: Definition, by_code: bool, fields: dict[str, tuple[bool, TypeSpec, Any]]
) -> None:
    _, module, body = definition
    for statement in body.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        head = (
            statement.annotation.value
            if isinstance(statement.annotation, ast.Subscript)
            else statement.annotation
        )
        meaning = canonical(sources.lookup(module, head))
        if meaning == "dataclasses.KW_ONLY":
            by_code = True
        elif meaning != "typing.ClassVar":
            options = _field_options(sources, module, statement.value)
            if options.get("init", True):
                kind = annotation(sources, module, statement.annotation)
                fields[statement.target.id] = (options.get("kw_only", by_code), kind, options["default"])


def _field_options(sources: Sources, module: Module, value: ast.expr | None) -> dict[str, Any]:
    """Return `init`, `kw_only` and `default` of a dataclass field."""
    if value is None:
        return {"default": Default.REQUIRED}
    if (
        not isinstance(value, ast.Call)
        or canonical(sources.lookup(module, value.func)) != "dataclasses.field"
    ):
        return {"default": literal(value)}
    given = {keyword.arg: keyword.value for keyword in value.keywords if keyword.arg}
    options: dict[str, Any] = {name: literal(given[name]) for name in ("init", "kw_only") if name in given}
    options["default"] = literal(given["default"]) if "default" in given else Default.REQUIRED
    if "default_factory" in given:
        factory = canonical(sources.lookup(module, given["default_factory"]))
        options["default"] = {"builtins.list": [], "builtins.dict": {}}.get(factory, Default.REQUIRED)
    return options


def _class_literal(definition: ast.ClassDef, name: str) -> Any:
    for statement in definition.body:
        targets = (
            statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        )
        for target in targets:
            if isinstance(target, ast.Name) and target.id == name:
                return literal(getattr(statement, "value", None) or ast.Constant(value=None))
    return None
