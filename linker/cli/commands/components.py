"""`linker components`: list what configs can name, and where it comes from."""

from __future__ import annotations

import json
import sys
from itertools import groupby
from operator import itemgetter
from typing import Annotated

import typer

from linker.cli.options import Packages, include_packages


def components(
    family: Annotated[
        str | None,
        typer.Argument(help="Family of components to list, such as Loss.", show_default="all families"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the list as JSON instead of a table.")
    ] = False,
    include_package: Packages = None,
) -> None:
    """List the components that configs and options can name, including those of installed plugins."""
    from linker.config.registry import catalog, short

    include_packages(include_package)
    catalog.include_plugins()
    families = [catalog.named(family)] if family else catalog.families()
    found = []
    for reference in sorted(families, key=short):
        for name, component in sorted(catalog.components(reference).items()):
            plugin, spec = catalog.plugin_of(component), catalog.spec(component)
            found.append(
                {
                    "family": short(reference),
                    "name": name,
                    "class": component,
                    "plugin": str(plugin) if plugin else None,
                    "description": spec.description if spec else "",
                }
            )
    print(json.dumps(found, indent=2, ensure_ascii=False) if as_json else _table(found))
    for fault in catalog.plugin_faults:
        print(f"warning: {fault}", file=sys.stderr)


def _table(found: list[dict[str, str | None]]) -> str:
    """Return one block for each family: name, first line of the docstring, and the plugin in brackets."""
    width = max((len(row["name"] or "") for row in found), default=0)
    blocks = []
    for family, rows in groupby(found, key=itemgetter("family")):
        lines = [str(family)]
        for row in rows:
            origin = f"  [{row['plugin']}]" if row["plugin"] else ""
            lines.append(f"  {row['name']:<{width}}  {row['description']}{origin}".rstrip())
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
