"""`linker new`: write a component of your own, with a test and a config, to start from."""

from __future__ import annotations

import keyword
import re
from importlib import resources
from pathlib import Path
from string import Template
from typing import Annotated, Literal

import typer

from linker.common.errors import Faults, LinkerError
from linker.common.files import atomic_write


def new(
    kind: Annotated[
        Literal["encoder", "loss", "strategy"],
        typer.Argument(
            help="Kind of component: an encoder, a loss, or a query strategy.", show_default=False
        ),
    ],
    name: Annotated[
        str,
        typer.Argument(
            help="Name in configs, such as gated_mean: lowercase letters, digits and underscores."
        ),
    ],
    package: Annotated[
        str,
        typer.Option(
            metavar="PACKAGE", help="Python package to write to, a folder here; created if missing."
        ),
    ] = "my_linker",
) -> None:
    """Write a new encoder, loss or query strategy that works, with its test and its config."""
    files = _files(kind, name, package)
    faults = Faults()
    for what, text in (("component", name), ("package", package)):
        with faults:
            _check_name(what, text)
    for path in files:
        with faults:
            if path.exists():
                raise LinkerError(f"{path}: the file exists; choose another name, or delete the file first")
    faults.raise_if_any()
    values = {
        "name": name,
        "class_name": "".join(part.capitalize() for part in name.split("_")) + kind.capitalize(),
        "title": name.replace("_", " ").capitalize(),
        "package": package,
        "config": f"{name}.jsonnet",
    }
    Path(package).mkdir(exist_ok=True)
    init = Path(package) / "__init__.py"
    if not init.exists():
        files = {init: None, **files}
    for path, template in files.items():
        text = (
            ""
            if template is None
            else resources.files("linker.cli.templates").joinpath(template).read_text("utf-8")
        )
        with atomic_write(path) as file:
            file.write(Template(text).safe_substitute(values))
        print(path)
    use = "linker config check" if kind != "strategy" else "linker simulate --strategy"
    print(
        f"Test it with `python -m pytest test_{name}.py`, then `{use} {name}.jsonnet --include-package {package}`."
    )


def _check_name(what: str, text: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", text) or keyword.iskeyword(text):
        raise LinkerError(
            f"{text!r} cannot name a {what}; use lowercase letters, digits and underscores, a letter first"
        )


def _files(kind: str, name: str, package: str) -> dict[Path, str | None]:
    """The files to write, and the template of each."""
    return {
        Path(package) / f"{name}.py": f"{kind}.py.txt",
        Path(f"test_{name}.py"): f"{kind}_test.py.txt",
        Path(f"{name}.jsonnet"): f"{kind}.jsonnet.txt",
    }
