"""Write the schemas of linker's components, from which configs are checked without importing them.

    python -m scripts.components            write linker/config/components.json
    python -m scripts.components --check    exit with code 1 if it is not current

Run it after every change of a component's name, signature or docstring.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from typing import Any

from linker.config import EXPERIMENT
from linker.config.registry import COMPONENTS, catalog, registering_modules
from linker.config.schema import ClassSpec


def main() -> int:
    """Write or check the file; return the exit code."""
    text = components()
    if COMPONENTS.read_text(encoding="utf-8") == text:
        return 0
    if "--check" in sys.argv:
        print(f"not current: {COMPONENTS.name}; run `python -m scripts.components`")
        return 1
    COMPONENTS.write_text(text, encoding="utf-8")
    return 0


def components() -> str:
    """Return the text of components.json: each family's components, and all classes that configs can name."""
    vars(catalog)["_own"] = ({}, {})
    for module in registering_modules("linker"):
        importlib.import_module(module)
    families = {family: dict(sorted(catalog.components(family).items())) for family in catalog.families()}
    waiting = [EXPERIMENT, *families, *(name for names in families.values() for name in names.values())]
    catalog.reference_of(EXPERIMENT)
    specs: dict[str, ClassSpec] = {}
    while waiting:
        reference = waiting.pop()
        if reference in specs or not reference.startswith("linker."):
            continue
        spec = catalog.spec(reference)
        assert spec is not None, reference
        specs[reference] = spec
        waiting += [name for parameter in spec.parameters for name in classes(parameter["type"])]
    del vars(catalog)["_own"]
    rows = {reference: spec._asdict() for reference, spec in sorted(specs.items())}
    lines = [
        f"{json.dumps(row.pop('reference'))}: {json.dumps(row, ensure_ascii=False)}" for row in rows.values()
    ]
    separator = ",\n"
    return (
        f'{{"components": {json.dumps(families, indent=1)},\n"classes": {{\n{separator.join(lines)}\n}}}}\n'
    )


def classes(kind: Any) -> Iterator[str]:
    """Yield the classes in a type."""
    for key, value in kind.items() if isinstance(kind, dict) else ():
        if key == "class":
            yield value
        elif key != "literal":
            for part in value if isinstance(value, list) else [value]:
                yield from classes(part)


if __name__ == "__main__":
    sys.exit(main())
