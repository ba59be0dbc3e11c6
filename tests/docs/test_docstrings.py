"""Public objects and registered components document their arguments, return values and errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import linker
from linker.common import errors
from linker.config.introspection.source import Definition
from linker.config.introspection.static import _ancestors
from linker.config.registry import catalog
from linker.config.types import argument_docs

FAMILIES = catalog.families()
COMPONENTS = sorted({reference for family in FAMILIES for reference in catalog.components(family).values()})
EXPORTED = [f"{module}:{name}" for name, module in linker._WHERE.items()]
CLASSES = sorted(name for name in {*FAMILIES, *COMPONENTS, *EXPORTED} if name.startswith("linker."))
ERRORS = {name for name in dir(errors) if name.endswith("Error")}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def faults_of(function: Function, docs: list[str]) -> Iterator[str]:
    """Yield what a function's docstrings (its own, and those of the methods that it overrides) do not document."""
    text = "\n".join(docs)
    documented = {name for doc in docs for name in argument_docs(doc)}
    documented |= set(re.findall(r"^ +(\w+): ", text, re.MULTILINE))  # attributes that code supplies
    arguments = function.args
    every = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
    names = [name for name in every if name not in ("self", "cls")]
    for name in names:
        # One or two arguments may be named in a sentence; more need a section.
        named = len(names) < 3 and re.search(rf"\b{name}\b", text)
        if name not in documented and not named:
            yield f"{function.name}: argument {name} is not documented"
    result = ast.unparse(function.returns) if function.returns else "None"
    if result != "None" and not re.search(r"^\s*(Returns:|Return |Yield )", text, re.MULTILINE):
        yield f"{function.name}: return value ({result}) is not documented"
    for node in ast.walk(function):
        match node:
            case ast.Raise(exc=ast.Call(func=ast.Name(id=name))) if name in ERRORS and "Raises:" not in text:
                yield f"{function.name}: {name} is not documented"


def methods(definition: Definition) -> dict[str, Function]:
    return {item.name: item for item in definition.body.body if isinstance(item, Function)}


def is_property(function: Function) -> bool:
    return any(
        "property" in ast.unparse(item) or "overload" in ast.unparse(item) for item in function.decorator_list
    )


def faults(reference: str) -> list[str]:
    definition = catalog.sources.definition(reference)
    assert definition is not None, reference
    lineage = _ancestors(catalog.sources, definition)
    of_class = [ast.get_docstring(item.body) or "" for item in lineage]
    found = []
    for name, function in methods(definition).items():
        overridden = [methods(item)[name] for item in lineage if name in methods(item)]
        docs = [doc for item in overridden if (doc := ast.get_docstring(item))]
        if name == "__init__":
            found += [fault for fault in faults_of(function, [*docs, *of_class]) if "return" not in fault]
        elif not name.startswith("_") and not is_property(function):
            found += faults_of(function, docs)
    return found


@pytest.mark.parametrize("reference", CLASSES)
def test_arguments_results_and_errors_are_documented(reference: str) -> None:
    assert faults(reference) == []


def test_exported_functions_are_documented() -> None:
    tree = ast.parse(Path(linker.__file__).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, Function) and not node.name.startswith("_")]
    assert [node.name for node in functions] == ["load"]
    assert list(faults_of(functions[0], [ast.get_docstring(functions[0]) or ""])) == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ('def f(a: int) -> None:\n    """Do it."""', "f: argument a is not documented"),
        ('def f() -> int:\n    """Do it."""', "f: return value (int) is not documented"),
        ('def f() -> None:\n    """Do it."""\n    raise DataError("x")', "f: DataError is not documented"),
    ],
)
def test_missing_documentation_is_found(source: str, fault: str) -> None:
    function = ast.parse(source).body[0]
    assert isinstance(function, Function)
    assert list(faults_of(function, [ast.get_docstring(function) or ""])) == [fault]
    assert len(CLASSES) > 90
