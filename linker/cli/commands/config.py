"""`linker config`: recipes, checks of training configs, and the components that configs can name."""

from __future__ import annotations

import json
import sys
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any

import typer

from linker.cli.command import App
from linker.cli.commands.new import new
from linker.cli.options import ConfigSource

app = App(
    help="List recipes and components, show and check training configs, and write new components.",
    no_args_is_help=True,
)
app.command("new")(new)


@app.command("list")
def list_recipes() -> None:
    """List linker's own recipes, with one line about each; every command reads them by these names."""
    from linker.config.recipes import recipes, shared_folder

    headlines = dict(recipes())
    width = max(map(len, headlines))
    for name, headline in headlines.items():
        print(f"{name:<{width}}  {headline}")
    print(f"\nThe files, and the sample `data`, are in {shared_folder()}.")


@app.command()
def show(source: ConfigSource) -> None:
    """Print the complete config as JSON: imports resolved, overrides applied, every default written out."""
    from linker.config import EXPERIMENT, resolve

    _print(resolve(EXPERIMENT, source.load()))


@app.command()
def check(source: ConfigSource) -> None:
    """Report every error in a config; exit with code 2 if there is one."""
    from linker.config import EXPERIMENT, resolve

    resolve(EXPERIMENT, source.load())
    print(f"{source.config}: ok")


@app.command()
def schema(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Component family (Encoder) or component (Encoder.gru) to describe.",
            show_default="the whole config",
        ),
    ] = None,
) -> None:
    """Print the JSON Schema of a training config, or of one family or component, for editors."""
    from linker.config import EXPERIMENT
    from linker.config import schema as schema_of
    from linker.config.registry import catalog

    _print(schema_of(catalog.named(name) if name else EXPERIMENT))


@app.command()
def library() -> None:
    """Print a Jsonnet library with one function per component, for completion in editors.

    `linker config library > configs/lib/linker.libsonnet`
    """
    from linker.config.jsonnet_library import jsonnet_library

    print(jsonnet_library(), end="")


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
    "PairReader": "docs/components/readers.md",
    "Platform": "docs/components/platforms.md",
    "QueryStrategy": "docs/components/query-strategies.md",
    "Schedule": "docs/components/trainer.md#optimizers-and-schedules",
    "Splitter": "docs/guides/data.md#train-dev-and-test-splits",
    "StoppingRule": "docs/components/stopping-rules.md",
    "Tokenizer": "docs/components/tokenizers.md",
    "WordVectors": "docs/components/vectors.md",
}


@app.command()
def components(
    family: Annotated[
        str | None,
        typer.Argument(help="Family of components to list, such as Loss.", show_default="all families"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the list as JSON instead of a table.")
    ] = False,
) -> None:
    """List the components that configs and options can name, with papers and documentation; plugins are marked."""
    from linker.config.registry import catalog, short

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
                    "documentation": None if plugin else PAGES.get(short(reference)),
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
            lines += [f"  {'':<{width}}  {paper}" for paper in row["papers"]]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _print(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))
