"""Python packages as source text: their classes, and name resolution. Nothing is executed."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from linker.common.errors import ConfigError

_REGISTERS = re.compile(rb"^[ \t]*@(?:\w+\s*\.\s*)*(\w+)\s*\.\s*register\(", re.MULTILINE)

# Python 3.11 counts the depth of all threads that build trees together, and fails when two do (gh-106905).
_parsing = threading.Lock()


def parsed(text: str | bytes, mode: str = "exec", file: str = "<unknown>") -> ast.AST:
    """Return the tree of a text, as `ast.parse`; several threads may call it at once.

    Raises:
        SyntaxError: if it is not Python.
        ValueError: if it has null bytes.
    """
    with _parsing:
        return ast.parse(text, filename=file, mode=mode)


@dataclass
class Module:
    """One source file.

    Attributes:
        imports: local name → (module, name in it; None where the module itself is meant).
        classes: by qualified name.
        assigned: module-level `name = expression`.
    """

    name: str
    is_package: bool
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    assigned: dict[str, ast.expr] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """What a name means: a class (`module:Class`), a module, an alias's expression, or something outside."""

    kind: str
    name: str
    module: Module | None = None
    expression: ast.expr | None = None


class Definition(NamedTuple):
    """A class in source text: its reference `module:Class`, its module, its body."""

    reference: str
    module: Module
    body: ast.ClassDef


class Sources:
    """Source files of the included packages, parsed on first use."""

    def __init__(self) -> None:
        self.files: dict[str, Path] = {}
        self._texts: dict[str, bytes] = {}
        self._modules: dict[str, Module] = {}

    def include(self, package: str) -> None:
        """Add the files of a package, or of a single module, without importing it.

        Raises:
            ConfigError: if the package is not found.
        """
        self.files.update(_files_of(package))

    def registering(self, family: str | None = None, within: set[str] | None = None) -> Iterator[Module]:
        """Yield the modules with a decorator `@Family.register(...)`, sorted by name.

        They are found by a text search, because parsing all modules takes longer than most uses of configs.

        Args:
            family: class name of the family, also found under the names it is imported as; None: any family.
            within: names of the modules to search; None: all.
        """
        names = None if family is None else self._aliases(family)
        for name in sorted(self.files if within is None else within):
            text = self._text(name)
            found = {match[1] for match in _REGISTERS.finditer(text)} if b".register(" in text else set()
            if found and (names is None or found & names):
                yield self.module(name)

    def _aliases(self, family: str) -> set[bytes]:
        """Return the name and all names that it is imported as (`import Name as Other`)."""
        names: set[bytes] = set()
        new = {family.encode()}
        while new:
            names |= new
            renames = [re.compile(rb"%s\s+as\s+(\w+)" % name) for name in new]
            texts = [self._text(name) for name in self.files]
            new = {
                match[1] for rename in renames for text in texts for match in rename.finditer(text)
            } - names
        return names

    def _text(self, name: str) -> bytes:
        if name not in self._texts:
            self._texts[name] = _read(self.files[name])
        return self._texts[name]

    def module(self, name: str) -> Module:
        """Return the parsed module.

        Raises:
            ConfigError: naming file and line of a syntax error.
        """
        if name not in self._modules:
            path = self.files[name]
            try:
                tree = parsed(self._text(name), file=str(path))
            except (SyntaxError, ValueError) as error:
                line = getattr(error, "lineno", None) or 1
                raise ConfigError(f"{path}:{line}: not valid Python ({error})") from error
            assert isinstance(tree, ast.Module)
            module = Module(name, path.name == "__init__.py")
            _collect(tree.body, module)
            self._modules[name] = module
        return self._modules[name]

    def lookup(self, module: Module, expression: ast.expr) -> Found | None:
        """Resolve a name or dotted name in `module`; None for any other expression."""
        if isinstance(expression, ast.Name):
            return self._name(module, expression.id, frozenset())
        if isinstance(expression, ast.Attribute):
            owner = self.lookup(module, expression.value)
            return self._attribute(owner, expression.attr) if owner else None
        return None

    def definition(self, reference: str) -> Definition | None:
        """Return the class `module:Class`; None if the included packages have no such class."""
        module_name, _, class_name = reference.partition(":")
        if module_name not in self.files:
            return None
        module = self.module(module_name)
        body = module.classes.get(class_name)
        return Definition(reference, module, body) if body else None

    def _attribute(self, owner: Found, name: str) -> Found | None:
        if owner.kind == "module":
            if owner.name in self.files:
                return self._name(self.module(owner.name), name, frozenset())
            return Found("outside", f"{owner.name}.{name}")
        if owner.kind == "outside":
            return Found("outside", f"{owner.name}.{name}")
        if owner.kind == "class" and self.definition(f"{owner.name}.{name}"):
            return Found("class", f"{owner.name}.{name}")
        return None

    def _name(self, module: Module, name: str, seen: frozenset[tuple[str, str]]) -> Found | None:
        if (module.name, name) in seen:
            return None
        seen |= {(module.name, name)}
        if name in module.classes:
            return Found("class", f"{module.name}:{name}")
        if name in module.imports:
            source, attribute = module.imports[name]
            if attribute is None:
                return Found("module", source)
            if source in self.files:
                return self._name(self.module(source), attribute, seen)
            return Found("outside", f"{source}.{attribute}")
        if name in module.assigned:
            return Found("alias", name, module, module.assigned[name])
        if f"{module.name}.{name}" in self.files:
            return Found("module", f"{module.name}.{name}")
        return Found("outside", f"builtins.{name}")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error


