"""The catalog of components that configs can name: found in source text, or registered at run time."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from typing import Any

from linker.common.errors import ConfigError
from linker.config.introspection import static
from linker.config.introspection.live import Inspector
from linker.config.introspection.source import Sources
from linker.config.plugins import Plugin, installed_plugins
from linker.config.registrable import Registrable
from linker.config.types import ClassSpec, Instance, TypeSpec


class Catalog:
    """All components and their schemas; imports a module only to return its class."""

    def __init__(self) -> None:
        self._sources: Sources | None = None
        self._inspector = Inspector()
        self._specs: dict[str, ClassSpec | None] = {}
        self._registered: dict[str, dict[str, list[str]]] = {}
        self._plugins: dict[str, Plugin] | None = None
        self._hidden: set[str] = set()
        self.plugin_faults: list[str] = []
        """Plugins that cannot be used, or in part: one message each, with the remedy."""
        self.included: list[str] = []
        """Packages that were included, for processes that are to know the same components."""

    @property
    def sources(self) -> Sources:
        """Source text of linker and of the included packages."""
        if self._sources is None:
            self._sources = Sources()
            self._sources.include("linker")
        return self._sources

    def include(self, package: str) -> None:
        """Add the components of a package, installed or in the current folder, without importing it.

        Raises:
            ConfigError: if the package is not found.
        """
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
        self.sources.include(package)
        self.included.append(package)
        self._forget()

    def include_plugins(self) -> None:
        """Add the components of installed plugins, without importing them; later calls do nothing.

        A plugin whose source cannot be read is left out. So is a component whose name linker or another plugin uses.
        Both are recorded in `plugin_faults`, so that commands that need neither run.
        """
        if self._plugins is not None:
            return
        self._plugins = {}
        for plugin in installed_plugins():
            before = dict(self.sources.files)
            try:
                self.sources.include(plugin.module)
                added = set(self.sources.files) - set(before)
                self._forget()
                found = self._check_plugin(plugin, added)
            except ConfigError as error:
                self.sources.files = before
                self._forget()
                self.plugin_faults.append(f"plugin {plugin}: {error}; {plugin.remedy}")
                continue
            self._plugins |= dict.fromkeys(added, plugin)
            if added and not found:
                self.plugin_faults.append(
                    f"plugin {plugin}: {plugin.module} registers no component; {plugin.remedy}"
                )

    def _check_plugin(self, plugin: Plugin, modules: set[str]) -> bool:
        """Read all components of a plugin, and hide those whose names are taken; return whether it has any.

        Raises:
            ConfigError: if the source is not valid Python.
        """
        found = static.registrations(self.sources, within=modules)
        for references in (classes for names in found.values() for classes in names.values()):
            for reference in references:
                self.spec(reference)
        for family, names in found.items():
            known = static.registrations(self.sources, short(family)).get(family, {})
            for name, references in names.items():
                if others := [other for other in known[name] if other not in {*references, *self._hidden}]:
                    self._hide(plugin, f'{short(family)} "{name}"', references, others)
        return bool(found)

    def _hide(self, plugin: Plugin, what: str, references: list[str], others: list[str]) -> None:
        """Hide a component whose name is taken; of two plugins with one name, hide both."""
        owner = self.plugin_of(others[0])
        self._hidden.update(references if owner is None else references + others)
        both = (
            "a component of linker has this name"
            if owner is None
            else f"plugin {owner} registers this name, too"
        )
        choice = "" if owner is None else ", and neither is used"
        self.plugin_faults.append(
            f"plugin {plugin}: {what} is left out, because {both}{choice}; {plugin.remedy}"
        )

    def plugin_of(self, reference: str) -> Plugin | None:
        """Return the plugin that `module:Class` comes from; None for other components."""
        return (self._plugins or {}).get(reference.partition(":")[0])

    def _forget(self) -> None:
        self._specs, self._registered = {}, {}

    def remember(self, met: type) -> str:
        """Add a live class; return its reference `module:Class`."""
        return self._inspector.remember(met)

    def type_of(self, target: Any) -> TypeSpec:
        """Return the type of a class, of an annotation such as `list[Encoder]`, or of a reference `module:Class`."""
        return Instance(target) if isinstance(target, str) else self._inspector.type_spec(target)

    def spec(self, reference: str) -> ClassSpec | None:
        """Return the schema of `module:Class`; None for a class that configs cannot name."""
        if reference not in self._specs:
            spec = static.class_spec(self.sources, reference)
            met = self._inspector.classes.get(reference)
            if spec is None and met is not None:
                return self._inspector.class_spec(met)  # Not cached: a notebook may redefine the class.
            self._specs[reference] = spec
        return self._specs[reference]

    def components(self, family: str) -> dict[str, str]:
        """Return name → reference of all components of a family.

        Raises:
            ConfigError: if two classes share a name.
        """
        if family not in self._registered:
            registrations = static.registrations(self.sources, short(family)).get(family, {})
            self._registered[family] = {
                name: seen
                for name, classes in registrations.items()
                if (seen := [reference for reference in classes if reference not in self._hidden])
            }
        found = {name: list(classes) for name, classes in self._registered[family].items()}
        for base, components in Registrable._registry.items():
            if f"{base.__module__}:{base.__qualname__}" == family:
                for name, component in components.items():
                    reference = self.remember(component)
                    if reference not in self._hidden and reference not in found.setdefault(name, []):
                        found[name].append(reference)
        for name, classes in found.items():
            if len(classes) > 1:
                raise ConfigError(f'{short(family)} "{name}" is registered twice: {" and ".join(classes)}')
        return {name: classes[0] for name, classes in found.items()}

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
        live = [self.remember(base) for base in Registrable._registry]
        return sorted({*static.registrations(self.sources), *live})

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
        components = self.components(reference)
        if name not in components:
            self.include_plugins()
            components = self.components(reference)
        if name not in components:
            raise ConfigError(self.unknown(name, f"registered {short(reference)}", list(components)))
        return self.load(components[name])

    def names(self, family: type) -> list[str]:
        """Return the names of all components of a family, sorted; see `Registrable.available`."""
        self.include_plugins()
        return sorted(self.components(self.remember(family)))

    def load(self, reference: str) -> Any:
        """Return the class `module:Class`, imported if necessary.

        Raises:
            ConfigError: if its module needs a package that is not installed, or does not contain it; for a plugin, if
                its module cannot be imported.
        """
        if reference in self._inspector.classes:
            return self._inspector.classes[reference]
        module, _, path = reference.partition(":")
        try:
            found = importlib.import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
        except Exception as error:
            if plugin := self.plugin_of(reference):
                fault = f"{module} cannot be imported ({type(error).__name__}: {error})"
                raise ConfigError(f"plugin {plugin}: {fault}; {plugin.remedy}") from error
            if isinstance(error, ModuleNotFoundError):
                needed = f'{reference} needs the package "{error.name}", which is not installed'
                raise ConfigError(needed) from error
            if isinstance(error, AttributeError):
                raise ConfigError(f"{reference}: class not found") from error
            raise
        return found

    def unknown(self, name: str, what: str, names: list[str]) -> str:
        """Return the message for a name that is not among `names`, with the plugins that cannot be used."""
        hint = (
            suggestion(name, names)
            or "; is it in a plugin that is not installed, or in a package for --include-package?"
        )
        known = f'"{name}" is not a {what}{hint} Known: {", ".join(sorted(names)) or "none"}'
        return "; ".join([known, *self.plugin_faults])


def short(reference: str) -> str:
    """Return the class name of `module:Class`."""
    return reference.partition(":")[2]


def nearest(name: str, valid: list[str]) -> str | None:
    """Return the valid name most similar to `name`, or None if none is similar."""
    found = difflib.get_close_matches(name, valid, n=1)
    return found[0] if found else None


def suggestion(name: str, valid: list[str]) -> str:
    """Return `; did you mean "x"?`, or an empty string if no valid name is similar."""
    near = nearest(name, valid)
    return f'; did you mean "{near}"?' if near else ""


catalog = Catalog()
Registrable._finder = catalog
