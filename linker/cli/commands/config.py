"""`linker config`: show and check training configs. Imports no components."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from linker.cli.options import ConfigFile, ExtVars, Overrides, Packages, include_packages, read_config

app = typer.Typer(
    help="List the recipes; show a training config in full, check it, or print what editors need to complete one."
)


@app.command("list")
def list_recipes() -> None:
    """List linker's own recipes, with one line about each; every command reads them by these names."""
    from linker.config.recipes import recipes, shared_folder

    found = list(recipes())
    width = max(len(name) for name, _ in found)
    for name, headline in found:
        print(f"{name:<{width}}  {headline}")
    print(f"\nThe files, and the sample `data`, are in {shared_folder()}.")


@app.command()
def show(
    config: ConfigFile, override: Overrides = None, ext_var: ExtVars = None, include_package: Packages = None
) -> None:
    """Print the complete config as JSON: imports resolved, overrides applied, every default written out."""
    from linker.config import EXPERIMENT, resolve

    _print(resolve(EXPERIMENT, read_config(config, override, ext_var, include_package)))


@app.command()
def check(
    config: ConfigFile, override: Overrides = None, ext_var: ExtVars = None, include_package: Packages = None
) -> None:
    """Report every error in a config; exit with code 2 if there is one."""
    from linker.config import EXPERIMENT, resolve

    resolved = resolve(EXPERIMENT, read_config(config, override, ext_var, include_package))
    print(f"{config}: ok, {_components(resolved)} components")


@app.command()
def schema(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Component family (Encoder) or component (Encoder.gru) to describe.",
            show_default="the whole config",
        ),
    ] = None,
    include_package: Packages = None,
) -> None:
    """Print the JSON Schema of a training config, or of one family or component, for editors."""
    from linker.config import EXPERIMENT
    from linker.config import schema as schema_of
    from linker.config.registry import catalog

    include_packages(include_package)
    _print(schema_of(catalog.named(name) if name else EXPERIMENT))


@app.command()
def library(include_package: Packages = None) -> None:
    """Print a Jsonnet library with one function per component, for completion in editors.

    `linker config library > configs/lib/linker.libsonnet`
    """
    from linker.config.jsonnet_library import jsonnet_library

    include_packages(include_package)
    print(jsonnet_library(), end="")


def _components(config: Any) -> int:
    """Count the registered components in a resolved config."""
    if isinstance(config, list):
        return sum(map(_components, config))
    if isinstance(config, dict):
        return ("type" in config) + sum(map(_components, config.values()))
    return 0


def _print(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))