def _files_of(package: str) -> dict[str, Path]:
    """Return module name → file. Only the top-level name is looked up by the import system, which executes nothing."""
    top, *inner = package.split(".")
    try:
        spec = importlib.util.find_spec(top) if top.isidentifier() else None
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise ConfigError(
            f'package "{package}" was not found in {os.getcwd()} or among the installed packages'
        )
    folders = [Path(folder).joinpath(*inner) for folder in spec.submodule_search_locations or ()]
    files = {name: file for folder in folders for name, file in _walk(folder, package)}
    if not inner and spec.origin and spec.origin.endswith(".py"):
        files[top] = Path(spec.origin)
    for folder in folders:
        if inner and folder.with_suffix(".py").is_file():
            files[package] = folder.with_suffix(".py")
    if not files:
        raise ConfigError(f'package "{package}" holds no Python source')
    return files


def _walk(folder: Path, package: str) -> Iterator[tuple[str, Path]]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name.isidentifier() and name != "__pycache__")
        inner = Path(where).relative_to(folder).parts
        for file in files:
            stem = file.removesuffix(".py")
            if stem == file or not stem.isidentifier():
                continue
            parts = (package, *inner) if stem == "__init__" else (package, *inner, stem)
            yield ".".join(parts), Path(where, file)


def _collect(body: list[ast.stmt], module: Module) -> None:
    """Record the names that the statements bind, also under `if TYPE_CHECKING:` and `try:`."""
    for statement in body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                top = alias.name.partition(".")[0]
                module.imports[alias.asname or top] = (alias.name if alias.asname else top, None)
        elif isinstance(statement, ast.ImportFrom):
            source = _import_source(statement, module)
            for alias in statement.names:
                module.imports[alias.asname or alias.name] = (source, alias.name)
        elif isinstance(statement, ast.ClassDef):
            _collect_class(statement, "", module)
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            module.assigned[statement.targets[0].id] = statement.value
        elif (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.value
        ):
            module.assigned[statement.target.id] = statement.value
        elif isinstance(statement, (ast.If, ast.Try)):
            _collect(statement.body, module)
            _collect(statement.orelse, module)


def _collect_class(definition: ast.ClassDef, prefix: str, module: Module) -> None:
    name = prefix + definition.name
    module.classes[name] = definition
    for statement in definition.body:
        if isinstance(statement, ast.ClassDef):
            _collect_class(statement, f"{name}.", module)


def _import_source(statement: ast.ImportFrom, module: Module) -> str:
    if not statement.level:
        return statement.module or ""
    parts = module.name.split(".")
    keep = len(parts) - statement.level + (1 if module.is_package else 0)
    return ".".join(parts[:keep] + ([statement.module] if statement.module else []))
