"""The catalog of components that configs can name: linker's own from a file, others from their classes."""

import difflib
import importlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError
from linker.config.registrable import Registrable
from linker.config.schema import CLASSES, ClassSpec, class_spec, remember

#: linker's own components and their schemas, written by `python -m scripts.components`.
COMPONENTS = Path(__file__).with_name("components.json")
#: Entry points of installed packages that add components.
PLUGINS = "linker.components"
_REGISTERS = re.compile(r"^[ \t]*@[\w. \t]+\.\s*register\(", re.MULTILINE)


class Catalog:
    """All components and their schemas. linker's own modules are imported only to return their classes."""

    def __init__(self) -> None:
        # Of components whose modules were imported: family → name → reference.
        self._registered: dict[str, dict[str, str]] = {}
        # Families of which plugins were imported.
        self._asked: set[str] = set()
        self.plugin_faults: list[str] = []
        """Plugins that cannot be used, or in part: one message each, with the remedy."""
        self.included: list[str] = []
        """Packages that were included, for processes that are to know the same components."""

    @cached_property
    def _own(self) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, Any]]]:
        """linker's components (family → name → reference), and the schemas of all classes of their configs."""
        table = json.loads(COMPONENTS.read_text(encoding="utf-8"))
        return table["components"], table["classes"]

    def include(self, package: str) -> None:
        """Import the modules of a package, installed or in the current folder, that register components.

        Raises:
            ConfigError: if the package is not found, or a module cannot be imported.
        """
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
        for module in registering_modules(package):
            _import(module)
        self.included.append(package)

    def include_plugins(self, family: str = "") -> None:
        """Import the modules of installed plugins that register components of a family (by default, of any).

        They are found by the name of the family in their source. A plugin that cannot be read or imported is recorded
        in `plugin_faults`, so that commands that do not need it run.
        """
        if self._asked & {family, ""}:
            return
        self._asked.add(family)
        from importlib.metadata import entry_points

        for entry in sorted(entry_points(group=PLUGINS), key=lambda entry: entry.value):
            title = f"{entry.dist.metadata['Name']} {entry.dist.version}" if entry.dist else entry.name
            try:
                modules = registering_modules(entry.module)
                if not modules:
                    raise ConfigError(f"{entry.module} registers no component")
                for module, text in modules.items():
                    if family in text:
                        _import(module)
            except ConfigError as error:
                fault = f"plugin {title}: {error}; upgrade it, or remove it with `pip uninstall {title.split()[0]}`"
                if fault not in self.plugin_faults:
                    self.plugin_faults.append(fault)

    def add(self, family: type, name: str, component: type) -> None:
        """Register a class; see `Registrable.register`."""
        base, reference = remember(family), remember(component)
        references = self._registered.setdefault(base, {})
        own = {} if reference.startswith("linker.") else self._own[0].get(base, {})
        other = own.get(name) or references.get(name, reference)
        if other != reference:
            raise ConfigError(f'{short(base)} "{name}" is registered twice: {other} and {reference}')
        references[name] = reference

    def reference_of(self, target: Any) -> str:
        """Return the reference of a class, or of itself; the class is then known.

        Raises:
            ConfigError: if its module needs a package that is not installed.
        """
        if not isinstance(target, str):
            return remember(target)
        return target if target in self._own[1] else remember(self.load(target))

    def spec(self, reference: str) -> ClassSpec | None:
        """Return the schema of `module:Class`; None for a class that configs cannot name."""
        if reference in self._own[1]:
            return ClassSpec(reference, **self._own[1][reference])
        # Not cached: a notebook may redefine the class.
        return class_spec(CLASSES[reference]) if reference in CLASSES else None

    def components(self, family: str) -> dict[str, str]:
        """Return name → reference of all components of a family."""
        return self._registered.get(family, {}) | self._own[0].get(family, {})

    def families(self) -> list[str]:
        """Return the references of all families that have components."""
        return sorted({*self._own[0], *self._registered})

    def named(self, name: str) -> ClassSpec:
        """Return the schema of a family (`Encoder`), component (`Encoder.gru`) or other class of linker (`Trainer`).

        Raises:
            ConfigError: if it is unknown.
        """
        self.include_plugins()
        classes = {short(reference): reference for reference in (*self._own[1], *self.families())}
        family, _, component = name.partition(".")
        names = self.components(classes.get(family, "")) if component else classes
        reference = names.get(component or name)
        if reference is None or (spec := self.spec(reference)) is None:
            kind = f"registered {family}" if component else "family"
            families = names if component else map(short, self.families())
            raise ConfigError(self.unknown(component or name, kind, list(families)))
        return spec

    def component(self, family: type, name: str) -> Any:
        """Return the class registered as `name`; see `Registrable.by_name`."""
        return self.load(self.found(remember(family), name))

    def found(self, family: str, name: str) -> str:
        """Return the reference of a component.

        Raises:
            ConfigError: if no component of the family has this name, in linker or a plugin.
        """
        if name not in self.components(family):
            self.include_plugins(short(family))
        names = self.components(family)
        if name not in names:
            raise ConfigError(self.unknown(name, f"registered {short(family)}", names))
        return names[name]

    def names(self, family: type) -> list[str]:
        """Return the names of all components of a family, sorted; see `Registrable.available`."""
        reference = remember(family)
        self.include_plugins(short(reference))
        return sorted(self.components(reference))

    def load(self, reference: str) -> Any:
        """Return the class `module:Class`, imported if necessary.

        Raises:
            ConfigError: if its module needs a package that is not installed.
        """
        if reference in CLASSES:
            return CLASSES[reference]
        module, _, name = reference.partition(":")
        try:
            return getattr(importlib.import_module(module), name)
        except ModuleNotFoundError as error:
            needed = f'{reference} needs the package "{error.name}", which is not installed'
            raise ConfigError(needed) from error

    def unknown(self, name: str, kind: str, names: Collection[str]) -> str:
        """Return the message for a name that is not among `names`, with the plugins that cannot be used."""
        hint = (
            suggestion(name, names)
            or "; is it in a plugin that is not installed, or in a package for --include-package?"
        )
        message = f'"{name}" is not a {kind}{hint} Known: {", ".join(sorted(names)) or "none"}'
        return "; ".join([message, *self.plugin_faults])


