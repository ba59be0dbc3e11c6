"""How messages speak of types and values."""

from __future__ import annotations

import json
from typing import Any

from linker.config.catalogue import catalogue, short
from linker.config.schema import (
    Atom,
    Choice,
    DictOf,
    Instance,
    LazyOf,
    ListOf,
    OneOf,
    TupleOf,
    TypeSpec,
)


def describe(kind: TypeSpec) -> str:
    """A type in words."""
    match kind:
        case Atom(name):
            words = {"int": "an integer", "float": "a number", "str": "a string", "bool": "true or false"}
            words |= {"None": "null", "Any": "any value", "Path": "a path (a string)"}
            return words.get(name, "nothing (this cannot be set from a config)")
        case Choice(values):
            return " or ".join(json.dumps(value) for value in values)
        case ListOf(item):
            return f"a list ({describe(item)} each)"
        case DictOf(value):
            return f"an object ({describe(value)} for each key)"
        case TupleOf(items, True):
            return f"a list ({describe(items[0])} each)"
        case TupleOf(items):
            return f"a list of {len(items)} ({', '.join(describe(item) for item in items)})"
        case OneOf(options):
            return " or ".join(describe(option) for option in options)
        case LazyOf(inner):
            return describe(inner)
        case Instance(reference):
            spec = catalogue.spec(reference)
            names = catalogue.choices(spec)[0] if spec else {}
            if spec and (spec.is_family or names):
                return f"a registered {spec.name} ({', '.join(sorted(names)) or 'none'})"
            return f"an object ({', '.join(spec.keys)})" if spec and spec.keys else f"a {short(reference)}"
    raise AssertionError(kind)


def shown(value: Any) -> str:
    """A value as JSON, cut after 60 characters."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."
