"""Public objects and registered components document their arguments, return values and errors."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import linker
from linker.common import errors
from linker.config.registry import catalog

from . import Finding

RAISED = re.compile(
    rf"^ +raise ({'|'.join(name for name in dir(errors) if name.endswith('Error'))})\b", re.MULTILINE
)


def check(root: Path) -> Iterator[Finding]:
    """Yield what the docstrings of exported classes, families and components leave out."""
    exported = {f"{module}:{name}" for name, module in linker._WHERE.items()}
    families = catalog.families()
    components = {reference for family in families for reference in catalog.components(family).values()}
    for reference in sorted({*exported, *families, *components}):
        if reference.startswith("linker."):
            yield from of_class(pkgutil.resolve_name(reference))


def of_class(cls: type) -> Iterator[Finding]:
    """Yield the faults of a class; a method is documented by those that it overrides, too."""
    for name, method in vars(cls).items():
        function = getattr(method, "__func__", method)
        public = name == "__init__" or not name.startswith("_")
        if not public or not isinstance(function, FunctionType) or function.__code__.co_filename[0] == "<":
            continue
        docs = [vars(base)[name].__doc__ or "" for base in cls.__mro__ if name in vars(base)]
        if name == "__init__":
            docs += [base.__doc__ or "" for base in cls.__mro__ if base is not object]
        for wrong in faults(function, "\n".join(map(inspect.cleandoc, docs))):
            file = f"{cls.__module__.replace('.', '/')}.py"
            yield Finding(file, function.__code__.co_firstlineno, f"{cls.__name__}.{name}: {wrong}", "add it")


def faults(function: FunctionType, text: str) -> Iterator[str]:
    """Yield which arguments, results and errors of a function its docstrings do not name."""
    signature = inspect.signature(function)
    names = [name for name in signature.parameters if name not in ("self", "cls")]
    documented = set(re.findall(r"^ +(\w+): ", text, re.MULTILINE))
    for name in names:
        variable = signature.parameters[name].kind in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        )
        # One or two arguments may be named in a sentence; more need a section.
        named = len(names) < 3 and re.search(rf"\b{name}\b", text)
        if not variable and name not in documented and not named:
            yield f"argument {name} is not documented"
    result = signature.return_annotation
    has_result = result not in ("None", None, inspect.Signature.empty) and function.__name__ != "__init__"
    if has_result and not re.search(r"^\s*(Returns:|Return |Yield )", text, re.MULTILINE):
        yield f"return value ({result}) is not documented"
    error = RAISED.search(inspect.getsource(function))
    if error and "Raises:" not in text:
        yield f"{error[1]} is not documented"