def registering_modules(package: str) -> dict[str, str]:
    """Return the modules of a package, or a single module, that register components, each with its source.

    They are found by a text search and not imported: a package may have slow modules, and scripts.

    Raises:
        ConfigError: if the package is not found, installed or in the current folder.
    """
    top = package.partition(".")[0]
    spec = importlib.util.find_spec(top) if top.isidentifier() else None
    files: dict[str, Path] = {}
    if spec is not None and spec.origin is not None:
        files[top] = Path(spec.origin)
    for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
        for path in sorted(folder.rglob("*.py")):
            name = ".".join((top, *path.relative_to(folder).with_suffix("").parts))
            files[name.removesuffix(".__init__")] = path
    files = {
        name: path for name, path in files.items() if f"{name}.".startswith(f"{package}.") and path.is_file()
    }
    if not files:
        raise ConfigError(
            f'package "{package}" was not found in {os.getcwd()} or among the installed packages'
        )
    texts = {name: path.read_text(encoding="utf-8", errors="replace") for name, path in files.items()}
    return {name: text for name, text in texts.items() if _REGISTERS.search(text)}


def _import(module: str) -> None:
    """Import a module of other people's.

    Raises:
        ConfigError: if it fails, for any reason.
    """
    try:
        importlib.import_module(module)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:
        fault = f"{module} cannot be imported ({type(error).__name__}: {error})"
        raise ConfigError(fault) from error


def short(reference: str) -> str:
    """Return the class name of `module:Class`."""
    return reference.partition(":")[2]


def suggestion(name: str, valid: Collection[str]) -> str:
    """Return `; did you mean "x"?`, or an empty string if no valid name is similar."""
    near = difflib.get_close_matches(name, valid, n=1)
    return f'; did you mean "{near[0]}"?' if near else ""


catalog = Catalog()
Registrable._catalog = catalog
