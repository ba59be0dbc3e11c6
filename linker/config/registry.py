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
from linker.config.registrable import Registrable
from linker.config.types import ClassSpec, Instance, TypeSpec


class Catalog:
    """All components and their schemas; imports a module only to return its class."""

    def __init__(self) -> None:
        self._sources: Sources | None = None
        self._inspector = Inspector()
        self._specs: dict[str, ClassSpec | None] = {}
        self._registered: dict[str, dict[str, list[str]]] = {}

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
            registrations = static.registrations(self.sources, short(family))
            self._registered[family] = registrations.get(family, {})
        found = {name: list(classes) for name, classes in self._registered[family].items()}
        for base, components in Registrable._registry.items():
            if f"{base.__module__}:{base.__qualname__}" == family:
                for name, component in components.items():
                    reference = self.remember(component)
                    if reference not in found.setdefault(name, []):
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
        families = {short(reference): reference for reference in self.families()}
        family, _, component = name.partition(".")
        if family not in families:
            raise ConfigError(unknown(family, "family", list(families)))
        if not component:
            return families[family]
        components = self.components(families[family])
        if component not in components:
            raise ConfigError(unknown(component, f"registered {family}", list(components)))
        return components[component]

    def component(self, family: type, name: str) -> Any:
        """Return the class registered as `name`; see `Registrable.by_name`."""
        reference = self.remember(family)
        components = self.components(reference)
        if name not in components:
            raise ConfigError(unknown(name, f"registered {short(reference)}", list(components)))
        return self.load(components[name])

    def names(self, family: type) -> list[str]:
        """Return the names of all components of a family, sorted; see `Registrable.available`."""
        return sorted(self.components(self.remember(family)))

    def load(self, reference: str) -> Any:
        """Return the class `module:Class`, imported if necessary.

        Raises:
            ConfigError: if its module needs a package that is not installed, or does not contain it.
        """
        if reference in self._inspector.classes:
            return self._inspector.classes[reference]
        module, _, path = reference.partition(":")
        try:
            found = importlib.import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
        except ModuleNotFoundError as error:
            raise ConfigError(
                f'{reference} needs the package "{error.name}", which is not installed'
            ) from error
        except AttributeError as error:
            raise ConfigError(f"{reference}: class not found") from error
        return found


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


def unknown(name: str, what: str, names: list[str]) -> str:
    """Return the message for a name that is not among `names`."""
    hint = suggestion(name, names) or "; is it in a package to be named with --include-package?"
    return f'"{name}" is not a {what}{hint} Known: {", ".join(sorted(names)) or "none"}'


catalog = Catalog()
Registrable._finder = catalog
