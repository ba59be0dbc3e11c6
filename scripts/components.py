"""Write what is generated from linker's components: their schemas, and the Jsonnet library for editors.

    python -m scripts.components            write linker/config/components.json and configs/lib/linker.libsonnet
    python -m scripts.components --check    exit with code 1 if one of them is not current

Run it after every change of a component's name, signature or docstring.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from linker.config import EXPERIMENT
from linker.config.jsonnet_library import jsonnet_library
from linker.config.plugins import registering_modules
from linker.config.registry import COMPONENTS, catalog, encoded
from linker.config.types import ClassSpec, Instance

LIBRARY = Path(__file__).parents[1] / "configs/lib/linker.libsonnet"


def main() -> int:
    """Write or check the files; return the exit code."""
    stale, check = [], "--check" in sys.argv
    # The library is made from the schemas as written.
    for path, text_of in ((COMPONENTS, components), (LIBRARY, jsonnet_library)):
        text = text_of()
        if path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
            if not check:
                path.write_text(text, encoding="utf-8")
    if stale and check:
        print(f"not current: {', '.join(stale)}; run `python -m scripts.components`")
    return int(check and bool(stale))


def components() -> str:
    """Return the text of components.json: each family's components, and all classes that configs can name."""
    vars(catalog)["_own"] = ({}, {})
    for module in [*registering_modules("linker"), EXPERIMENT.partition(":")[0]]:
        importlib.import_module(module)
    families = {family: dict(sorted(catalog.components(family).items())) for family in catalog.families()}
    waiting = [EXPERIMENT, *families, *(name for names in families.values() for name in names.values())]
    catalog.remember(catalog.load(EXPERIMENT))
    specs: dict[str, ClassSpec] = {}
    while waiting:
        reference = waiting.pop()
        if reference in specs or not reference.startswith("linker."):
            continue
        spec = catalog.spec(reference)
        assert spec is not None, reference
        specs[reference] = spec
        waiting += [*spec.lineage, *(name for p in spec.parameters for name in instances(p.type))]
    del vars(catalog)["_own"]
    classes = ",\n".join(
        json.dumps(specs[name], default=encoded, ensure_ascii=False) for name in sorted(specs)
    )
    return f'{{"components": {json.dumps(families, indent=1)},\n"classes": [\n{classes}\n]}}\n'


def instances(kind: object) -> Iterator[str]:
    """Yield the classes in a type."""
    if isinstance(kind, Instance):
        yield kind.reference
    elif dataclasses.is_dataclass(kind):
        for field in dataclasses.fields(kind):
            value = getattr(kind, field.name)
            for part in value if isinstance(value, tuple) else (value,):
                yield from instances(part)


if __name__ == "__main__":
    sys.exit(main())
