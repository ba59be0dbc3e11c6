"""Every component that configs can name: those found in source text and those registered while the program runs."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from typing import Any

from linker.config import static
from linker.config.inspection import Inspector
from linker.config.registrable import Registrable
from linker.config.schema import ClassSpec
from linker.config.sources import Sources
from linker.errors import ConfigError


class Catalogue:
    """Answers which components there are and what they expect; imports a module only to hand out its class."""

    def __init__(self) -> None:
        self._sources: Sources | None = None
        self._inspector = Inspector()
        self._specs: dict[str, ClassSpec | None] = {}
        self._registrations: dict[str, dict[str, list[str]]] | None = None

    @property
    def sources(self) -> Sources:
        """The source text of linker and of the included packages."""
        if self._sources is None:
            self._sources = Sources()
            self._sources.include("linker")
        return self._sources

    def include(self, package: str) -> None:
        """Add the components of a package, installed or in the current folder, without importing it.

        Raises:
            ConfigError: there is no such package.
        """
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
        self.sources.include(package)
        self._specs, self._registrations = {}, None

    def remember(self, met: type) -> str:
        """The reference `module:Class` of a live class, known from now on."""
        return self._inspector.remember(met)

    def type_of(self, target: Any) -> Any:
        """The type of a target: a class, an annotation such as `list[Encoder]`, or a reference `module:Class`."""
        from linker.config.schema import Instance

        return Instance(target) if isinstance(target, str) else self._inspector.type_spec(target)

    def spec(self, reference: str) -> ClassSpec | None:
        """The schema of `module:Class`; None for a class that configs cannot name."""
        if reference not in self._specs:
            spec = static.class_spec(self.sources, reference)
            met = self._inspector.classes.get(reference)
            if spec is None and met is not None:
                return self._inspector.class_spec(met)  # not kept: a notebook may define the class anew
            self._specs[reference] = spec
        return self._specs[reference]

    def components(self, family: str) -> dict[str, str]:
        """Name → reference of all components of a family.

        Raises:
            ConfigError: two classes share a name.
        """
        if self._registrations is None:
            self._registrations = static.registrations(self.sources)
        found = {name: list(classes) for name, classes in self._registrations.get(family, {}).items()}
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

    def families(self) -> list[str]:
        """The references of all families that have components."""
        if self._registrations is None:
            self._registrations = static.registrations(self.sources)
        live = [self.remember(base) for base in Registrable._registry]
        return sorted({*self._registrations, *live})

    def component(self, family: type, name: str) -> Any:
        """The class registered as `name`; see `Registrable.by_name`."""
        reference = self.remember(family)
        components = self.components(reference)
        if name not in components:
            raise ConfigError(unknown_component(reference, name, list(components)))
        return self.load(components[name])

    def load(self, reference: str) -> Any:
        """The class `module:Class`, imported if need be.

        Raises:
            ConfigError: its module needs a package that is not installed, or does not hold it.
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
            raise ConfigError(f"{reference}: there is no such class") from error
        return found


def short(reference: str) -> str:
    """The class name of `module:Class`."""
    return reference.partition(":")[2]


def suggestion(name: str, valid: list[str], cutoff: float = 0.6) -> str:
    """`; did you mean "x"?`, or nothing where no valid name is near."""
    near = difflib.get_close_matches(name, valid, n=1, cutoff=cutoff)
    return f'; did you mean "{near[0]}"?' if near else ""


def unknown_component(family: str, name: str, names: list[str]) -> str:
    """The message for a name that is not registered."""
    listed = ", ".join(sorted(names)) or "none"
    hint = suggestion(name, names) or "."
    return f'"{name}" is not a registered {short(family)}{hint} Registered: {listed}'


catalogue = Catalogue()
