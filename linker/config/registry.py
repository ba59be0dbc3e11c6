"""The catalog of components that configs can name: linker's own from a file, others from their classes."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import json
import os
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError
from linker.config import types
from linker.config.introspection import Inspector
from linker.config.plugins import Plugin, installed_plugins, registering_modules
from linker.config.registrable import Registrable
from linker.config.types import ClassSpec, Default, Instance, TypeSpec

#: linker's own components and their schemas, written by `python -m scripts.components`.
COMPONENTS = Path(__file__).with_name("components.json")


class Catalog:
    """All components and their schemas. linker's own modules are imported only to return their classes."""

    def __init__(self) -> None:
        self._inspector = Inspector()
        self._registered: dict[str, dict[str, list[str]]] = {}
        # Modules of plugins: whose they are, and of those not imported yet the words in them.
        self._plugins: dict[str, Plugin] | None = None
        self._waiting: dict[str, set[str]] = {}
        self._hidden: set[str] = set()
        self.plugin_faults: list[str] = []
        """Plugins that cannot be used, or in part: one message each, with the remedy."""
        self.included: list[str] = []
        """Packages that were included, for processes that are to know the same components."""

    @cached_property
    def _own(self) -> tuple[dict[str, dict[str, str]], dict[str, ClassSpec]]:
        """linker's components (family → name → reference), and the schemas of all classes of their configs."""
        table = json.loads(COMPONENTS.read_text(encoding="utf-8"), object_hook=_decoded)
        return table["components"], {spec.reference: spec for spec in table["classes"]}

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

    def include_plugins(self, *families: str) -> None:
        """Import the modules of installed plugins that register components of these families (references; none: all).

        A module that cannot be imported is left out. So is a component whose name linker or another plugin uses.
        Both are recorded in `plugin_faults`, so that commands that need neither run.
        """
        if self._plugins is None:
            self._plugins = {}
            for plugin in installed_plugins():
                try:
                    modules = registering_modules(plugin.module)
                    if not modules:
                        raise ConfigError(f"{plugin.module} registers no component")
                except ConfigError as error:
                    self.plugin_faults.append(f"plugin {plugin}: {error}; {plugin.remedy}")
                    continue
                self._plugins |= dict.fromkeys(modules, plugin)
                self._waiting |= modules
        wanted = set(map(short, families))
        for module in [name for name, words in self._waiting.items() if not wanted or wanted & words]:
            del self._waiting[module]
            plugin = self._plugins[module]
            try:
                _import(module)
            except ConfigError as error:
                self.plugin_faults.append(f"plugin {plugin}: {error}; {plugin.remedy}")

    def plugin_of(self, reference: str) -> Plugin | None:
        """Return the plugin that `module:Class` comes from; None for other components."""
        return (self._plugins or {}).get(reference.partition(":")[0])

    def add(self, family: type, name: str, component: type) -> None:
        """Register a class; see `Registrable.register`.

        Of a plugin, a component whose name is taken is hidden; of two plugins with one name, both.
        """
        base, reference = self.remember(family), self.remember(component)
        references = self._registered.setdefault(base, {}).setdefault(name, [])
        builtin = [] if reference.startswith("linker.") else [self._own[0].get(base, {}).get(name)]
        others = [other for other in (*builtin, *references) if other not in (reference, None)]
        if others:
            plugin, owner = self.plugin_of(reference), self.plugin_of(others[0])
            title = f'{short(base)} "{name}"'
            if plugin is None:
                raise ConfigError(f"{title} is registered twice: {' and '.join([*others, reference])}")
            self._hidden |= {reference} if owner is None else {reference, *others}
            reason = (
                "a component of linker has this name"
                if owner is None
                else f"plugin {owner} registers this name, too, and neither is used"
            )
            self.plugin_faults.append(
                f"plugin {plugin}: {title} is left out, because {reason}; {plugin.remedy}"
            )
        if reference not in references:
            references.append(reference)

    def remember(self, met: type) -> str:
        """Add a live class; return its reference `module:Class`."""
        return self._inspector.remember(met)

    def type_of(self, target: Any) -> TypeSpec:
        """Return the type of a class, of an annotation such as `list[Encoder]`, or of a reference `module:Class`."""
        if isinstance(target, str) and target not in self._own[1]:
            target = self.load(target)
        return Instance(target) if isinstance(target, str) else self._inspector.type_spec(target)

    def spec(self, reference: str) -> ClassSpec | None:
        """Return the schema of `module:Class`; None for a class that configs cannot name."""
        spec, met = self._own[1].get(reference), self._inspector.classes.get(reference)
        # Not cached: a notebook may redefine the class.
        return self._inspector.class_spec(met) if spec is None and met is not None else spec

    def components(self, family: str) -> dict[str, str]:
        """Return name → reference of all components of a family."""
        live = {
            name: reference
            for name, references in self._registered.get(family, {}).items()
            for reference in references
            if reference not in self._hidden
        }
        return live | self._own[0].get(family, {})

    def choices(self, spec: ClassSpec) -> tuple[dict[str, str], str | None]:
        """Return the possible values of `type` for an object of this class (name → reference), and the default.

        For a family these are all its components; for another class of a family, itself and its subclasses; for a plain
        class none, as its configs have no `type`.
        """
        if spec.is_family:
            return self.components(spec.reference), spec.default_component
        families = [family for family in map(self.spec, spec.lineage) if family and family.is_family]
        fitting: dict[str, str] = {}
        for name, reference in (item for f in families for item in self.components(f.reference).items()):
            component = self.spec(reference)
            if component and spec.reference in component.lineage:
                fitting[name] = reference
        names = [name for name, reference in fitting.items() if reference == spec.reference]
        return fitting, names[0] if names else None

    def families(self) -> list[str]:
        """Return the references of all families that have components."""
        return sorted({*self._own[0], *self._registered})

    def named(self, name: str) -> str:
        """Return the reference of `Encoder` (a family) or `Encoder.gru` (a component), as users write it.

        Raises:
            ConfigError: if the family or component is unknown.
        """
        self.include_plugins()
        families = {short(reference): reference for reference in self.families()}
        family, _, component = name.partition(".")
        if family not in families:
            raise ConfigError(self.unknown(family, "family", list(families)))
        if not component:
            return families[family]
        components = self.components(families[family])
        if component not in components:
            raise ConfigError(self.unknown(component, f"registered {family}", list(components)))
        return components[component]

    def component(self, family: type, name: str) -> Any:
        """Return the class registered as `name`; see `Registrable.by_name`."""
        reference = self.remember(family)
        if name not in self.components(reference):
            self.include_plugins(reference)
        components = self.components(reference)
        if name not in components:
            raise ConfigError(self.unknown(name, f"registered {short(reference)}", list(components)))
        return self.load(components[name])

    def names(self, family: type) -> list[str]:
        """Return the names of all components of a family, sorted; see `Registrable.available`."""
        reference = self.remember(family)
        self.include_plugins(reference)
        return sorted(self.components(reference))

    def load(self, reference: str) -> Any:
        """Return the class `module:Class`, imported if necessary.

        Raises:
            ConfigError: if its module needs a package that is not installed.
        """
        if reference in self._inspector.classes:
            return self._inspector.classes[reference]
        module, _, name = reference.partition(":")
        try:
            return getattr(importlib.import_module(module), name)
        except ModuleNotFoundError as error:
            needed = f'{reference} needs the package "{error.name}", which is not installed'
            raise ConfigError(needed) from error

    def unknown(self, name: str, kind: str, names: list[str]) -> str:
        """Return the message for a name that is not among `names`, with the plugins that cannot be used."""
        hint = (
            suggestion(name, names)
            or "; is it in a plugin that is not installed, or in a package for --include-package?"
        )
        message = f'"{name}" is not a {kind}{hint} Known: {", ".join(sorted(names)) or "none"}'
        return "; ".join([message, *self.plugin_faults])


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


