"""`linker config`: recipes, checks of training configs, and the components that configs can name."""

import json
import sys
from typing import Annotated

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

    print(json.dumps(resolve(EXPERIMENT, source.load()), indent=2, ensure_ascii=False))


@app.command()
def check(source: ConfigSource) -> None:
    """Report every error in a config; exit with code 2 if there is one."""
    from linker.config import EXPERIMENT, resolve

    resolve(EXPERIMENT, source.load())
    print(f"{source.config}: ok")


@app.command()
def components(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Family to list, such as Encoder, or component whose keys to list, such as Encoder.gru.",
            show_default="all families",
        ),
    ] = None,
) -> None:
    """List the components that configs and options can name, with papers; or the keys of a component."""
    from linker.config.checking import describe
    from linker.config.registry import catalog, short

    catalog.include_plugins()
    spec = catalog.named(name) if name else None
    if spec is not None and not spec.is_family:
        print(f"{spec.name}  {spec.description}")
        for key in spec.parameters:
            default = f", default {json.dumps(key['default'])}" if "default" in key else ""
            print(f"  {key['name']}: {describe(key['type'])}{default}. {key['description']}".rstrip())
        return
    for family in [spec.reference] if spec else sorted(catalog.families(), key=short):
        print(short(family))
        for component, reference in sorted(catalog.components(family).items()):
            described, origin = catalog.spec(reference), reference.partition(":")[0]
            assert described is not None, reference
            marked = "" if origin.startswith("linker.") else f"  [{origin}]"
            print(f"  {component:<24}  {described.description}{marked}".rstrip())
            for paper in described.papers:
                print(f"  {'':<24}  {paper}")
    for fault in catalog.plugin_faults:
        print(f"warning: {fault}", file=sys.stderr)
