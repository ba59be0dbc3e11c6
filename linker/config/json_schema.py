"""JSON Schema (draft 2020-12) of configs, for completion and checks in editors."""

from __future__ import annotations

from typing import Any

from linker.config.registry import catalog, short
from linker.config.types import (
    Atom,
    Choice,
    ClassSpec,
    Default,
    DictOf,
    Instance,
    LazyOf,
    ListOf,
    OneOf,
    TupleOf,
    TypeSpec,
)
from linker.config.validation import fills_itself

DRAFT = "https://json-schema.org/draft/2020-12/schema"
ATOMS: dict[str, dict[str, Any]] = {
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "None": {"type": "null"},
    "Path": {"type": "string", "minLength": 1},
    "Any": {},
}
NEVER: dict[str, Any] = {"not": {}}


def schema(target: Any) -> dict[str, Any]:
    """Return the JSON Schema of the configs of `target` (see `check`); imports none of the components."""
    catalog.include_plugins()
    writer = _Writer()
    root = writer.of(catalog.type_of(target))
    return {"$schema": DRAFT, **root, "$defs": dict(sorted(writer.definitions.items()))}


class _Writer:
    """Converts types to schemas; each class becomes one entry of `$defs`."""

    def __init__(self) -> None:
        self.definitions: dict[str, dict[str, Any]] = {}
        self._names: dict[str, str] = {}

    def of(self, kind: TypeSpec) -> dict[str, Any]:
        """Return the schema of a type."""
        match kind:
            case Atom(name):
                return dict(ATOMS.get(name, NEVER))
            case Choice(values):
                return {"enum": list(values)}
            case ListOf(item):
                return {"type": "array", "items": self.of(item)}
            case DictOf(value):
                return {"type": "object", "additionalProperties": self.of(value)}
            case TupleOf(items, True):
                return {"type": "array", "items": self.of(items[0])}
            case TupleOf(items):
                count = len(items)
                fixed: dict[str, Any] = {"prefixItems": [self.of(item) for item in items]} if items else {}
                return {"type": "array", **fixed, "minItems": count, "maxItems": count}
            case LazyOf(inner):
                return self.of(inner)
            case OneOf(options):
                return {"anyOf": [self.of(option) for option in options]}
            case Instance(reference):
                return self._instance(reference)
        raise AssertionError(kind)

    def _instance(self, reference: str) -> dict[str, Any]:
        spec = catalog.spec(reference)
        if spec is None:
            return dict(NEVER)
        if reference not in self._names:
            self._names[reference] = self._name(short(reference), reference)
            names, default = catalog.choices(spec)
            open_to_names = spec.is_family or names
            self.definitions[self._names[reference]] = (
                self._family(spec, names, default) if open_to_names else self._object(spec)
            )
        return {"$ref": f"#/$defs/{self._names[reference]}"}

    def _family(self, spec: ClassSpec, names: dict[str, str], default: str | None) -> dict[str, Any]:
        options: list[dict[str, Any]] = []
        bare: list[str] = []
        for name, reference in sorted(names.items()):
            component = catalog.spec(reference)
            if component is None:
                continue
            key = f"{self._names[spec.reference]}.{name}"
            self.definitions[key] = self._object(component, name, name == default)
            options.append({"$ref": f"#/$defs/{key}"})
            if not set(self.definitions[key].get("required", [])) - {"type"}:
                bare.append(name)
        if bare:
            options.append({"enum": bare})
        if not options:
            return dict(NEVER)
        whole: dict[str, Any] = {"oneOf": options, "discriminator": {"propertyName": "type"}}
        return _described(whole, spec.description)

    def _object(self, spec: ClassSpec, name: str | None = None, is_default: bool = False) -> dict[str, Any]:
        properties: dict[str, Any] = {} if name is None else {"type": {"const": name}}
        required = ["type"] if name is not None and not is_default else []
        for parameter in spec.parameters:
            properties[parameter.name] = _described(self.of(parameter.type), parameter.description)
            if isinstance(parameter.default, Default):
                if parameter.default is Default.REQUIRED and not fills_itself(parameter.type):
                    required.append(parameter.name)
            else:
                properties[parameter.name]["default"] = parameter.default
        whole: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        if required:
            whole["required"] = required
        return _described(whole, spec.description)

    def _name(self, wanted: str, reference: str) -> str:
        return wanted if wanted not in self._names.values() else reference.replace(":", ".")


def _described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return ({"description": description} if description else {}) | schema