_KINDS: dict[str, Any] = {name: kind for name, kind in vars(types).items() if dataclasses.is_dataclass(kind)}


def encoded(value: Any) -> dict[str, Any]:
    """Return a type, parameter, schema or default as `components.json` has it; for `json.dumps`."""
    if isinstance(value, Default):
        return {"kind": "Default", "value": value.value}
    fields = {
        field.name: getattr(value, field.name)
        for field in dataclasses.fields(value)
        if getattr(value, field.name) != field.default
    }
    return {"kind": type(value).__name__, **fields}


def _decoded(table: dict[str, Any]) -> Any:
    kind = table.pop("kind", None)
    if kind == "Default":
        return Default(table["value"])
    if kind is None:
        return table
    # Tuples everywhere, but for defaults, which are in config form.
    return _KINDS[kind](
        **{
            key: tuple(value) if isinstance(value, list) and key != "default" else value
            for key, value in table.items()
        }
    )


def short(reference: str) -> str:
    """Return the class name of `module:Class`."""
    return reference.partition(":")[2]


def nearest(name: str, valid: list[str]) -> str | None:
    """Return the valid name most similar to `name`, or None if none is similar."""
    return next(iter(difflib.get_close_matches(name, valid, n=1)), None)


def suggestion(name: str, valid: list[str]) -> str:
    """Return `; did you mean "x"?`, or an empty string if no valid name is similar."""
    near = nearest(name, valid)
    return f'; did you mean "{near}"?' if near else ""


catalog = Catalog()
Registrable._catalog = catalog
