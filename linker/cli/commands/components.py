"""`linker components`: list what configs can name, and where it comes from."""

from __future__ import annotations

import json
import sys
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any

import typer

from linker.cli.options import Packages, include_packages

#: Page of linker's documentation about each family, in the repository.
PAGES = {
    "BatchSampler": "docs/components/trainer.md#batches",
    "Callback": "docs/components/trainer.md#callbacks",
    "Embedder": "docs/components/embedders.md",
    "Encoder": "docs/components/encoders.md",
    "LabelFormat": "docs/guides/annotation-formats.md",
    "Loss": "docs/components/losses.md",
    "LossRule": "docs/components/trainer.md",
    "Miner": "docs/components/miners.md",
    "Model": "docs/components/models.md",
    "Optimizer": "docs/components/trainer.md#optimizers-and-schedules",
    "PairMiner": "docs/components/pair-miners.md",
    "PairReader": "docs/components/readers.md",
    "Platform": "docs/components/platforms.md",
    "QueryStrategy": "docs/components/query-strategies.md",
    "Schedule": "docs/components/trainer.md#optimizers-and-schedules",
    "Splitter": "docs/guides/data.md#train-dev-and-test-splits",
    "StoppingRule": "docs/components/stopping-rules.md",
    "Tokenizer": "docs/components/tokenizers.md",
    "WordVectors": "docs/components/vectors.md",
}


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
    """List the components that configs and options can name, with papers and documentation; plugins are marked."""
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
                    "papers": list(spec.papers) if spec else [],
                    "documentation": plugin.documentation if plugin else PAGES.get(short(reference)),
                }
            )
    print(json.dumps(found, indent=2, ensure_ascii=False) if as_json else _table(found))
    for fault in catalog.plugin_faults:
        print(f"warning: {fault}", file=sys.stderr)


def _table(found: list[dict[str, Any]]) -> str:
    """Return one block for each family: name, first line of the docstring, plugin in brackets, then papers."""
    width = max((len(row["name"]) for row in found), default=0)
    blocks = []
    for family, rows in groupby(found, key=itemgetter("family")):
        lines = [f"{family}  ({PAGES[family]})" if family in PAGES else family]
        for row in rows:
            origin = f"  [{row['plugin']}]" if row["plugin"] else ""
            lines.append(f"  {row['name']:<{width}}  {row['description']}{origin}".rstrip())
            below = [
                *row["papers"],
                *([row["documentation"]] if row["plugin"] and row["documentation"] else []),
            ]
            lines += [f"  {'':<{width}}  {text}" for text in below]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
